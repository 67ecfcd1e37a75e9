"""Sitemaps (sitemaps.org, protocol 0.9) and the links of a page, read as if they meant harm."""

import zlib
from collections.abc import Iterator
from urllib.parse import urldefrag, urljoin
from xml.parsers import expat

import msgspec

from vera.text.html_tags import tags

MAX_BYTES = 50 << 20
"""Of a sitemap when it is unpacked, by the protocol."""

MAX_URLS = 50_000
"""Of one sitemap, by the protocol."""

MAX_LINKS = 5000
"""Of one page."""

_MAX_URL = 2048
_GZIP = b"\x1f\x8b"


class BadSitemap(ValueError):
    """A sitemap that cannot be read: a few words."""


class Sitemap(msgspec.Struct, frozen=True, kw_only=True):
    """The addresses in a sitemap: of pages, or, in an index, of further sitemaps."""

    pages: tuple[str, ...] = ()
    sitemaps: tuple[str, ...] = ()


def read_sitemap(data: bytes) -> Sitemap:
    """The addresses of a sitemap, as XML, gzip of it, or text with one address a line. Raises BadSitemap."""
    data = _unpacked(data) if data.startswith(_GZIP) else data
    if len(data) > MAX_BYTES:
        raise BadSitemap(f"larger than {MAX_BYTES >> 20} MB")
    if not data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<"):
        lines = data.decode("utf-8", "replace").split()
        return Sitemap(
            pages=tuple(line for line in lines if line.startswith(("http://", "https://")))[:MAX_URLS]
        )
    reader = _Reader()
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        raise BadSitemap(f"no well-formed XML (line {error.lineno})") from None
    except (LookupError, ValueError) as error:
        raise BadSitemap(str(error)) from None
    return Sitemap(pages=tuple(reader.found["url"]), sitemaps=tuple(reader.found["sitemap"]))


def _unpacked(data: bytes) -> bytes:
    """The gzip's content, never more than one byte beyond the limit."""
    unpacker = zlib.decompressobj(wbits=31)
    try:
        return unpacker.decompress(data, MAX_BYTES + 1)
    except zlib.error:
        raise BadSitemap("a broken gzip file") from None


class _Reader:
    """Collects what `loc` holds in each `url` and each `sitemap`. A document type, which could declare
    entities, is refused."""

    def __init__(self) -> None:
        self.found: dict[str, list[str]] = {"url": [], "sitemap": []}
        self._path: list[str] = []
        self._text = ""
        self.parser = expat.ParserCreate(namespace_separator=" ")
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._data

    def _refuse(self, *_: object) -> None:
        raise BadSitemap("it declares a document type")

    def _start(self, name: str, _: object) -> None:
        if len(self._path) > 20:
            raise BadSitemap("nested too deeply")
        self._path.append(name.rpartition(" ")[2])
        self._text = ""

    def _data(self, text: str) -> None:
        if self._path[-1:] == ["loc"] and len(self._text) <= _MAX_URL:
            self._text += text

    def _end(self, _: str) -> None:
        ended = self._path.pop()
        within = self.found.get(self._path[-1]) if self._path else None
        url = self._text.strip()
        if ended == "loc" and within is not None and url and len(url) <= _MAX_URL and len(within) < MAX_URLS:
            within.append(url)


def links_of(data: bytes, url: str) -> Iterator[str]:
    """The absolute addresses that a page links to, in order, without those marked `nofollow`."""
    found: dict[str, None] = {}
    for tag in tags(data.decode("utf-8", "replace"), ("href", "rel")):
        href = tag.attributes.get("href", "")
        if tag.name != "a" or not href or len(href) > _MAX_URL:
            continue
        if "nofollow" in tag.attributes.get("rel", "").lower().split():
            continue
        try:
            address = urldefrag(urljoin(url, href)).url
        except ValueError:
            continue
        if address.startswith(("http://", "https://")):
            found[address] = None
            if len(found) == MAX_LINKS:
                break
    return iter(found)
