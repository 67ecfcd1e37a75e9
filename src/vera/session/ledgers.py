"""The ledgers: one JSON record a line for each evidence, each move of the search, and each query.

A field that does not apply is '' or null. `urls` and `targets` have every address of a call, `url`, `domain`
and `source_class` are those of the first.
"""

import json
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

import msgspec

from vera import events
from vera.events import Target, Text
from vera.evidence.moves import signature

Load = Callable[[Text], str]

TEXT_SHOWN = 2000
"""Characters of an output or a command that a ledger repeats; the log has all of it."""

_NUMBERED = re.compile(r"\A[0-9]{1,12}\| ")
"""How a line of a result begins as the model sees it; VERA's own lines never begin so."""


class _Call(msgspec.Struct):
    """What is known of a lane's newest call."""

    started: events.ToolStarted
    evidence: list[events.Evidence]
    searches: list[events.Search]
    move: events.Move | None = None


class _Calls:
    """The newest call of each lane, folded from the log."""

    def __init__(self) -> None:
        self._of: dict[str, _Call] = {}

    def add(self, record: events.Record) -> None:
        if isinstance(record, events.ToolStarted):
            self._of[record.lane] = _Call(record, [], [])
            return
        call = self._of.get(record.lane)
        if call is None:
            return
        match record:
            case events.Evidence():
                call.evidence.append(record)
            case events.Search():
                call.searches.append(record)
            case events.Move() if record.call == call.started.call:
                call.move = record
            case events.Tool():
                del self._of[record.lane]
            case _:
                pass

    def of(self, record: events.Move | events.Tool) -> _Call | None:
        """The call that a record belongs to; None for one that never ran."""
        call = self._of.get(record.lane)
        return call if call is not None and call.started.call == record.call else None


class EvidenceLedger:
    """evidence.jsonl: one record for each evidence, written when its call has ended."""

    name = "evidence.jsonl"

    def __init__(self, load: Load) -> None:
        self._load = load
        self._calls = _Calls()

    def add(self, record: events.Record) -> bytes:
        call = self._calls.of(record) if isinstance(record, events.Tool) else None
        self._calls.add(record)
        if call is None or not isinstance(record, events.Tool):
            return b""
        return b"".join(_line(self._row(evidence, record, call)) for evidence in call.evidence)

    def _row(self, evidence: events.Evidence, tool: events.Tool, call: _Call) -> dict[str, Any]:
        return {
            "id": evidence.id,
            "ts": _time(tool.ts),
            "lane": tool.lane,
            "step": tool.step,
            "tool": evidence.tool,
            "args": json.loads(self._load(call.started.args)),
            "tier": evidence.tier,
            "source": evidence.source,
            "sha256": evidence.text.sha256,
            "http_status": evidence.http_status,
            "lines": evidence.lines,
            "urls": list(dict.fromkeys(_urls(call))),
            "failure_type": (call.move.failure_type if call.move else tool.error_type) or None,
            "obs": {
                "exit_code": tool.exit_code,
                "error_type": tool.error_type or None,
                "output": _output(self._load(tool.obs))[:TEXT_SHOWN],
            },
        }


class MoveLedger:
    """move_ledger.jsonl: one record for each tool call as a move of the search, refused ones too."""

    name = "move_ledger.jsonl"

    def __init__(self, load: Load) -> None:
        self._load = load
        self._calls = _Calls()

    def add(self, record: events.Record) -> bytes:
        self._calls.add(record)
        return _line(self._row(record)) if isinstance(record, events.Move) else b""

    def _row(self, move: events.Move) -> dict[str, Any]:
        first, call = _first(move), self._calls.of(move)
        return {
            "id": move.id,
            "ts": _time(move.ts),
            "lane": move.lane,
            "step": move.step,
            "tool": move.tool,
            "call": move.call,
            "cmd": self._load(move.cmd)[:TEXT_SHOWN],
            "url": first.url,
            "domain": first.domain,
            "query": move.query,
            "query_family": move.query_family,
            "source_class": first.source_class,
            "move_type": move.move_type,
            "move_sig": signature(move.move_type, first.domain, move.query_family),
            "failure_type": move.failure_type or None,
            "outcome": move.outcome,
            "urls": [target.url for target in move.targets],
            "targets": [_shown(target) for target in move.targets],
            "reached": [_shown(target) for target in move.reached],
            "evidence": [evidence.id for evidence in call.evidence] if call else [],
        }


class QueryLedger:
    """query_ledger.jsonl: one record for each query that was asked, or was to be asked and refused."""

    name = "query_ledger.jsonl"

    def __init__(self) -> None:
        self._calls = _Calls()
        self._count = 0

    def add(self, record: events.Record) -> bytes:
        self._calls.add(record)
        if not isinstance(record, events.Move) or not record.query_family:
            return b""
        self._count += 1
        return _line(self._row(record))

    def _row(self, move: events.Move) -> dict[str, Any]:
        first, call = _first(move), self._calls.of(move)
        return {
            "id": f"q_{self._count:04d}",
            "ts": _time(move.ts),
            "lane": move.lane,
            "step": move.step,
            "call": move.call,
            "move": move.id,
            "url": first.url,
            "domain": first.domain,
            "query": move.query,
            "query_family": move.query_family,
            "source_class": first.source_class,
            "move_type": move.move_type,
            "query_vector": move.query_vector,
            "outcome": move.outcome,
            "urls": [target.url for target in move.targets],
            "engines": [_asked(search) for search in call.searches] if call else [],
        }


def _first(move: events.Move) -> Target:
    return move.targets[0] if move.targets else Target(url="", source_class="")


def _shown(target: Target) -> dict[str, Any]:
    """The target with every member, also those that have their default value."""
    return msgspec.structs.asdict(target)


def _asked(search: events.Search) -> dict[str, Any]:
    return {
        "engine": search.engine,
        "kind": search.kind,
        "outcome": search.outcome,
        "cause": search.cause or None,
        "results": search.results,
    }


def _output(seen: str) -> str:
    """Of what the model saw of a result its lines, without their numbers, and what was said between them of
    those left out; all of it where no line has a number."""
    lines = seen.split("\n")
    numbered = [index for index, line in enumerate(lines) if _NUMBERED.match(line)]
    if not numbered:
        return seen
    shown = lines[numbered[0] : numbered[-1] + 1]
    return "\n".join(_NUMBERED.sub("", line) for line in shown)


def _urls(call: _Call) -> Iterator[str]:
    """The addresses that a call names, reached or was given by a search."""
    if call.move is not None:
        yield from (target.url for target in (*call.move.targets, *call.move.reached))
    for search in call.searches:
        yield from search.urls


def _time(ts: float) -> str:
    """Unix time as ISO 8601, in UTC, to the millisecond."""
    return datetime.fromtimestamp(ts, UTC).isoformat(timespec="milliseconds")


def _line(row: dict[str, Any]) -> bytes:
    return (json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n").encode("utf-8", "replace")
