"""A table as an Excel workbook: a sheet as the table reads, and a sheet with a row for each cell."""

import io
from typing import TYPE_CHECKING

from vera.extras import install_command
from vera.headline import Headline
from vera.report.printable import printable
from vera.report.table.csv_text import MAX_CELL, cited_text
from vera.report.table.model import Table

if TYPE_CHECKING:
    from xlsxwriter.format import Format
    from xlsxwriter.workbook import Workbook
    from xlsxwriter.worksheet import Worksheet

COLOURS: dict[Headline, str] = {
    "VERIFIED": "#DDF0E3",
    "QUOTED": "#DBEFF1",
    "PARTIAL": "#F2F0D5",
    "UNRESOLVED": "#F7ECD9",
    "DISPUTED": "#EDE2F5",
    "REFUTED": "#F8DEDC",
}
"""Word → background. The word itself is in each cell, so nothing is said by colour alone."""

COLUMNS = (
    ("document", 30),
    ("question", 40),
    ("result", 13),
    ("answer", 50),
    ("reason", 50),
    ("cited", 40),
    ("lines", 60),
    ("session", 40),
)


def missing() -> str:
    """What to say where XlsxWriter is not installed."""
    install = install_command("office")
    return f"An .xlsx file needs the extra 'office': {install}. Without it choose .html, .csv or .json."


def table_xlsx(table: Table) -> bytes:
    """The workbook, by XlsxWriter (extra `office`). Texts stay texts: no formula, no link."""
    from xlsxwriter import Workbook

    made = io.BytesIO()
    options = {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    with Workbook(made, {**options, "strings_to_numbers": False}) as book:
        _as_table(book, table)
        _as_list(book, table)
    return made.getvalue()


def _as_table(book: "Workbook", table: Table) -> None:
    sheet = book.add_worksheet("Table")
    head, plain, marked = _formats(book)
    sheet.freeze_panes(1, 1)
    sheet.set_column(0, 0, 30)
    sheet.set_column(1, max(1, len(table.questions)), 44)
    for column, text in enumerate(["document", *(title for title, _ in table.questions)]):
        _write(sheet, 0, column, text, head)
    for at, row in enumerate(table.rows, 1):
        _write(sheet, at, 0, row.document, plain)
        for column, cell in enumerate(row.cells, 1):
            _write(sheet, at, column, cited_text(cell), marked[cell.word])


def _as_list(book: "Workbook", table: Table) -> None:
    sheet = book.add_worksheet("Cells")
    head, plain, marked = _formats(book)
    sheet.freeze_panes(1, 0)
    for column, (name, width) in enumerate(COLUMNS):
        sheet.set_column(column, column, width)
        _write(sheet, 0, column, name, head)
    at = 0
    for row in table.rows:
        for (_, question), cell in zip(table.questions, row.cells, strict=True):
            at += 1
            cited = "\n".join(place.name for place in cell.places)
            lines = "\n\n".join("\n".join(place.lines) or place.problem for place in cell.places)
            texts = (row.document, question, cell.word, cell.phrase, cell.reason, cited, lines, cell.session)
            for column, text in enumerate(texts):
                _write(sheet, at, column, text, marked[cell.word] if column == 2 else plain)
    sheet.autofilter(0, 0, at, len(COLUMNS) - 1)


def _formats(book: "Workbook") -> "tuple[Format, Format, dict[Headline, Format]]":
    usual = {"text_wrap": True, "valign": "top"}
    marked = {word: book.add_format({**usual, "bg_color": colour}) for word, colour in COLOURS.items()}
    return book.add_format({**usual, "bold": True}), book.add_format(usual), marked


def _write(sheet: "Worksheet", row: int, column: int, text: str, form: "Format") -> None:
    sheet.write_string(row, column, printable(text)[:MAX_CELL], form)
