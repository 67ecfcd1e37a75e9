"""What of a run a page shows: it has a bounded size, whatever the run has collected."""

import itertools
import re
from collections.abc import Callable, Mapping, Sequence

import msgspec

from vera.evidence.citation import find_citations
from vera.report.standing import MODEL_FAILED
from vera.report.view.cards import joined
from vera.report.view.model import CardView, ClaimView, Coverage, RoundView, RunPage

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


MAX_OTHER_SIDE = 4
"""Excerpts beside the deciding one that say something else."""

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
    other excerpts speak of the claim. `said` has the words of the claim to look for in the lines;
    `other_side` are cards that say something else: against a claim that holds, for one that does not."""

    number: int
    claim: ClaimView
    card: CardView | None
    others: int
    said: str
    other_side: tuple[CardView, ...] = ()


class Excerpt(msgspec.Struct, frozen=True):
    """Lines of a source that one reading or several are about, which overlap or are the same. `card` has all
    of the lines, `readings` the cards as they are."""

    card: CardView
    readings: tuple[CardView, ...]


def excerpts(cards: Sequence[CardView]) -> tuple[Excerpt, ...]:
    """The cards, those whose lines overlap and say the same of the claim together."""
    made: list[Excerpt] = []
    for card in cards:
        for at, each in enumerate(made):
            if (together := _together(each.card, card)) is not None:
                made[at] = Excerpt(together, _readings(each.readings, card))
                break
        else:
            made.append(Excerpt(card, (card,)))
    return tuple(made)


def _readings(known: tuple[CardView, ...], card: CardView) -> tuple[CardView, ...]:
    """The readings with one more, unless the same reader has read the same lines."""
    same = any((each.maker, each.marked) == (card.maker, card.marked) for each in known)
    return known if same else (*known, card)


def _together(one: CardView, other: CardView) -> CardView | None:
    """A card with the lines of both; None where they are apart, say something else, or are not whole."""
    if (one.source_id, one.relation) != (other.source_id, other.relation) or not one.source_id:
        return None
    if other.first > one.last or one.first > other.last:
        return None
    if not (_is_whole(one) and _is_whole(other)):
        return None
    lines = {each.first + at: line for each in (one, other) for at, line in enumerate(each.quotation)}
    first, last = min(lines), max(lines)
    quotation = tuple(lines[number] for number in range(first, last + 1))
    cited = joined((*one.marked, *other.marked))
    return msgspec.structs.replace(one, first=first, last=last, quotation=quotation, cited=cited)


def _is_whole(card: CardView) -> bool:
    return not card.problem and len(card.quotation) == card.last - card.first + 1


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
        card = _deciding(each)
        said = each.claim.text
        if card is not None and said not in answer:  # an extract: the phrase that it begins with
            said = phrases.get((card.evidence, card.extent[0]), said)
        others = len(excerpts(each.claim.cards)) - (card is not None)
        other_side = _other_side(each.claim, card)
        made.append(Proof(each.number, each.claim, card, others, said, other_side))
    return tuple(made)


def _deciding(shown: ShownClaim) -> CardView | None:
    """The first card with lines; of a claim that is contradicted, one that contradicts it."""
    against = [card for card in shown.cards if card.relation == "CONTRADICTS"]
    cards = (against if shown.claim.verdict == "contradicted" else []) or shown.cards
    return next((card for card in cards if card.quotation and not card.problem), None)


def _other_side(claim: ClaimView, card: CardView | None) -> tuple[CardView, ...]:
    """The cards that speak of a claim otherwise than the one that decides it."""
    decided = card.relation if card is not None else "SUPPORTS"
    return tuple(
        each.card
        for each in excerpts(claim.cards)
        if each.card.relation not in (decided, "IRRELEVANT") and each.card is not card
    )[:MAX_OTHER_SIDE]


_HELD: Mapping[str, Callable[[RunPage], object]] = {
    "claims": lambda page: page.claims,
    "timeline": lambda page: page.timeline.bars or page.timeline.scores,
    "coverage": lambda page: (
        (page.coverage.claims and page.coverage.source_classes) or page.coverage.omissions
    ),
    "rounds": lambda page: page.rounds,
    "choices": lambda page: page.choices,
    "gates": lambda page: page.gates,
    "constraints": lambda page: page.constraints,
    "files": lambda page: page.files,
    "attestation": lambda page: page.attestation,
}
"""Part → what it shows."""


def at_rest(page: RunPage) -> bool:
    """Whether no more comes of a run, unless it is resumed."""
    return page.header.phase in ("ended", "stopped", MODEL_FAILED)


def empty_parts(page: RunPage) -> tuple[str, ...]:
    """The parts of a run at rest in which there is nothing; none while more may come. The answer is no such
    part: that there is none is what a reader wants to know."""
    if not at_rest(page):
        return ()
    return tuple(name for name, held in _HELD.items() if not held(page))


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
