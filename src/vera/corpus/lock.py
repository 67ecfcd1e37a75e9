"""One writer at a time for an index, between processes too."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from vera.corpus.values import IndexUnusable

PATIENCE_S = 300.0
_POLL_S = 0.2


class Busy(IndexUnusable):
    """Another process holds the lock and shows no progress for as long as we would wait."""


class Held:
    """The lock while it is ours."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def still_working(self) -> None:
        """Tell those who wait that there is progress."""
        os.utime(self._descriptor)


@contextmanager
def exclusive(path: Path, waiting: Callable[[str], None], patience: float = PATIENCE_S) -> Iterator[Held]:
    """Hold the lock file at `path`; calls `waiting` with a sentence while another process holds it.

    The kernel frees the lock of a process that dies. Raises Busy when the holder shows no progress for
    `patience` seconds, IndexUnusable when the file cannot be made.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise IndexUnusable(
            f"The index in {path.parent} cannot be written: {error.strerror}. "
            "Make that folder writable, or set XDG_CACHE_HOME to one that is."
        ) from error
    try:
        _acquire(descriptor, path, waiting, patience)
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)
        try:
            yield Held(descriptor)
        finally:
            fcntl.flock(descriptor, fcntl.LOCK_UN)
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, path: Path, waiting: Callable[[str], None], patience: float) -> None:
    heartbeat, since = 0, time.monotonic()
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            holder = os.pread(descriptor, 20, 0).decode(errors="replace") or "unknown"
        seen = os.fstat(descriptor).st_mtime_ns
        if seen != heartbeat:
            heartbeat, since = seen, time.monotonic()
        if time.monotonic() - since >= patience:
            raise Busy(
                f"Another process (pid {holder}) is writing the index in {path.parent} and has made no "
                f"progress for {patience:.0f} s. End that process and start again."
            )
        waiting(f"Waiting for another process (pid {holder}) that is indexing the same folder.")
        time.sleep(_POLL_S)
