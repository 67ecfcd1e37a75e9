"""The content-addressed store: plain files named by the sha256 of their bytes.

`store/ab/abcdef…` holds the bytes whose hash begins with `ab`; `sha256sum` checks any of them without
VERA. A file is written whole or not at all (a file without a name, fsync, link), is for its owner to read
alone, and is verified each time it is read.
"""

import contextlib
import hashlib
import os
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Literal

_NAME = re.compile(r"[0-9a-f]{64}")
_UNFINISHED = ".new-"
_OPEN_FILES = Path("/proc/self/fd")


def open_private(path: Path, mode: Literal["wb", "xb", "ab"]) -> BinaryIO:
    """Open a file of a session to write to; a new one is for its owner alone. Raises OSError."""
    flags = {"wb": os.O_TRUNC, "xb": os.O_EXCL, "ab": os.O_APPEND}[mode]
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | flags, 0o600)
    return os.fdopen(descriptor, "ab" if mode == "ab" else "wb", buffering=0 if mode == "ab" else -1)


def replace_file(path: Path, content: bytes) -> None:
    """Write a file whole or not at all. A link of its name is replaced, never followed. Raises OSError."""
    temporary = path.with_name(path.name + ".new")
    temporary.unlink(missing_ok=True)
    try:
        with open_private(temporary, "xb") as file:
            file.write(content)
            file.flush()
            if content:  # an empty file has nothing to lose
                os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            temporary.unlink()
        raise


@contextlib.contextmanager
def whole_file(path: Path, mode: int, *, sync: bool = True) -> Iterator[BinaryIO]:
    """A file to write to, which gets its name, and with `sync` is on the disk, when the block ends well.

    A process that is killed within leaves nothing, where the file system has files without a name (Linux);
    elsewhere a file `.new-…`. Raises FileExistsError when the name is taken by then, OSError.
    """
    try:
        folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None
    try:
        with whole_file_in(folder, path.name, mode, sync=sync) as file:
            yield file
    except OSError as error:
        if error.filename == path.name:
            error.filename = str(path)
        raise
    finally:
        os.close(folder)


@contextlib.contextmanager
def whole_file_in(folder: int, name: str, mode: int, *, sync: bool = True) -> Iterator[BinaryIO]:
    """`whole_file` in an open folder, which no link can lead away from."""
    try:
        descriptor, temporary = _nameless(folder)
    except OSError as error:  # it would name the temporary file
        raise OSError(error.errno, error.strerror, name) from None
    try:
        with os.fdopen(descriptor, "w+b") as file:
            yield file
            file.flush()
            os.fchmod(descriptor, mode)
            if sync:
                os.fsync(descriptor)
            # With the descriptor of a folder the link to an open file is followed: linkat(2).
            source = temporary or str(_OPEN_FILES / str(descriptor))
            os.link(source, name, src_dir_fd=folder, dst_dir_fd=folder)
    finally:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=folder)


def replace_in(folder: int, name: str, content: bytes, mode: int, *, sync: bool = True) -> None:
    """Write a file of an open folder whole or not at all, in place of one of that name if there is one.

    A process that is killed leaves nothing where the name is free, else at most a file `.new-…`. Raises
    OSError.
    """
    try:
        _write_in(folder, name, content, mode, sync)
    except FileExistsError:
        temporary = f"{_UNFINISHED}{secrets.token_hex(8)}"
        try:
            _write_in(folder, temporary, content, mode, sync)
            os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary, dir_fd=folder)
            raise


def _write_in(folder: int, name: str, content: bytes, mode: int, sync: bool) -> None:
    with whole_file_in(folder, name, mode, sync=sync) as file:
        file.write(content)


def _nameless(folder: int) -> tuple[int, str]:
    """The descriptor of a new file and its name, which is '' where it needs none. Raises OSError."""
    flags = getattr(os, "O_TMPFILE", 0)
    if flags and _OPEN_FILES.is_dir():
        with contextlib.suppress(OSError):  # not every file system has them
            return os.open(".", flags | os.O_RDWR | os.O_CLOEXEC, 0o600, dir_fd=folder), ""
    name = f"{_UNFINISHED}{secrets.token_hex(8)}"
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.open(name, flags, 0o600, dir_fd=folder), name


class StoreError(Exception):
    """A blob is missing or its bytes are not those of its name."""


class Store:
    """A folder of blobs. Any number of readers; writers never disturb each other."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def path(self, sha256: str) -> Path:
        """Where the blob lies, present or not. Raises StoreError for what is no sha256."""
        if not _NAME.fullmatch(sha256):
            raise StoreError(f"{sha256[:80]!r} is not a sha256 in hexadecimal.")
        return self.root / sha256[:2] / sha256

    def put(self, data: bytes) -> str:
        """Keep these bytes and return their sha256. Raises OSError (such as no space left on the disk)."""
        sha256 = hashlib.sha256(data).hexdigest()
        path = self.path(sha256)
        if path.exists():
            return sha256
        if not path.parent.exists():
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
        with contextlib.suppress(FileExistsError), whole_file(path, 0o400) as file:  # another was first
            file.write(data)
        return sha256

    def get(self, sha256: str) -> bytes:
        """The blob's bytes, verified. Raises StoreError when it is missing or altered."""
        path = self.path(sha256)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise StoreError(f"The store has no blob {sha256}.") from None
        found = hashlib.sha256(data).hexdigest()
        if found != sha256:
            raise StoreError(f"{path} was altered: its bytes hash to {found}.")
        return data

    def sweep(self) -> None:
        """Remove what a killed process left half written. No one else may be writing."""
        for left in self.root.glob(f"*/{_UNFINISHED}*"):
            left.unlink(missing_ok=True)

    def has(self, sha256: str) -> bool:
        return self.path(sha256).exists()
