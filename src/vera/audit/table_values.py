"""Numbers in the cells of tables, with the unit and the scale that the table gives them.

A cell holds "3,000"; the head of its column says "Width (mm)", a line above the table "in £ million", or
another cell "kW". Where a line above says the scale of all amounts, no amount is read without it, but in a
row or a column that says its own unit. The scale that the head of a column says is that of its cells.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import cached_property

from vera.audit.case import CitedLines
from vera.text.han_numbers import han_scale
from vera.text.language import language
from vera.text.late_regex import late_regex
from vera.text.quantity import Quantity, quantities
from vera.text.quantity_index import Values, is_in
from vera.text.tables import cells_of, delimiter_of
from vera.text.units import ARITHMETIC, HAN_UNIT, Unit, is_money, unit_symbols, unit_words, units_in
from vera.text.whole_sentences import line

MAX_LINES = 2000
"""Cited lines of a source that are looked through for rows."""

MAX_ABOVE = 100
"""Rows above the cited ones, of which the first may be their head."""

_CAPTION = 3
"""Lines above a table that may say its unit."""

_SIGN = late_regex(
    r"[(\[,/（]\s?([^()（）\[\],\n]{1,16})(?=[)）\],]|\s*\Z)"
    r"|(?:\A|\b[IEAiea][nm]\s)(\S{1,8}?)[.:：;*_]{0,4}\s*\Z"
)
_BEFORE_HAN = late_regex(r"(?:[单單]位\s?[:：为為]?|[(（,，、/])\s?(?:人民[币幣])?")
"""Before the unit of a Chinese table: 单位：万元, （千米）."""

_CURRENCY = late_regex(r"[€£$¥₹]|(?:\b|(?<=\b[TkM]))(?:EUR|GBP|USD|CHF|JPY)\b")
_WORD = late_regex(r"[^\W\d_]{3,16}")
_VALUE = late_regex(
    r"[(<>~≈±+−–-]{0,3}[$€£¥₹]?\s?[0-9][0-9.,'’ \u00a0\u202f]{0,24}\s?[%‰°*†‡)]{0,3}(?:[^\W\d_][²³]?/?){0,4}"
)
"""A cell that is a number, with a mark or a short unit."""

_SCALES = (
    (
        1_000,
        r"\b(?:thousands?|tausend|milliers?|migliaia|milhares|miles de)\b|\bTsd\."
        r"|(?<![0-9])['’,.]?000s?\b|\b[Tk]€"
        r"|\b[Tk](?:EUR|GBP|USD|CHF)\b|[€£$]\s?k\b",
    ),
    (1_000_000, r"\b(?:millions?|millionen|mio|mn|mln)\b|[€£$]\s?m\b|\bM[€£$]|\bMEUR\b"),
    (1_000_000_000, r"\b(?:billions?|milliarden?|milliards?|mrd|bn)\b|[€£$]\s?bn?\b"),
)
_SCALED = tuple((scale, late_regex(f"(?i:{pattern})")) for scale, pattern in _SCALES)
_MEASURED_IN = late_regex(r"(?:\b[IEAiea][nm]|[(（:：]|\A)\s?(?:(?:(?:[A-Z]{2})?[€£$¥₹]|[A-Z]{3})\s?)?\Z")
"""What stands before the scale of all amounts: "in", "in USD", a bracket, a colon, or nothing."""

_PARTS = late_regex(r"[,;，；]\s?(?!000)")
"""Between the parts of a line that each say a unit or a scale."""

_BEFORE = 12
_RATE = late_regex(r"(?i)/|\b(?:per|each|pro|je|par|por|cada)\b|每")
"""In a label: what it measures is no amount of money in all, but dollars per share."""


class TableValues:
    """The numbers without a unit in the rows of cited lines, and what the table says that they measure."""

    def __init__(self, place: CitedLines) -> None:
        self._place = place
        self._delimiter = delimiter_of(self._line(1), place.evidence.media_type)
        self._values: dict[tuple[str, str, int], Values] = {}

    def has(self, quantity: Quantity, claim: str = "") -> bool:
        """Whether a cell has the quantity of a claim: in its own unit or another one, in its scale or another
        one, rounded as it is written."""
        if not (quantity.units or quantity.scale > 1) or not self._rows:
            return False
        measured = ((unit, named) for unit in quantity.units for named in self._units)
        same = [(unit, named) for unit, named in measured if unit.dimension == named.dimension]
        if not quantity.units and quantity.scale > 1:
            same = [(_COUNT, _COUNT)]
        told = any(_scales_in(f"{claim[: quantity.start]} {claim[quantity.end :]}"))
        spoken = self._place.source.language or language(claim)
        return any(
            is_in(self._read_in(scale, named, spoken, told=told), quantity, unit, _scaled(named, scale))
            for unit, named in same
            for scale in self._scales
        )

    def _read_in(self, scale: int, unit: Unit, spoken: str, *, told: bool) -> Values:
        """The numbers that may be read in a scale: where the table has another one for all amounts of this
        kind, those of cells that name their own unit. A claim that has `told` the scale may leave it out."""
        of_all = 0 if told else self._scale_of_all(unit)
        dimension = unit.dimension if of_all not in (0, scale) else ""
        asked = dimension, spoken, 0 if told else scale
        if asked not in self._values:
            self._values[asked] = self._found(*asked)
        return self._values[asked]

    def _found(self, dimension: str, spoken: str, scale: int) -> Values:
        """The numbers without a unit; with a dimension only those whose row or column names a unit of it, or
        a rate; with a scale only those whose column says no other one."""
        values = Values()
        head: Sequence[str] = ()
        for row, cells in self._rows.items():
            if row - 1 not in self._rows:
                head = self._head(row)
            for column, cell in cells:
                name = head[column] if column < len(head) else ""
                scales = [each for part in _PARTS.split(name) for each in _measured_in(part)]
                if scale and scales and scale not in scales:
                    continue
                labels = (self._cells(row)[0], name)
                if dimension and not any(_says_its_unit(label, dimension) for label in labels):
                    continue
                for found in quantities(cell, spoken):
                    if not found.units and found.kind in ("number", "date"):
                        values.add(found.value)
        return values

    def _scale_of_all(self, unit: Unit) -> int:
        """The scale that captions give to all amounts of this kind, 0 where they give none or several."""
        found = {
            scale
            for text in self._captions
            for part in _PARTS.split(text)
            for scale in _measured_in(part)
            if (kinds := {each.dimension for each in self._named_in(part)}) <= {unit.dimension}
            and (kinds or is_money(unit))
        }
        return found.pop() if len(found) == 1 else 0

    @cached_property
    def _captions(self) -> Sequence[str]:
        """The lines over the rows that are no rows, and the headings."""
        lines = (text for text in self._said.split("\n") if not self._cells_of(text))
        return [text.strip(" #*_") for text in lines]

    @cached_property
    def _rows(self) -> dict[int, Sequence[tuple[int, str]]]:
        """The cited lines that are rows, each with its cells that are numbers and no more."""
        last = min(self._place.last, self._place.first + MAX_LINES)
        found = ((number, _numbers(self._cells(number))) for number in range(self._place.first, last + 1))
        return {number: cells for number, cells in found if cells}

    @cached_property
    def _said(self) -> str:
        """The rows, and the lines above them that may be heads and captions."""
        numbers: set[int] = set()
        for row in self._rows:
            if row - 1 in numbers:
                numbers.add(row)
            else:
                numbers.update(range(max(1, self._top(row) - _CAPTION), row + 1))
        return "\n".join((*map(self._line, sorted(numbers)), *self._place.headings))

    def _top(self, row: int) -> int:
        """The first line of the table that goes on in a row, or the line right above it."""
        top = row
        while top > 1 and row - top < MAX_ABOVE and self._line(top - 1).strip():
            is_rule = not self._line(top - 1).strip("|+-=: \t")
            if not is_rule and not self._cells(top - 1) and not self._cells(top):
                break
            top -= 1
        return top

    def _head(self, row: int) -> Sequence[str]:
        """The first cells of the table that goes on in a row."""
        top = self._top(row) if not self._delimiter else 1
        return next(filter(None, map(self._cells, range(top, row))), ())

    @cached_property
    def _units(self) -> frozenset[Unit]:
        return frozenset(unit for text in self._said.split("\n") for unit in self._named_in(text))

    def _named_in(self, text: str) -> Iterator[Unit]:
        """The units that a row or a line above it names."""
        for cell in (*self._cells_of(text), text, *_PARTS.split(text)):
            for found in _SIGN.finditer(cell):
                yield from unit_symbols().get(re.sub(r"\s", "", found[1] or found[2]), ())
        for found in _CURRENCY.finditer(text):
            yield from unit_symbols().get(found[0], ())
        for word in _WORD.findall(text):
            yield from unit_words().get(word.lower(), ())
        for _, unit in _in_han(text):
            yield from unit_words()[unit]

    @cached_property
    def _scales(self) -> Sequence[int]:
        return list(dict.fromkeys((1, *_scales_in(self._said))))

    def _cells(self, number: int) -> tuple[str, ...]:
        return self._cells_of(self._line(number))

    def _cells_of(self, text: str) -> tuple[str, ...]:
        return cells_of(text, self._place.evidence.media_type, self._delimiter)

    def _line(self, number: int) -> str:
        return line(self._place.source.lines, number)


_COUNT = Unit("count", Decimal(1))


def _scaled(unit: Unit, scale: int) -> Unit:
    return unit._replace(factor=ARITHMETIC.multiply(unit.factor, Decimal(scale)))


def _says_its_unit(label: str, dimension: str) -> bool:
    """Whether the label of a row or a column names a unit of a dimension, or a rate."""
    return _RATE.search(label) is not None or any(unit.dimension == dimension for unit in units_in(label))


def _numbers(cells: Sequence[str]) -> Sequence[tuple[int, str]]:
    """The cells of a row that are numbers, with their column; the first one only where all are, since it else
    names the row."""
    found = [(column, cell) for column, cell in enumerate(cells) if _VALUE.fullmatch(cell)]
    return found if len(found) == len(cells) else [each for each in found if each[0]]


def _scales_in(text: str) -> Iterator[int]:
    """The scales that a text names."""
    for scale, pattern in _SCALED:
        if pattern.search(text):
            yield scale
    for scale, _ in _in_han(text):
        yield scale


def _measured_in(text: str) -> Iterator[int]:
    """The scales in which a line says that all is measured: in thousands, £ million."""
    for scale, pattern in _SCALED:
        for found in pattern.finditer(text):
            if _MEASURED_IN.search(text, max(0, found.start() - _BEFORE), found.start()):
                yield scale
    for scale, _ in _in_han(text):
        yield scale


def _in_han(text: str) -> Iterator[tuple[int, str]]:
    """The units of a Chinese table with their scale, 1 for none: 单位：万元."""
    for found in _BEFORE_HAN.finditer(text):
        scale, end = han_scale(text, found.end()) or (1, found.end())
        if unit := HAN_UNIT.match(text, end):
            yield scale, unit[0]
