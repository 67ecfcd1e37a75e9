"""A zip of XML parts, opened as if it meant harm: Office Open XML (ECMA-376), OpenDocument, EPUB."""

import io
import zipfile
from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol
from xml.parsers import expat

from vera.extraction.canonical.dates import day
from vera.extraction.source import Unreadable
from vera.extraction.zip_errors import ZIP_ERRORS

PROGRAM = expat.EXPAT_VERSION.replace("_", "-")
"""What reads the XML, for the name of an extractor: expat-2.5.0."""

PART_LIMIT = 256 << 20
"""Uncompressed bytes that are read of one package, all parts together."""

PROPERTIES = "docProps/core.xml"
"""The part with a document's own properties."""

_TERMS = "{http://purl.org/dc/terms/}"
_ELEMENTS = "{http://purl.org/dc/elements/1.1/}"
_TITLE_READ = 1000
_MEMBERS = 20_000
_CHUNK = 1 << 18
_DEEPEST = 1000
"""Elements within elements of a part."""


class Handler(Protocol):
    """Gets the elements of a part one by one; names are `{namespace}local`."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None: ...

    def end(self, tag: str) -> None: ...

    def data(self, text: str) -> None: ...


class Package:
    """A package in memory. Raises Unreadable where it is broken, encrypted or unfolds to too much."""

    def __init__(self, data: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
            self._names = {member.filename for member in self._zip.infolist()[:_MEMBERS]}
        except (*ZIP_ERRORS, OSError):
            raise Unreadable("its zip container is broken") from None
        self._left = PART_LIMIT

    def names(self) -> frozenset[str]:
        return frozenset(self._names)

    def read(self, part: str, limit: int) -> bytes:
        """A part as it is. Raises Unreadable for one of more than `limit` bytes."""
        try:
            with self._zip.open(part) as stream:
                data = stream.read(limit + 1)
        except (*ZIP_ERRORS, OSError):
            raise Unreadable("its zip container is broken") from None
        self._left -= len(data)
        if len(data) > limit or self._left < 0:
            raise Unreadable(f"its part {part[:100]} unpacks to more than is read")
        return data

    def parse(self, part: str, handler: Handler) -> None:
        """Feed a part to `handler` as it is unpacked: neither the XML nor a tree of it is ever held whole."""
        guard = _Guard(handler)
        try:
            with self._zip.open(part) as stream:
                while chunk := stream.read(_CHUNK):
                    self._left -= len(chunk)
                    if self._left < 0:
                        raise Unreadable(f"it unpacks to more than {PART_LIMIT >> 20} MB")
                    guard.feed(chunk)
            guard.feed(b"", is_last=True)
        except _BadXML:
            raise Unreadable(f"its part {part} is no valid XML") from None
        except (*ZIP_ERRORS, OSError):
            raise Unreadable("its zip container is broken") from None


class Properties:
    """What a document says of itself (Dublin Core): the days on which it was made and last changed, and its
    title; '' for none. `created` and `modified` are the elements that hold those days."""

    def __init__(self, created: str = f"{_TERMS}created", modified: str = f"{_TERMS}modified") -> None:
        self._created, self._modified = created, modified
        self.created = self.modified = self.title = ""
        self._open = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._open = tag

    def end(self, tag: str) -> None:
        self._open = ""

    def data(self, text: str) -> None:
        if self._open == self._created:
            self.created = self.created or day(text)
        elif self._open == self._modified:
            self.modified = self.modified or day(text)
        elif self._open == f"{_ELEMENTS}title" and len(self.title) < _TITLE_READ:
            self.title += text


class _BadXML(Exception):
    """XML that is not well-formed, or in an encoding that is not known."""


class _Guard:
    """Passes elements on. Refuses a document type, as Office writes none and entities are declared there, and
    elements that are nested too deeply."""

    def __init__(self, handler: Handler) -> None:
        self._handler = handler
        self._depth = 0
        self._parser = expat.ParserCreate(namespace_separator="}")
        self._parser.buffer_text = True
        self._parser.StartDoctypeDeclHandler = self._doctype
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = handler.data

    def feed(self, chunk: bytes, *, is_last: bool = False) -> None:
        """Raises _BadXML, and what the handler raises."""
        try:
            self._parser.Parse(chunk, is_last)
        except (expat.ExpatError, LookupError, ValueError):  # the last two: of an encoding
            raise _BadXML from None

    def _doctype(self, *_: object) -> None:
        raise Unreadable("its XML declares a document type, which is not read")

    def _start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Unreadable(f"its XML is nested more than {_DEEPEST} deep")
        self._handler.start(_named(tag), {_named(name): value for name, value in attributes.items()})

    def _end(self, tag: str) -> None:
        self._depth -= 1
        self._handler.end(_named(tag))


@lru_cache(maxsize=4096)
def _named(name: str) -> str:
    """`{namespace}local`, or the name alone where it has no namespace."""
    return f"{{{name}" if "}" in name else name
