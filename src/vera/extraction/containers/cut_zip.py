"""A zip archive without its table of members: one is made from the headers before the members, as far as
members are whole."""

import io
import struct
from collections.abc import Iterator
from typing import IO, Any, NamedTuple

from vera.extraction.containers.stream import CHUNK
from vera.extraction.containers.values import MAX_MEMBERS

_HEADER = struct.Struct("<4s5H3L2H")
_ROW = struct.Struct("<4s6H3L5H2L")
_END = struct.Struct("<4s4H2LH")
_AFTER = struct.Struct("<4s3L")
_MARK, _ROW_MARK, _END_MARK, _AFTER_MARK = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06", b"PK\x07\x08"
_SIZE_BEHIND = 8
_IN_ZIP64 = 0xFFFFFFFF
_MAX_TABLE = 64 << 20


class _Sizes(NamedTuple):
    crc: int
    packed: int
    unpacked: int


def with_table(file: IO[bytes]) -> IO[bytes]:
    """The archive with a table of the whole members that it begins with."""
    table = bytearray()
    count, length = 0, 0
    for row, end in _rows(file):
        if count == min(MAX_MEMBERS, 0xFFFE) or len(table) + len(row) > _MAX_TABLE:
            break
        table += row
        count, length = count + 1, end
    closing = _END.pack(_END_MARK, 0, 0, count, count, len(table), length, 0)
    return io.BufferedReader(_Joined(file, length, bytes(table) + closing))


def _rows(file: IO[bytes]) -> Iterator[tuple[bytes, int]]:
    """The row of each whole member in the table, and where its bytes end."""
    length, start = file.seek(0, io.SEEK_END), 0
    while True:
        file.seek(start)
        head = file.read(_HEADER.size)
        if len(head) < _HEADER.size or not head.startswith(_MARK):
            return
        _, needed, flags, method, time, date, *numbers, name_size, extra_size = _HEADER.unpack(head)
        name = file.read(name_size)
        first = start + _HEADER.size + name_size + extra_size
        sizes, end = _Sizes(*numbers), first + numbers[1]
        if flags & _SIZE_BEHIND:
            behind = _sizes_behind(file, first)
            if behind is None:
                return
            sizes, end = behind, first + behind.packed + _AFTER.size
        if end > length or _IN_ZIP64 in (sizes.packed, sizes.unpacked) or start >= _IN_ZIP64:
            return
        fields = (needed, needed, flags, method, time, date, *sizes, name_size, 0, 0, 0, 0, 0, start)
        yield _ROW.pack(_ROW_MARK, *fields) + name, end
        start = end


def _sizes_behind(file: IO[bytes], first: int) -> _Sizes | None:
    """What stands behind the packed bytes that begin at `first`: the record that tells their true length."""
    file.seek(first)
    held, at = b"", first
    while piece := file.read(CHUNK):
        held += piece
        found = held.find(_AFTER_MARK)
        while 0 <= found <= len(held) - _AFTER.size:
            _, *numbers = _AFTER.unpack_from(held, found)
            if numbers[1] == at + found - first:
                return _Sizes(*numbers)
            found = held.find(_AFTER_MARK, found + 1)
        kept = min(len(held), _AFTER.size - 1)
        at += len(held) - kept
        held = held[len(held) - kept :]
    return None


class _Joined(io.RawIOBase):
    """The first `length` bytes of a file, and `tail` behind them."""

    def __init__(self, file: IO[bytes], length: int, tail: bytes) -> None:
        self._file = file
        self._length = length
        self._tail = tail
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        begin = (0, self._at, self._length + len(self._tail))[whence]
        self._at = max(0, begin + offset)
        return self._at

    def readinto(self, buffer: Any, /) -> int:
        if self._at < self._length:
            self._file.seek(self._at)
            data = self._file.read(min(len(buffer), self._length - self._at))
        else:
            behind = self._at - self._length
            data = self._tail[behind : behind + len(buffer)]
        buffer[: len(data)] = data
        self._at += len(data)
        return len(data)
