"""The rows of the reduction about a request: its tier, its lens, its budget, its required outputs."""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest

from support.exams import exam
from support.rounds import policy
from vera.attestation.lenses import load_lens
from vera.attestation.objects import (
    Card,
    Cluster,
    Confidence,
    Coverage,
    Digest,
    Findings,
    Lens,
    Reading,
    Relation,
    Source,
    SpanSelector,
    SubClaim,
    Thesis,
    digest,
    object_id,
)
from vera.attestation.reduce import Reduced, reduce
from vera.attestation.request import request_of
from vera.evidence.finding import Finding

THESIS = Thesis(text="The river is 312 km long.", sub_claims=(SubClaim(key="c1", text="It is 312 km long."),))
FILE, WEB, WEB_2, WEB_3 = (
    Source(name=name, tier="captured", canonical=digest(name.encode()))
    for name in ("report.txt", "https://a.example/", "https://b.example/", "https://c.example/")
)
UNCITED = Finding(code="uncited", label="missing_source", severity="hard", message="No.", claim="c1")
STRAY = Finding(code="not_the_thesis", label="misread_task", severity="hard", message="No.")


def card(source: Source, relation: Relation = "SUPPORTS") -> Card:
    return Card(
        thesis=object_id(THESIS),
        source=object_id(source),
        evidence="ev_0001",
        span=SpanSelector(start=0, end=1, first=1, last=1, sha256=digest(b"x")),
        claim="c1",
        relation=relation,
        confidence=Confidence(method="rule"),
        maker="containment/1",
    )


def reduced(
    cards: Sequence[Card] = (),
    *findings: Finding,
    cut: str = "",
    lens: Lens | None = None,
    rule: str = "literal",
    points: int = 400,
    **asked: Any,
) -> Reduced:
    lens = lens or load_lens("general")
    request, _ = request_of("The river is 312 km long.", lens=lens, scope="web,files", **asked)
    sources: Mapping[Digest, Source] = {object_id(each): each for each in (FILE, WEB, WEB_2, WEB_3)}
    used = sorted({each.source for each in cards})
    return reduce(
        thesis=THESIS,
        policy=policy(rule),
        findings=Findings(
            findings=findings, readings=(Reading(criterion="a", points=points),), exams=(exam(),)
        ),
        coverage=Coverage(
            clusters=tuple(Cluster(key=each, sources=(each,), cards=()) for each in used), cut=cut
        ),
        cards={object_id(each): each for each in cards},
        sources=sources,
        request=request,
        lens=lens,
    )


def verdict(found: Reduced) -> tuple[str, str]:
    return found.result, found.reason


@pytest.mark.parametrize(
    ("risk", "sources", "expected"),
    [
        ("low", (FILE,), ("SUPPORTED", "")),
        ("high", (FILE,), ("SUPPORTED", "")),
        ("low", (WEB,), ("INCONCLUSIVE", "COVERAGE")),
        ("low", (WEB, WEB_2), ("SUPPORTED", "")),
        ("med", (WEB, WEB_2), ("SUPPORTED", "")),
        ("high", (WEB, WEB_2), ("INCONCLUSIVE", "COVERAGE")),
        ("high", (WEB, WEB_2, WEB_3), ("SUPPORTED", "")),
    ],
)
def test_the_tier_of_the_request_says_how_many_sources_a_claim_needs(
    risk: str, sources: Sequence[Source], expected: tuple[str, str]
) -> None:
    assert verdict(reduced([card(each) for each in sources], risk=risk)) == expected


@pytest.mark.parametrize(
    ("risk", "sources", "expected"),
    [
        ("high", (FILE,), ("UNSUPPORTED", "REFUTED")),
        ("low", (WEB,), ("INCONCLUSIVE", "COVERAGE")),
        ("low", (WEB, WEB_2), ("UNSUPPORTED", "REFUTED")),
        ("high", (WEB, WEB_2), ("INCONCLUSIVE", "COVERAGE")),
        ("high", (WEB, WEB_2, WEB_3), ("UNSUPPORTED", "REFUTED")),
    ],
)
def test_row_95_to_refute_takes_as_many_sources_as_to_support(
    risk: str, sources: Sequence[Source], expected: tuple[str, str]
) -> None:
    assert verdict(reduced([card(each, "CONTRADICTS") for each in sources], risk=risk)) == expected


def test_a_lens_can_ask_for_more_sources() -> None:
    lens = Lens(name="mine", description="", file_sources=2, web_sources=3)
    assert verdict(reduced([card(FILE)], lens=lens)) == ("INCONCLUSIVE", "COVERAGE")
    assert verdict(reduced([card(FILE), card(WEB)], lens=lens)) == ("SUPPORTED", "")
    assert verdict(reduced([card(WEB), card(WEB_2)], lens=lens)) == ("INCONCLUSIVE", "COVERAGE")


def test_high_risk_asks_for_a_higher_score() -> None:
    found = [card(FILE)]
    assert verdict(reduced(found, rule="model", points=320, risk="med")) == ("SUPPORTED", "")
    assert verdict(reduced(found, rule="model", points=320, risk="high")) == ("INCONCLUSIVE", "SCORE")
    assert verdict(reduced(found, rule="model", points=350, risk="high")) == ("SUPPORTED", "")


@pytest.mark.parametrize(
    ("cards", "findings", "expected"),
    [
        ((), (), ("INCONCLUSIVE", "BUDGET")),
        ((), (UNCITED,), ("INCONCLUSIVE", "BUDGET")),
        ((card(WEB),), (), ("INCONCLUSIVE", "BUDGET")),
        ((card(FILE),), (), ("SUPPORTED", "")),
        ((card(FILE),), (UNCITED,), ("UNSUPPORTED", "NO_EVIDENCE")),
        ((card(WEB, "CONTRADICTS"),), (), ("INCONCLUSIVE", "BUDGET")),
        ((card(FILE, "CONTRADICTS"),), (), ("INCONCLUSIVE", "BUDGET")),
        (tuple(card(each, "CONTRADICTS") for each in (WEB, WEB_2, WEB_3)), (), ("INCONCLUSIVE", "BUDGET")),
        ((card(FILE), card(WEB, "CONTRADICTS")), (), ("DISPUTED", "")),
        ((card(FILE),), (STRAY,), ("INCONCLUSIVE", "FINDINGS")),
    ],
)
def test_a_look_up_that_its_budget_ended_leaves_open_what_it_did_not_decide(
    cards: Sequence[Card], findings: Sequence[Finding], expected: tuple[str, str]
) -> None:
    assert verdict(reduced(cards, *findings, cut="sources")) == expected


@pytest.mark.parametrize(
    ("cards", "findings", "required", "expected"),
    [
        ((), (UNCITED,), "", ("UNSUPPORTED", "NO_EVIDENCE")),
        ((), (UNCITED,), "omissions", ("UNSUPPORTED", "NO_EVIDENCE")),
        ((), (UNCITED,), "evidence_cards", ("INCONCLUSIVE", "NO_EVIDENCE")),
        ((card(FILE, "IRRELEVANT"),), (UNCITED,), "evidence_cards", ("INCONCLUSIVE", "NO_EVIDENCE")),
        ((card(FILE, "QUALIFIES"),), (UNCITED,), "evidence_cards", ("UNSUPPORTED", "NO_EVIDENCE")),
        ((), (UNCITED,), "coverage_map", ("INCONCLUSIVE", "COVERAGE")),
        ((), (UNCITED,), "contradictions", ("INCONCLUSIVE", "COVERAGE")),
        ((), (), "coverage_map", ("INCONCLUSIVE", "NO_EVIDENCE")),
        ((card(FILE),), (), "evidence_cards,coverage_map,contradictions,omissions", ("SUPPORTED", "")),
        ((card(FILE, "CONTRADICTS"),), (), "evidence_cards,coverage_map", ("UNSUPPORTED", "REFUTED")),
    ],
)
def test_a_required_output_that_cannot_be_made_leaves_the_result_open(
    cards: Sequence[Card], findings: Sequence[Finding], required: str, expected: tuple[str, str]
) -> None:
    assert verdict(reduced(cards, *findings, required=required)) == expected


def test_an_answer_to_something_else_is_never_supported() -> None:
    assert verdict(reduced([card(FILE)], STRAY)) == ("INCONCLUSIVE", "FINDINGS")


def test_a_request_is_reduced_with_its_own_lens_only() -> None:
    request, _ = request_of("The river is 312 km long.")
    given: dict[str, Any] = {
        "thesis": THESIS,
        "policy": policy("literal"),
        "findings": Findings(),
        "coverage": Coverage(clusters=()),
        "cards": {},
        "sources": {},
    }
    for pair in ({"request": request}, {"lens": load_lens("general")}):
        with pytest.raises(ValueError, match="its lens"):
            reduce(**given, **pair)
    other = msgspec.structs.replace(load_lens("general"), guidance="Believe it.")
    with pytest.raises(ValueError, match="its lens"):
        reduce(**given, request=request, lens=other)
