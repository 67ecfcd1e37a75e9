"""`trace.jsonl`: the one log, appended to by one writer, readable by anyone while it grows.

A record is a line of JSON whose last member is the sha256 of the line's bytes up to there (closed by `}`),
and whose `prev` is the hash of the record before: any changed byte breaks the line it is in, any
removed line the chain. Bytes are hashed, never a parsed form, so no parser can disagree.
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from vera import events
from vera.decode_errors import DECODE_ERRORS

E = TypeVar("E", bound=events.Event)

MAX_LINE = 8 << 20
"""A longer line was not written by us: texts above `events.INLINE_BYTES` live in the store."""

_TAIL = re.compile(rb',"hash":"([0-9a-f]{64})"}\Z')
_READ_CHUNK = 1 << 20


class LogError(Exception):
    """The log cannot be opened, read or written: a sentence for the person."""


class LogBroken(LogError):
    """A record is not what was written; `line` is its number in the file, from 1."""

    def __init__(self, line: int, reason: str) -> None:
        super().__init__(f"The log is broken at line {line}: {reason}.")
        self.line = line
        self.reason = reason


class LogInUse(LogError):
    """Another process holds the log's lock."""


def seal_line(body: bytes) -> tuple[bytes, str]:
    """The line (with newline) and the hash of an encoded event."""
    digest = hashlib.sha256(body).hexdigest()
    return body[:-1] + b',"hash":"' + digest.encode() + b'"}\n', digest


def body_of(line: bytes, number: int) -> tuple[bytes, str]:
    """The encoded event in a line (without newline) and its hash, which fits. Raises LogBroken."""
    found = _TAIL.search(line[-80:])
    if found is None:
        raise LogBroken(number, "it does not end in a hash")
    body = line[: -len(found.group())] + b"}"
    digest = hashlib.sha256(body).hexdigest()
    if digest != found.group(1).decode():
        raise LogBroken(number, "its bytes do not match its hash")
    return body, digest


def open_line(line: bytes, number: int, seq: int, prev: str) -> tuple[events.Record, str]:
    """The record in a line (without newline) and its hash, when it is record `seq` after hash `prev`.

    Raises LogBroken with the line's number otherwise.
    """
    body, digest = body_of(line, number)
    try:
        record = events.decode(body)
    except DECODE_ERRORS as error:
        raise LogBroken(number, f"it is no record of this version ({error})") from None
    if isinstance(record, events.Session) and record.format > events.FORMAT:
        newer = f"log format {record.format}, where {events.FORMAT} is the newest one known"
        raise LogBroken(number, f"it is no record of this version ({newer})")
    if isinstance(record, events.Session) and seq != 1:
        raise LogBroken(number, "a log begins once, and this is a second beginning")
    if record.prev != prev:
        raise LogBroken(number, "it does not follow the record before it")
    if record.seq != seq:
        raise LogBroken(number, f"it is record {record.seq} where {seq} was expected")
    return record, digest


class Reader:
    """Reads a log from where it stopped, as often as asked; `offset` is a position any reader can start at.

    An unfinished last line is left for the next time. The chain is verified as far as this reader saw it:
    one that starts in the middle trusts its first record's `prev`.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.offset = 0
        self.seq = 0
        self.head = ""
        self.line = 0

    def poll(self) -> Iterator[tuple[int, events.Record]]:
        """The records written since the last call, each with the byte offset behind it.

        Raises LogBroken, or FileNotFoundError when there is no log.
        """
        with self.path.open("rb") as file:
            file.seek(self.offset)
            rest = b""
            while chunk := file.read(_READ_CHUNK):
                *lines, rest = (rest + chunk).split(b"\n")
                for line in lines:
                    record, self.head = open_line(line, self.line + 1, self.seq + 1, self.head)
                    self.seq, self.line = record.seq, self.line + 1
                    self.offset += len(line) + 1
                    yield self.offset, record
                if len(rest) > MAX_LINE:
                    raise LogBroken(self.line + 1, f"it is longer than {MAX_LINE} bytes")

    def torn(self) -> int:
        """Bytes behind the last whole line, after `poll` was exhausted."""
        return self.path.stat().st_size - self.offset


class Log:
    """The log, open for appending under an exclusive lock that lasts as long as this object is open."""

    def __init__(self, path: Path, descriptor: int, reader: Reader, clock: Callable[[], float]) -> None:
        self.path = path
        self.seq = reader.seq
        self.head = reader.head
        self._end = reader.offset
        self._descriptor = descriptor
        self._clock = clock
        self._last_ts = 0.0
        self._beside: threading.Thread | None = None
        self._failed_beside: OSError | None = None

    @classmethod
    def create(cls, path: Path, clock: Callable[[], float]) -> "Log":
        """Begin a log. Raises LogInUse, or LogError when there is one already."""
        descriptor = _lock(path, os.O_CREAT)
        if os.fstat(descriptor).st_size:
            os.close(descriptor)
            raise LogError(f"{path} exists already.")
        return cls(path, descriptor, Reader(path), clock)

    @classmethod
    def reopen(
        cls, path: Path, clock: Callable[[], float], fold: Callable[[events.Record], None]
    ) -> tuple["Log", events.Recovered | None]:
        """Open an existing log to go on with it: each record goes through `fold`.

        An unfinished last line is moved to `<log>.torn` and cut off; the event to append for it comes
        back. Raises LogInUse, LogBroken, FileNotFoundError.
        """
        descriptor = _lock(path, 0)
        try:
            reader = Reader(path)
            for _, record in reader.poll():
                fold(record)
                last_ts = record.ts
            recovered = None
            if torn := reader.torn():
                aside = path.with_name(path.name + ".torn")
                with path.open("rb") as file, aside.open("ab") as kept:
                    file.seek(reader.offset)
                    kept.write(file.read() + b"\n")
                    kept.flush()
                    os.fsync(kept.fileno())
                os.ftruncate(descriptor, reader.offset)
                recovered = events.Recovered(torn_bytes=torn, moved_to=aside.name)
            log = cls(path, descriptor, reader, clock)
            if reader.seq:
                log._last_ts = last_ts
        except BaseException:
            os.close(descriptor)
            raise
        return log, recovered

    def append(self, event: E, lane: str, *, sync: bool = False) -> E:
        """Write one record with one write and return it as written.

        Time never runs backwards in a log. Raises LogError when the disk is full; the log then ends in
        its last whole record.
        """
        self._raise_failed_beside()
        self._last_ts = max(self._last_ts, round(self._clock(), 6))
        record = msgspec.structs.replace(event, seq=self.seq + 1, ts=self._last_ts, lane=lane, prev=self.head)
        line, head = seal_line(events.encode(record))
        try:
            written = os.write(self._descriptor, line)
            if written != len(line):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            if sync:
                _fdatasync(self._descriptor)
        except OSError as error:
            with contextlib.suppress(OSError):
                os.ftruncate(self._descriptor, self._end)
            raise LogError(f"Could not write to {self.path}: {error.strerror}.") from error
        self.seq, self.head, self._end = record.seq, head, self._end + len(line)
        return record

    def sync(self) -> None:
        """Every record so far is on the disk. Raises LogError when that cannot be."""
        self._wait_beside()
        self._raise_failed_beside()
        try:
            _fdatasync(self._descriptor)
        except OSError as error:
            raise LogError(f"Could not write to {self.path}: {error.strerror}.") from error

    def sync_beside(self) -> None:
        """Bring every record so far to the disk, in a thread: whoever goes on meanwhile may lose them with
        the machine. That it failed is raised by the next `append`, or by `sync`."""
        self._wait_beside()
        self._beside = threading.Thread(target=self._sync_beside, name="log-sync", daemon=True)
        self._beside.start()

    def _sync_beside(self) -> None:
        try:
            _fdatasync(self._descriptor)
        except OSError as error:
            self._failed_beside = error

    def _wait_beside(self) -> None:
        if self._beside is not None:
            self._beside.join()
            self._beside = None

    def _raise_failed_beside(self) -> None:
        if error := self._failed_beside:
            raise LogError(f"Could not write to {self.path}: {error.strerror}.") from error

    def close(self) -> None:
        """Let go of the log and its lock. A second call does nothing."""
        self._wait_beside()
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1


def _lock(path: Path, flags: int) -> int:
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | flags, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(descriptor)
        raise LogInUse(f"{path.parent} is in use by another run.") from None
    return descriptor


_fdatasync = getattr(os, "fdatasync", os.fsync)
"""macOS has no fdatasync."""
