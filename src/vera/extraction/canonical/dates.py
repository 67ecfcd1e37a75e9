"""When a document says of itself, in its metadata, that it was published.

The result is a day, a month or a year (ISO 8601), or `FIRST/LAST` for the time in which that must have been;
`..` stands for an end that is not known (ISO 8601-2).
"""

from collections import deque
from collections.abc import Iterator
from datetime import date
from typing import TYPE_CHECKING

import msgspec

from vera.decode_errors import DECODE_ERRORS
from vera.text.late_regex import late_regex

if TYPE_CHECKING:
    from selectolax.lexbor import LexborHTMLParser

_YEAR = "(?:1[5-9]|20)[0-9]{2}"
_WRITTEN = late_regex(
    rf"\s*(?:D:)?(?:({_YEAR})([0-9]{{2}})([0-9]{{2}})(?=[0-9]{{6}}|[^0-9]|\Z)"
    rf"|({_YEAR})(?:[-/.]([0-9]{{1,2}})(?:[-/.]([0-9]{{1,2}}))?)?(?![0-9]))"
)
_PUBLISHED_NAMES = """
    article:published_time og:article:published_time og:published_time datepublished date pubdate publishdate
    publish_date publish-date publication_date dc.date dc.date.issued dc.date.created dcterms.issued
    dcterms.date dcterms.created dcterms.available citation_publication_date citation_date
    citation_online_date parsely-pub-date sailthru.date
"""
_MODIFIED_NAMES = """
    article:modified_time og:article:modified_time og:updated_time datemodified dc.date.modified
    dcterms.modified last-modified revised
"""
_PUBLISHED = frozenset(_PUBLISHED_NAMES.split())
_MODIFIED = frozenset(_MODIFIED_NAMES.split())
_MAX_METAS = 500
_MAX_SCRIPTS = 20
_SCRIPT_CHARACTERS = 1 << 18
_MAX_VALUES = 20_000
_TIMES = (
    "time[pubdate],time[itemprop=datePublished]",
    "article time[datetime],header time[datetime],main time[datetime]",
    "time[datetime]",
)
_MAX_TIMES = 50


def day(written: str) -> str:
    """A date as metadata writes it, as ISO 8601 without its time; '' for anything else."""
    found = _WRITTEN.match(written[:40])
    if found is None:
        return ""
    year, month, number = found.groups()[:3] if found[1] else found.groups()[3:]
    try:
        date(int(year), int(month or 1), int(number or 1))
    except ValueError:
        return ""
    return "-".join([year, *(part.zfill(2) for part in (month, number) if part)])


def between(created: str, modified: str) -> str:
    """What the dates of a document's making and last change say of its publication."""
    if not created:
        return f"../{modified}" if modified else ""
    return f"{created}/{modified}" if modified > created else created


def of_page(tree: "LexborHTMLParser") -> str:
    """What the metadata of a page say: its `meta`, then its JSON-LD, then its `time`.

    When only a change is dated, the page was published by then.
    """
    published, modified = _metas(tree)
    if not published:
        linked = _linked_data(tree)
        published, modified = linked[0], modified or linked[1]
    if not published:
        nodes = (node for selector in _TIMES for node in tree.css(selector)[:_MAX_TIMES])
        times = (day(node.attributes.get("datetime") or node.text()) for node in nodes)
        published = next(filter(None, times), "")
    return published or (f"../{modified}" if modified else "")


def _metas(tree: "LexborHTMLParser") -> tuple[str, str]:
    published = modified = ""
    for node in tree.css("meta[content]")[:_MAX_METAS]:
        attributes = node.attributes
        names = {
            (attributes.get(key) or "").strip().lower()
            for key in ("property", "name", "itemprop", "http-equiv")
        }
        said = day(attributes.get("content") or "")
        if not names.isdisjoint(_PUBLISHED):
            published = published or said
        elif not names.isdisjoint(_MODIFIED):
            modified = modified or said
    return published, modified


def _linked_data(tree: "LexborHTMLParser") -> tuple[str, str]:
    """The dates that JSON-LD gives, those of the outermost things first."""
    published = modified = ""
    for node in tree.css('script[type="application/ld+json"]')[:_MAX_SCRIPTS]:
        text = node.text()
        if len(text) > _SCRIPT_CHARACTERS:
            continue
        try:
            value = msgspec.json.decode(text.encode("utf-8", "replace"))
        except DECODE_ERRORS:
            continue
        for thing in _things(value):
            published = _said(thing, "datePublished") or _said(thing, "dateCreated")
            modified = modified or _said(thing, "dateModified")
            if published:
                return published, modified
    return published, modified


def _things(value: object) -> Iterator[dict[str, object]]:
    """The objects in a JSON value, the outermost first; _MAX_VALUES values are looked at."""
    waiting = deque((value,))
    for _ in range(_MAX_VALUES):
        if not waiting:
            break
        one = waiting.popleft()
        if isinstance(one, list):
            waiting.extend(one)
        elif isinstance(one, dict):
            yield one
            waiting.extend(inner for inner in one.values() if isinstance(inner, dict | list))


def _said(thing: dict[str, object], name: str) -> str:
    value = thing.get(name)
    return day(value) if isinstance(value, str) else ""
