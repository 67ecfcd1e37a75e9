"""RunState over a log that came from anyone: what names a round that never began is passed over."""

import msgspec

from support.exams import sat
from vera import events
from vera.state import RunState

STARTED = events.VerifierStarted(
    seq=2, lane="verify-1", round=1, answer_seq=1, rule="literal", policy=events.Blob("0" * 64, 1)
)
ANSWER = events.Answer(seq=1, lane="main", step=1, text="Three years.")
AUDIT = events.Audit(
    lane="verify-1",
    round=1,
    claims=1,
    hard=0,
    soft=0,
    findings="[]",
    claims_version="claims/3",
    audit_version="audit/7",
)
DECIDED = events.Verifier(
    lane="verify-1",
    round=1,
    answer_seq=1,
    result="SUPPORTED",
    reason="",
    attestation="sha256:" + "0" * 64,
    envelope=events.Blob("0" * 64, 1),
)
CHOSEN = events.AnswerChosen(lane="main", round=1, answer_seq=1, attestation="", reason="")


def test_the_status_of_an_old_run_is_the_word_of_what_was_decided() -> None:
    """An older VERA wrote VERIFIED for what its rule quoted, and UNRESOLVED for what a source refutes."""
    ended = events.Status(lane="main", step=1, status="VERIFIED", reason="as quoted")
    quoted = [ANSWER, STARTED, DECIDED, CHOSEN, ended]
    by_model = msgspec.structs.replace(STARTED, rule="model")
    refuted = msgspec.structs.replace(DECIDED, result="UNSUPPORTED", reason="REFUTED")
    unresolved = msgspec.structs.replace(ended, status="UNRESOLVED")
    assert RunState(quoted).status == "QUOTED"
    assert RunState([ANSWER, by_model, DECIDED, CHOSEN, ended]).status == "VERIFIED"
    assert RunState([ANSWER, STARTED, refuted, CHOSEN, unresolved]).status == "REFUTED"


def test_a_status_that_no_round_decided_is_as_it_was_written() -> None:
    unresolved = events.Status(lane="main", step=1, status="UNRESOLVED", reason="nothing found")
    assert RunState([]).status == "IN_PROGRESS"
    assert RunState([ANSWER, unresolved]).status == "UNRESOLVED"
    assert RunState([ANSWER, STARTED, DECIDED, CHOSEN]).status == "IN_PROGRESS"


def test_a_round_is_folded_from_its_records_and_their_cost() -> None:
    call = events.Model(lane="verify-1", step=0, scope="verifier_judge", latency_s=1.0, prompt_tokens=7)
    tool = events.Tool(lane="check-1.1", step=1, call="call_0001", tool="read", outcome="ok", obs="")
    state = RunState([ANSWER, STARTED, AUDIT, call, tool, DECIDED, CHOSEN])
    (done,) = state.rounds.values()
    assert (done.audit, done.decision, done.model_calls, done.prompt_tokens) == (AUDIT, DECIDED, 1, 7)
    assert done.tool_calls == 1
    assert state.chosen == CHOSEN


def test_records_of_a_round_that_never_began_change_nothing() -> None:
    state = RunState([ANSWER, AUDIT, DECIDED, CHOSEN])
    assert not state.rounds and state.chosen is None


def test_a_choice_without_a_verdict_or_an_answer_is_none() -> None:
    assert RunState([ANSWER, STARTED, CHOSEN]).chosen is None
    assert RunState([STARTED, DECIDED, CHOSEN]).chosen is None


def test_an_exam_from_before_the_run_was_resumed_is_not_its_own() -> None:
    before, after = sat("judge", seq=1), sat("judge", seq=3)
    state = RunState([before, events.Resumed(seq=2, version="0.1.0"), after])
    assert state.exams == (before, after) and state.own_exams == (after,)
    assert RunState([before]).own_exams == (before,)


def test_a_beginning_holds_no_work() -> None:
    assert not RunState([events.Task(seq=1, task="Why?")]).holds_work
    for record in (ANSWER, sat("judge", seq=1)):
        assert RunState([record]).holds_work
