"""The labels that a rule without a model gives to what the claims of an answer cite."""

from collections.abc import Callable

from vera.audit.case import Case, CitedLines, places
from vera.audit.pointers import lead_of
from vera.events import SpanLabel, VerifierLabels
from vera.evidence.claim import Claim, Relation

EXTRACT_RULE = "extract/1"
"""Who labels a claim that only points at lines: they are there, which is all that it states."""


def labelled(
    case: Case, number: int, label: Callable[[Claim, CitedLines], Relation], maker: str
) -> tuple[VerifierLabels, ...]:
    """The labels of round `number`, by the rule `label` of version `maker`, of every claim that cites
    something, in the order of the claims."""
    return tuple(
        VerifierLabels(
            round=number,
            claim=claim.key,
            labels=tuple(
                SpanLabel(
                    evidence=place.evidence.id,
                    first=place.first,
                    last=place.last,
                    relation=label(claim, place.plain),
                )
                for place in cited
            ),
            maker=maker,
        )
        for claim in case.claims
        if (cited := places(case, claim))
    )


def of_extract(claim: Claim, place: CitedLines) -> Relation:
    """What an extract has from its lines: that they are there, and the words that it begins with are in them.
    Struck out or hidden, they are not."""
    plain = place.plain.span
    said = lead_of(claim.text)
    return "IRRELEVANT" if plain.marks or said not in " ".join(plain.text.split()) else "SUPPORTS"
