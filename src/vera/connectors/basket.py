"""What a connector gathers: documents with names and origins, within limits, and what was left out."""

import hashlib
import time
from pathlib import Path

import msgspec

from vera.sandbox.fetch.receipt import Receipt
from vera.sanitize import one_line

MAX_LEFT_OUT = 200
"""Things left out that are named; all of them are counted."""

LARGEST = 64 << 20
"""Bytes of one document."""

_MAX_PART = 200
_MAX_NAME = 600
_MAX_ORIGIN = 1500


class Gathered(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A document: its name in the folder, where it comes from in words, its sha256 and size in bytes.
    `receipt` is how a page came that was asked for by its address."""

    name: str
    origin: str
    sha256: str
    size: int
    receipt: Receipt | None = None


class Limits(msgspec.Struct, frozen=True, kw_only=True):
    """How much one source may give: documents, bytes of them together, and seconds."""

    documents: int
    bytes: int
    seconds: float


class Basket:
    """Takes the documents of one source into a folder. After `close` it takes nothing more.

    `prefix` begins the name of each; a connector that gathers a revision sets it before the first document.
    """

    def __init__(self, folder: Path, prefix: str, limits: Limits) -> None:
        self._folder = folder
        self._limits = limits
        self._until = time.monotonic() + limits.seconds
        self._closed = False
        self._names: set[str] = set()
        self.prefix = prefix
        self.documents: list[Gathered] = []
        self.left_out: list[tuple[str, str]] = []
        self.left_out_count = 0
        self.bytes = 0
        self.ended_at = ""

    @property
    def limits(self) -> Limits:
        """The limits of this source."""
        return self._limits

    @property
    def seconds_left(self) -> float:
        """Until its time is over, not less than 0."""
        return max(0.0, self._until - time.monotonic())

    @property
    def is_full(self) -> bool:
        """Whether nothing more is taken; `ended_at` then names the limit."""
        if not self.ended_at:
            if len(self.documents) >= self._limits.documents:
                self.ended_at = f"its limit of {self._limits.documents} documents"
            elif self.bytes >= self._limits.bytes:
                self.ended_at = f"its limit of {self._limits.bytes} bytes"
            elif not self.seconds_left:
                self.ended_at = f"its limit of {self._limits.seconds:g} seconds"
        return self._closed or bool(self.ended_at)

    def why_not(self, size: int) -> str:
        """Why a document of so many bytes is not taken, '' when it is."""
        if size > LARGEST:
            return f"larger than {LARGEST >> 20} MB"
        if self.is_full or self.bytes + size > self._limits.bytes:
            return f"beyond {self.ended_at or f'its limit of {self._limits.bytes} bytes'}"
        return ""

    def add(self, name: str, data: bytes, origin: str, receipt: Receipt | None = None) -> bool:
        """Take a document; whether it was taken. One that is not is among those left out, with the reason.

        `name` is a relative path with slashes.
        """
        why = self.why_not(len(data)) or _bad_name(name)
        whole = f"{self.prefix}/{name}"
        if not why and whole.casefold() in self._names:
            why = "another document has this name"
        if why:
            self.leave_out(name, why)
            return False
        path = self._folder / whole
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        except (FileExistsError, NotADirectoryError, IsADirectoryError):
            self.leave_out(name, "a document and a folder have this name")
            return False
        self._names.add(whole.casefold())
        self.bytes += len(data)
        sha256 = hashlib.sha256(data).hexdigest()
        origin = one_line(origin, _MAX_ORIGIN)
        self.documents.append(
            Gathered(name=whole, origin=origin, sha256=sha256, size=len(data), receipt=receipt)
        )
        return True

    def leave_out(self, name: str, why: str) -> None:
        """Note something that is not taken, and why in a few words."""
        if self._closed:
            return
        self.left_out_count += 1
        if len(self.left_out) < MAX_LEFT_OUT:
            self.left_out.append((one_line(name, 300), one_line(why, 200)))

    def close(self) -> None:
        """Take nothing more, whoever still holds the basket."""
        self._closed = True


def _bad_name(name: str) -> str:
    parts = name.split("/")
    if not name or any(part in ("", ".", "..") for part in parts) or len(name) > _MAX_NAME:
        return "no document can have this name"
    try:
        encoded = [part.encode() for part in parts]
    except UnicodeEncodeError:
        return "its name is no UTF-8"
    if any(len(part) > _MAX_PART for part in encoded) or not name.isprintable():
        return "no document can have this name"
    return ""
