"""`BASE/.vera/requests/`: where the verdict on a request lies, by its reuse key.

One small JSON file a verdict, written whole or not at all, so that any number of processes may read and
write at once. An entry is a hint and proves nothing: what it points at is opened and held against itself
before anything is made of it (`vera.runtime.reuse`).
"""

import contextlib
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import msgspec

from vera.attestation.objects import Digest, Key, Name, OptionalTimestamp, Timestamp, canonical, hexadecimal
from vera.evidence.reading import read_regular
from vera.evidence.source import Unreadable

FOLDER = (".vera", "requests")
MAX_BYTES = 16 << 10

_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


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
    except (Unreadable, msgspec.MsgspecError, ValueError, RecursionError):
        return None
    return entry if entry.key == key else None


def keep(base: Path, entry: IndexedVerdict) -> None:
    """Write an entry in place of that of the same key. Raises OSError."""
    write_whole(base, FOLDER, _name(entry.key), canonical(entry) + b"\n")


def write_whole(base: Path, folder: Sequence[str], name: str, data: bytes) -> None:
    """Write the file `name` in a folder below `base`, which is made, whole or not at all.

    No link below `base` is followed; one of that name is replaced. Raises OSError.
    """
    temporary = f".new-{secrets.token_hex(8)}"
    with _made(base, folder) as descriptor:
        try:
            with os.fdopen(os.open(temporary, _NEW, 0o600, dir_fd=descriptor), "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.rename(temporary, name, src_dir_fd=descriptor, dst_dir_fd=descriptor)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=descriptor)
            raise


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
