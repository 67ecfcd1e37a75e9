"""The footnotes of an answer: what each of its citations points at, in the same words in every format."""

from collections import defaultdict
from collections.abc import Iterable

from vera.evidence.citation import place_name
from vera.report.answer import Quote, block, quotes
from vera.report.view.current import last_answer
from vera.state import RunState
from vera.store import Store


class Footnotes:
    """The notes of an answer, by citation.

    `numbers` has the notes that were asked for by `number`, in their order from 1; `shown` are their places.
    """

    def __init__(self, quotes: Iterable[Quote]) -> None:
        self._quotes: defaultdict[str, list[Quote]] = defaultdict(list)
        for quote in quotes:
            self._quotes[quote.evidence].append(quote)
        self.numbers: dict[str, int] = {}
        self.shown: set[Quote] = set()

    def quote(self, evidence: str, first: int | None, last: int | None) -> Quote | None:
        """The place that a citation of these lines, None for all of them, was resolved to.

        Cited lines are widened to whole sentences, so it is the shortest place that has them.
        """
        places = self._quotes.get(evidence, [])
        if first is None:
            return max(places, key=_length, default=None)
        exact = [each for each in places if (each.first, each.last) == (first, last)]
        wider = [each for each in places if each.first <= first and (last or first) <= each.last]
        return min(exact or wider, key=_length, default=None)

    def text(self, evidence: str, first: int | None, last: int | None) -> str:
        """The note of a citation: its source and lines, when they were read, and their words, each of those
        lines behind `> `; or why they cannot be shown."""
        if quote := self.quote(evidence, first, last):
            return block(quote)
        return f"[{place_name(evidence, first, last)}] cannot be shown: it is not among the places looked up."

    def number(self, evidence: str, first: int | None, last: int | None) -> int:
        """The number of the note of a citation; what is cited again keeps its number."""
        if quote := self.quote(evidence, first, last):
            self.shown.add(quote)
        return self.numbers.setdefault(self.text(evidence, first, last), len(self.numbers) + 1)


def cited_places(state: RunState, store: Store) -> list[Quote]:
    """The places that the answer of a page cites."""
    answer = last_answer(state)
    return quotes(answer, state.evidence, store) if answer else []


def parts_of(text: str) -> tuple[str, tuple[str, ...]]:
    """The first line of a note, and the words of the cited lines."""
    first, *lines = text.split("\n")
    return first, tuple(line.removeprefix(">").removeprefix(" ") for line in lines)


def _length(quote: Quote) -> int:
    return quote.last - quote.first
