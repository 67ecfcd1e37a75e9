"""A verifier model that fails, lies in form, or goes away: never VERIFIED by that, always a named reason.

The worker's server stays well; the verifier has a server of its own that plays each part as the attack wants.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from support.attacks import OFFLINE, Attempt, attempt
from support.cast import Cast, Part, all_labelled, asking, final, looked_up, scored, span_count, turn
from support.scripted_server import Drop, Fault, Raw
from vera import events

QUESTION = "How long must a written offer be valid?"
FILES = {
    "terms.txt": "Terms\n\nA written offer must be valid for at least three years.\nIt is free of charge.\n"
}
WORKER = [
    turn("read", path="terms.txt"),
    final("A written offer must be valid for at least three years [ev_0001:3]."),
]
CHECK = {"claim": "c1", "question": "Is it three years?", "source": "ev_0001", "label": "misinterpretation"}
YES = looked_up(turn("read", path="terms.txt"), final("yes [ev_0002:3]"))


def run(folder: Path, **parts: Part) -> Attempt:
    """A run whose verifier asks one question and plays these parts otherwise than well."""
    played = {"decompose": asking(CHECK), "check": YES, **parts}
    verifier = Cast([final("none")], **played)
    tried = attempt(folder, WORKER, *OFFLINE, question=QUESTION, files=FILES, verifier=verifier)
    assert set(tried.cast.asked) == {"worker"}, "the worker's own server was asked to verify"
    return tried


def always(reply: object) -> Part:
    return lambda body: reply


def spans(relation: object) -> Part:
    def label(body: dict[str, Any]) -> str:
        return json.dumps(
            {"spans": [{"index": n + 1, "relation": relation} for n in range(span_count(body))]}
        )

    return label


def test_the_twin_with_a_verifier_of_its_own_is_verified(tmp_path: Path) -> None:
    run(tmp_path).is_verified()


NONSENSE: dict[str, object] = {
    "nothing": "",
    "white space": " \n ",
    "prose": "VERIFIED! Everything is SUPPORTED, I give it 4 of 4.",
    "a bare number": "4",
    "a megabyte": "4 " * 500_000,
    "a megabyte of open braces": '{"score": ' * 100_000,
    "not a number": '{"score": NaN, "spans": NaN, "questions": NaN, "instructions": []}',
    "infinity": '{"score": Infinity, "spans": [{"index": Infinity, "relation": "SUPPORTS"}]}',
    "null": "null",
    "a list": '[{"score": 4}]',
    "two objects": '{"score": 4, "instructions": []} {"score": 4, "instructions": []}',
    "no UTF-8": Raw(b'data: {"choices":[{"delta":{"content":"\xff\xfe4"}}]}\n\n', b"data: [DONE]\n\n"),
    "no protocol": Raw(b"<html>busy</html>", content_type="text/html"),
    "a client error": Fault(400, body={"error": {"message": "context length exceeded"}}),
    "a tool call": {"content": "", "tool_calls": [{"id": "1", "type": "function", "function": {
        "name": "submit", "arguments": '{"status": "VERIFIED"}'}}]},
}  # fmt: skip


@pytest.mark.parametrize("reply", NONSENSE.values(), ids=NONSENSE)
def test_a_judge_whose_labels_and_scores_are_nonsense_verifies_nothing(tmp_path: Path, reply: object) -> None:
    tried = run(tmp_path, label=always(reply), score=always(reply))
    assert tried.status == "UNRESOLVED" and tried.verdict == ("INCONCLUSIVE", "JUDGE_UNRELIABLE")
    assert tried.code == 3 and not tried.cards
    assert all(labelled.problem for labelled in tried.state.rounds[1].labels)
    tried.is_sound()


@pytest.mark.parametrize("reply", NONSENSE.values(), ids=NONSENSE)
def test_labels_of_which_the_score_is_nonsense_verify_nothing(tmp_path: Path, reply: object) -> None:
    tried = run(tmp_path, score=always(reply))
    assert tried.status == "UNRESOLVED" and tried.verdict == ("INCONCLUSIVE", "JUDGE_UNRELIABLE")
    readings = [record for record in tried.records() if isinstance(record, events.VerifierScore)]
    assert [score.points for each in readings for score in each.scores] == [None] * 6
    tried.is_sound()


@pytest.mark.parametrize("kind", ["nothing", "prose", "a megabyte", "no protocol", "a tool call"])
def test_a_look_up_that_answers_nonsense_is_unknown(tmp_path: Path, kind: str) -> None:
    tried = run(tmp_path, check=always(NONSENSE[kind]))
    (check,) = tried.state.rounds[1].checks
    assert check.answer == "unknown" and check.reason
    assert tried.verdict == ("INCONCLUSIVE", "SCORE") and tried.decision.score == 200
    tried.is_sound()


SCORES = ["0", "5", '"4"', '"4/4"', "4.0e0", "3.9", "-4", "[4]", "true", "null", '{"value": 4}', "4e400"]


@pytest.mark.parametrize("score", SCORES)
def test_a_score_that_is_none_of_1_to_4_is_unknown(tmp_path: Path, score: str) -> None:
    tried = run(tmp_path, score=always(f'{{"score": {score}, "instructions": []}}'))
    points = {each.points for record in tried.records() if isinstance(record, events.VerifierScore)
              for each in record.scores}  # fmt: skip
    if score == "4.0e0":  # JSON has one kind of number: this is 4
        assert points <= {None, 400}
    else:
        assert points == {None} and tried.verdict == ("INCONCLUSIVE", "JUDGE_UNRELIABLE")
    tried.is_sound()


RELATIONS = ["supports", "SUPPORTS!", "VERIFIED", "", 4, None, ["SUPPORTS"], "SUPPORTS\u200b"]


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_label_that_is_no_relation_supports_nothing(tmp_path: Path, relation: object) -> None:
    tried = run(tmp_path, label=spans(relation))
    assert tried.status == "UNRESOLVED" and not any(card.relation == "SUPPORTS" for card in tried.cards)
    tried.is_sound()


@pytest.mark.parametrize("index", [0, -1, 99, 10**30])
def test_labels_of_spans_that_do_not_exist_support_nothing(tmp_path: Path, index: int) -> None:
    said = json.dumps({"spans": [{"index": index, "relation": "SUPPORTS"}] * 3})
    tried = run(tmp_path, label=always(said))
    assert tried.status == "UNRESOLVED" and not any(card.relation == "SUPPORTS" for card in tried.cards)
    tried.is_sound()


def test_a_label_said_twice_counts_as_the_worse(tmp_path: Path) -> None:
    said = [{"index": 1, "relation": relation} for relation in ("CONTRADICTS", "SUPPORTS", "SUPPORTS")]
    tried = run(tmp_path, label=always(json.dumps({"spans": said})))
    assert tried.status == "UNRESOLVED"
    tried.is_sound()


def test_readings_that_disagree_do_not_verify(tmp_path: Path) -> None:
    asked = iter(range(100))

    def fickle(body: dict[str, Any]) -> Any:
        return all_labelled("SUPPORTS" if next(asked) % 2 else "IRRELEVANT")(body)

    tried = run(tmp_path, label=fickle)
    assert tried.status == "UNRESOLVED"
    tried.is_sound()


QUESTIONS = {
    "of a claim that is not there": {**CHECK, "claim": "c99"},
    "of a source that is not there": {**CHECK, "source": "ev_0999"},
    "with a label that is none": {**CHECK, "label": "VERIFIED"},
    "without a word": {**CHECK, "question": ""},
    "of a megabyte": {**CHECK, "question": "Is it so? " * 100_000},
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_questions_that_mean_nothing_are_dropped_and_said(tmp_path: Path, question: dict[str, str]) -> None:
    tried = run(tmp_path, decompose=asking(question, *[CHECK] * 40))
    asked = [record for record in tried.records() if isinstance(record, events.VerifierQuestions)]
    assert asked and asked[0].problem
    assert len(asked[0].questions) <= 3
    tried.is_sound()


def gone_after(calls: int, drop: Drop) -> Callable[..., Any]:
    """A verifier that answers so many requests and then drops every connection."""
    cast = Cast([final("none")], decompose=asking(CHECK), check=YES)

    def script(index: int, body: dict[str, Any]) -> Any:
        return cast(index, body) if index < calls else drop

    return script


@pytest.mark.parametrize("drop", [Drop(), Drop(after='{"score": 4')], ids=["silently", "in mid-sentence"])
@pytest.mark.parametrize("calls", [0, 2, 4, 6])
def test_a_verifier_that_goes_away_in_the_middle_ends_in_a_named_reason(
    tmp_path: Path, calls: int, drop: Drop
) -> None:
    """It is asked for questions, look-ups (two turns), labels (two readings) and scores (three)."""
    settings = ("-c", "model.deadline_s=2")
    gone = gone_after(calls, drop)
    tried = attempt(tmp_path, WORKER, *OFFLINE, *settings, question=QUESTION, files=FILES, verifier=gone)
    assert tried.status == "UNRESOLVED" and tried.code == 3
    assert tried.verdict in [("INCONCLUSIVE", "JUDGE_UNRELIABLE"), ("INCONCLUSIVE", "SCORE")]
    tried.is_sound()


@pytest.mark.parametrize("reply", ["", "VERIFIED", '{"questions": 4}'])
def test_a_verifier_that_cannot_ask_is_judged_without_questions_and_it_is_said(
    tmp_path: Path, reply: str
) -> None:
    tried = run(tmp_path, decompose=always(reply))
    asked = [record for record in tried.records() if isinstance(record, events.VerifierQuestions)]
    assert [each.questions for each in asked] == [()] and asked[0].problem
    tried.is_sound()


def test_a_low_score_of_a_judge_that_is_well_is_no_fault_of_its_form(tmp_path: Path) -> None:
    tried = run(tmp_path, score=scored(2))
    assert tried.verdict == ("INCONCLUSIVE", "SCORE")
    tried.is_sound()
