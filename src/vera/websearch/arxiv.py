"""arXiv: preprints, as an Atom feed (RFC 4287).

Source: https://info.arxiv.org/help/api/user-manual.html; its terms ask for three seconds between requests.
"""

import re
from typing import Any
from xml.parsers import expat

from vera.websearch import plain
from vera.websearch.freshness import dates
from vera.websearch.throttle import SearchLimits
from vera.websearch.values import Ask, Found, Hit, Kind, Malformed, Query, Unfit

BASE = "https://export.arxiv.org"
_ATOM = "http://www.w3.org/2005/Atom"
_WANTED = {f"{_ATOM} {name}": name for name in ("id", "title", "summary", "published")}
_ENTRY = f"{_ATOM} entry"
_FEED = f"{_ATOM} feed"
_DEEPEST = 32
_MAX_TEXT = 20_000
_MAX_TERMS = 16
_TERM = re.compile(r'"([^"]{1,200})"|([^\s"]{1,100})')
_NO_WORD = re.compile(r"[^\w.\-']+")
_VERSION = re.compile(r"v\d{1,3}\Z")


class Arxiv:
    """The engine. Every word of a query must occur; words in double quotes stay together."""

    name = "arxiv"
    title = "arXiv"
    kinds: tuple[Kind, ...] = ("papers",)
    needs_key = False
    limits = SearchLimits(min_interval_s=3.0)

    def __init__(self, *, base: str = BASE) -> None:
        self._base = base.rstrip("/")

    def request(self, query: Query) -> Ask:
        terms = _terms(query.text)
        if not terms:
            raise Unfit("the query has no word for it")
        if span := dates(query.freshness, query.today):
            terms.append(f"submittedDate:[{span[0]:%Y%m%d}0000 TO {span[1]:%Y%m%d}2359]")
        ignored = tuple(name for name in ("country", "language") if getattr(query, name))
        parameters = [
            ("search_query", " AND ".join(terms)),
            ("start", str(query.offset * query.count) if query.offset else ""),
            ("max_results", str(query.count)),
        ]
        return plain.ask(
            f"{self._base}/api/query", parameters, accept="application/atom+xml", ignored=ignored
        )

    def read(self, query: Query, body: bytes) -> Found:
        entries = _entries(body)
        if entries and "/api/errors" in entries[0].get("id", ""):
            raise Malformed(f"it says: {plain.text(entries[0].get('summary'), 160)}")
        return plain.found([_hit(entry) for entry in entries], query)

    def explain(self, status: int, body: bytes) -> str:
        try:
            entries = _entries(body)
        except Malformed:
            return ""
        return plain.text(entries[0].get("summary"), 160) if entries else ""


def _terms(text: str) -> list[str]:
    terms = []
    for found in list(_TERM.finditer(text))[:_MAX_TERMS]:
        words = _NO_WORD.sub(" ", found[1] or found[2]).strip(" .-'")
        if not re.search(r"\w", words) or (not found[1] and words in ("AND", "OR", "ANDNOT", "NOT")):
            continue
        terms.append(f'all:"{words}"' if " " in words else f"all:{words}")
    return terms


def _hit(entry: dict[str, str]) -> Hit | None:
    url = plain.address(_VERSION.sub("", entry.get("id", "").strip()).replace("http://", "https://", 1))
    return Hit(
        title=plain.text(entry.get("title"), plain.TITLE_SHOWN),
        url=url,
        snippet=plain.text(entry.get("summary")),
        date=plain.day(entry.get("published", "").strip()),
        source="arXiv",
    )


def _entries(body: bytes) -> list[dict[str, str]]:
    """The wanted texts of each entry of an Atom feed. Raises Malformed.

    A document type is refused before it is read: it is where entities are declared, and a feed has none.
    """
    reader = _Reader()
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = reader.doctype
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.text
    try:
        parser.Parse(body, True)
    except (expat.ExpatError, LookupError, ValueError) as error:
        said = str(error) if isinstance(error, Malformed) else "its answer is no XML"
        raise Malformed(said) from None
    if not reader.is_feed:
        raise Malformed("its answer is no Atom feed")
    return reader.entries


class _Reader:
    """Collects while the parser walks through the feed; nothing is kept but the wanted texts."""

    def __init__(self) -> None:
        self.is_feed = False
        self.entries: list[dict[str, str]] = []
        self._depth = 0
        self._entry: dict[str, str] | None = None
        self._wanted = ""

    def doctype(self, *_: Any) -> None:
        raise Malformed("its answer declares a document type, which no Atom feed does")

    def start(self, name: str, _: dict[str, str]) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Malformed("its answer is nested too deeply")
        if self._depth == 1:
            self.is_feed = name == _FEED
        elif self._depth == 2 and name == _ENTRY and len(self.entries) < plain.MAX_RESULTS:
            self._entry = {}
        elif self._depth == 3 and self._entry is not None:
            self._wanted = _WANTED.get(name, "")

    def end(self, _: str) -> None:
        if self._depth == 3:
            self._wanted = ""
        elif self._depth == 2 and self._entry is not None:
            self.entries.append(self._entry)
            self._entry = None
        self._depth -= 1

    def text(self, data: str) -> None:
        if self._wanted and self._entry is not None:
            so_far = self._entry.get(self._wanted, "")
            if len(so_far) < _MAX_TEXT:
                self._entry[self._wanted] = so_far + data[: _MAX_TEXT - len(so_far)]
