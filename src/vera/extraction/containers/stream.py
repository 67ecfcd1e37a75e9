"""Bytes that are read forward: of a file, or of what it unpacks to, with a bound on how much that is."""

import io
from collections.abc import Callable
from typing import Any, Protocol

from vera.extraction.containers.values import FREE_BYTES, MAX_RATIO, MEMBER_BYTES

CHUNK = 1 << 20


class TooMuch(Exception):
    """It unpacks to more than is read; the message says so."""


class Foreign(Exception):
    """The bytes are no container of the kind that was expected."""


class Broken(Exception):
    """A container that cannot be read any further; the message says why."""


class Source(Protocol):
    """What can be read forward; b"" at the end."""

    def read(self, size: int, /) -> bytes: ...


class Meter:
    """How much of a file was read (`consumed`) and unpacked; tells of it now and then.

    Raises TooMuch when what is unpacked has no proportion to the file.
    """

    def __init__(self, size: int, tell: Callable[[int], None]) -> None:
        self.consumed = 0
        self._tell = tell
        self._told = 0
        self._unpacked = 0
        self._most = FREE_BYTES * 4 + MAX_RATIO * size

    def read(self, size: int) -> None:
        """So many bytes more of the file were read, or passed over."""
        self.consumed += size

    def unpacked(self, size: int) -> None:
        """So many bytes more were unpacked."""
        self._unpacked += size
        if self._unpacked > self._most:
            raise TooMuch(f"it unpacks to more than {MAX_RATIO} times its size")
        self._told += size
        if self._told >= 8 * CHUNK:
            self._told = 0
            self._tell(self.consumed)


class Stream:
    """A source with its position, and a look ahead. `limit` bytes of it are read at most."""

    def __init__(self, source: Source, meter: Meter, *, limit: int = 1 << 62) -> None:
        self._source = source
        self._meter = meter
        self._ahead = b""
        self._left = limit
        self.position = 0

    def read(self, size: int = CHUNK) -> bytes:
        if not self._ahead:
            data = self._draw(min(size, CHUNK))
        else:
            data, self._ahead = self._ahead[:size], self._ahead[size:]
        self.position += len(data)
        return data

    def peek(self, size: int) -> bytes:
        """The next `size` bytes, fewer at the end; they are read again."""
        while len(self._ahead) < size and (more := self._draw(CHUNK)):
            self._ahead += more
        return self._ahead[:size]

    def skip_to(self, position: int) -> None:
        """Go forward. Raises Broken when it ends before."""
        far = position - self.position - len(self._ahead)
        if far > 8 * CHUNK and isinstance(self._source, io.BufferedReader):
            self._source.seek(far, io.SEEK_CUR)
            self._meter.read(far)
            self.position, self._ahead = position, b""
        while self.position < position:
            if not self.read(position - self.position):
                raise Broken("it is shorter than it was")

    def whole(self, limit: int = MEMBER_BYTES) -> bytes:
        """All that is left. Raises TooMuch when that is more than `limit`."""
        pieces: list[bytes] = []
        size = 0
        while piece := self.read():
            size += len(piece)
            if size > limit:
                raise TooMuch(f"larger than {limit >> 20} MB")
            pieces.append(piece)
        return b"".join(pieces)

    def _draw(self, size: int) -> bytes:
        data = self._source.read(min(size, self._left)) if self._left else b""
        self._left -= len(data)
        self._meter.unpacked(len(data))
        return data


class File(io.RawIOBase):
    """The file of the folder, opened by somebody else; the meter follows it."""

    def __init__(self, descriptor: int, meter: Meter) -> None:
        self._file = io.FileIO(descriptor, "rb", closefd=False)
        self._file.seek(0)
        self._meter = meter

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: Any, /) -> int:
        count = self._file.readinto(buffer) or 0
        self._meter.read(count)
        return count

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()
