"""A table as CSV, and a text that is safe in a cell of any spreadsheet."""

import csv
import io
import re

from vera.report.printable import printable
from vera.report.table.model import Cell, Table

_FORMULA = re.compile(r"[\s\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]*[=+\-@＝＋－＠]|[\t\r\n]")
"""A cell that begins so is a formula in some spreadsheet, also in the wide forms and behind what is not seen;
OWASP, CSV Injection."""

MAX_CELL = 32_767
"""Characters that Excel takes in a cell."""


def safe_cell(text: str) -> str:
    """`text` with an apostrophe before it where a spreadsheet would compute it."""
    return f"'{text}" if _FORMULA.match(text) else text


def table_csv(table: Table) -> bytes:
    """The table as CSV (RFC 4180) in UTF-8: a row a document, a column a question.

    It begins with a byte order mark, without which Excel reads UTF-8 as the code page of the machine.
    """
    made = io.StringIO()
    # Each cell in quotation marks: one with a semicolon is not two where that separates cells.
    rows = csv.writer(made, quoting=csv.QUOTE_ALL)
    rows.writerow(["document", *(_safe(title) for title, _ in table.questions)])
    for row in table.rows:
        rows.writerow([_safe(row.document), *(_safe(cited_text(cell)) for cell in row.cells)])
    return made.getvalue().encode("utf-8-sig", "replace")


def cited_text(cell: Cell) -> str:
    """The cell's text with the places that it cites: `QUOTED: … (a.txt, lines 3-5)`."""
    places = "; ".join(place.name for place in cell.places)
    return f"{cell.text} ({places})" if places else cell.text


def _safe(text: str) -> str:
    return safe_cell(printable(text)[: MAX_CELL - 1])
