"""`session.log`: what dashboards did with a session, a line of JSON each; its lock lets one act at a time."""

import contextlib
import fcntl
import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path

from vera.dashboard.regular import open_regular, size_of
from vera.dashboard.sessions import CONTROL_LOG

TAIL_BYTES = 64 << 10
"""What is read of it, from its end."""

FIRST_BYTES = 4 << 10
"""What is read of its first line."""

LOCK_SECONDS = 5.0
"""An action takes milliseconds: what holds the lock longer hangs."""

Line = Mapping[str, object]


class Busy(Exception):
    """Another dashboard acts on the session and does not come to an end."""


@contextlib.contextmanager
def acting(folder: Path, seconds: float = LOCK_SECONDS) -> Iterator[None]:
    """Within, no other dashboard and no other thread acts on the session. The file is made when it is not
    there. Raises Busy after that many seconds, or OSError when it cannot be written to."""
    descriptor = _open(folder)
    try:
        _lock(descriptor, seconds)
        yield
    finally:
        os.close(descriptor)


def write(folder: Path, action: str, **about: object) -> None:
    """Append a line: when (Unix time), what, and about what. Never given a secret.

    Raises OSError when it cannot be written.
    """
    line = json.dumps({"ts": round(time.time(), 3), "action": action, **about}, ensure_ascii=True)
    descriptor = _open(folder)
    try:
        os.write(descriptor, line.encode() + b"\n")
    finally:
        os.close(descriptor)


def first(folder: Path) -> Line:
    """The first line, which says that a dashboard made the session; {} where there is no such line."""
    if (opened := open_regular(folder / CONTROL_LOG)) is None:
        return {}
    with opened as file:
        return _read(file.readline(FIRST_BYTES)) or {}


def tail(folder: Path) -> list[Line]:
    """The last lines, the oldest first; none when there is no such file. What is no such line is left out."""
    if (opened := open_regular(folder / CONTROL_LOG)) is None:
        return []
    with opened as file:
        file.seek(max(0, size_of(file) - TAIL_BYTES))
        lines = file.read(TAIL_BYTES).split(b"\n")
    return [found for line in lines if (found := _read(line)) is not None]


def _open(folder: Path) -> int:
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    return os.open(folder / CONTROL_LOG, flags, 0o600)


def _lock(descriptor: int, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise Busy from None
            time.sleep(0.01)
        else:
            return


def _read(line: bytes) -> Line | None:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("action"), str) else None
