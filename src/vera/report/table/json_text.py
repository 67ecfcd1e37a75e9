"""A table as JSON, for programs."""

import msgspec

from vera.report.printable import printable_json
from vera.report.table.model import Table

FORMAT = "vera-table/1"


def table_json(table: Table) -> bytes:
    """Everything in the table: `questions`, `rows` with their `cells`, and what was `skipped`."""
    questions = [{"title": title, "question": question} for title, question in table.questions]
    skipped = [{"document": path, "reason": why} for path, why in table.skipped]
    rows = [
        {"document": row.document, "cells": [_cell(each) for each in msgspec.to_builtins(row.cells)]}
        for row in table.rows
    ]
    made = {"format": FORMAT, "questions": questions, "rows": rows, "skipped": skipped}
    return f"{printable_json(made)}\n".encode("utf-8", "replace")


def _cell(cell: dict[str, object]) -> dict[str, object]:
    """The cell with its statements by name."""
    statements = cell["statements"]
    assert isinstance(statements, list | tuple)
    return {**cell, "statements": [{"verdict": verdict, "text": text} for verdict, text in statements]}
