"""Zip archives: members by the table at their end, or by what stands before each where that is missing."""

import stat
import zipfile
from collections.abc import Iterator
from typing import IO

from vera.extraction.containers.cut_zip import with_table
from vera.extraction.containers.stream import Broken, Foreign, Meter, Stream, TooMuch
from vera.extraction.containers.values import FREE_BYTES, MAX_RATIO, Step
from vera.extraction.zip_errors import ZIP_ERRORS

ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
"""How an archive begins, an empty one the second way."""

_ENCRYPTED = 1
_OFFICE = "[Content_Types].xml"


class Zip:
    """An open archive. Raises Foreign for what is not a zip archive or is an Office document, Broken for a
    damaged one."""

    def __init__(self, file: IO[bytes], meter: Meter) -> None:
        self._meter = meter
        if file.read(4) not in ZIP_MAGIC:
            raise Foreign
        self._is_cut = False
        try:
            self._zip = zipfile.ZipFile(file)
        except (*ZIP_ERRORS, OSError):
            self._zip = _cut(file)
            self._is_cut = True
        self._members = self._zip.infolist()
        if any(member.filename == _OFFICE for member in self._members[:50]):
            raise Foreign

    def entries(self, first: int) -> Iterator[tuple[Step, Stream | None, str]]:
        """Each member from number `first` on, with its bytes or the reason why it has none.

        Raises Broken behind the last member of an archive that is cut.
        """
        for number, info in enumerate(self._members[first - 1 :], first):
            if not info.is_dir():
                yield Step("zip", number, name=info.filename), *self._opened(info)
        if self._is_cut:
            raise Broken("its end is missing or damaged")

    def member(self, step: Step) -> Stream:
        """The bytes of one member. Raises Broken when it is no longer there."""
        if not 1 <= step.number <= len(self._members):
            raise Broken("it has fewer members than it had")
        stream, reason = self._opened(self._members[step.number - 1])
        if stream is None:
            raise Broken(reason)
        return stream

    def _opened(self, info: zipfile.ZipInfo) -> tuple[Stream | None, str]:
        if info.flag_bits & _ENCRYPTED:
            return None, "it is encrypted"
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind == stat.S_IFLNK:
            return None, "a link, which is not followed"
        if kind not in (0, stat.S_IFREG):
            return None, "a device or pipe, not a file"
        try:
            source = self._zip.open(info)
        except NotImplementedError:
            return None, "packed by a method that is not known here"
        except (*ZIP_ERRORS, OSError):
            return None, "its entry in the archive is damaged"
        return Stream(_Unpacking(source, info.compress_size), self._meter), ""


def _cut(file: IO[bytes]) -> zipfile.ZipFile:
    """What is whole of an archive without its table. Raises Broken where that is nothing."""
    try:
        archive = zipfile.ZipFile(with_table(file))
    except (*ZIP_ERRORS, OSError) as error:
        raise Broken("its zip container is broken") from error
    if not archive.infolist():
        raise Broken("its zip container is broken")
    return archive


class _Unpacking:
    """A member as it is unpacked. Raises TooMuch for a bomb, Broken for damaged data."""

    def __init__(self, source: IO[bytes], packed: int) -> None:
        self._source = source
        self._left = FREE_BYTES + MAX_RATIO * packed

    def read(self, size: int, /) -> bytes:
        try:
            data = self._source.read(size)
        except (*ZIP_ERRORS, OSError) as error:
            raise Broken("its packed data are damaged") from error
        self._left -= len(data)
        if self._left < 0:
            raise TooMuch(f"it unpacks to more than {MAX_RATIO} times its size")
        return data
