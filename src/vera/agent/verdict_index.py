"""`BASE/.vera/requests/`: where the verdict on a request lies, by its reuse key; `BASE/.vera/in-flight/`: the
locks of those that are looked for now.

One small JSON file a verdict, written whole or not at all, so that any number of processes may read and
write at once. An entry is a hint and proves nothing: what it points at is opened and held against itself
before anything is made of it (`vera.runtime.reuse`).
"""

import asyncio
import contextlib
import fcntl
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

import msgspec

from vera.attestation.objects import Digest, Key, Name, OptionalTimestamp, Timestamp, canonical, hexadecimal
from vera.decode_errors import DECODE_ERRORS
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.store import replace_in

FOLDER = (".vera", "requests")
IN_FLIGHT = (".vera", "in-flight")
MAX_BYTES = 16 << 10

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LOCK = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
_POLL_SECONDS = 0.2


class IndexedVerdict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where a verdict lies, and what it says of itself; `session` is its folder, relative to the base."""

    key: Digest
    thesis: Digest
    request: Digest
    attestation: Digest
    session: Name
    result: Key
    issued_at: Timestamp
    expires_at: OptionalTimestamp = ""


def find(base: Path, key: Digest) -> IndexedVerdict | None:
    """The entry of a reuse key; None where there is none that can be read."""
    try:
        data = read_regular(base, "/".join((*FOLDER, _name(key))), MAX_BYTES)
        entry = msgspec.json.decode(data, type=IndexedVerdict)
    except (Unreadable, *DECODE_ERRORS):
        return None
    return entry if entry.key == key else None


def keep(base: Path, entry: IndexedVerdict) -> None:
    """Write an entry in place of that of the same key. Raises OSError."""
    write_whole(base, FOLDER, _name(entry.key), canonical(entry) + b"\n")


@asynccontextmanager
async def in_flight(
    base: Path, key: Digest, patience: float, waiting: Callable[[], None]
) -> AsyncIterator[bool]:
    """Hold the lock of a reuse key while its verdict is looked for: whoever asks the same meanwhile waits,
    in this process or another, and then finds the verdict. Says whether there was a wait; `waiting` is called
    when it begins.

    Goes on without the lock after `patience` seconds, and where none can be made: two then look at one time,
    which costs and harms nothing. The kernel frees the lock of a process that dies.
    """
    deadline, told, held = time.monotonic() + patience, False, None
    with contextlib.suppress(OSError):
        while (held := _locked(base, f"{hexadecimal(key)}.lock")) is None and time.monotonic() < deadline:
            if not told:
                waiting()
                told = True
            await asyncio.sleep(_POLL_SECONDS)
    try:
        yield told
    finally:
        if held is not None:
            _unlock(base, f"{hexadecimal(key)}.lock", held)


def _locked(base: Path, name: str) -> int | None:
    """A descriptor that holds the lock file; None while another has it. Raises OSError."""
    with _made(base, IN_FLIGHT) as folder:
        descriptor = os.open(name, _LOCK, 0o600, dir_fd=folder)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            # Its last holder may have removed the file meanwhile: then another process can lock a new one.
            if os.fstat(descriptor).st_ino == os.stat(name, dir_fd=folder, follow_symlinks=False).st_ino:
                return descriptor
        except (BlockingIOError, FileNotFoundError):
            pass
        except BaseException:
            os.close(descriptor)
            raise
    os.close(descriptor)
    return None


def _unlock(base: Path, name: str, descriptor: int) -> None:
    """Remove the lock file, then free the lock."""
    try:
        with contextlib.suppress(OSError), _made(base, IN_FLIGHT) as folder:
            os.unlink(name, dir_fd=folder)
    finally:
        os.close(descriptor)


def write_whole(base: Path, folder: Sequence[str], name: str, data: bytes) -> None:
    """Write the file `name` in a folder below `base`, which is made, whole or not at all.

    No link below `base` is followed; one of that name is replaced. Raises OSError.
    """
    with _made(base, folder) as descriptor:
        replace_in(descriptor, name, data, 0o600)


def _name(key: Digest) -> str:
    return f"{hexadecimal(key)}.json"


@contextmanager
def _made(base: Path, names: Sequence[str]) -> Iterator[int]:
    """A descriptor of a folder below `base`. Raises OSError."""
    base.mkdir(parents=True, exist_ok=True)
    folder = os.open(base, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for name in names:
            with contextlib.suppress(FileExistsError):
                os.mkdir(name, 0o700, dir_fd=folder)
            inner = os.open(name, _FOLDER, dir_fd=folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)
