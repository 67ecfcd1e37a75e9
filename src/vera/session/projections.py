"""The files beside the log that are folds of it: notes.md and evidence.jsonl.

Each projection turns a record into the bytes it adds to its file, so the file grows with the run and
`vera rebuild` makes the same bytes again from the log alone.
"""

import json
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, Protocol

from vera import events
from vera.events import Text

Load = Callable[[Text], str]

OUTPUT_SHOWN = 2000
"""Characters of an observation that evidence.jsonl repeats; the whole of it is in the store."""


class Projection(Protocol):
    """One file as a fold: `add` gives the bytes that this record appends to `name`."""

    name: str

    def add(self, record: events.Record) -> bytes: ...


class Notes:
    """notes.md: the task, what each evidence of the main lane is, and what the agent noted, in order."""

    name = "notes.md"

    def __init__(self, load: Load) -> None:
        self._load = load

    def add(self, record: events.Record) -> bytes:
        match record:
            case events.Task():
                return _utf8(f"# Task\n\n{self._load(record.task).strip()}\n\n# Log\n\n")
            case events.Evidence(lane="main"):
                return _utf8(f"- {record.id} · {record.summary}\n")
            case events.Note(lane="main"):
                first, *rest = record.text.strip().split("\n")
                return _utf8("\n  ".join([f"- {first}", *rest]) + "\n")
            case _:
                return b""


class EvidenceLedger:
    """evidence.jsonl: one record for each evidence, written when its call has ended."""

    name = "evidence.jsonl"

    def __init__(self, load: Load) -> None:
        self._load = load
        self._started: dict[str, events.ToolStarted] = {}
        self._open: dict[str, list[events.Evidence]] = {}

    def add(self, record: events.Record) -> bytes:
        match record:
            case events.ToolStarted():
                self._started[record.lane] = record
            case events.Evidence():
                self._open.setdefault(record.lane, []).append(record)
            case events.Tool():
                rows = [self._row(evidence, record) for evidence in self._open.pop(record.lane, [])]
                return _utf8("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
            case _:
                pass
        return b""

    def _row(self, evidence: events.Evidence, tool: events.Tool) -> dict[str, Any]:
        started = self._started[tool.lane]
        return {
            "id": evidence.id,
            "ts": datetime.fromtimestamp(tool.ts, UTC).isoformat(timespec="milliseconds"),
            "lane": tool.lane,
            "step": tool.step,
            "tool": evidence.tool,
            "args": json.loads(self._load(started.args)),
            "tier": evidence.tier,
            "source": evidence.source,
            "sha256": evidence.text.sha256,
            "http_status": evidence.http_status,
            "lines": evidence.lines,
            "obs": {
                "exit_code": tool.exit_code,
                "error_type": tool.error_type or None,
                "output": self._load(tool.obs)[:OUTPUT_SHOWN],
            },
        }


def all_projections(load: Load) -> tuple[Projection, ...]:
    """Every projection, each fresh at the start of a log."""
    return (Notes(load), EvidenceLedger(load))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "replace")
