"""The ledgers of a session as rows of a table: a few members of each record, and all of it as JSON."""

import json
from collections.abc import Mapping
from typing import Any

import msgspec

from vera.report.html.links import Links
from vera.report.view.words import one_line

COLUMNS: Mapping[str, tuple[str, ...]] = {
    "evidence": ("id", "step", "tool", "source", "lines", "tier", "http_status"),
    "moves": ("id", "step", "tool", "query", "domain", "move_type", "outcome", "evidence"),
    "queries": ("id", "step", "query", "query_vector", "move_type", "outcome"),
}
"""Ledger (by its name in an address) → the members that are columns."""

MAX_ROWS = 300
CELL = 160
"""Characters of a cell."""

MAX_JSON = 20_000
"""Characters of a record that is shown whole."""


class LedgerRow(msgspec.Struct, frozen=True):
    """`cells` are a column each, with the address that it leads to ('' for none); `text` is the record."""

    cells: tuple[tuple[str, str], ...]
    text: str


def ledger_rows(name: str, lines: bytes, links: Links) -> tuple[LedgerRow, ...]:
    """The last records of whole lines. One that is no JSON object has its text in the first cell."""
    found = [line for line in lines.split(b"\n") if line.strip()]
    return tuple(_row(name, line.decode("utf-8", "replace"), links) for line in found[-MAX_ROWS:])


def _row(name: str, line: str, links: Links) -> LedgerRow:
    columns = COLUMNS[name]
    try:
        record = json.loads(line)
    except (ValueError, RecursionError):
        record = None
    if not isinstance(record, dict):
        cells = ((one_line(line, CELL), ""), *(("", "") for _ in columns[1:]))
        return LedgerRow(cells, line[:MAX_JSON])
    cells = tuple((_shown(record.get(each)), _address(each, record, links)) for each in columns)
    return LedgerRow(cells, json.dumps(record, indent=2, ensure_ascii=False)[:MAX_JSON])


def _shown(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return one_line(", ".join(map(str, value[:20])), CELL)
    return one_line(str(value), CELL)


def _address(column: str, record: Mapping[str, Any], links: Links) -> str:
    if column == "id":
        return links.text(str(record.get("sha256", "")), 0, 0)
    step, lane = record.get("step"), record.get("lane")
    if column == "step" and isinstance(step, int) and isinstance(lane, str):
        return links.step(step, lane)
    return ""
