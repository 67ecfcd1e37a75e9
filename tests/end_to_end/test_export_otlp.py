"""`vera export --otlp`: whole runs, received by a real OTLP endpoint that parses them."""

import json
import os
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from support.cast import Cast, asking, final, looked_up, turn
from support.cli import folded, records, vera
from support.otlp_collector import OtlpCollector, Partial, Span, attributes
from support.scripted_server import Fault, ScriptedServer
from vera import events
from vera.extras import install_command
from vera.session.log import Log

QUESTION = "How long must a written offer be valid?"
TEXT = "A written offer must be valid for at least three years."
CHECK = {
    "claim": "c1",
    "question": "Does the file say that?",
    "source": "terms.txt",
    "label": "misinterpretation",
}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("otlp")
    (folder / "documents").mkdir()
    (folder / "documents" / "terms.txt").write_text(f"Terms\n\n{TEXT}\nIt is free of charge.\n")
    return folder


def run(
    place: Path, work: str, script: Callable[[int, dict[str, object]], object], documents: str = "documents"
) -> int:
    with ScriptedServer(script) as server:
        done = vera(
            "run", "--task", QUESTION, "--input-dir", documents, "--work-dir", work,
            "--model-base-url", server.root, "--protocol", "text", "--sandbox", "none", "--egress", "none",
            cwd=place,
        )  # fmt: skip
    return done.returncode


@pytest.fixture(scope="module")
def verified(place: Path) -> Path:
    """A run that read, failed to read, wrote nonsense, answered, and was verified with one check."""
    worker = [
        turn("read", path="terms.txt"),
        turn("read", path="gone.txt"),
        "nonsense",
        final(f"{TEXT[:-1]} [ev_0001:3]."),
    ]
    check = looked_up(turn("read", path="terms.txt"), final("yes [ev_0002:3]"))
    assert run(place, "verified", Cast(worker, decompose=asking(CHECK), check=check)) == 0
    return place / "verified"


@pytest.fixture
def collector() -> Iterator[OtlpCollector]:
    with OtlpCollector() as receiving:
        yield receiving


def below(collector: OtlpCollector, span: Span) -> list[str]:
    """The names of a span's children, in the order in which they began."""
    children = [each for each in collector.spans if each.parent_span_id == span.span_id]
    return [each.name for each in sorted(children, key=lambda each: each.start_time_unix_nano)]


def test_the_spans_of_a_run_are_its_tree(verified: Path, collector: OtlpCollector) -> None:
    done = vera("export", verified, "--otlp", collector.url, cwd=verified)
    assert (done.returncode, done.stderr) == (0, "")
    (root,) = [span for span in collector.spans if not span.parent_span_id]
    trace = root.trace_id.hex()
    sent = f"{len(collector.spans)} spans in 1 request to {collector.url}/v1/traces, trace {trace}."
    assert done.stdout == f"{verified}: {sent}\n"
    chat = "chat scripted-model"
    turns = ["step 1", "step 2", "step 3", "step 4"]
    assert below(collector, root) == [*turns, "exam verifier", "invoke_agent verifier"]
    assert below(collector, collector.named("step 2")[-1]) == [chat]
    steps = {
        span.name: below(collector, span) for span in collector.spans if span.parent_span_id == root.span_id
    }
    assert steps["step 1"] == [chat, "execute_tool read"]
    assert steps["step 3"] == [chat, "gate parse_error"]
    assert steps["step 4"] == [chat]
    assert set(steps["exam verifier"]) == {chat}
    judged = steps["invoke_agent verifier"]
    assert judged[:2] == ["plan verifier", "invoke_agent check"] and set(judged[2:]) == {chat}
    assert below(collector, collector.named("plan verifier")[0]) == [chat]
    assert below(collector, collector.named("invoke_agent check")[0]) == ["step 1", "step 2"]


def test_every_span_has_its_parent_its_own_id_and_its_time_within_the_run(
    verified: Path, collector: OtlpCollector
) -> None:
    vera("export", verified, "--otlp", collector.url, cwd=verified)
    log = records(verified)
    (root,) = collector.named("invoke_agent vera")
    assert len({span.span_id for span in collector.spans}) == len(collector.spans)
    assert {span.trace_id for span in collector.spans} == {root.trace_id}
    assert root.start_time_unix_nano == round(log[0].ts * 1e6) * 1000
    assert root.end_time_unix_nano == round(log[-1].ts * 1e6) * 1000
    for span in collector.spans:
        assert root.start_time_unix_nano <= span.start_time_unix_nano <= span.end_time_unix_nano
        assert span.end_time_unix_nano <= root.end_time_unix_nano
        if parent := collector.parent(span):
            assert parent.start_time_unix_nano <= span.start_time_unix_nano


def test_attributes_and_statuses_are_those_of_the_log(verified: Path, collector: OtlpCollector) -> None:
    vera("export", verified, "--otlp", collector.url, cwd=verified)
    decision = folded(verified).rounds[1].decision
    assert decision is not None
    (root,), (judged,) = collector.named("invoke_agent vera"), collector.named("invoke_agent verifier")
    assert root.status.code == 0 and attributes(root)["vera.status"] == "VERIFIED"
    assert attributes(judged)["vera.verify.attestation"] == decision.attestation
    (event,) = judged.events
    assert event.name == "gen_ai.evaluation.result"
    assert attributes(event)["gen_ai.evaluation.score.label"] == "SUPPORTED"
    read, failed, _ = collector.named("execute_tool read")
    assert (read.status.code, attributes(read)["vera.evidence"]) == (0, "ev_0001")
    assert (failed.status.code, attributes(failed)["error.type"]) == (2, "not_found")
    calls = [attributes(span) for span in collector.named("chat scripted-model")]
    logged = [record for record in records(verified) if isinstance(record, events.Model)]
    assert sorted(call["gen_ai.usage.input_tokens"] for call in calls) == sorted(
        call.prompt_tokens or 0 for call in logged
    )
    assert {call["gen_ai.request.model"] for call in calls} == {"scripted-model"}
    assert {call["server.address"] for call in calls} == {"127.0.0.1"}


def test_no_word_of_the_question_the_documents_or_the_answer_leaves_unless_asked_for(
    verified: Path, collector: OtlpCollector
) -> None:
    vera("export", verified, "--otlp", collector.url, cwd=verified)
    sent = b"".join(span.SerializeToString() for span in collector.spans).decode("utf-8", "replace")
    for words in ("written offer", "three years", "terms.txt", "nonsense", str(verified.parent)):
        assert words not in sent
    vera("export", verified, "--otlp", collector.url, "--with-content", cwd=verified)
    root = attributes(collector.named("invoke_agent vera")[1])
    assert QUESTION in root["gen_ai.input.messages"] and "three years" in root["gen_ai.output.messages"]
    tools = [attributes(span) for span in collector.named("execute_tool read")[3:]]
    assert any(TEXT in tool["gen_ai.tool.call.result"] for tool in tools)


def test_the_same_export_twice_sends_the_same_spans(verified: Path, collector: OtlpCollector) -> None:
    for _ in range(2):
        vera("export", verified, "--otlp", collector.url, cwd=verified)
    half = len(collector.spans) // 2
    assert collector.spans[:half] == collector.spans[half:]


def test_endpoint_and_key_come_from_the_environment(verified: Path, collector: OtlpCollector) -> None:
    done = vera(
        "export", verified, "--otlp", cwd=verified,
        OTEL_EXPORTER_OTLP_ENDPOINT=collector.url, OTEL_EXPORTER_OTLP_HEADERS="x-api-key=hunter2",
    )  # fmt: skip
    assert done.returncode == 0 and "hunter2" not in done.stdout + done.stderr
    assert collector.received[0].headers["x-api-key"] == "hunter2"


def test_a_run_whose_model_died_is_an_error_where_its_log_ends(place: Path, collector: OtlpCollector) -> None:
    (place / "silent").mkdir()
    (place / "silent" / "notes.txt").write_text("The office opens at nine.\n")  # nothing for extracts
    cast = Cast([turn("read", path="notes.txt")])

    def dies(index: int, body: dict[str, object]) -> object:
        return cast(index, body) if index == 0 else Fault(400, body={"error": {"message": "out of memory"}})

    assert run(place, "died", dies, "silent") not in (0, 3)
    assert vera("export", "died", "--otlp", collector.url, cwd=place).returncode == 0
    (root,) = collector.named("invoke_agent vera")
    assert root.status.code == 2
    failed = [span for span in collector.named("chat scripted-model") if span.status.code == 2]
    assert [attributes(span)["error.type"] for span in failed] == ["_OTHER"]
    parent = collector.parent(failed[0])
    assert parent is not None and parent.name == "step 2"


def test_a_rejected_span_is_said_and_ends_with_exit_code_1(verified: Path) -> None:
    with OtlpCollector([Partial(3, "spans are too old")]) as collector:
        done = vera("export", verified, "--otlp", collector.url, cwd=verified)
    assert done.returncode == 1
    assert done.stderr == (
        "vera: the collector says: spans are too old.\nvera: the collector rejected 3 spans.\n"
    )


def test_what_cannot_be_done_is_said_in_a_sentence(verified: Path, tmp_path: Path) -> None:
    gone = vera("export", tmp_path, "--otlp", "http://127.0.0.1:1", cwd=tmp_path)
    assert (gone.returncode, gone.stderr) == (
        1,
        f"vera: there is no session in {tmp_path} (no trace.jsonl).\n",
    )
    dead = vera("export", verified, "--otlp", "http://127.0.0.1:1", cwd=tmp_path)
    assert dead.returncode == 1 and "There is no collector at http://127.0.0.1:1/v1/traces" in dead.stderr
    for wrong in (
        ["--otlp", "nowhere"],
        ["--otlp", "http://a:b@127.0.0.1"],
        [],
        ["--bundle", "b.zip", "--otlp"],
        ["--bundle", "b.zip", "--with-content"],
    ):
        done = vera("export", verified, *wrong, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "") and "Traceback" not in done.stderr


def test_another_machine_over_plain_http_is_warned_of_before_anything_is_sent(verified: Path) -> None:
    done = vera("export", verified, "--otlp", "http://collector.invalid", cwd=verified)
    warning, said = done.stderr.splitlines()
    assert "is neither this machine nor https" in warning
    assert done.returncode == 1 and "There is no collector" in said


@pytest.fixture
def without_extra(tmp_path: Path) -> str:
    """A PYTHONPATH that hides opentelemetry-proto, not protobuf, which other extras bring too."""
    (tmp_path / "opentelemetry").mkdir()
    (tmp_path / "opentelemetry" / "__init__.py").write_text("")
    return os.pathsep.join([str(tmp_path), *filter(None, [os.environ.get("PYTHONPATH")])])


def test_without_the_extra_a_sentence_says_what_to_install(verified: Path, without_extra: str) -> None:
    done = vera("export", verified, "--otlp", "http://127.0.0.1:1", cwd=verified, PYTHONPATH=without_extra)
    assert done.returncode == 5
    assert done.stderr == f"vera: the export needs the extra 'otel'. Type: {install_command('otel')}\n"


def test_doctor_finds_the_extra_only_where_the_export_does(verified: Path, without_extra: str) -> None:
    done = vera("doctor", "--json", cwd=verified, PYTHONPATH=without_extra)
    (extra,) = [finding for finding in json.loads(done.stdout) if finding["part"] == "extra otel"]
    assert (extra["state"], extra["next"]) == ("missing", install_command("otel"))


STEPS = 2000


def test_a_long_log_arrives_whole_in_bounded_requests(tmp_path: Path, collector: OtlpCollector) -> None:
    root = tmp_path / "long"
    root.mkdir()
    now = 1_700_000_000.0

    def clock() -> float:
        nonlocal now
        now += 0.01
        return now

    log = Log.create(root / "trace.jsonl", clock)
    log.append(events.Session(format=1, version="0.1.0", settings={}), "")
    log.append(
        events.LaneStarted(
            purpose="research", system="s" * 4000, task_message="", tools=("shell",), protocol="text",
            system_role="system", prompt_sha256="", high_tokens=1, max_bytes=0, tail_steps=1,
        ),
        "main",
    )  # fmt: skip
    for step in range(1, STEPS + 1):
        call = f"call_{step:04}"
        log.append(events.Model(step=step, scope="agent", latency_s=0.005), "main")
        log.append(events.ToolStarted(step=step, call=call, tool="shell", args="ls " * 1000), "main")
        log.append(events.Tool(step=step, call=call, tool="shell", outcome="ok", obs="o" * 4000), "main")
    log.append(events.RunEnd(status="UNRESOLVED", reason="", exit_code=6, steps=STEPS, seconds=1.0), "")
    log.close()
    done = vera("export", root, "--otlp", collector.url, "--with-content", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert len(collector.spans) == 3 * STEPS + 1
    assert max(len(each.message.SerializeToString()) for each in collector.received) < 3 << 20
    assert max(len(each.message.resource_spans[0].scope_spans[0].spans) for each in collector.received) <= 512
    by_id = {span.span_id: span for span in collector.spans}
    assert len(by_id) == len(collector.spans)
    steps = [span for span in collector.spans if span.name.startswith("step ")]
    assert {by_id[span.parent_span_id].name for span in steps} == {"invoke_agent vera"}
    assert [span.name for span in steps] == [f"step {number}" for number in range(1, STEPS + 1)]
    assert all(a.end_time_unix_nano <= b.start_time_unix_nano for a, b in pairwise(steps))
