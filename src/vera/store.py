"""The content-addressed store: plain files named by the sha256 of their bytes.

`store/ab/abcdef…` holds the bytes whose hash begins with `ab`; `sha256sum` checks any of them without
VERA. A file is written whole or not at all (temporary file, fsync, rename), is read-only from then on, and
is verified each time it is read.
"""

import hashlib
import os
import re
import tempfile
from pathlib import Path

_NAME = re.compile(r"[0-9a-f]{64}")


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
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                os.fchmod(file.fileno(), 0o444)
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
