"""Tables in a canonical text: rows between bars, tabs or delimiters, or columns aligned with spaces."""

import csv
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

from vera.text.units import unit_symbols, unit_words

REACH = 300
"""Rows above a line in which the head of its table is looked for."""

_RULE = re.compile(r"[\s|:=+-]+")
_BAR = re.compile(r"(?<!\\)\|")
_GAP = re.compile(r"\s{2,40}")
_DELIMITERS = {"text/csv": ";,\t|", "text/tab-separated-values": "\t"}
_LONGEST = 2000


class Row(NamedTuple):
    """A row: the number of its line and its cells."""

    line: int
    cells: tuple[str, ...]


class Table(NamedTuple):
    """The rows of a table that were asked for, its first row, which may be its head, and the rows around
    those that were asked for."""

    head: tuple[str, ...]
    rows: tuple[Row, ...]
    others: tuple[Row, ...] = ()


def cells_of(text: str, media_type: str, delimiter: str = "") -> tuple[str, ...]:
    """The cells of a line; none for a line that is no row."""
    if len(text) > _LONGEST or _RULE.fullmatch(text):
        return ()
    if delimiter or media_type in _DELIMITERS:
        found = _values(text, delimiter or delimiter_of(text, media_type))
    elif _BAR.search(text):
        found = _BAR.split(text.strip().removeprefix("|").removesuffix("|"))
    elif "\t" in text:
        found = text.split("\t")
    else:
        found = _GAP.split(text.strip())
    cells = tuple(cell.strip(" \t*_`") for cell in found)
    return cells if len(cells) > 1 else ()


def _values(text: str, delimiter: str) -> list[str]:
    """The values of a delimited line; none where it is malformed."""
    try:
        return next(csv.reader([text], delimiter=delimiter), [])
    except csv.Error:
        return []


def delimiter_of(text: str, media_type: str) -> str:
    """What parts the cells of a file of delimited values, by its first line."""
    return max(_DELIMITERS[media_type], key=text.count) if media_type in _DELIMITERS else ""


def table_at(
    line_at: Callable[[int], str], first: int, last: int, media_type: str, count: int = 0
) -> Table | None:
    """The table that begins in lines `first` to `last`, or goes on into them; None where there is none.

    `line_at` gives the text of a line (from 1), `count` says how many there are: without it no rows behind
    the last line are looked for. A row of units under the head gives each column its unit: "force (kN)"."""
    delimiter = delimiter_of(line_at(1), media_type)
    rows = [
        Row(number, cells)
        for number in range(first, last + 1)
        if (cells := cells_of(line_at(number), media_type, delimiter))
    ]
    if not rows:
        return None
    columns = max(len(row.cells) for row in rows)
    rows = [row for row in rows if len(row.cells) == columns]
    above = _next_rows(line_at, range(rows[0].line - 1, 0, -1), media_type, delimiter)[::-1]
    if delimiter and above:
        first_lines = range(1, min(3, above[0].line))
        above[:0] = [Row(number, cells_of(line_at(number), media_type, delimiter)) for number in first_lines]
    below = _next_rows(line_at, range(rows[-1].line + 1, count + 1), media_type, delimiter)
    around = [row for row in (*above, *below) if len(row.cells) == columns]
    if around and (around[0].line == 1 if delimiter else around[0].line < rows[0].line):
        head = around.pop(0)
    elif len(rows) > 1:
        head = rows.pop(0)
    else:
        return None
    return _with_units(Table(head.cells, tuple(rows), tuple(around)), head.line)


def _next_rows(line_at: Callable[[int], str], numbers: range, media_type: str, delimiter: str) -> list[Row]:
    """The rows of a table that goes on in lines `numbers`, at most REACH of them."""
    found: list[Row] = []
    for number in numbers[:REACH]:
        text = line_at(number)
        cells = cells_of(text, media_type, delimiter)
        if cells:
            found.append(Row(number, cells))
        elif not (text.strip() and _RULE.fullmatch(text)):
            break
    return found


def _with_units(table: Table, head: int) -> Table | None:
    """The table with the row of units that follows its head, in line `head`, as a part of the head; None
    where no other row was asked for."""
    rows = (*table.rows, *table.others)
    below = min((row for row in rows if row.line > head), default=None)
    if below is None or not _are_units(below.cells):
        return table
    named = zip(table.head, below.cells, strict=True)
    joined = tuple(f"{name} ({unit})" if (unit := _unit(each)) else name for name, each in named)
    asked = tuple(row for row in table.rows if row is not below)
    return Table(joined, asked, tuple(row for row in table.others if row is not below)) if asked else None


def _are_units(cells: Sequence[str]) -> bool:
    """Whether a row holds units and no more, but for its first cell: "s", "kN", "(mm)"."""
    named = list(filter(None, map(_unit, cells[1:])))
    return bool(named) and all(unit in unit_symbols() or unit.lower() in unit_words() for unit in named)


def _unit(cell: str) -> str:
    """What a cell of a row of units says, without its brackets or its dash."""
    return cell.strip("()[]-–— ")
