"""A zip of XML parts, opened as if it meant harm: Office Open XML (ECMA-376), OpenDocument, EPUB."""

import io
import zipfile
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Protocol

from vera.evidence.canonical.dates import day
from vera.evidence.source import Unreadable
from vera.evidence.zip_errors import ZIP_ERRORS
from vera.extras import install_command

PART_LIMIT = 256 << 20
"""Uncompressed bytes that are read of one package, all parts together."""

PROPERTIES = "docProps/core.xml"
"""The part with a document's own properties."""

_TERMS = "{http://purl.org/dc/terms/}"
_ELEMENTS = "{http://purl.org/dc/elements/1.1/}"
_TITLE_READ = 1000
_MEMBERS = 20_000
_CHUNK = 1 << 18


class Handler(Protocol):
    """Gets the elements of a part one by one; names are `{namespace}local`."""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None: ...

    def end(self, tag: str) -> None: ...

    def data(self, text: str) -> None: ...


class Package:
    """A package in memory. Raises Unreadable where it is broken, encrypted or unfolds to too much."""

    def __init__(self, data: bytes) -> None:
        lxml_version()
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
        from lxml import etree

        # "internal": with False the target gets attributes with "&#38;" in them. There are no entities to
        # resolve: _Guard refuses their declaration.
        parser = etree.XMLParser(
            target=_Guard(handler),
            resolve_entities="internal",
            no_network=True,
            load_dtd=False,
            huge_tree=False,
        )
        try:
            with self._zip.open(part) as stream:
                while chunk := stream.read(_CHUNK):
                    self._left -= len(chunk)
                    if self._left < 0:
                        raise Unreadable(f"it unpacks to more than {PART_LIMIT >> 20} MB")
                    parser.feed(chunk)
            parser.close()
        except etree.LxmlError:
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


class _Guard:
    """Passes elements on and refuses a document type: Office writes none, and entities live there."""

    def __init__(self, handler: Handler) -> None:
        self.start = handler.start
        self.end = handler.end
        self.data = handler.data

    def doctype(self, *_: object) -> None:
        raise Unreadable("its XML declares a document type, which is not read")

    def close(self) -> None:
        """Asked for by lxml's parser interface."""


@cache
def lxml_version() -> str:
    """Raises Unreadable with what to type when lxml is not installed."""
    try:
        return version("lxml")
    except PackageNotFoundError:
        raise Unreadable(f"needs the docs extra: {install_command('docs')}") from None
