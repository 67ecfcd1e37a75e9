"""A log as spans: which there are, whose children they are, when they begin and end, what they say."""

import json
from collections.abc import Iterator, Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera import events
from vera.config.settings import BudgetSettings
from vera.events import Blob, Text
from vera.export.otel import Trace
from vera.export.otel_attributes import CONTENT
from vera.export.otel_span import LAST_TS, MAX_LENGTH, Kind, Span, trace_id_of

LOG = "ab" * 32
BLOB = Blob("0" * 64, 1)
LIMITED = ("tokens", "cost", "seconds", "searches")
SESSION = {"session.id": trace_id_of(LOG).hex()}
SECRET = "what nobody asked to be sent"

BEGIN: list[tuple[str, events.Event]] = [
    ("", events.Session(format=1, version="0.1.0", settings={"key": SECRET})),
    ("", events.Task(task=SECRET)),
    (
        "main",
        events.ModelServer(
            kind="vllm",
            base_url="https://you:hunter2@models.example/v1?key=hunter2",
            model="qwen",
            protocol="text",
        ),
    ),
]


def lane_started(purpose: str = "research") -> events.LaneStarted:
    return events.LaneStarted(
        purpose=purpose,
        system=SECRET,
        task_message=SECRET,
        tools=("read",),
        protocol="text",
        system_role="system",
        prompt_sha256="",
        high_tokens=1,
        max_bytes=0,
        tail_steps=1,
    )


def model(step: int = 1, scope: str = "agent", **known: Any) -> events.Model:
    return events.Model(step=step, scope=scope, latency_s=0.5, **known)


def model_io(step: int = 1, scope: str = "agent", **known: Any) -> events.ModelIo:
    return events.ModelIo(
        step=step,
        scope=scope,
        at_seq=1,
        request_sha256="",
        request_bytes=1,
        **{"content": SECRET, "parameters": {"model": "qwen"}, **known},
    )


def tool_started(step: int = 1, call: str = "call_0001", tool: str = "read") -> events.ToolStarted:
    return events.ToolStarted(step=step, call=call, tool=tool, args=SECRET)


def tool(step: int = 1, call: str = "call_0001", name: str = "read", **known: Any) -> events.Tool:
    return events.Tool(step=step, call=call, tool=name, **{"outcome": "ok", "obs": SECRET, **known})


def verifier(**known: Any) -> events.Verifier:
    return events.Verifier(
        **{"round": 1, "answer_seq": 1, "result": "SUPPORTED", "reason": SECRET, "attestation": "sha256:a",
           "envelope": BLOB, "score": 350, **known},
    )  # fmt: skip


def run_end(exit_code: int = 0, status: str = "VERIFIED") -> events.RunEnd:
    return events.RunEnd(status=status, reason=SECRET, exit_code=exit_code, steps=1, seconds=1.0)


def written(*lines: tuple[str, events.Event]) -> list[Any]:
    """The records as a log has them, a second apart, the first at 1000."""
    return [
        msgspec.structs.replace(event, seq=number, ts=999.0 + number, lane=lane)
        for number, (lane, event) in enumerate([*BEGIN, *lines], 1)
    ]


def spans(records: Sequence[Any], *, interrupted: bool = True, **settings: Any) -> list[Span]:
    trace = Trace(LOG, "first", **settings)
    ended = [span for record in records for span in trace.apply(record)]
    return [*ended, *trace.finish(interrupted=interrupted)]


def exported(*lines: tuple[str, events.Event], **settings: Any) -> list[Span]:
    return spans(written(*lines), **settings)


def tree(found: list[Span]) -> list[str]:
    """The names of the spans below their parents, each with its depth as points."""

    def below(parent: bytes, depth: int) -> Iterator[str]:
        children = [span for span in found if span.parent_id == parent]
        for span in sorted(children, key=lambda span: (span.start_ns, found.index(span))):
            yield "." * depth + span.name
            yield from below(span.span_id, depth + 1)

    return list(below(b"", 0))


def only(found: list[Span], name: str) -> Span:
    (span,) = [each for each in found if each.name == name]
    return span


STEP: tuple[tuple[str, events.Event], ...] = (
    ("main", lane_started()),
    ("main", model(prompt_tokens=100, completion_tokens=7, cached_tokens=60, finish_reason="stop")),
    ("main", model_io(parameters={"model": "qwen", "temperature": 0.2, "max_tokens": 900})),
    ("main", events.Assistant(step=1, content=SECRET)),
    ("main", tool_started()),
    ("main", events.Search(engine="brave", kind="web", query=SECRET, outcome="ok", results=3, started=1008.25,
                           seconds=0.5, http_status=200)),
    ("main", tool(exit_code=0)),
)  # fmt: skip


def test_a_run_is_an_agent_with_steps_and_a_step_has_its_call_and_its_tool() -> None:
    found = exported(*STEP, ("main", events.LaneEnded(reason="answered")), ("", run_end()))
    assert tree(found) == [
        "invoke_agent vera",
        ".step 1",
        "..chat qwen",
        "..execute_tool read",
        "...retrieval brave",
    ]
    assert {span.trace_id for span in found} == {found[0].trace_id}
    assert len(found[0].trace_id) == 16 and {len(span.span_id) for span in found} == {8}
    assert found[-1].parent_id == b"" and not any(span.failed for span in found)


def test_times_are_those_of_the_log() -> None:
    found = exported(*STEP, ("main", events.LaneEnded(reason="answered")), ("", run_end()))
    times = {span.name: (span.start_ns / 1e9, span.end_ns / 1e9) for span in found}
    assert times == {
        "invoke_agent vera": (1000.0, 1011.0),
        "step 1": (1003.5, 1010.0),
        "chat qwen": (1003.5, 1004.0),
        "execute_tool read": (1007.0, 1009.0),
        "retrieval brave": (1008.25, 1008.75),
    }


def test_a_step_ends_with_the_last_record_of_its_own() -> None:
    found = exported(
        *STEP,
        ("main", events.ContextEpoch(step=2, tail_steps=1, prompt_bytes=1)),
        ("main", model(step=2)),
        ("main", model_io(step=2)),
    )
    assert only(found, "step 1").end_ns == only(found, "execute_tool read").end_ns


def test_spans_have_the_names_of_the_conventions() -> None:
    found = exported(*STEP, ("", run_end()))
    chat = only(found, "chat qwen")
    assert chat.kind is Kind.CLIENT
    assert chat.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": "vllm",
        "server.address": "models.example",
        "server.port": 443,
        "gen_ai.request.model": "qwen",
        "gen_ai.request.temperature": 0.2,
        "gen_ai.request.max_tokens": 900,
        "gen_ai.response.finish_reasons": ("stop",),
        "gen_ai.usage.input_tokens": 100,
        "gen_ai.usage.output_tokens": 7,
        "gen_ai.usage.cache_read.input_tokens": 60,
        "vera.step": 1,
        "vera.model.scope": "agent",
        "openinference.span.kind": "LLM",
        "llm.system": "vllm",
        "llm.model_name": "qwen",
        "llm.token_count.prompt": 100,
        "llm.token_count.prompt_details.cache_read": 60,
        "llm.token_count.completion": 7,
        **SESSION,
    }
    assert only(found, "execute_tool read").attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "read",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": "call_0001",
        "process.exit.code": 0,
        "vera.tool.outcome": "ok",
        "openinference.span.kind": "TOOL",
        "tool.name": "read",
        **SESSION,
    }
    assert only(found, "retrieval brave").attributes == {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.data_source.id": "brave",
        "http.response.status_code": 200,
        "vera.search.kind": "web",
        "vera.search.outcome": "ok",
        "vera.search.results": 3,
        "openinference.span.kind": "RETRIEVER",
        **SESSION,
    }
    root = only(found, "invoke_agent vera").attributes
    assert root["gen_ai.operation.name"] == "invoke_agent"
    assert root["gen_ai.agent.name"] == "vera" and root["gen_ai.agent.version"] == "0.1.0"
    assert root["gen_ai.conversation.id"] == found[0].trace_id.hex()
    assert (root["vera.session"], root["vera.status"], root["vera.exit_code"]) == ("first", "VERIFIED", 0)
    kinds = {span.name: span.attributes.get("openinference.span.kind") for span in found}
    assert kinds["invoke_agent vera"] == "AGENT" and kinds["step 1"] == "CHAIN"


def test_each_span_has_a_kind_of_openinference_and_its_session() -> None:
    kinds = {"LLM", "TOOL", "RETRIEVER", "AGENT", "CHAIN", "GUARDRAIL", "EVALUATOR"}
    found = exported(*EVERYTHING)
    assert {span.attributes["openinference.span.kind"] for span in found} == kinds
    assert {span.attributes["session.id"] for span in found} == {found[0].trace_id.hex()}


def test_a_call_has_its_cost_by_the_prices_in_the_log_and_its_payer() -> None:
    given = {"input_price": 1.0, "output_price": 10.0, "verifier_input_price": 100.0}
    prices = {name: 0 if name in LIMITED else None for name in BudgetSettings.model_fields} | given
    lines = (
        ("", events.Session(format=1, version="0.1.0", settings={"budget": prices})),
        ("main", lane_started()),
        ("main", model(prompt_tokens=1_000_000, completion_tokens=100_000)),
        ("main", model(step=2, scope="verifier_judge", prompt_tokens=10_000)),
        ("main", model(step=3)),
    )
    found = [span for span in exported(*lines) if span.attributes["openinference.span.kind"] == "LLM"]
    assert [span.attributes.get("gen_ai.usage.cost") for span in found] == [2.0, 1.0, None]
    assert found[0].attributes["llm.cost.total"] == 2.0
    assert not any("gen_ai.usage.cost" in span.attributes for span in exported(*STEP)), "no price is known"


def test_tokens_stand_on_calls_only_so_that_nobody_counts_them_twice() -> None:
    found = exported(*STEP, ("", run_end()))
    assert [span.name for span in found if "gen_ai.usage.input_tokens" in span.attributes] == ["chat qwen"]


ROUND: tuple[tuple[str, events.Event], ...] = (
    ("verify-1", events.VerifierStarted(round=1, answer_seq=4, rule="model", policy=BLOB, model="judge-7b")),
    ("verify-1", events.Derivation(round=1, evidence="ev_0001", command=SECRET, outcome="failed")),
    ("verify-1", model(scope="verifier_decompose")),
    ("verify-1", model_io(scope="verifier_decompose", parameters={"model": "judge-7b"})),
    ("verify-1", events.VerifierQuestions(round=1, questions=())),
    ("check-1.1", lane_started("check")),
    ("check-1.1", model(scope="verifier_check")),
    ("check-1.1", model_io(scope="verifier_check", parameters={"model": "judge-7b"})),
    ("check-1.1", events.LaneEnded(reason="answered")),
    ("verify-1", model(step=2, scope="verifier_judge")),
    ("verify-1", model_io(step=2, scope="verifier_judge", parameters={"model": "judge-7b"})),
)


def test_a_round_of_verification_has_its_plan_its_commands_its_checks_and_its_judge() -> None:
    found = exported(*ROUND, ("verify-1", verifier()), ("", run_end()))
    assert tree(found) == [
        "invoke_agent vera",
        ".invoke_agent verifier",
        "..execute_tool shell",
        "..plan verifier",
        "...chat judge-7b",
        "..invoke_agent check",
        "...step 1",
        "....chat judge-7b",
        "..chat judge-7b",
    ]
    judged = only(found, "invoke_agent verifier")
    result = {
        "gen_ai.evaluation.name": "vera.answer",
        "gen_ai.evaluation.score.value": 3.5,
        "gen_ai.evaluation.score.label": "SUPPORTED",
    }
    assert result.items() <= judged.attributes.items()
    assert judged.attributes["openinference.span.kind"] == "EVALUATOR"
    (event,) = judged.events
    assert (event.name, event.attributes) == ("gen_ai.evaluation.result", result)
    assert event.at_ns == judged.end_ns
    assert only(found, "execute_tool shell").failed
    assert "server.address" not in only(found, "invoke_agent check").attributes
    where = {span.attributes["gen_ai.provider.name"] for span in found if span.name == "chat judge-7b"}
    assert where == {"openai"}, "the log does not say where the verifier's model is served"


def test_a_round_without_a_judge_has_no_score() -> None:
    judged = only(exported(*ROUND, ("verify-1", verifier(score=None))), "invoke_agent verifier")
    assert "gen_ai.evaluation.score.value" not in judged.attributes


def test_a_choice_is_linked_to_the_calls_of_its_candidates() -> None:
    candidate = events.Candidate(content=SECRET)
    found = exported(
        ("main", lane_started()),
        ("main", model(candidates=2)),
        ("main", model_io()),
        ("main", model()),
        ("main", model_io()),
        ("main", events.Candidates(step=1, asked=3, candidates=(candidate,) * 3, calls=2)),
        ("main", model(scope="selector")),
        ("main", model_io(scope="selector", parameters={"model": "judge-7b"})),
        ("main", events.Selection(step=1, selected=2, decider="selector", selector="llm", judge_calls=1)),
        ("main", events.Assistant(step=1, content=SECRET)),
    )  # fmt: skip
    assert tree(found) == [
        "invoke_agent vera",
        ".step 1",
        "..chat qwen",
        "..chat qwen",
        "..invoke_agent selector",
        "...chat judge-7b",
    ]
    sampled = [span for span in found if span.name == "chat qwen"]
    choice = only(found, "invoke_agent selector")
    assert choice.links == tuple(span.span_id for span in sampled)
    assert sampled[0].attributes["gen_ai.request.choice.count"] == 2
    assert choice.attributes["vera.candidate.chosen"] == 2
    assert choice.attributes["vera.candidate.count"] == 3


def test_a_gate_that_spoke_is_a_guardrail_of_its_step() -> None:
    found = exported(
        *STEP[:4],
        ("main", events.PolicyDomainShift(step=1, effect="refuse", reason=SECRET, tool="fetch", count=2,
                                          limit=2)),
    )  # fmt: skip
    spoke = only(found, "gate domain_shift")
    assert spoke.parent_id == only(found, "step 1").span_id and not spoke.failed
    assert spoke.attributes == {
        "vera.gate": "domain_shift",
        "openinference.span.kind": "GUARDRAIL",
        "vera.gate.action": "refuse",
        "vera.gate.count": 2,
        "vera.gate.limit": 2,
        "gen_ai.tool.name": "fetch",
        **SESSION,
    }


@pytest.mark.parametrize(
    ("known", "error"),
    [
        ({"outcome": "failed", "error_type": "not_found"}, "not_found"),
        ({"outcome": "failed", "exit_code": 2}, "failed"),
        ({"outcome": "refused"}, "refused"),
        ({"outcome": "interrupted"}, "interrupted"),
    ],
)
def test_a_tool_call_that_did_not_do_it_is_an_error(known: dict[str, Any], error: str) -> None:
    span = only(exported(*STEP[:5], ("main", tool(**known))), "execute_tool read")
    assert span.failed and span.attributes["error.type"] == error


def test_a_model_call_that_failed_is_an_error_without_the_servers_words() -> None:
    found = exported(("main", lane_started()), ("main", model(error=f"401: {SECRET}")))
    call = only(found, "chat qwen")
    assert call.failed and call.attributes["error.type"] == "_OTHER" and call.message == ""


@pytest.mark.parametrize(
    ("exit_code", "error"),
    [(0, None), (3, None), (4, None), (6, None), (130, "interrupted"), (1, "exit_1"), (5, "exit_5")],
)
def test_an_open_question_is_no_error_and_a_run_that_was_cut_short_is_one(
    exit_code: int, error: str | None
) -> None:
    root = only(exported(*STEP, ("", run_end(exit_code))), "invoke_agent vera")
    assert root.attributes.get("error.type") == error and root.failed == (error is not None)


def test_a_run_that_was_killed_ends_where_its_log_does() -> None:
    found = exported(*STEP[:5])
    assert {span.name: span.attributes.get("error.type") for span in found} == {
        "invoke_agent vera": "interrupted",
        "step 1": None,
        "chat qwen": None,
        "execute_tool read": "interrupted",
    }
    assert {span.end_ns for span in found if span.name != "chat qwen"} == {1007 * 10**9}


def test_a_run_that_was_resumed_is_one_trace_and_its_last_end_counts() -> None:
    found = exported(
        *STEP[:5],
        ("", run_end(130, "UNRESOLVED")),
        ("", events.Resumed(version="0.1.0")),
        ("main", tool(outcome="interrupted")),
        ("main", model(step=2)),
        ("main", model_io(step=2)),
        ("", run_end(0)),
    )
    assert tree(found) == [
        "invoke_agent vera",
        ".step 1",
        "..chat qwen",
        "..execute_tool read",
        ".step 2",
        "..chat qwen",
    ]
    assert not only(found, "invoke_agent vera").failed


def test_a_check_that_was_interrupted_is_abandoned_and_its_round_goes_on() -> None:
    found = exported(
        *ROUND[:7],
        ("", events.Resumed(version="0.1.0")),
        ("check-1.2", lane_started("check")),
        ("check-1.2", events.LaneEnded(reason="answered")),
        ("verify-1", verifier()),
    )
    checks = [span for span in found if span.name == "invoke_agent check"]
    assert [span.attributes.get("error.type") for span in checks] == ["interrupted", None]
    assert {span.parent_id for span in checks} == {only(found, "invoke_agent verifier").span_id}


EVERYTHING = (
    *STEP,
    ("main", events.PolicyNotesGuard(step=1, detail=SECRET)),
    ("main", events.PolicyParseError(step=1, reason=SECRET, reply=SECRET)),
    ("main", events.Answer(step=1, text=SECRET)),
    *ROUND,
    ("verify-1", verifier()),
    ("", run_end()),
)


def words(text: Text) -> str:
    return text if isinstance(text, str) else SECRET


def test_nothing_that_was_asked_said_or_found_is_sent_unless_asked_for() -> None:
    found = exported(*EVERYTHING)
    assert SECRET not in repr(found) and "hunter2" not in repr(found)
    assert not any(CONTENT & span.attributes.keys() for span in found)


def test_with_content_the_messages_are_those_of_the_conventions() -> None:
    found = exported(*EVERYTHING, read=words)
    assert "hunter2" not in repr(found) and "key" not in only(found, "invoke_agent vera").attributes
    root = only(found, "invoke_agent vera").attributes
    said = {"parts": [{"type": "text", "content": SECRET}]}
    assert json.loads(str(root["gen_ai.input.messages"])) == [{"role": "user", **said}]
    assert json.loads(str(root["gen_ai.output.messages"])) == [{"role": "assistant", **said}]
    reply = only(found, "chat qwen").attributes["gen_ai.output.messages"]
    assert json.loads(str(reply)) == [{"role": "assistant", **said, "finish_reason": "stop"}]
    called = only(found, "execute_tool read").attributes
    assert called["gen_ai.tool.call.arguments"] == called["gen_ai.tool.call.result"] == SECRET
    assert only(found, "retrieval brave").attributes["gen_ai.retrieval.query.text"] == SECRET


def test_with_content_a_turn_has_what_is_new_in_its_prompt_since_the_turn_before() -> None:
    def turn(step: int, content: str, obs: str) -> tuple[tuple[str, events.Event], ...]:
        return (
            ("main", model(step)),
            ("main", model_io(step, content=content)),
            ("main", events.Assistant(step=step, content=content)),
            ("main", tool_started(step)),
            ("main", tool(step, obs=obs)),
        )

    refused = events.PolicyDomainShift(step=2, effect="refuse", reason="x", tool="fetch", reply="Not there.")
    lines = (
        ("main", lane_started()),
        *turn(1, "I read.", "OBSERVATION one"),
        ("main", model(2)),
        ("main", model_io(2, content="I fetch.")),
        ("main", events.Assistant(step=2, content="I fetch.")),
        ("main", refused),
        ("main", model(3)),
        ("main", model_io(3, content="Done.")),
    )
    calls = [span for span in exported(*lines, read=words) if span.name == "chat qwen"]
    told = [json.loads(str(span.attributes["gen_ai.input.messages"])) for span in calls]
    assert [[(each["role"], each["parts"][0]["content"]) for each in messages] for messages in told] == [
        [("user", SECRET)],
        [("assistant", "I read."), ("user", "OBSERVATION one")],
        [("assistant", "I fetch."), ("user", "Not there.")],
    ]
    (first, *_) = calls
    assert first.attributes["input.value"] == first.attributes["gen_ai.input.messages"]
    assert first.attributes["input.mime_type"] == first.attributes["output.mime_type"] == "application/json"


def test_a_request_that_was_kept_is_sent_with_content_its_newest_messages_cut() -> None:
    wire = json.dumps([{"role": "user", "content": f"{number} " + "x" * 9000} for number in range(40)])
    call = only(exported(("main", lane_started()), ("main", model()), ("main", model_io(request=wire)),
                         read=words), "chat qwen")  # fmt: skip
    messages = json.loads(str(call.attributes["gen_ai.input.messages"]))
    assert len(messages) == 16 and messages[-1]["parts"][0]["content"].startswith("39 x")
    assert max(len(each["parts"][0]["content"]) for each in messages) == 2048


@pytest.mark.parametrize("name", ["rm -rf /", "a" * 65, "", "réad\n"])
def test_the_name_of_a_span_holds_no_words_of_the_model(name: str) -> None:
    found = exported(*STEP[:4], ("main", tool_started(tool=name)), ("main", tool(name=name)))
    assert only(found, "execute_tool unknown").attributes["gen_ai.tool.name"] == "unknown"


def test_the_same_log_gives_the_same_ids_and_another_log_gives_others() -> None:
    records = written(*EVERYTHING)
    assert spans(records) == spans(records)
    other = Trace("cd" * 32)
    ids = {span.span_id for record in records for span in other.apply(record)}
    assert not ids & {span.span_id for span in spans(records)}


def test_a_span_that_was_given_never_becomes_another_while_the_log_grows() -> None:
    records = written(*EVERYTHING)
    whole = {span.span_id: span for span in spans(records)}
    for length in range(len(records)):
        trace = Trace(LOG, "first")
        early = [span for record in records[:length] for span in trace.apply(record)]
        assert all(whole[span.span_id] == span for span in early)
        assert trace.open == len(trace.finish()), "what is open is what is left to be given"


def test_an_empty_log_has_no_spans() -> None:
    assert spans([]) == []


LANES = st.sampled_from(["", "main", "verify-1", "check-1.1", "other"])
TIMES = st.one_of(st.floats(-1e3, 2e9), st.sampled_from([1e308, -1e308, 0.0]))
NUMBERS = st.sampled_from([0, 1, 2, -1, 2**70])
STRANGE = st.sampled_from(["", "x" * 9000, "\ud800", "a\x00b", "read"])
KINDS = st.one_of(
    st.sampled_from([each for _, each in [*BEGIN, *EVERYTHING]]),
    st.builds(model, NUMBERS, STRANGE, finish_reason=STRANGE, error=STRANGE, prompt_tokens=NUMBERS),
    st.builds(tool_started, NUMBERS, STRANGE, STRANGE),
    st.builds(tool, NUMBERS, STRANGE, STRANGE, outcome=STRANGE, seconds=TIMES),
    st.builds(events.Selection, step=NUMBERS, selected=NUMBERS, decider=STRANGE, seconds=TIMES),
    st.builds(lambda step: events.Candidates(step=step, asked=1, candidates=()), NUMBERS),
    st.just(events.Resumed(version="0")),
    st.just(events.LaneEnded(reason="failed")),
)  # fmt: skip


@given(st.lists(st.tuples(LANES, TIMES, KINDS), max_size=40), st.booleans())
def test_any_log_gives_one_bounded_tree(log: list[tuple[str, float, Any]], content: bool) -> None:
    """A log may come from anyone: records in any order, lane and time, with any numbers and texts."""
    records = [
        msgspec.structs.replace(event, seq=number, ts=ts, lane=lane)
        for number, (lane, ts, event) in enumerate(log, 1)
    ]
    found = spans(records, read=words if content else None)
    ids = [span.span_id for span in found]
    assert len(set(ids)) == len(ids)
    assert all(span.parent_id in ids for span in found[:-1])
    assert [span.name for span in found if not span.parent_id] == ["invoke_agent vera"] * bool(records)
    for span in found:
        assert 0 <= span.start_ns <= span.end_ns <= LAST_TS * 1e9
        assert len(span.name) <= MAX_LENGTH and len(span.links) <= 64
        for name, value in span.attributes.items():
            if isinstance(value, int):
                assert abs(value) < 2**63
            elif isinstance(value, str):
                assert value.encode() and (name in CONTENT or len(value) <= MAX_LENGTH)
