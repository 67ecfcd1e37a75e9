"""A source as checks read it: its text decoded once, what is found in it found once."""

from functools import cached_property

from vera.extraction.marks import blanked, within
from vera.text.date_order import Orders, date_orders, in_order
from vera.text.language import language
from vera.text.passages import Passages
from vera.text.quantity import Quantity, quantities
from vera.text.span import Lines
from vera.text.whole_sentences import Whole, whole
from vera.text.words import folded, stems

_PARTS_KEPT = 64
"""Parts of one text: the claims of an answer cite the same lines again and again."""
_WHOLES_KEPT = 10_000
"""Of an answer with ten thousand citations each is made whole once."""

Marks = tuple[tuple[str, int, int], ...]
"""Kind, first byte and the byte behind the last of each (`vera.extraction.marks`)."""


class SourceText:
    """One canonical text, or a part of one. Every property is worked out when it is first asked for.

    `whole` are its bytes and `marks` what of them is struck out or hidden. In `data`, which everything else
    is taken from, spaces replace it: what a reader would not see as said is not there. `around` is the
    text that this one is a part of.
    """

    def __init__(self, whole: bytes, marks: Marks = (), around: "SourceText | None" = None) -> None:
        self.whole = whole
        self.marks = marks
        self._around = around
        self._beside = around.language if around else ""
        self.data = blanked(whole, marks)
        self._views: dict[Marks, SourceText] = {}
        self._parts: dict[tuple[int, int], SourceText] = {}
        self._wholes: dict[tuple[int, int], Whole] = {}

    def seen(self, marks: Marks) -> "SourceText":
        """The same text with these marks; the same object whenever it is asked for."""
        if marks == self.marks:
            return self
        if marks not in self._views:
            self._views[marks] = SourceText(self.whole, marks, self._around)
        return self._views[marks]

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.data)

    @cached_property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    @cached_property
    def language(self) -> str:
        """The language of its words, else that of the text that it is a part of; '' when unsure."""
        return language(self.text) or self._beside

    @cached_property
    def folded(self) -> str:
        """The text with white space, quotes and dashes folded, in lower case."""
        return folded(self.text)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Its numbers, dates, percentages and amounts with units."""
        return in_order(self._read, lambda: self._orders)

    @cached_property
    def _read(self) -> tuple[Quantity, ...]:
        """Its quantities, each date of digits in both readings."""
        return tuple(quantities(self.text, self._beside))

    @cached_property
    def _orders(self) -> Orders:
        """Whether its dates of digits have the day or the month first, as far as its whole text tells."""
        return self._around._orders if self._around else date_orders(self.text, self._read)

    def beside(self, text: str) -> tuple[Quantity, ...]:
        """The quantities of what stands over it or names it: its headings, its title."""
        return in_order(tuple(quantities(text)), lambda: self._orders)

    @cached_property
    def passages(self) -> Passages:
        """Its lines, indexed by the stems of their words."""
        return Passages(self.text)

    @cached_property
    def all_stems(self) -> frozenset[str]:
        """The stems of all its words."""
        return frozenset(stems(self.text))

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its content words."""
        return self.passages.stems

    def sentences_of(self, first: int, last: int) -> Whole:
        """The whole sentences that touch lines `first` to `last` of the unmarked text: every check asks for
        those of each citation. Raises IndexError when the lines do not exist."""
        text = self.seen(())
        found = text._wholes.get((first, last))
        if found is None:
            if len(text._wholes) >= _WHOLES_KEPT:
                text._wholes.clear()
            found = text._wholes[first, last] = whole(text.lines, first, last)
        return found

    def part(self, first: int, last: int) -> "SourceText":
        """Lines `first` to `last`. Raises IndexError when they do not exist."""
        return self.cut(*self.lines.bounds(first, last))

    def cut(self, start: int, end: int) -> "SourceText":
        """The bytes `start` to `end`: for the parts that were asked for last, the same object again."""
        found = self._parts.pop((start, end), None)
        if found is None:
            found = SourceText(self.whole[start:end], within(self.marks, start, end), self)
        self._parts[start, end] = found
        if len(self._parts) > _PARTS_KEPT:
            del self._parts[next(iter(self._parts))]
        return found
