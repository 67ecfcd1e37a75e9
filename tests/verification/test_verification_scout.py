"""SCOUT: which claims need scope, candidates and outcomes, which of these are filled, and what is asked."""

import msgspec

from support.audits import case_of, evidence_of
from vera.audit.case import Case, Lookup
from vera.audit.taxonomy import TAXONOMY
from vera.verification.scout import MAX_QUESTIONS, questions, slots

CLUB = evidence_of(
    "ev_0001", "The club in 2020\nThe members are Austria, Belgium and Czechia.\nAustria pays no fee.\n"
)


def club(answer: str, task: str = "") -> Case:
    return case_of(answer, CLUB, task=task)


def test_scout_does_not_apply_to_a_plain_statement() -> None:
    scout = slots(club("Austria is a member [ev_0001:2].", "Is Austria a member? Do not use Wikipedia."))
    assert not scout.claims and questions(scout) == ()


def test_a_denial_that_a_cited_line_makes_is_filled() -> None:
    scout = slots(club("Austria pays no fee as of 2020 [ev_0001:3]."))
    (found,) = scout.claims
    assert (found.kind, found.listed, found.missing) == ("negative", "ev_0001:3", ())
    assert questions(scout) == ()


def test_an_open_denial_is_asked_about_where_it_was_looked() -> None:
    case = msgspec.structs.replace(
        club("Denmark was never a member.", "Was Denmark ever a member?"),
        lookups=(Lookup(tool="search", query="Denmark member", evidence="ev_0001", hits=0),),
    )
    scout = slots(case)
    assert scout.claims[0].searched == ("Denmark member",)
    (asked,) = questions(scout)
    assert (asked.claim, asked.kind, asked.source) == ("c1", "coverage", "ev_0001")
    assert asked.label in TAXONOMY and asked.question.endswith("?")


def test_candidates_are_enumerated_from_one_cited_place_each_with_an_outcome() -> None:
    scout = slots(club("All members are Austria, Belgium and Czechia in 2020 [ev_0001:2]."))
    (found,) = scout.claims
    assert found.kind == "set" and found.listed == "ev_0001:2"
    assert [each.name for each in found.candidates] == ["Austria", "Belgium", "Czechia"]
    assert {each.outcome for each in found.candidates} == {"ev_0001:2"}
    assert questions(scout) == ()


def test_candidates_without_a_list_are_asked_for() -> None:
    scout = slots(club("The members are Austria, Belgium and Denmark [ev_0001:3].", "List all members."))
    (found,) = scout.claims
    assert found.missing == ("scope", "candidates", "outcomes")
    assert [each.outcome for each in found.candidates] == ["ev_0001:3", "", ""]
    assert questions(scout)[0].label == "premature_conclusion"


def test_no_more_than_two_questions_are_asked() -> None:
    answer = "\n\n".join(f"Country{number} was never a member in 2020." for number in range(6))
    scout = slots(club(answer))
    assert len(scout.claims) == 6 and len(questions(scout)) == MAX_QUESTIONS
