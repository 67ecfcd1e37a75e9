"""The newest records of a log as lines, made when they are first looked at."""

from collections import deque
from itertools import takewhile

from vera import events
from vera.report.view.lines import line_of
from vera.report.view.model import EventLine
from vera.report.view.words import Load

MAX_KEPT = 1000
LARGE = 16_000
"""Bytes of a record of which only its line is kept."""


class NewestLines:
    """`add` takes the records in order, `lines` gives those of the newest MAX_KEPT."""

    def __init__(self, load: Load) -> None:
        self._load = load
        self._kept: deque[_Kept] = deque(maxlen=MAX_KEPT)

    def add(self, record: events.Record, offset: int, size: int) -> None:
        """The record that begins at byte `offset`, with `size` bytes."""
        kept = _Kept(record, offset)
        if size > LARGE:
            kept.line(self._load)
        self._kept.append(kept)

    def lines(self, after: int, limit: int) -> tuple[EventLine, ...]:
        """At most `limit` of those that begin at byte `after` or behind it: the newest, oldest first."""
        behind = takewhile(lambda kept: kept.offset >= after, reversed(self._kept))
        found = [kept.line(self._load) for kept, _ in zip(behind, range(limit), strict=False)]
        return tuple(reversed(found))


class _Kept:
    __slots__ = ("_line", "_record", "offset")

    def __init__(self, record: events.Record, offset: int) -> None:
        self.offset = offset
        self._record: events.Record | None = record
        self._line: EventLine | None = None

    def line(self, load: Load) -> EventLine:
        if self._line is None:
            assert self._record is not None
            self._line, self._record = line_of(self._record, self.offset, load), None
        return self._line
