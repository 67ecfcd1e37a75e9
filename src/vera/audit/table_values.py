"""Numbers in the cells of tables, with the unit and the scale that the table gives them.

A cell holds "3,000"; the head of its column says "Width (mm)", a line above the table "in £ million", or
another cell "kW".
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cached_property

from vera.audit.case import CitedLines
from vera.text.late_regex import late_regex
from vera.text.quantity import Quantity, quantities
from vera.text.quantity_index import Values, is_in
from vera.text.tables import cells_of, delimiter_of
from vera.text.units import ARITHMETIC, Unit, unit_symbols, unit_words
from vera.text.whole_sentences import line

MAX_LINES = 2000
"""Cited lines of a source that are looked through for rows."""

MAX_ABOVE = 100
"""Rows above the cited ones, of which the first may be their head."""

_CAPTION = 3
"""Lines above a table that may say its unit."""

_SIGN = late_regex(r"[(\[,/]\s?([^()\[\],\n]{1,16})(?=[)\],]|\s*\Z)|(?:\A|\bin\s)(\S{1,8})\s*\Z")
_CURRENCY = late_regex(r"[€£$¥₹]|\b(?:EUR|GBP|USD|CHF|JPY)\b")
_WORD = late_regex(r"[^\W\d_]{3,16}")
_VALUE = late_regex(
    r"[(<>~≈±+−–-]{0,3}[$€£¥₹]?\s?[0-9][0-9.,'’ \u00a0\u202f]{0,24}\s?[%‰°*†‡)]{0,3}(?:[^\W\d_][²³]?/?){0,4}"
)
"""A cell that is a number, with a mark or a short unit."""

_SCALES = (
    (
        1_000,
        r"\b(?:thousands?|tausend|milliers?)\b|\bTsd\.|(?<![0-9])['’,.]?000s?\b|\b[Tk]€|\b[Tk]EUR\b|[€£$]\s?k\b",
    ),
    (1_000_000, r"\b(?:millions?|millionen|mio|mn|mln)\b|[€£$]\s?m\b|\bM[€£$]|\bMEUR\b"),
    (1_000_000_000, r"\b(?:billions?|milliarden?|milliards?|mrd|bn)\b|[€£$]\s?bn?\b"),
)
_SCALED = tuple((scale, late_regex(f"(?i:{pattern})")) for scale, pattern in _SCALES)


class TableValues:
    """The numbers without a unit in the rows of cited lines, and what the table says that they measure."""

    def __init__(self, place: CitedLines) -> None:
        self._place = place
        self._delimiter = delimiter_of(self._line(1), place.evidence.media_type)

    def has(self, quantity: Quantity) -> bool:
        """Whether a cell has the quantity: in its own unit or another one, in its scale or another one,
        rounded as it is written."""
        if not (quantity.units or quantity.scale > 1) or not self._rows:
            return False
        measured = ((unit, named) for unit in quantity.units for named in self._units)
        same = [(unit, named) for unit, named in measured if unit.dimension == named.dimension]
        if not quantity.units and quantity.scale > 1:
            same = [(_COUNT, _COUNT)]
        return any(
            is_in(self._values, quantity, unit, _scaled(named, scale))
            for unit, named in same
            for scale in self._scales
        )

    @cached_property
    def _rows(self) -> dict[int, Sequence[str]]:
        """The cited lines that are rows, each with its cells that are numbers and no more."""
        last = min(self._place.last, self._place.first + MAX_LINES)
        found = ((number, _numbers(self._cells(number))) for number in range(self._place.first, last + 1))
        return {number: cells for number, cells in found if cells}

    @cached_property
    def _values(self) -> Values:
        values = Values()
        for cells in self._rows.values():
            for cell in cells:
                for found in quantities(cell, self._place.source.language):
                    if not found.units and found.kind in ("number", "date"):
                        values.add(found.value)
        return values

    @cached_property
    def _said(self) -> str:
        """The rows, and the lines above them that may be heads and captions."""
        numbers: set[int] = set()
        for row in self._rows:
            if row - 1 in numbers:
                numbers.add(row)
            else:
                numbers.update(range(self._top(row), row + 1))
        return "\n".join((*map(self._line, sorted(numbers)), *self._place.headings))

    def _top(self, row: int) -> int:
        """The first line that may say of what the table is that goes on in a row."""
        top = row
        while top > 1 and row - top < MAX_ABOVE and self._line(top - 1).strip("|+-=: \t"):
            if not self._cells(top - 1) and not self._cells(top):
                break
            top -= 1
        return max(1, top - _CAPTION)

    @cached_property
    def _units(self) -> frozenset[Unit]:
        return frozenset(self._named())

    def _named(self) -> Iterator[Unit]:
        for text in self._said.split("\n"):
            for cell in (*self._cells_of(text), text):
                for found in _SIGN.finditer(cell):
                    yield from unit_symbols().get(re.sub(r"\s", "", found[1] or found[2]), ())
            for found in _CURRENCY.finditer(text):
                yield from unit_symbols().get(found[0], ())
            for word in _WORD.findall(text):
                yield from unit_words().get(word.lower(), ())

    @cached_property
    def _scales(self) -> list[int]:
        return [1, *(scale for scale, pattern in _SCALED if pattern.search(self._said))]

    def _cells(self, number: int) -> tuple[str, ...]:
        return self._cells_of(self._line(number))

    def _cells_of(self, text: str) -> tuple[str, ...]:
        return cells_of(text, self._place.evidence.media_type, self._delimiter)

    def _line(self, number: int) -> str:
        return line(self._place.source.lines, number)


_COUNT = Unit("count", Decimal(1))


def _scaled(unit: Unit, scale: int) -> Unit:
    return unit._replace(factor=ARITHMETIC.multiply(unit.factor, Decimal(scale)))


def _numbers(cells: Sequence[str]) -> Sequence[str]:
    """The cells of a row that are numbers; the first one only where all are, since it else names the row."""
    found = [cell for cell in cells if _VALUE.fullmatch(cell)]
    return found if len(found) == len(cells) else [cell for cell in cells[1:] if cell in found]
