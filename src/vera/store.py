"""The content-addressed store: plain files named by the sha256 of their bytes.

`store/ab/abcdef…` holds the bytes whose hash begins with `ab`; `sha256sum` checks any of them without
VERA. A file is written whole or not at all (temporary file, fsync, rename), is for its owner to read
alone, and is verified each time it is read.
"""

import hashlib
import os
import re
import tempfile
from pathlib import Path
from typing import BinaryIO, Literal

_NAME = re.compile(r"[0-9a-f]{64}")


def open_private(path: Path, mode: Literal["wb", "xb", "ab"]) -> BinaryIO:
    """Open a file of a session to write to; a new one is for its owner alone. Raises OSError."""
    flags = {"wb": os.O_TRUNC, "xb": os.O_EXCL, "ab": os.O_APPEND}[mode]
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | flags, 0o600)
    return os.fdopen(descriptor, "ab" if mode == "ab" else "wb", buffering=0 if mode == "ab" else -1)


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
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                os.fchmod(file.fileno(), 0o400)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
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

    def has(self, sha256: str) -> bool:
        return self.path(sha256).exists()
