"""A ledger is a table: members as columns, links to the text and the step, and the record as JSON."""

import json
from typing import Any

from vera.dashboard.ledgers import CELL, COLUMNS, MAX_JSON, MAX_ROWS, ledger_rows
from vera.report.html.links import Links

LINKS = Links("/s/x")
DIGEST = "ab" * 32
RECORD: dict[str, Any] = {
    "id": "ev_0001", "step": 3, "lane": "main", "tool": "read", "source": "GPL-3.txt", "sha256": DIGEST,
    "lines": 70, "tier": "captured", "http_status": None, "extra": {"of": ["the", "record"]},
}  # fmt: skip


def line(**changed: object) -> bytes:
    return json.dumps({**RECORD, **changed}).encode()


def test_a_record_is_a_row_that_leads_to_its_text_and_its_step() -> None:
    (row,) = ledger_rows("evidence", line(), LINKS)
    assert [text for text, _ in row.cells] == ["ev_0001", "3", "read", "GPL-3.txt", "70", "captured", ""]
    assert row.cells[0][1].startswith(f"/s/x/source/{DIGEST}") and row.cells[1][1] == "/s/x/steps/3"
    assert json.loads(row.text) == RECORD and "\n" in row.text, "all of it, in lines"


def test_every_column_of_every_ledger_has_a_cell() -> None:
    for name, columns in COLUMNS.items():
        (row,) = ledger_rows(name, b'{"id": "q_0001", "evidence": ["ev_0001", "ev_0002"]}', LINKS)
        assert len(row.cells) == len(columns)
        shown = dict(zip(columns, (text for text, _ in row.cells), strict=True))
        assert shown["id"] == "q_0001" and shown.get("evidence", "ev_0001, ev_0002") == "ev_0001, ev_0002"


def test_what_a_stranger_wrote_is_bounded_and_never_a_link_to_elsewhere() -> None:
    wild = [
        b"no JSON", b"[1, 2]", b"[" * 5000, b"\xff\xfe", b"{",
        line(sha256="javascript:alert(1)", step="7", lane=["x"]), line(step=-1), line(source="x" * 9000),
    ]  # fmt: skip
    rows = ledger_rows("evidence", b"\n".join(wild * 100), LINKS)
    assert len(rows) == MAX_ROWS
    for row in rows:
        assert all(len(text) <= CELL + 1 and "\n" not in text for text, _ in row.cells)
        assert all(not address or address.startswith("/s/x/") for _, address in row.cells)
        assert len(row.text) <= MAX_JSON
