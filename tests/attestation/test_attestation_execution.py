"""The verdict on an execution's answer: what an attestation carries, and what it does not."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera import events
from vera.attestation.execution import _word, as_evidence, handles_of, needs_computing
from vera.audit.claims import split
from vera.evidence.citation import find_citations
from vera.headline import Headline


def cited(answer: str) -> list[tuple[str, list[tuple[str, int | None, int | None]]]]:
    """The load-bearing claims, each with the attestations that it cites."""
    return [
        (claim.text, [(handle, cite.first, cite.last) for handle, cite in handles_of(claim)])
        for claim in split(as_evidence(answer))
        if claim.load_bearing
    ]


@pytest.mark.parametrize(
    ("bracket", "handles"),
    [
        ("[att_0001]", [("att_0001", None, None)]),
        ("[att_0001:c2]", [("att_0001", 2, 2)]),
        ("[att_0001:c1-3]", [("att_0001", 1, 3)]),
        ("[att_0001:c1, c3; att_0002]", [("att_0001", 1, 1), ("att_0001", 3, 3), ("att_0002", None, None)]),
        ("[att_0001; ev_0003:12]", [("att_0001", None, None)]),
        ("【att_0012:c1】", [("att_0012", 1, 1)]),
        ("[att_1]", []),
        ("[att_0001:first]", []),
        ("(att_0001)", []),
    ],
)
def test_an_attestation_is_cited_at_the_end_of_its_sentence(
    bracket: str, handles: list[tuple[str, int | None, int | None]]
) -> None:
    claims = cited(f"The offer is valid for 3 years {bracket}.")
    assert [found for _, found in claims] == [handles]


def test_citations_of_evidence_stay_what_they_are() -> None:
    answer = "It is 42 [ev_0001:3]. It is 43 [ev_0002; ev_0010:4-5]."
    assert as_evidence(answer) == answer
    assert needs_computing(answer)
    assert not needs_computing("It is 42 [att_0001]. It is 43.")


@given(st.text(alphabet="[]【】att_ev0123456789:c,; -L.\n", max_size=300))
def test_rewriting_moves_no_character_and_invents_no_evidence(answer: str) -> None:
    """So a claim's place in the rewritten answer is its place in the answer."""
    rewritten = as_evidence(answer)
    assert len(rewritten) == len(answer)
    before = {each.evidence for each in find_citations(answer)}
    new = {each.evidence for each in find_citations(rewritten)} - before
    assert all(len(name) >= len("ev_00001") and name.startswith("ev_0") for name in new)


def test_a_hostile_answer_is_read_in_linear_time() -> None:
    for piece in ("[att_0001:c1", "att_0", "[att_0001, ", "[[att_0001]"):
        answer = piece * (1_000_000 // len(piece))
        assert len(as_evidence(answer)) == len(answer)


def carried(word: str, *, load_bearing: bool = True, against: bool = False) -> events.ClaimCarried:
    by = "att_0001:c1" if word and not against else ""
    return events.ClaimCarried(
        claim="c1", start=0, end=9, load_bearing=load_bearing, by=by, against=against, word=word
    )


NOTHING = carried("")
ASIDE = carried("", load_bearing=False)


@pytest.mark.parametrize(
    ("claims", "word"),
    [
        ([], "UNRESOLVED"),
        ([NOTHING], "UNRESOLVED"),
        ([ASIDE], "UNRESOLVED"),
        ([carried("VERIFIED")], "VERIFIED"),
        ([carried("VERIFIED"), carried("QUOTED")], "QUOTED"),
        ([carried("VERIFIED"), NOTHING], "PARTIAL"),
        ([carried("VERIFIED"), ASIDE], "PARTIAL"),
        ([carried("VERIFIED"), carried("DISPUTED", against=True)], "DISPUTED"),
        ([carried("REFUTED", against=True), carried("DISPUTED", against=True)], "REFUTED"),
    ],
)
def test_an_execution_has_the_word_of_its_weakest_claim(
    claims: list[events.ClaimCarried], word: Headline
) -> None:
    assert _word(claims) == word
