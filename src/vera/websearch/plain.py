"""From an engine's wire format to bounded plain values: wrong types count as absent, markup goes."""

import html
import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any
from urllib.parse import quote

import msgspec

from vera.decode_errors import DECODE_ERRORS
from vera.sandbox.egress.authority import AuthorityError
from vera.sandbox.fetch.url import normalise
from vera.websearch.values import Ask, Found, Hit, Malformed, Query

MAX_RESULTS = 50
"""Of one answer, how many are looked at; what follows is not what was asked for."""

TITLE_SHOWN, SNIPPET_SHOWN, NAME_SHOWN = 200, 400, 80
_MAX_RAW = 20_000
_MAX_URL = 2000
_TAG = re.compile(r"</?[A-Za-z][A-Za-z0-9-]{0,30}(?:\s[^<>]{0,1000})?/?>")
_COMMENT = re.compile(r"<!--[^<>]{0,1000}-->")
_BLOCK_TAG = re.compile(r"<(?:br|/?p|/?div|/?li|/?td|/?tr)\b[^<>]{0,1000}>", re.IGNORECASE)
_RAISED = re.compile(r"<sup\b[^<>]{0,200}>", re.IGNORECASE)
_ISO_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_SAFE = "-._~"


def decode_object(body: bytes) -> Mapping[str, Any]:
    """The JSON object that the body is. Raises Malformed."""
    try:
        decoded = msgspec.json.decode(body)
    except DECODE_ERRORS:
        raise Malformed("its answer is no JSON") from None
    if not isinstance(decoded, dict):
        raise Malformed("its answer is JSON, but no object")
    return decoded


def member(value: object, name: str) -> Mapping[str, Any]:
    """The object under that name, an empty one for anything else."""
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def listed(value: Mapping[str, Any], name: str) -> Sequence[Any]:
    """The list under that name, empty when there is none. Raises Malformed for what is something else."""
    found = value.get(name)
    if found is None:
        return ()
    if not isinstance(found, list):
        raise Malformed(f"its {name!r} is no list")
    return found[:MAX_RESULTS]


def text(value: object, limit: int = SNIPPET_SHOWN) -> str:
    """A string as one line of at most `limit` visible characters; '' for what is no string."""
    if not isinstance(value, str):
        return ""
    flat = " ".join(value[:_MAX_RAW].split())
    clean = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in flat[: limit + 1])
    return clean if len(clean) <= limit else clean[: limit - 1] + "…"


def from_html(value: object, limit: int = SNIPPET_SHOWN) -> str:
    """As `text`, of a string that may hold HTML: its tags are taken out and its entities resolved."""
    if not isinstance(value, str):
        return ""
    marked = _COMMENT.sub("", _RAISED.sub("^", _BLOCK_TAG.sub(" ", value[:_MAX_RAW])))
    return text(html.unescape(_TAG.sub("", marked)), limit)


def day(value: object) -> str:
    """The day that an ISO 8601 date or time begins with; '' for anything else."""
    found = _ISO_DAY.match(value) if isinstance(value, str) else None
    try:
        return date.fromisoformat(found[0]).isoformat() if found else ""
    except ValueError:
        return ""


def address(value: object) -> str:
    """A URL in the form in which `fetch` takes it; '' for one that it would refuse to read."""
    if not isinstance(value, str) or len(value) > _MAX_URL:
        return ""
    try:
        return str(normalise(value))
    except AuthorityError:
        return ""


def found(hits: Sequence[Hit | None], query: Query, *, note: str = "") -> Found:
    """The usable hits, each address once, at most as many as were asked for.

    Raises Malformed when there were results and none can be used: that is not the same as no results.
    """
    usable: dict[str, Hit] = {}
    for hit in hits:
        if hit is not None and hit.url:
            usable.setdefault(hit.url, hit)
    if hits and not usable:
        raise Malformed(f"none of its {len(hits)} results has a web address that can be read")
    dropped = sum(1 for hit in hits if hit is None or not hit.url)
    return Found(hits=tuple(usable.values())[: query.count], dropped=dropped, note=note)


def ask(
    base: str,
    parameters: Sequence[tuple[str, str]],
    *,
    fields: tuple[tuple[str, str], ...] = (),
    accept: str = "application/json",
    ignored: tuple[str, ...] = (),
) -> Ask:
    """A GET of `base` with these parameters; those that are empty are left out."""
    given = tuple((name, value) for name, value in parameters if value)
    encoded = "&".join(
        f"{name}={quote(value.encode('utf-8', 'replace'), safe=_SAFE)}" for name, value in given
    )
    return Ask(f"{base}?{encoded}", given, (("Accept", accept), *fields), ignored)
