"""What the look-up for a request did, read from the log: what it asked, what failed, how it ended."""

import html
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

import msgspec

from vera import events
from vera.decode_errors import DECODE_ERRORS
from vera.evidence.queries import family
from vera.sanitize import named

MAX_FAMILIES = 1_000
MAX_FAILED = 50
MAX_PAGES = 60
MAX_PAGE_BYTES = 5 << 20
MAX_LINKS = 500
"""Of one page."""

LANE = "thesis"
"""What the name of a look-up's lane begins with; its last record says how the look-up ended."""

_MAX_NAME = 2000
_HIT = re.compile(r"^\[\d{1,3}\] (.{1,8000}) lines \d{1,9}-\d{1,9} of \d{1,9}", re.MULTILINE)
_ADDRESS = re.compile(r"^ {1,8}(https?://\S{1,2000})$", re.MULTILINE)
_HREF = re.compile(rb"(?i)\bhref\s{0,4}=\s{0,4}[\"']?(https?://[^\s\"'<>]{4,1000})")
_SEARCHES = dict.fromkeys(("web_search", "brave_search", "brave_news"), "search of the web")
_QUERY, _NAMES = ("query", "q"), ("url", "path", "source")


class Failed(msgspec.Struct, frozen=True, kw_only=True):
    """A source that could not be read: its name, why, and where the log says so (a call, an evidence)."""

    name: str
    why: str
    pointer: str = ""


class Looked(msgspec.Struct, frozen=True, kw_only=True):
    """What was done for a request beside what became evidence.

    `families` are the sources that each family of queries gave, in order. `links` are the addresses that a
    fetched page links to, by the page's. `cut` is the cap of the budget that ended the look-up, '' for none.
    `files` counts the given files that could be read, None where no folder was given. `kb` says whether any
    evidence came from an earlier session. `connectors` are those that were read.
    """

    families: tuple[tuple[str, ...], ...] = ()
    failed: tuple[Failed, ...] = ()
    links: Mapping[str, tuple[str, ...]] = {}
    cut: str = ""
    files: int | None = None
    kb: bool = False
    connectors: tuple[events.ConnectorUsed, ...] = ()


def looked(
    before: Sequence[events.Record],
    text: Callable[[events.Text], str],
    raw: Callable[[events.Blob], bytes | None],
) -> Looked:
    """What the log tells of a look-up; `before` ends where the round begins.

    `text` reads a text of the log and `raw` stored bytes, both from the store ('' and None for what it does
    not have). Bounded, and linear in what is read.
    """
    own = [each for each in before if each.lane in ("", "main") or each.lane.startswith(LANE)]
    calls = {each.call: _arguments(text(each.args)) for each in own if isinstance(each, events.ToolStarted)}
    evidence = [each for each in own if isinstance(each, events.Evidence)]
    corpus = next((each for each in reversed(own) if isinstance(each, events.Corpus)), None)
    return Looked(
        families=tuple(_families(evidence, calls, text)),
        failed=tuple(_first(_failed(own, calls, evidence, corpus))),
        links=dict(_links(evidence, raw)),
        cut=_cut(own),
        files=corpus.files if corpus else None,
        kb=any(each.tool == "kb" for each in evidence),
        connectors=next((each.connectors for each in own if isinstance(each, events.ConnectorsRead)), ()),
    )


def _arguments(given: str) -> dict[str, str]:
    """The arguments of a call that are strings."""
    try:
        decoded = msgspec.json.decode(given)
    except DECODE_ERRORS:
        return {}
    if not isinstance(decoded, dict):
        return {}
    return {name: value for name, value in decoded.items() if isinstance(value, str)}


def _argument(arguments: Mapping[str, str], names: Iterable[str]) -> str:
    found = next((arguments[name] for name in names if name in arguments), "")
    return " ".join(found.split())[:_MAX_NAME]


def _families(
    evidence: Iterable[events.Evidence],
    calls: Mapping[str, Mapping[str, str]],
    text: Callable[[events.Text], str],
) -> Iterator[tuple[str, ...]]:
    """The results of each family of queries, each source once, in the order of the first queries."""
    found: dict[str, dict[str, None]] = {}
    for each in evidence:
        query = _argument(calls.get(each.call, {}), _QUERY)
        if not each.lead or not query:
            continue
        key = family(query, list(found))
        if not key or (key not in found and len(found) >= MAX_FAMILIES):
            continue
        listing = text(each.text)
        sources = found.setdefault(key, {})
        sources.update(dict.fromkeys([*map(named, _HIT.findall(listing)), *_ADDRESS.findall(listing)]))
    return (tuple(sources) for sources in found.values())


def _failed(
    own: Iterable[events.Record],
    calls: Mapping[str, Mapping[str, str]],
    evidence: Iterable[events.Evidence],
    corpus: events.Corpus | None,
) -> Iterator[Failed]:
    yield from _failed_pages(evidence)
    for record in own:
        if isinstance(record, events.Tool) and record.outcome != "ok":
            name = _argument(calls.get(record.call, {}), _NAMES) or _SEARCHES.get(record.tool, "")
            if name:
                why = f"{record.tool} {record.outcome}: {record.error_type or 'no reason given'}."
                yield Failed(name=name, why=why, pointer=record.call)
    for name, why in corpus.unreadable if corpus else ():
        yield Failed(name=name, why=f"It could not be read: {why}.")


def _failed_pages(evidence: Iterable[events.Evidence]) -> Iterator[Failed]:
    """Pages that were fetched and are not what was asked for."""
    for each in evidence:
        if each.http_status is not None and not 200 <= each.http_status < 300:
            yield Failed(name=each.source, why=f"The server answered {each.http_status}.", pointer=each.id)
        elif each.low_signal:
            why = f"What was fetched is probably not what a reader would see: {each.low_signal}."
            yield Failed(name=each.source, why=why, pointer=each.id)


def _first(failed: Iterable[Failed]) -> Iterator[Failed]:
    """The first failures, one of each source."""
    known = set[str]()
    for each in failed:
        if each.name not in known:
            if len(known) == MAX_FAILED:
                return
            known.add(each.name)
            yield each


def _links(
    evidence: Iterable[events.Evidence], raw: Callable[[events.Blob], bytes | None]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """The absolute addresses in the raw bytes of fetched pages, by the page's; of scripts nothing is read."""
    pages = {
        each.source: each.raw
        for each in evidence
        if each.raw is not None
        and each.raw.size <= MAX_PAGE_BYTES
        and each.http_status is not None
        and 200 <= each.http_status < 300
        and "html" in each.media_type
    }
    for _, (url, blob) in zip(range(MAX_PAGES), pages.items(), strict=False):
        found = dict[str, None]()
        for match in _HREF.finditer(raw(blob) or b""):
            found[html.unescape(match[1].decode("utf-8", "replace")).partition("#")[0]] = None
            if len(found) == MAX_LINKS:
                break
        yield url, tuple(found)


def _cut(own: Sequence[events.Record]) -> str:
    """The cap that ended the look-up, by the last word of its lane."""
    ended = (
        each for each in reversed(own) if isinstance(each, events.LaneEnded) and each.lane.startswith(LANE)
    )
    last = next(ended, None)
    return last.detail[:100] if last is not None and last.reason == "budget" else ""
