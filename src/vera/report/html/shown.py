"""What of a run a page shows: it has a bounded size, whatever the run has collected."""

import itertools
import re
from collections.abc import Sequence

import msgspec

from vera.evidence.citation import find_citations
from vera.report.view.model import CardView, ClaimView, Coverage, RoundView

MAX_CLAIMS = 500
MAX_CARDS = 12
"""Of one claim."""

MAX_CHARACTERS = 400_000
"""Of the quotations of all cards."""

MAX_CLASSES = 20
MAX_ROUNDS = 4
"""Rounds whose answers are compared with each other on the page."""

LINE = 2000
"""Characters of one line of a quotation."""


MAX_PROOFS = 60
"""Claims whose lines are beside the answer; those behind them are in the list of claims."""


_PHRASE = re.compile(r"“([^”\n]{1,400})”")


class ShownClaim(msgspec.Struct, frozen=True):
    """A claim with the cards that are shown, and how many are not; `number` is its place, from 1."""

    number: int
    claim: ClaimView
    cards: tuple[CardView, ...]
    more: int


def shown_claims(claims: Sequence[ClaimView], most_cards: int = MAX_CARDS) -> tuple[ShownClaim, ...]:
    """The first claims; once their quotations fill the page, the others come without cards."""
    left = MAX_CHARACTERS
    made = []
    for number, claim in enumerate(claims[:MAX_CLAIMS], 1):
        cards = []
        for card in claim.cards[:most_cards]:
            cut = _cut(card)
            left -= sum(map(len, cut.quotation)) + 500
            if left < 0:
                break
            cards.append(cut)
        made.append(ShownClaim(number, claim, tuple(cards), len(claim.cards) - len(cards)))
    return tuple(made)


class Proof(msgspec.Struct, frozen=True):
    """The lines that decide a claim, beside the answer: the card, None where no line is cited, and how many
    other cards speak of the claim. `said` has the words of the claim to look for in the lines."""

    number: int
    claim: ClaimView
    card: CardView | None
    others: int
    said: str


def proofs(claims: Sequence[ClaimView], answer: str) -> tuple[Proof, ...]:
    """One for each of the first claims: of one that is contradicted, the lines that contradict it."""
    phrases = {
        (each.evidence, each.first): quoted[1]
        for line in answer[:MAX_CHARACTERS].splitlines()
        if (quoted := _PHRASE.search(line))
        for each in find_citations(line)
    }
    made = []
    for each in shown_claims(claims[:MAX_PROOFS]):
        against = [card for card in each.cards if card.relation == "CONTRADICTS"]
        cards = (against if each.claim.verdict == "contradicted" else []) or each.cards
        card = next((card for card in cards if card.quotation and not card.problem), None)
        said = each.claim.text
        if card is not None and said not in answer:  # an extract: the phrase that it begins with
            said = phrases.get((card.evidence, card.first), said)
        others = len(each.claim.cards) - (card is not None)
        made.append(Proof(each.number, each.claim, card, others, said))
    return tuple(made)


def coverage_rows(coverage: Coverage, most: int = 200) -> list[tuple[str, tuple[int, ...]]]:
    """(claim, its cards by class of source) for the first claims and classes."""
    counts = {(cell.claim, cell.source_class): cell.cards for cell in coverage.cells}
    classes = coverage.source_classes[:MAX_CLASSES]
    return [(key, tuple(counts.get((key, each), 0) for each in classes)) for key in coverage.claims[:most]]


def pairs_of_rounds(rounds: Sequence[RoundView]) -> list[tuple[RoundView, RoundView]]:
    """The last rounds, each with the one before it."""
    return list(itertools.pairwise(rounds[-MAX_ROUNDS:]))


def _cut(card: CardView) -> CardView:
    if all(len(line) <= LINE for line in card.quotation[:50]) and len(card.quotation) <= 50:
        return card
    lines = (line if len(line) <= LINE else line[:LINE] + "…" for line in card.quotation[:50])
    return msgspec.structs.replace(card, quotation=tuple(lines))
