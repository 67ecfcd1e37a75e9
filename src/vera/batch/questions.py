"""The file of questions of a table: CSV with a row for each question."""

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import msgspec

from vera.batch.errors import BatchError
from vera.config.errors import plain
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable

MAX_BYTES = 4 << 20
MAX_QUESTIONS = 200
MAX_QUESTION = 10_000
"""Characters of one question."""

MAX_TITLE = 200
QUESTION, TITLE = "question", "title"
_DELIMITERS = (",", ";", "\t")


class Questions(msgspec.Struct, frozen=True, kw_only=True):
    """(title of the column, question), each question once, and how many rows repeated one."""

    asked: tuple[tuple[str, str], ...]
    repeated: int = 0


def read_questions(path: Path) -> Questions:
    """The questions of a CSV file: the column `question`, and `title` where the table is to show another
    text. In UTF-8, with commas, semicolons or tabs between columns.

    Raises BatchError (2) with a sentence for what is wrong.
    """
    where = plain(str(path))
    try:
        data = read_regular(path.parent, path.name, MAX_BYTES)
    except Unreadable as error:
        raise BatchError(f"The questions in {where} cannot be read: {error}.", 2) from None
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise BatchError(f"{where} is not in UTF-8. Save it as “CSV UTF-8”.", 2) from None
    try:
        return _questions(_rows(text), where)
    except csv.Error as error:
        raise BatchError(f"{where} is no CSV file: {plain(str(error))}.", 2) from None


def _rows(text: str) -> list[list[str]]:
    """The rows that are not empty. The delimiter is the one that the first row has most of."""
    first = text.lstrip("\r\n").partition("\n")[0]
    delimiter = max(_DELIMITERS, key=first.count)
    rows = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    return [cells for row in rows if any(cells := [cell.strip() for cell in row])]


def _questions(rows: Sequence[Sequence[str]], where: str) -> Questions:
    names = _columns(rows, where)
    at, titled = names.index(QUESTION), names.index(TITLE) if TITLE in names else None
    asked: dict[str, str] = {}
    repeated = 0
    for number, row in enumerate(rows[1:], 1):
        question = _cell(row, at)
        if not question or len(question) > MAX_QUESTION:
            raise BatchError(f"{where}: question {number} {_wrong(question)}.", 2)
        if len(row) > len(names):
            raise BatchError(
                f"{where}: row {number} below the names has more cells than there are columns. Put a "
                "question that holds a comma between quotation marks.",
                2,
            )
        repeated += question in asked
        asked.setdefault(question, _cell(row, titled)[:MAX_TITLE] or question)
    if not asked:
        raise BatchError(f"{where} has no question below its first row.", 2)
    if len(asked) > MAX_QUESTIONS:
        raise BatchError(f"{where} has {len(asked)} questions; a table takes {MAX_QUESTIONS}. Split it.", 2)
    return Questions(asked=tuple((title, question) for question, title in asked.items()), repeated=repeated)


def _columns(rows: Sequence[Sequence[str]], where: str) -> list[str]:
    """The names in the first row, of which one is that of the questions."""
    names = [name.casefold() for name in rows[0]] if rows else []
    if names.count(QUESTION) != 1:
        raise BatchError(
            f"{where} has no column “{QUESTION}”. Its first row names the columns; an example of a file: "
            "question, and below it a question in each row.",
            2,
        )
    return names


def _cell(row: Sequence[str], at: int | None) -> str:
    """A cell of a row; '' where the row ends before it, or there is no such column."""
    return row[at] if at is not None and at < len(row) else ""


def _wrong(question: str) -> str:
    return f"is longer than {MAX_QUESTION} characters" if question else "is empty"
