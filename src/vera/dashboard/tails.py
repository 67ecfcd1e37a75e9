"""The ends of a session's logs and ledgers, a bounded piece at a time: they may be long, and anyone's."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import msgspec

from vera import events
from vera.dashboard.regular import open_regular, size_of
from vera.decode_errors import DECODE_ERRORS
from vera.report.view.lines import line_of
from vera.report.view.model import EventLine
from vera.report.view.words import Load

TAIL_BYTES = 96 << 10
"""What a page of a log shows of it."""

TRACE_BYTES = 512 << 10
"""What a page of events is read from: a record is longer than its line on the page."""

MAX_EVENTS = 500

LOGS: Mapping[str, tuple[str, str]] = {
    "notes": ("notes.md", "Notes"),
    "evidence": ("evidence.jsonl", "Evidence ledger"),
    "moves": ("move_ledger.jsonl", "Move ledger"),
    "queries": ("query_ledger.jsonl", "Query ledger"),
    "run": ("run.log", "What the run printed"),
    "session": ("session.log", "What the dashboard did"),
    "container": ("container.log", "What the container printed"),
    "container_events": ("container_events.log", "Events of the container"),
}
"""Name in an address → the file, and what it is. `trace` and `model_io` are of the log of events."""

EVENTS: Mapping[str, str] = {"trace": "Events", "model_io": "What the model was asked and said"}
_OF_MODEL = ("model", "model_io", "assistant", "candidates", "selection")
_HASH = re.compile(rb',"hash":"[0-9a-f]{64}"}\Z')


class Tail(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes `begin` to `end` of a file of `size` bytes, from the beginning of a line."""

    data: bytes
    begin: int
    end: int
    size: int


def read_tail(path: Path, before: int, most: int) -> Tail | None:
    """The last whole lines that end at byte `before` (0: the end of the file), at most `most` bytes.

    A line that is longer is cut. None where there is no regular file of that name.
    """
    if (opened := open_regular(path)) is None:
        return None
    with opened as file:
        size = size_of(file)
        end = min(before, size) if before else size
        begin = max(0, end - most)
        file.seek(begin)
        data = file.read(end - begin)
    if begin and (newline := data.find(b"\n")) >= 0 and newline + 1 < len(data):
        begin, data = begin + newline + 1, data[newline + 1 :]
    return Tail(data=data, begin=begin, end=begin + len(data), size=size)


def events_before(path: Path, before: int, load: Load, *, of_model: bool) -> tuple[list[EventLine], int, int]:
    """Lines of the log that end at byte `before` (0: its end), the oldest first; the byte at which they
    begin, 0 for the log's own, and the byte behind them. `of_model`: only calls of a model and their turns.
    """
    tail = read_tail(path, before, TRACE_BYTES)
    if tail is None:
        return [], 0, 0
    found = list(_lines(tail, load, of_model=of_model))
    begin = tail.begin
    if len(found) > MAX_EVENTS:
        found = found[-MAX_EVENTS:]
        begin = found[0].offset
    return found, begin, tail.end


def _lines(tail: Tail, load: Load, *, of_model: bool) -> Iterator[EventLine]:
    offset = tail.begin
    for line in tail.data.split(b"\n")[:-1]:
        found = _HASH.search(line[-80:])
        record = _record(line[: -len(found.group())] + b"}") if found else None
        if record is not None and (not of_model or events.kind(record) in _OF_MODEL):
            yield line_of(record, offset, load)
        offset += len(line) + 1


def _record(body: bytes) -> events.Record | None:
    try:
        return events.decode(body)
    except DECODE_ERRORS:
        return None
