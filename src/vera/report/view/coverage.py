"""What was looked at for each claim, by class of source, and what was left out."""

from collections import Counter
from collections.abc import Iterable, Sequence

from vera.attestation.objects import Omission
from vera.attestation.source_types import SOURCE_TYPES
from vera.history import Reached
from vera.report.view.model import ClaimView, Coverage, CoverageCell
from vera.report.view.words import one_line

MAX_OMISSIONS = 200

_WHY_SHOWN = 600


def coverage_of(
    claims: Sequence[ClaimView], reached: Iterable[Reached], omissions: Sequence[Omission]
) -> Coverage:
    """The grid of claims by classes: those of the cards, and those of pages that answered without a card.

    A card that is IRRELEVANT says nothing of its claim and is not counted.
    """
    counts = Counter(
        (claim.key, card.source_class)
        for claim in claims
        for card in claim.cards
        if card.relation != "IRRELEVANT"
    )
    classes = _classes(claims, reached)
    return Coverage(
        claims=tuple(claim.key for claim in claims),
        source_classes=classes,
        cells=tuple(
            CoverageCell(claim=claim.key, source_class=each, cards=counts[claim.key, each])
            for claim in claims
            for each in classes
        ),
        omissions=tuple(_in_words(each) for each in omissions[:MAX_OMISSIONS]),
    )


def _classes(claims: Sequence[ClaimView], reached: Iterable[Reached]) -> tuple[str, ...]:
    """The classes of the cards and of the pages that answered, in the order of SOURCE_TYPES."""
    found = {card.source_class for claim in claims for card in claim.cards}
    found.update(each.target.source_class for each in reached)
    return tuple(each for each in SOURCE_TYPES if each in found)


def _in_words(omission: Omission) -> tuple[str, str]:
    pointer = f" ({omission.pointer})" if omission.pointer else ""
    return one_line(omission.cell), one_line(f"{omission.why}{pointer}", _WHY_SHOWN)
