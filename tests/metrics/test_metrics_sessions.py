"""The metrics of real sessions, by fold and by `vera metrics`, checked by the tools of Prometheus."""

import re
import subprocess
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from support.cast import Cast, asking, final, looked_up, turn
from support.cli import folded, records, vera
from support.scripted_server import ScriptedServer
from vera import events
from vera.cli.metrics import MAX_FINDINGS
from vera.evidence.finding import Finding
from vera.metrics import Metrics
from vera.session import Reader, Session

WRONG = final("A written offer must be valid for seven years [ev_0001:3].")
RIGHT = final("A written offer must be valid for at least three years [ev_0001:3].")
QUESTION = {
    "claim": "c1",
    "question": "Does the file say that a written offer is valid for three years?",
    "source": "terms.txt",
    "label": "misinterpretation",
}


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run: an answer that the audit sent back, a mended one, a check lane, a judge that gave 4."""
    base = tmp_path_factory.mktemp("metrics")
    (base / "documents").mkdir()
    (base / "documents" / "terms.txt").write_text(
        "Terms\n\nA written offer must be valid for at least three years.\nIt is free of charge.\nEnd.\n"
    )
    cast = Cast(
        [turn("read", path="terms.txt"), WRONG, turn("read", path="terms.txt"), RIGHT],
        decompose=asking(QUESTION),
        check=looked_up(turn("read", path="terms.txt"), final("yes [ev_0003:3]")),
    )
    with ScriptedServer(cast) as server:
        done = vera(
            "run", "--task", "How long must a written offer be valid?", "--input-dir", base / "documents",
            "--work-dir", base / "work", "--model-base-url", server.root, "--protocol", "text",
            "--sandbox", "none", "--egress", "none", cwd=base,
        )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return base / "work"


@pytest.fixture(scope="module")
def exposed(session: Path) -> dict[str, float]:
    """Sample as it is written → value, of the session by `vera metrics`."""
    done = vera("metrics", session, cwd=session)
    assert done.returncode == 0, done.stderr
    return parsed(done.stdout)


def parsed(text: str) -> dict[str, float]:
    samples = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            labels = ",".join(f"{key}={value}" for key, value in sorted(sample.labels.items()))
            samples[sample.name + (f"{{{labels}}}" if labels else "")] = sample.value
    return samples


def total(exposed: dict[str, float], name: str) -> float:
    return sum(value for sample, value in exposed.items() if sample.partition("{")[0] == name)


def copy(session: Path, folder: Path, log: bytes) -> Path:
    """A session with this log, and the store of the other."""
    folder.mkdir()
    (folder / "trace.jsonl").write_bytes(log)
    (folder / "store").symlink_to(session / "store")
    return folder


def lines(session: Path) -> list[bytes]:
    return (session / "trace.jsonl").read_bytes().splitlines(keepends=True)


def test_every_record_is_counted_once_by_its_type(session: Path, exposed: dict[str, float]) -> None:
    assert total(exposed, "dra_events_total") == len(lines(session))
    assert exposed["dra_events_total{type=verifier}"] == 2


def test_tokens_are_those_of_the_budget(session: Path, exposed: dict[str, float]) -> None:
    spent = folded(session).spent
    assert spent.verifier.total and spent.agent.total
    assert total(exposed, "dra_model_tokens_total") == spent.tokens
    assert total(exposed, "dra_verifier_model_tokens_total") == spent.verifier.total
    assert exposed["dra_model_tokens_total{kind=prompt,scope=agent}"] == spent.agent.prompt
    assert total(exposed, "dra_model_calls_total") == spent.model_calls
    assert total(exposed, "dra_model_cached_tokens_total") == spent.agent.cached + spent.verifier.cached


def test_the_verifiers_figures_are_those_of_its_rounds(session: Path, exposed: dict[str, float]) -> None:
    rounds = folded(session).rounds.values()
    decided = [each.decision for each in rounds if each.decision]
    assert exposed["dra_verifier_duration_seconds_count"] == len(decided) == 2
    seconds = sum(each.seconds for each in decided)
    assert exposed["dra_verifier_duration_seconds_sum"] == pytest.approx(seconds)
    exam = exposed["dra_model_calls_total{scope=verifier_exam}"]
    assert exposed["dra_verifier_model_calls_total"] == exam + sum(each.model_calls for each in decided)
    assert exposed["dra_verifier_tool_calls_total"] == sum(each.tool_calls for each in decided) == 1
    assert exposed["dra_verifier_scores_total{score=4}"] == 1
    assert exposed["dra_verifier_before_tools_total"] == 0
    hard = sum(value for sample, value in exposed.items() if re.search("findings.*severity=hard", sample))
    assert hard == sum(each.hard for each in decided) > 0


def test_feedback_is_counted_with_its_instructions(session: Path, exposed: dict[str, float]) -> None:
    assert exposed["dra_verifier_gradient_total"] == exposed["dra_verifier_instruction_count_count"] == 1
    assert exposed["dra_verifier_instruction_count_sum"] >= 1
    assert exposed["dra_verifier_instruction_chars_sum"] > 0
    choices = [record for record in records(session) if isinstance(record, events.PolicyChoice)]
    assert exposed["dra_policy_choice_total"] == len(choices) == 1
    assert exposed["dra_policy_choice_matched_total"] == sum(choice.matched for choice in choices)


def test_the_last_score_goes_with_the_end_of_the_run(session: Path, exposed: dict[str, float]) -> None:
    assert total(exposed, "dra_runs_active") == 0
    assert not any(sample.startswith(("dra_verifier_last_score", "dra_max_step")) for sample in exposed)
    metrics = Metrics()
    *before, end = records(session)
    for record in before:
        metrics.apply(record, "work")
    assert metrics.gauges["dra_verifier_last_score"] == {("work",): 4.0}
    metrics.apply(end, "work")
    assert metrics.gauges["dra_verifier_last_score"] == {}


def test_a_run_under_way_has_gauges_and_its_torn_last_line_is_left(session: Path, tmp_path: Path) -> None:
    *before, end = lines(session)
    copy(session, tmp_path / "running", b"".join(before) + end[:40])
    done = vera("metrics", "running", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    shown = parsed(done.stdout)
    assert shown["dra_verifier_last_score{session=running}"] == 4
    assert shown["dra_run_status{session=running,status=VERIFIED}"] == 1
    assert shown["dra_max_step{session=running}"] == 4
    assert total(shown, "dra_events_total") == len(before)


def test_a_session_that_is_named_twice_counts_once(session: Path, exposed: dict[str, float]) -> None:
    done = vera("metrics", session, session.parent / "documents" / ".." / "work", cwd=session.parent)
    assert parsed(done.stdout) == exposed


def test_what_cannot_be_read_is_named_and_the_rest_is_counted(session: Path, tmp_path: Path) -> None:
    log = lines(session)
    copy(session, tmp_path / "broken", b"".join(log[:3]) + log[3].replace(b'"', b"'", 1) + log[4])
    done = vera("metrics", "broken", "nowhere", session, cwd=tmp_path)
    assert done.returncode == 1
    assert "vera: broken: The log is broken at line 4" in done.stderr
    assert "vera: there is no session in nowhere" in done.stderr
    assert "Traceback" not in done.stderr
    assert total(parsed(done.stdout), "dra_events_total") == 3 + len(log)


def test_nothing_is_printed_when_no_session_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "trace.jsonl").write_bytes(b"{\n")
    (tmp_path / "empty").mkdir()
    done = vera("metrics", "broken", "empty", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (1, "")
    reasons = done.stderr.splitlines()
    assert len(reasons) == 2 and all(reason.startswith("vera: ") for reason in reasons)
    assert "broken: The log is broken at line 1" in reasons[0]
    assert "there is no session in empty" in reasons[1]


@pytest.mark.parametrize(
    ("padding", "kept", "label"),
    [(5_000, True, "fabricated"), (5_000, False, "other"), (MAX_FINDINGS, True, "other")],
)
def test_stored_findings_are_read_unless_they_are_gone_or_too_many(
    tmp_path: Path, padding: int, kept: bool, label: str
) -> None:
    finding = Finding(code="c", label="fabricated", severity="hard", message="m")
    text = msgspec.json.encode([finding]).decode() + " " * padding
    session = Session.create(tmp_path / "work", {})
    findings = session.text(text)
    assert isinstance(findings, events.Blob)
    session.emit(
        events.Audit(
            round=1, claims=1, hard=1, soft=0, findings=findings, claims_version="1", audit_version="1"
        )
    )
    session.close()
    if not kept:
        session.store.path(findings.sha256).unlink()
    shown = parsed(vera("metrics", "work", cwd=tmp_path).stdout)
    assert shown[f"dra_findings_total{{label={label},severity=hard}}"] == 1
    assert total(shown, "dra_findings_total") == 1


@pytest.mark.needs("promtool")
def test_promtool_has_nothing_to_say_of_a_session(session: Path) -> None:
    done = vera("metrics", session, cwd=session)
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=done.stdout, capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, "", "")


@pytest.mark.needs("promtool")
@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(name=st.text(min_size=1) | st.sampled_from(['"} 1\ndra_x{a="', "\\", "\r\0\u2028", "\udcff"]))
def test_promtool_reads_any_name_of_a_session(session: Path, name: str) -> None:
    metrics = Metrics()
    for record in records(session)[:-1]:
        metrics.apply(record, name)
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=metrics.render(), capture_output=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, b"")


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(st.sampled_from(["one", "two"]), st.integers(1, 20_000)), max_size=12))
def test_a_log_read_in_any_pieces_folds_to_the_same(
    session: Path, tmp_path_factory: pytest.TempPathFactory, grown: list[tuple[str, int]]
) -> None:
    """Two copies of a log grow in turns by any number of bytes, and are read after each."""
    log, whole, pieces = (session / "trace.jsonl").read_bytes(), Metrics(), Metrics()
    for name in ("one", "two"):
        for record in records(session):
            whole.apply(record, name)
    folder = tmp_path_factory.mktemp("pieces")
    readers = {name: Reader(folder / name) for name in ("one", "two")}
    at = dict.fromkeys(readers, 0)
    for name, size in [*grown, ("one", len(log)), ("two", len(log))]:
        with (folder / name).open("ab") as file:
            file.write(log[at[name] : at[name] + size])
        at[name] += size
        for _, record in readers[name].poll():
            pieces.apply(record, name)
    assert parsed(pieces.render().decode()) == pytest.approx(parsed(whole.render().decode()))
