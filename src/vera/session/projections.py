"""The files beside the log that are folds of it: notes.md and the ledgers.

Each projection turns a record into the bytes it adds to its file, so the file grows with the run and
`vera rebuild` makes the same bytes again from the log alone.
"""

from typing import Protocol

from vera import events
from vera.session.ledgers import EvidenceLedger, Load, MoveLedger, QueryLedger
from vera.usage import answers_itself


class Projection(Protocol):
    """One file as a fold: `add` gives the bytes that this record appends to `name`."""

    name: str

    def add(self, record: events.Record) -> bytes: ...


class Notes:
    """notes.md: the task, the evidence of the lanes that answer, and what the agent noted, in order."""

    name = "notes.md"

    def __init__(self, load: Load) -> None:
        self._load = load

    def add(self, record: events.Record) -> bytes:
        match record:
            case events.Task():
                return _utf8(f"# Task\n\n{self._load(record.task).strip()}\n\n# Log\n\n")
            case events.Evidence() if answers_itself(record.lane):
                return _utf8(f"- {record.id} · {record.summary}\n")
            case events.Note() if answers_itself(record.lane):
                first, *rest = record.text.strip().split("\n")
                return _utf8("\n  ".join([f"- {first}", *rest]) + "\n")
            case _:
                return b""


def all_projections(load: Load) -> tuple[Projection, ...]:
    """Every projection, each fresh at the start of a log."""
    return (Notes(load), EvidenceLedger(load), MoveLedger(load), QueryLedger())


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
