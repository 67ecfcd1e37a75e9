"""A source as checks read it: its text decoded once, what is found in it found once."""

from functools import cached_property

from vera.evidence.passages import Passages
from vera.evidence.quantity import Quantity, quantities
from vera.evidence.span import Lines
from vera.evidence.words import folded


class SourceText:
    """One canonical text, or a part of one. Every property is worked out when it is first asked for."""

    def __init__(self, data: bytes) -> None:
        self.data = data

    @cached_property
    def lines(self) -> Lines:
        return Lines(self.data)

    @cached_property
    def text(self) -> str:
        return self.data.decode("utf-8", "replace")

    @cached_property
    def folded(self) -> str:
        """The text with white space, quotes and dashes folded, in lower case."""
        return folded(self.text)

    @cached_property
    def quantities(self) -> tuple[Quantity, ...]:
        """Its numbers, dates, percentages and amounts with units."""
        return tuple(quantities(self.text))

    @cached_property
    def passages(self) -> Passages:
        """Its lines, indexed by the stems of their words."""
        return Passages(self.text)

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of its content words."""
        return self.passages.stems

    def part(self, first: int, last: int) -> "SourceText":
        """Lines `first` to `last`. Raises IndexError when they do not exist."""
        return SourceText(self.lines.cut(first, last))
