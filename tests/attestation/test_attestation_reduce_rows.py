"""The tables of the reduction as they are printed: an example of every row gives what the row says."""

from collections.abc import Callable, Sequence

import msgspec
import pytest

from support.exams import exam
from support.rounds import policy
from vera.attestation import reduce as reduction
from vera.attestation.lenses import load_lens
from vera.attestation.objects import (
    Card,
    CheckResult,
    Cluster,
    Confidence,
    Coverage,
    Entailment,
    Exam,
    Findings,
    Reading,
    Relation,
    Source,
    SpanSelector,
    SubClaim,
    Superseder,
    Thesis,
    Unread,
    canonical,
    digest,
    object_id,
)
from vera.attestation.reduce import Reduced
from vera.attestation.request import request_of
from vera.evidence.finding import Finding

ONE = Source(name="one.txt", tier="captured", canonical=digest(b"one"))
TWO = Source(name="two.txt", tier="captured", canonical=digest(b"two"))
PAGE = Source(name="https://a.example/", tier="captured", canonical=digest(b"page"))
GOOD = (Reading(criterion="a", points=400),)
LOW = (Reading(criterion="a", points=200),)
UNREADABLE = (Reading(criterion="a"),)


def card(
    source: Source = ONE, relation: Relation = "SUPPORTS", claim: str = "c1", agree: int = 1, votes: int = 1
) -> Card:
    return Card(
        thesis=digest(b"thesis"),
        source=object_id(source),
        evidence="ev_0001",
        span=SpanSelector(start=0, end=1, first=1, last=1, sha256=digest(b"x")),
        claim=claim,
        relation=relation,
        confidence=Confidence(method="readings", agree=agree, votes=votes),
        maker="judge",
    )


def replaced(told: Card, *, explicit: bool = True) -> Card:
    span = SpanSelector(start=0, end=1, first=1, last=1, sha256=digest(b"y"))
    by = Superseder(
        name="new.txt", canonical=digest(b"new"), evidence="ev_0002", span=span, explicit=explicit
    )
    return msgspec.structs.replace(told, superseded_by=(by,))


def hard(claim: str = "c1", code: str = "number_not_in_source") -> Finding:
    return Finding(code=code, label="fabricated", severity="hard", message="No.", claim=claim)


def of(
    *cards: Card,
    claims: int = 1,
    found: Sequence[Finding] = (),
    unread: str = "",
    readings: Sequence[Reading] = GOOD,
    rule: str = "model",
    checks: Sequence[CheckResult] = (),
    cut: str = "",
    required: str | None = None,
    clusters: bool = True,
    limits: str = "",
    light: bool = False,
    exams: Sequence[Exam] = (exam(),),
) -> Reduced:
    """The reduction of an example; it is about a request where it was cut or something is required."""
    lens = load_lens("general")
    asked = required is not None or cut
    request = request_of("It is so.", lens=lens, required=required or "")[0] if asked else None
    sources = {object_id(each): each for each in (ONE, TWO, PAGE)}
    used = sorted({each.source for each in cards}) if clusters else []
    return reduction.reduce(
        thesis=Thesis(
            text="?",
            sub_claims=(
                *(SubClaim(key=f"c{number + 1}", text="So.") for number in range(claims)),
                *([SubClaim(key="c9", text="Yes.", load_bearing=False)] * light),
            ),
        ),
        policy=policy(rule),
        findings=Findings(
            findings=tuple(found),
            checks=tuple(checks),
            readings=tuple(readings),
            unread=(Unread(claim="c1", why=unread),) if unread else (),
            limits=(limits,) if limits else (),
            exams=tuple(exams),
        ),
        coverage=Coverage(
            clusters=tuple(Cluster(key=each, sources=(each,), cards=()) for each in used), cut=cut
        ),
        cards={object_id(each): each for each in cards},
        sources=sources,
        request=request,
        lens=lens if request else None,
    )


ENTAILMENT = Entailment(
    rule="entailment/1",
    model="0" * 64,
    tokenizer="1" * 64,
    labels=("supported", "neither"),
    tokens=512,
    threshold_bp=5000,
    margin_bp=500,
    step_bp=1,
)

OPEN = CheckResult(claim="c1", question="Is it?", source="", label="x", answer="unknown")
AGAINST: Relation = "CONTRADICTS"

OF_A_CLAIM: dict[str, Callable[[], Reduced]] = {
    "r ≥ k, s = 0, no budget cut the look-up of a request short": lambda: of(
        card(relation=AGAINST), found=[hard()]
    ),
    "of a request: s < k, c = 0 or s = 0, its budget cut the look-up short": lambda: of(
        card(relation=AGAINST), cut="sources", found=[hard(code="uncited")]
    ),
    "of a request: s < k, c = 0 or s = 0, its spans were not read for want of budget": lambda: of(
        card(PAGE), unread="The budget is spent.", required=""
    ),
    "of a request: s = 0, 0 < r < k": lambda: of(card(PAGE, AGAINST), found=[hard()], required=""),
    "a hard finding, other than those of coverage": lambda: of(
        card(), card(TWO, AGAINST), found=[hard(), hard(code="coverage_missing")]
    ),
    "c > 0, s > 0": lambda: of(card(), card(TWO, AGAINST), found=[hard(code="coverage_missing")]),
    "a hard finding of coverage (`coverage_missing`, `not_independent`)": lambda: of(
        card(), found=[hard(code="not_independent")]
    ),
    "rule `model` or `entailment`, its lines are set aside by their heading (`set_aside`)": lambda: of(
        card(), found=[msgspec.structs.replace(hard(code="set_aside"), severity="soft")]
    ),
    "s ≥ k": lambda: of(card(), unread="budget"),
    "0 < s < k, or s = 0 and 0 < r < k": lambda: of(card(PAGE, AGAINST), unread="budget"),
    "s = 0, its spans were not read for want of budget": lambda: of(
        card(agree=1, votes=2), unread="The budget is spent."
    ),
    "s = 0, a reading could not be parsed, or half of them or more disagree": lambda: of(
        card(agree=1, votes=2), card(TWO, "QUALIFIES")
    ),
    "s = 0, a card that QUALIFIES": lambda: of(card(relation="QUALIFIES")),
    "s = 0, a card whose lines another file replaces (`superseded_by`)": lambda: of(replaced(card())),
    "nothing": lambda: of(card(relation="IRRELEVANT")),
}

OF_THE_WHOLE: dict[str, Callable[[], Reduced]] = {
    "a hard finding that is on no load-bearing claim": lambda: of(card(relation=AGAINST), found=[hard("")]),
    "no load-bearing claim": lambda: of(claims=0),
    "a claim refuted": lambda: of(card(), card(claim="c2", relation=AGAINST), claims=2),
    "a claim disputed": lambda: of(
        card(), card(claim="c2"), card(TWO, claim="c2", relation=AGAINST), claims=2
    ),
    "a claim not supported, another supported": lambda: of(card(), claims=2),
    "no claim supported": lambda: of(card(PAGE), claims=2),
    "all supported, and a claim that does not count for the verdict, not checked": lambda: of(
        card(), light=True, readings=UNREADABLE
    ),
    "of a request: all supported, and for want of budget the score was not read": lambda: of(
        card(), readings=UNREADABLE, required="", limits="the token budget of 500 is spent"
    ),
    "all supported, rule `model`, who labelled or who scored has not passed the exam": lambda: of(
        card(), exams=[exam(), exam("other", passed=False, roles=("scores",))]
    ),
    "all supported, rule `entailment`, who labelled has not passed the exam": lambda: of(
        card(), rule="entailment", exams=[exam()]
    ),
    "all supported, rule `model`, the score is not readable": lambda: of(card(), readings=UNREADABLE),
    "all supported, rule `model`, score after caps below `min_score`": lambda: of(card(), readings=LOW),
    "all supported, rule `literal` or `entailment`, a cap": lambda: of(
        card(), rule="entailment", checks=[OPEN], exams=[exam(entailment=ENTAILMENT)]
    ),
    "all supported": lambda: of(card(), required="evidence_cards,coverage_map,contradictions,omissions"),
    "of a request: decided by the rows above, and `evidence_cards` required with no card that says "
    "anything": lambda: of(found=[hard()], required="evidence_cards,coverage_map"),
    "of a request: likewise, and `coverage_map` required with no cluster, or `contradictions` with no "
    "card": lambda: of(card(), clusters=False, required="coverage_map"),
}

THAT_OF_THE_WORST = {
    "a claim not supported, another supported": ("INCONCLUSIVE", "PARTIAL"),
    "no claim supported": ("INCONCLUSIVE", "NO_EVIDENCE"),
}


def rows(head: str) -> dict[str, tuple[str, str]]:
    """The rows of a printed table: the case, and the result with its reason."""
    table = (reduction.__doc__ or "").partition(f"| {head} | result | reason |\n")[2].partition("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in table.splitlines()[1:]]
    return {case: (result, reason.strip("| ")) for case, result, reason in cells}


PRINTED = {"of one claim": rows("of one claim"), "of the whole": rows("of the whole")}


def test_every_row_has_an_example_and_no_example_is_without_a_row() -> None:
    assert list(PRINTED["of one claim"]) == list(OF_A_CLAIM)
    assert list(PRINTED["of the whole"]) == list(OF_THE_WHOLE)


@pytest.mark.parametrize("row", OF_A_CLAIM)
def test_a_row_of_the_first_table(row: str) -> None:
    claim = OF_A_CLAIM[row]().claims[0]
    assert (claim.result, claim.reason) == PRINTED["of one claim"][row]


@pytest.mark.parametrize("row", OF_THE_WHOLE)
def test_a_row_of_the_second_table(row: str) -> None:
    reduced = OF_THE_WHOLE[row]()
    expected = THAT_OF_THE_WORST.get(row, PRINTED["of the whole"][row])
    assert (reduced.result, reduced.reason) == expected


def test_no_claim_supported_gives_the_worst_of_them() -> None:
    assert of(card(PAGE), claims=2).claims[0].reason == "COVERAGE"
    assert of(found=[hard()], claims=2).reason == "NO_EVIDENCE"


def test_old_words_neither_prove_nor_refute_what_holds_now() -> None:
    refuting = of(replaced(card(relation=AGAINST)))
    assert (refuting.result, refuting.reason) == ("INCONCLUSIVE", "PARTIAL")
    assert of(card(relation=AGAINST)).reason == "REFUTED"
    assert of(replaced(card()), card(TWO)).result == "SUPPORTED"
    assert of(card(), replaced(card(TWO, AGAINST))).result == "DISPUTED"


def test_a_hint_that_lines_are_superseded_decides_nothing() -> None:
    assert of(replaced(card(), explicit=False)).result == "SUPPORTED"


def test_a_card_without_a_superseder_has_the_id_that_it_had() -> None:
    assert b"superseded_by" not in canonical(card())
