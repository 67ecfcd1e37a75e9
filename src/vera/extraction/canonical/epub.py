"""Books in EPUB (W3C EPUB 3.3, and EPUB 2): the text of each part of the spine, a part a page.

The parts are pages of HTML and are read as such. Books with digital rights management are encrypted and
cannot be read.
"""

import posixpath
from collections.abc import Mapping
from urllib.parse import unquote

from vera.extraction.canonical.dates import day
from vera.extraction.canonical.encoding import to_utf8
from vera.extraction.canonical.html import declared_charset, program, with_markers
from vera.extraction.canonical.naming import bounded, extractor_name, first_line_title
from vera.extraction.canonical.package import PROGRAM, Package
from vera.extraction.canonical.rendered import TEXT_LIMIT
from vera.extraction.marks import lifted
from vera.extraction.source import Extracted, Unreadable

RULES = 2
PART_LIMIT = 5000
_PART_BYTES = 8 << 20

_CONTAINER = "META-INF/container.xml"
_ENCRYPTION = "META-INF/encryption.xml"
_ROOTFILE = "{urn:oasis:names:tc:opendocument:xmlns:container}rootfile"
_OPF = "{http://www.idpf.org/2007/opf}"
_DC = "{http://purl.org/dc/elements/1.1/}"
_ENCRYPTED = "{http://www.w3.org/2001/04/xmlenc#}CipherReference"
_PAGES = frozenset(("application/xhtml+xml", "text/html"))


def extract(data: bytes, name: str) -> Extracted:
    """The visible text of the parts in the order of reading; `pages` holds the line on which each begins.

    Raises Unreadable for a broken file and an encrypted book.
    """
    package = Package(data)
    names = package.names()
    book, base = _opened(package)
    locked = _Encrypted()
    if _ENCRYPTION in names:
        package.parse(_ENCRYPTION, locked)
    parts = [posixpath.normpath(posixpath.join(base, unquote(part))) for part in book.parts()]
    if len(parts) > PART_LIMIT:
        raise Unreadable(f"it has {len(parts)} parts; at most {PART_LIMIT} are read")
    if locked.parts.intersection(parts):
        raise Unreadable("the book is encrypted (digital rights management)")
    firsts: list[int] = []
    chapters: list[bytes] = []
    lines = size = 0
    for part in parts:
        firsts.append(lines + 1)
        if part in names:
            page = package.read(part, _PART_BYTES)
            chapters.append(with_markers(to_utf8(page, declared_charset(page))[0]))
            lines += chapters[-1].count(b"\n")
            size += len(chapters[-1])
        if size > TEXT_LIMIT:
            raise Unreadable(f"its text is larger than {TEXT_LIMIT >> 20} MB")
    text, marks = lifted(b"".join(chapters))
    if not text.strip():
        raise Unreadable("the book holds no text")
    return Extracted(
        text=text,
        title=bounded(book.title) or first_line_title(text, name),
        media_type="application/epub+zip",
        extractor=extractor_name("epub", f"{program()}-{PROGRAM}", RULES),
        pages=tuple(firsts),
        marks=marks,
        dated=day(book.date),
    )


def _opened(package: Package) -> tuple["_Book", str]:
    """The description of the book, and the folder of the zip that its addresses start from."""
    container = _Container()
    if _CONTAINER in package.names():
        package.parse(_CONTAINER, container)
    if container.path not in package.names():
        raise Unreadable("the book has no description of its parts")
    book = _Book()
    package.parse(container.path, book)
    return book, posixpath.dirname(container.path)


class _Container:
    """Where the description of the book is: the first one counts."""

    def __init__(self) -> None:
        self.path = ""

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == _ROOTFILE:
            self.path = self.path or attributes.get("full-path", "")

    def end(self, tag: str) -> None:
        pass

    def data(self, text: str) -> None:
        pass


class _Encrypted:
    """The parts that are encrypted."""

    def __init__(self) -> None:
        self.parts: set[str] = set()

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if tag == _ENCRYPTED:
            self.parts.add(posixpath.normpath(unquote(attributes.get("URI", ""))))

    def end(self, tag: str) -> None:
        pass

    def data(self, text: str) -> None:
        pass


class _Book:
    """The description of a book: its parts, the order in which they are read, its title and date."""

    def __init__(self) -> None:
        self.title = self.date = ""
        self._files: dict[str, str] = {}
        self._spine: list[str] = []
        self._open = ""

    def parts(self) -> list[str]:
        return [self._files[part] for part in dict.fromkeys(self._spine) if part in self._files]

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        self._open = tag if tag in (f"{_DC}title", f"{_DC}date") else ""
        if tag == f"{_OPF}item" and attributes.get("media-type", "") in _PAGES:
            self._files[attributes.get("id", "")] = attributes.get("href", "")
        elif tag == f"{_OPF}itemref":
            self._spine.append(attributes.get("idref", ""))

    def end(self, tag: str) -> None:
        self._open = ""

    def data(self, text: str) -> None:
        if self._open == f"{_DC}title" and len(self.title) < 1000:
            self.title += text
        elif self._open == f"{_DC}date":
            self.date = self.date or text
