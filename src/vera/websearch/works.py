"""Single scholarly works at Crossref and OpenAlex, and whether a DOI is registered at all.

Sources: https://api.crossref.org (REST API, works), https://docs.openalex.org (Get a single work, Search),
https://www.doi.org/doi-handbook (Proxy server REST API: response code 1 is found, 100 is not found).
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

import msgspec

from vera.websearch import plain
from vera.websearch.throttle import SearchLimits
from vera.websearch.values import Ask, Found, Kind, Malformed, Query

ROWS = 5
"""Works that a search by title asks for."""

_TITLE_LIMIT = 1000
_QUERY_LIMIT = 400
_CROSSREF_DATES = ("issued", "published", "published-print", "published-online")
_RETRACTIONS = frozenset(("retraction", "withdrawal", "removal"))
_OPENALEX_FIELDS = "doi,display_name,publication_year,is_retracted"


class Work(msgspec.Struct, frozen=True, kw_only=True):
    """A work as an index has it; what the index does not say is empty.

    `retracted` is whether the index knows of its retraction, withdrawal or removal.
    """

    doi: str = ""
    title: str = ""
    years: tuple[int, ...] = ()
    retracted: bool = False


class Index(ABC):
    """What the indexes have in common as engines. A query is a DOI, or the words of a reference."""

    name = ""
    title = ""
    kinds: tuple[Kind, ...] = ("papers",)
    needs_key = False
    limits = SearchLimits(min_interval_s=0.1)

    def __init__(self, base: str, mailto: str = "") -> None:
        self._base = base.rstrip("/")
        self._mailto = mailto

    def read(self, query: Query, body: bytes) -> Found:
        """No hits: `works` reads what came. Raises Malformed."""
        self.works(body)
        return Found(hits=())

    def explain(self, status: int, body: bytes) -> str:
        return ""

    @abstractmethod
    def request(self, query: Query) -> Ask:
        """What to ask for."""

    @abstractmethod
    def works(self, body: bytes) -> tuple[Work, ...]:
        """The works of an answer with status 200. Raises Malformed."""


class Crossref(Index):
    """Crossref, where most publishers register their works."""

    name = "crossref"
    title = "Crossref"

    def request(self, query: Query) -> Ask:
        if is_doi(query.text):
            return plain.ask(f"{self._base}/works/{quote(query.text, safe='')}", [("mailto", self._mailto)])
        parameters = [
            ("query.bibliographic", query.text[:_QUERY_LIMIT]),
            ("rows", str(ROWS)),
            ("mailto", self._mailto),
        ]
        return plain.ask(f"{self._base}/works", parameters)

    def works(self, body: bytes) -> tuple[Work, ...]:
        message = plain.member(plain.decode_object(body), "message")
        if not message:
            raise Malformed("its answer has no 'message'")
        items = plain.listed(message, "items") if "items" in message else [message]
        return tuple(_of_crossref(each) for each in items[:ROWS] if isinstance(each, dict))


class OpenAlexWorks(Index):
    """OpenAlex, which knows works of other registries, too."""

    name = "openalex"
    title = "OpenAlex"

    def request(self, query: Query) -> Ask:
        parameters = [("select", _OPENALEX_FIELDS), ("mailto", self._mailto)]
        if is_doi(query.text):
            return plain.ask(f"{self._base}/works/doi:{quote(query.text, safe='/')}", parameters)
        searched = [("search", query.text[:_QUERY_LIMIT]), ("per-page", str(ROWS)), *parameters]
        return plain.ask(f"{self._base}/works", searched)

    def works(self, body: bytes) -> tuple[Work, ...]:
        answer = plain.decode_object(body)
        items = plain.listed(answer, "results") if "results" in answer else [answer]
        if items == [answer] and "display_name" not in answer:
            raise Malformed("its answer has neither 'results' nor 'display_name'")
        return tuple(_of_openalex(each) for each in items[:ROWS] if isinstance(each, dict))


class DoiRegistry(Index):
    """doi.org, which resolves the DOIs of all registries."""

    name = "doi"
    title = "doi.org"

    def request(self, query: Query) -> Ask:
        return plain.ask(f"{self._base}/api/handles/{quote(query.text, safe='/')}", [])

    def works(self, body: bytes) -> tuple[Work, ...]:
        if plain.decode_object(body).get("responseCode") != 1:
            raise Malformed("its answer does not say that the DOI is registered")
        return (Work(),)


def says_unregistered(body: bytes) -> bool:
    """Whether an answer of doi.org says that it knows no such DOI: its body does, and not only its status."""
    try:
        return plain.decode_object(body).get("responseCode") == 100
    except Malformed:
        return False


def is_doi(text: str) -> bool:
    """Whether a query is a DOI."""
    return text.startswith("10.") and "/" in text and " " not in text


def _of_crossref(item: Mapping[str, Any]) -> Work:
    titles = item.get("title")
    first = titles[0] if isinstance(titles, list) and titles else ""
    years = {year for name in _CROSSREF_DATES for year in _crossref_years(item.get(name))}
    return Work(
        doi=plain.text(item.get("DOI"), _TITLE_LIMIT),
        title=plain.from_html(first, _TITLE_LIMIT),
        years=tuple(sorted(years)),
        retracted=any(kind in _RETRACTIONS for kind in _updates(item.get("updated-by"))),
    )


def _crossref_years(dated: object) -> Iterator[int]:
    """The year of `{"date-parts": [[2019, 4, 1]]}`."""
    parts = dated.get("date-parts") if isinstance(dated, dict) else None
    first = parts[0] if isinstance(parts, list) and parts else None
    year = first[0] if isinstance(first, list) and first else None
    if isinstance(year, int) and 1000 <= year <= 9999:
        yield year


def _updates(notices: object) -> Iterator[str]:
    """The kinds of the notices that update a work: correction, retraction and the like."""
    for each in notices[: plain.MAX_RESULTS] if isinstance(notices, list) else ():
        if isinstance(each, dict) and isinstance(each.get("type"), str):
            yield each["type"].lower()


def _of_openalex(item: Mapping[str, Any]) -> Work:
    year = item.get("publication_year")
    return Work(
        doi=plain.text(item.get("doi"), _TITLE_LIMIT).removeprefix("https://doi.org/"),
        title=plain.from_html(item.get("display_name"), _TITLE_LIMIT),
        years=(year,) if isinstance(year, int) and 1000 <= year <= 9999 else (),
        retracted=item.get("is_retracted") is True,
    )
