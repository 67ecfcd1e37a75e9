"""Tables in a canonical text: rows between bars, tabs or delimiters, or columns aligned with spaces."""

import csv
import re
from collections.abc import Callable, Sequence
from typing import NamedTuple

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
    """The rows of a table that were asked for, and its first row, which may be its head."""

    head: tuple[str, ...]
    rows: tuple[Row, ...]


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


def table_at(line_at: Callable[[int], str], first: int, last: int, media_type: str) -> Table | None:
    """The table that begins in lines `first` to `last`, or goes on into them; None where there is none.

    `line_at` gives the text of a line (from 1)."""
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
    above = _above(line_at, rows[0].line, media_type, delimiter)
    head = next((cells for cells in above if len(cells) == columns), ())
    if not head and len(rows) > 1:
        head, rows = rows[0].cells, rows[1:]
    return Table(head, tuple(rows)) if head else None


def _above(
    line_at: Callable[[int], str], first: int, media_type: str, delimiter: str
) -> Sequence[tuple[str, ...]]:
    """The rows of the table above one of its lines, the first of them first."""
    if media_type in _DELIMITERS:
        return [cells_of(line_at(1), media_type, delimiter)] if first > 1 else []
    found: list[tuple[str, ...]] = []
    for number in range(first - 1, max(0, first - 1 - REACH), -1):
        text = line_at(number)
        cells = cells_of(text, media_type)
        if not cells and not (text.strip() and _RULE.fullmatch(text)):
            break
        if cells:
            found.append(cells)
    return found[::-1]
