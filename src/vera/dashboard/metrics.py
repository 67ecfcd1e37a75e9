"""`/metrics`: all sessions of the base folder, each log read once however often it is asked for.

Counters only grow while the server runs: what a session did stays counted when its folder goes, as Prometheus
expects of a counter. Its gauges go with it.
"""

import asyncio
import math
import os
import stat
import time
from collections import OrderedDict
from collections.abc import Iterator, Sequence

import msgspec

import vera.metrics.exposition  # noqa: F401 - the first who asks need not wait for it
from vera import events
from vera.dashboard.sessions import SessionFolder, Sessions
from vera.decode_errors import DECODE_ERRORS
from vera.events import Blob
from vera.metrics import Metrics
from vera.session.log import MAX_LINE
from vera.store import Store, StoreError

LISTED_SECONDS = 2.0
MAX_FINDINGS = 16 << 20
"""Bytes of one audit's findings; larger ones are counted without their labels."""

MAX_NARROWED = 8
"""Sessions whose own metrics are kept for the next time that they are asked for."""

MAX_GLANCED = 64
"""Sessions whose logs are looked at without a thread, which costs more than so many looks."""

_CHUNK = 128 << 10
_DECODER = msgspec.json.Decoder(events.Record)


class _Counted:
    """Folded logs, read on as they grow."""

    def __init__(self) -> None:
        self._metrics = Metrics(self._load)
        self._tails: dict[str, _Tail] = {}
        self._stores: dict[str, Store] = {}
        self._text: bytes | None = None

    def unchanged(self, sessions: Sequence[SessionFolder]) -> bytes | None:
        """The metrics, where these few sessions were read before and no log of them has changed since."""
        if len(sessions) > MAX_GLANCED or self._tails.keys() != {session.id for session in sessions}:
            return None
        return None if any(tail.has_changed for tail in self._tails.values()) else self._text

    def exposition(self, sessions: Sequence[SessionFolder]) -> bytes:
        """The metrics once these sessions, and no others, were read to their ends."""
        here = {session.id for session in sessions}
        for gone in self._tails.keys() - here:
            self._metrics.forget(self._tails.pop(gone).session.name)
            self._text = None
        for session in sessions:
            tail = self._tails.setdefault(session.id, _Tail(session))
            self._stores[session.name] = tail.store
            for records in tail.batches():
                self._text = None
                self._metrics.apply_all(records, session.name)
        if self._text is None:
            self._text = self._metrics.render()
        return self._text

    def _load(self, session: str, blob: Blob) -> bytes | None:
        store = self._stores[session]
        try:
            if store.path(blob.sha256).stat().st_size > MAX_FINDINGS:
                return None
            return store.get(blob.sha256)
        except (StoreError, OSError):
            return None


class _Tail:
    """A log, read on without a look at its hashes: metrics prove nothing. Reading ends for good at a line
    that is no record."""

    def __init__(self, session: SessionFolder) -> None:
        self.session = session
        self.store = Store(session.path / "store")
        self._offset = 0
        self._file = (0, 0)
        self._seen = (0, 0)
        self._is_broken = False

    @property
    def has_changed(self) -> bool:
        """Whether the log may not be as it was when it was read."""
        try:
            return _version(self.session.log.lstat()) != (self._file, self._seen)
        except OSError:
            return True

    def batches(self) -> Iterator[Sequence[events.Record]]:
        """The records added since the last time; another log in its place is read from the start."""
        try:
            about = self.session.log.lstat()
            if not stat.S_ISREG(about.st_mode):
                return
            file, seen = _version(about)
            if file != self._file or about.st_size < self._offset:
                self._file, self._offset, self._is_broken = file, 0, False
            elif seen == self._seen or self._is_broken:
                return
            yield from self._read()
            self._seen = seen
        except OSError:
            return

    def _read(self) -> Iterator[Sequence[events.Record]]:
        descriptor = os.open(self.session.log, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            file.seek(self._offset)
            rest = b""
            while chunk := file.read(_CHUNK):
                lines, newline, rest = (rest + chunk).rpartition(b"\n")
                yield self._decoded(lines + newline)
                if self._is_broken or len(rest) > MAX_LINE:
                    self._is_broken = True
                    return

    def _decoded(self, lines: bytes) -> Sequence[events.Record]:
        """The records of whole lines, up to the first that is not a record."""
        try:
            records: Sequence[events.Record] = _DECODER.decode_lines(lines)
            self._offset += len(lines)
        except DECODE_ERRORS:
            records = self._decoded_one_by_one(lines)
        return records

    def _decoded_one_by_one(self, lines: bytes) -> Sequence[events.Record]:
        records: list[events.Record] = []
        for line in lines.split(b"\n")[:-1]:
            try:
                records.append(events.decode(line))
            except DECODE_ERRORS:
                self._is_broken = True
                break
            self._offset += len(line) + 1
        return records


def _version(about: os.stat_result) -> tuple[tuple[int, int], tuple[int, int]]:
    """Which file it is, and how it is now."""
    return (about.st_dev, about.st_ino), (about.st_size, about.st_mtime_ns)


class BaseMetrics:
    """The metrics of a base folder, which is looked through again after `listed_seconds`. Logs are read in a
    thread, so that a long one keeps no one waiting but who asked."""

    def __init__(self, sessions: Sessions, listed_seconds: float = LISTED_SECONDS) -> None:
        self._sessions = sessions
        self._listed_seconds = listed_seconds
        self._listed: tuple[float, Sequence[SessionFolder]] = (-math.inf, ())
        self._all = _Counted()
        self._narrowed: OrderedDict[str, _Counted] = OrderedDict()
        self._reading = asyncio.Lock()

    async def exposition(self) -> bytes:
        """Of all sessions, in Prometheus' text format."""
        async with self._reading:
            if not self._is_to_be_listed() and (known := self._all.unchanged(self._listed[1])) is not None:
                return known
            return await asyncio.to_thread(self._exposition)

    async def exposition_of(self, session: SessionFolder) -> bytes:
        """Of one session."""
        async with self._reading:
            found = self._narrowed.pop(session.id, None) or _Counted()
            self._narrowed[session.id] = found
            if len(self._narrowed) > MAX_NARROWED:
                self._narrowed.popitem(last=False)
            return await asyncio.to_thread(found.exposition, [session])

    def _is_to_be_listed(self) -> bool:
        return time.monotonic() - self._listed[0] > self._listed_seconds

    def _exposition(self) -> bytes:
        if self._is_to_be_listed():
            self._listed = (time.monotonic(), self._sessions.listed()[0])
        return self._all.exposition(self._listed[1])
