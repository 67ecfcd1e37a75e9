"""Tar archives, plain or packed by gzip, bzip2 or xz, read once from front to back."""

import bz2
import lzma
import tarfile
import zlib
from collections.abc import Iterator
from typing import IO, Any, Self

from vera.extraction.containers.stream import CHUNK, Broken, Foreign, Meter, Source, Stream
from vera.extraction.containers.values import Step

_BLOCK = 512
_MAGIC = slice(257, 262)
_ENDS = ("EOFHeaderError", "EmptyHeaderError")
"""How `tarfile` says that an archive has no more headers; it keeps these two names to itself."""

_PACKED = {"tar.gz": b"\x1f\x8b", "tar.bz2": b"BZh", "tar.xz": b"\xfd7zXZ\x00"}
_ERRORS = (tarfile.TarError, ValueError, OverflowError, EOFError, KeyError, IndexError, RecursionError)


class Unpacked:
    """What a packed source unpacks to, over all its parts (a gzip file may have several).

    Raises Broken where it is damaged or ends too early.
    """

    def __init__(self, kind: str, source: Source) -> None:
        self._kind = kind
        self._source = source
        self._engine = _engine(kind)

    def read(self, size: int, /) -> bytes:
        try:
            while True:
                if self._engine.eof:
                    packed = self._next_part()
                    if not packed:
                        return b""
                    self._engine = _engine(self._kind)
                else:
                    packed = self._source.read(CHUNK) if self._engine.needs_input else b""
                data = self._engine.decompress(packed, size)
                if data:
                    return data
                if self._engine.needs_input and not packed and not self._engine.eof:
                    raise Broken("it ends too early")
        except (OSError, zlib.error, lzma.LZMAError, EOFError, ValueError) as error:
            raise Broken("its packed data are damaged") from error

    def _next_part(self) -> bytes:
        """What follows a part, b"" when nothing does but padding."""
        packed = self._engine.unused_data.lstrip(b"\0")
        while not packed:
            piece = self._source.read(CHUNK)
            if not piece:
                return b""
            packed = piece.lstrip(b"\0")
        return packed


class _Gzip:
    """zlib's decompressor in the form of those of bz2 and lzma."""

    def __init__(self) -> None:
        self._engine = zlib.decompressobj(wbits=31)

    @property
    def eof(self) -> bool:
        return self._engine.eof

    @property
    def unused_data(self) -> bytes:
        return self._engine.unused_data

    @property
    def needs_input(self) -> bool:
        return not self._engine.unconsumed_tail

    def decompress(self, data: bytes, most: int) -> bytes:
        return self._engine.decompress(self._engine.unconsumed_tail + data, most)


def _engine(kind: str) -> "_Gzip | bz2.BZ2Decompressor | lzma.LZMADecompressor":
    match kind:
        case "tar.gz":
            return _Gzip()
        case "tar.bz2":
            return bz2.BZ2Decompressor()
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=256 << 20)


def opened(kind: str, stream: Stream, meter: Meter) -> Stream:
    """The bytes of the archive itself. Raises Foreign for what is no tar."""
    if not begins(kind, stream):
        raise Foreign
    if kind == "tar":
        return stream
    archive = Stream(Unpacked(kind, stream), meter)
    if not begins("tar", archive):
        raise Foreign
    return archive


def begins(kind: str, stream: Stream) -> bool:
    """Whether a tar, or a file packed as this kind is, begins here."""
    if kind != "tar":
        return stream.peek(6).startswith(_PACKED[kind])
    block = stream.peek(_BLOCK)
    return block[_MAGIC] == b"ustar" or _old(block)


def entries(kind: str, stream: Stream) -> Iterator[tuple[Step, Stream | None, str]]:
    """Each member with its step, and its bytes or the reason why it has none; folders are passed over.

    The bytes of one are to be read before the next is asked for. Raises Broken.
    """
    number = 0
    try:
        reading: Any = _Reading(stream)
        with tarfile.open(fileobj=reading, mode="r|", bufsize=CHUNK, tarinfo=_Info) as archive:
            for info in archive:
                archive.members = []  # type: ignore[attr-defined]  # it would keep them all
                if info.isdir():
                    continue
                number += 1
                step = Step(kind, number, info.offset_data, max(info.size, 0), info.name)
                file = archive.extractfile(info) if info.isreg() and not info.issparse() else None
                content = Stream(_Content(file), _UNCOUNTED) if file else None
                yield step, content, "" if file else _no_file(info)
    except _ERRORS as error:
        raise Broken("its end is missing or damaged") from error


class _Info(tarfile.TarInfo):
    """A header; a damaged one is an error anywhere, not only at the beginning."""

    @classmethod
    def fromtarfile(cls, tarfile_: tarfile.TarFile) -> Self:
        try:
            return super().fromtarfile(tarfile_)
        except tarfile.HeaderError as error:
            if type(error).__name__ in _ENDS:
                raise
            raise Broken("its end is missing or damaged") from error


class _Content:
    """The bytes of a member. Raises Broken where the archive ends too early."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def read(self, size: int, /) -> bytes:
        try:
            return self._file.read(size)
        except _ERRORS as error:
            raise Broken("it ends too early") from error


class _Reading:
    """A stream that reads as much as it is asked for, as `tarfile` expects of a file.

    Where that is not there, it gives what is before the damage, and raises when more is wanted.
    """

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._damage: Broken | None = None

    def read(self, size: int, /) -> bytes:
        if self._damage is not None:
            raise self._damage
        pieces: list[bytes] = []
        try:
            while size > 0 and (piece := self._stream.read(size)):
                pieces.append(piece)
                size -= len(piece)
        except Broken as damage:
            if not pieces:
                raise
            self._damage = damage
        return b"".join(pieces)


_UNCOUNTED = Meter(1 << 60, lambda _: None)
"""For the bytes of a member, which were counted when the archive was unpacked."""


def _no_file(info: tarfile.TarInfo) -> str:
    if info.issym() or info.islnk():
        return "a link, which is not followed"
    if info.isreg():
        return "a sparse file, which is not read"
    return "a device or pipe, not a file"


def _old(block: bytes) -> bool:
    """Whether a block is the header of an archive from before there was a magic number: its sum is right."""
    try:
        tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
    except (tarfile.HeaderError, ValueError):
        return False
    return True
