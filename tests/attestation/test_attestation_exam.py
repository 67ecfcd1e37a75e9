"""The exam of a judge: which papers there are, who passes, and what a replay makes of it."""

import hashlib
import json
from collections import Counter
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.exams import competent, exam, labelled, replies, sat
from support.rounds import evidence, label, labels, policy, record, scores
from support.verified import answer, begin, gathered, open_session
from vera.attestation.build import build
from vera.attestation.exam import (
    KINDS,
    MAX_ACCEPTED,
    SPANS,
    SUPPORTED,
    Grade,
    answered,
    grade,
    in_words,
    paper,
    pool,
    unqualified,
)
from vera.attestation.gather import GatherError
from vera.attestation.objects import Findings, parse

POOL = "37481958b8f8f53d"
ANSWER = "The river is 312 km long [ev_0001:2]."


def always(relation: str, spans: Sequence[str]) -> list[str]:
    return [relation] * len(spans)


def first_only(claim: str, spans: Sequence[str]) -> list[str]:
    """Prefers a place: the first span supports, the others are irrelevant."""
    return ["SUPPORTS", *["IRRELEVANT"] * (len(spans) - 1)]


def last_only(claim: str, spans: Sequence[str]) -> list[str]:
    return first_only(claim, spans)[::-1]


def lazy(claim: str, spans: Sequence[str]) -> list[str]:
    """Looks for the claim's words: most of them there is SUPPORTS."""
    words = set(claim.lower().split())
    shared = [len(words & set(span.lower().split())) / len(words) for span in spans]
    return ["SUPPORTS" if share >= 0.6 else "IRRELEVANT" for share in shared]


def yes_to_half(claim: str, spans: Sequence[str]) -> list[str]:
    return [("SUPPORTS", "CONTRADICTS")[index % 2] for index in range(len(spans))]


def echo(claim: str, spans: Sequence[str]) -> list[str]:
    """The example that stood in the prompt before: the first supports, the second does not; no third."""
    return ["SUPPORTS", "IRRELEVANT"][: len(spans)]


INCOMPETENT = {
    "echo": echo,
    "first only": first_only,
    "last only": last_only,
    "lazy": lazy,
    "half": yes_to_half,
    **{
        f"always {relation}": lambda claim, spans, relation=relation: always(relation, spans)
        for relation in ("SUPPORTS", "CONTRADICTS", "QUALIFIES", "IRRELEVANT")
    },
}


def test_the_pool_is_the_one_of_this_version() -> None:
    """Another pool grades old replies otherwise: who changes it raises VERSION, and then this."""
    data = files("vera.attestation").joinpath("exam.yaml").read_bytes()
    assert hashlib.sha256(data).hexdigest()[:16] == POOL


def test_every_line_of_the_pool_has_a_known_kind_and_stands_there_once() -> None:
    for sheet in pool():
        assert {item.kind for item in sheet.items} <= KINDS.keys()
        assert len({item.text for item in sheet.items}) == len(sheet.items)
        assert sum(item.supports for item in sheet.items) == 3
    assert len({sheet.claim for sheet in pool()}) == len(pool())
    assert {sheet.language for sheet in pool()} == {"en", "de", "fr", "es", "zh"}
    assert {item.kind for sheet in pool() for item in sheet.items} == KINDS.keys()


@given(st.integers(min_value=0, max_value=2**31))
def test_a_paper_is_balanced_and_its_places_tell_nothing(seed: int) -> None:
    sheets = paper(seed)
    items = [item for sheet in sheets for item in sheet.items]
    assert (len(items), sum(item.supports for item in items)) == (SPANS, SUPPORTED)
    assert Counter(sheet.language for sheet in sheets) == {"en": 4, "de": 2, "fr": 2, "es": 2, "zh": 2}
    assert len({item.kind for item in items}) >= 13
    assert len({len(sheet.items) for sheet in sheets}) >= 5


def test_the_same_seed_gives_the_same_paper_and_another_seed_another() -> None:
    assert paper(7) == paper(7) != paper(8)


def test_a_competent_judge_passes_with_everything_right() -> None:
    assert grade(3, replies(competent, 3)) == Grade(right=60, of=60, accepted=0, refusable=36)
    assert grade(3, replies(competent, 3)).passed


@pytest.mark.parametrize("name", INCOMPETENT)
def test_who_does_not_read_fails_every_paper(name: str) -> None:
    for seed in range(40):
        found = grade(seed, replies(INCOMPETENT[name], seed))
        assert not found.passed and found.hopeless, (seed, found)


def test_a_hopeless_judge_is_known_early() -> None:
    """At most after nine of the twelve requests, and who says SUPPORTS to all after two."""
    for judge in INCOMPETENT.values():
        for seed in range(20):
            said = replies(judge, seed)
            asked = next(count for count in range(1, 13) if grade(seed, said[:count]).hopeless)
            assert asked <= (2 if judge is INCOMPETENT["always SUPPORTS"] else 9)


@given(st.integers(min_value=0, max_value=2**31), st.data())
def test_the_bar_is_two_false_accepts_and_a_fifth_wrong(seed: int, data: st.DataObject) -> None:
    """One who has the key and gets some wrong on purpose passes exactly up to the bar."""
    items = list(answered(seed, replies(competent, seed)))
    places = data.draw(st.sets(st.integers(min_value=0, max_value=59), max_size=20))
    accepted = sum(not items[place].item.supports for place in places)
    said = iter(range(60))

    def careless(claim: str, spans: Sequence[str]) -> list[str]:
        return [
            each if next(said) not in places else "IRRELEVANT" if each == "SUPPORTS" else "SUPPORTS"
            for each in competent(claim, spans)
        ]

    found = grade(seed, replies(careless, seed))
    assert (found.accepted, found.right) == (accepted, 60 - len(places))
    assert found.passed == (accepted <= MAX_ACCEPTED and len(places) <= 12)


@pytest.mark.parametrize(
    "reply", ["", "SUPPORTS", '{"spans": []}', '{"spans": [{"index": 1, "relation": "YES"}]}', "{}" * 9]
)
def test_a_reply_that_cannot_be_read_is_wrong_and_accepts_nothing(reply: str) -> None:
    found = grade(0, [reply] * 12)
    assert found.accepted == 0 and not found.passed


def test_nothing_answered_is_no_pass() -> None:
    assert grade(0, []) == Grade(right=0, of=0, accepted=0, refusable=0)
    assert not grade(0, []).passed and not grade(0, replies(competent)[:-1]).passed


def test_what_came_of_it_is_said() -> None:
    assert in_words(exam("qwen", right=57)) == ("judge qwen passed 57 of 60, 0 of 36 false accepts")
    assert in_words(exam("tiny", passed=False, right=31, accepted=20)) == (
        "tiny cannot judge: 31 of 60, 20 of 36 false accepts"
    )
    early = exam("tiny", passed=False, right=2, of=10, accepted=5, refusable=6)
    assert "2 of 10 when it was ended early" in in_words(early)
    assert "could not finish" in in_words(exam("far", passed=False, unfinished="the model failed"))


def test_the_last_exam_of_a_role_decides() -> None:
    passed, failed = exam("a", roles=("labels",)), exam("b", passed=False, roles=("labels", "scores"))
    assert unqualified((failed, passed), "labels") == ""
    assert "b cannot judge" in unqualified((failed, passed), "scores").lower()
    assert "sat no exam" in unqualified((), "labels")


def judged(**changed: object) -> Findings:
    built = build(
        record(
            ANSWER,
            [evidence("ev_0001")],
            policy=policy(),
            labels=(labels("c1", label("ev_0001", 2, 2, "SUPPORTS", 2, 2)),),
            scores=scores(400),
            **changed,
        )
    )
    assert built.attestation.result == "INCONCLUSIVE" and not built.attestation.cards
    return parse(built.objects[built.attestation.findings], Findings)


def test_labels_of_one_who_has_not_passed_count_for_nothing() -> None:
    assert judged(exams=()).unread[0].why.startswith("The judge has sat no exam")
    assert "cannot judge" in judged(exams=(exam(passed=False),)).unread[0].why
    assert "did not sit" in judged(exams=(exam("another"),)).unread[0].why
    assert "did not sit" in judged(exams=(exam(prompt="b" * 64),)).unread[0].why


def test_an_exam_of_other_rules_is_no_pass() -> None:
    other = msgspec.structs.replace(exam(passed=False), version="exam/0")
    assert "sat another exam (exam/0)" in judged(exams=(other,)).unread[0].why


def test_the_record_of_an_exam_holds_what_its_replies_give() -> None:
    made = sat("judge-7b")
    assert made.passed and (made.right, made.of, made.accepted) == (60, 60, 0)
    assert json.loads(str(made.replies[0]))["spans"][0]["index"] == 1
    assert labelled(["SUPPORTS"]) == '{"spans": [{"index": 1, "relation": "SUPPORTS"}]}'


def test_an_exam_that_is_logged_with_other_figures_than_its_replies_give_is_told(tmp_path: Path) -> None:
    session = open_session(tmp_path / "s")
    try:
        begin(session, 1, answer(session), rule="model", judge="judge-7b")
        assert gathered(session, 1).exams[-1].passed
        session.emit(sat("judge-7b", judge=always_yes, right=60, accepted=0, passed=True))
        with pytest.raises(GatherError, match="logged with other figures"):
            gathered(session, 1)
    finally:
        session.close()


def always_yes(claim: str, spans: Sequence[str]) -> list[str]:
    return always("SUPPORTS", spans)
