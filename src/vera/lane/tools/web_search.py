"""`web_search`, `brave_search` and `brave_news`: what the web's search engines know of, as leads."""

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from typing import Any

import msgspec

from vera import events
from vera.lane.tools import Call, EvidenceDraft, Outcome, Tool, failed
from vera.protocol.turn import ToolSpec
from vera.sanitize import one_line
from vera.text.span import Lines
from vera.websearch import KINDS, Answer, Hit, Kind, Query, Searched, WebSearch, freshness

DEFAULT_COUNT = 12
MAX_CHARACTERS, MAX_WORDS = 400, 50
"""Of a query: what the strictest engine (Brave) takes."""

EXTRACTOR = "web_search/1"

_LANGUAGE = re.compile(r"[a-z]{2,3}(?:-[a-z]{2,8})?")
_COUNTRY = re.compile(r"[a-z]{2}|all")
_SAFESEARCH = ("off", "moderate", "strict")
_COUNT = {"type": "integer", "minimum": 1, "maximum": 20}
_OFFSET = {"type": "integer", "minimum": 0, "maximum": 9}
_TEXT = {"type": "string"}
_LEAD = "A hit is a lead: fetch its page before you cite it."


def search_tools(search: WebSearch, default_count: int = DEFAULT_COUNT) -> list[Tool]:
    """`web_search` when there is any engine, and the two of Brave when it is among them."""
    names = search.engines.names()
    tools: list[Tool] = [AnyEngine(search, default_count)] if names else []
    if "brave" in names:
        tools += [BraveSearch(search, default_count), BraveNews(search, default_count)]
    return tools


class AnyEngine:
    """`web_search`: the engines of a kind in turn, until one answers."""

    def __init__(self, search: WebSearch, default_count: int = DEFAULT_COUNT) -> None:
        self._search = search
        self._default_count = default_count
        kinds = "; ".join(
            f"{kind}: {', '.join(names)}" for kind in KINDS if (names := search.engines.names(kind))
        )
        self.spec = ToolSpec(
            name="web_search",
            description=(
                f"Search the web. kind (default web) and its engines in order: {kinds}. The next engine is "
                "asked when one is down; engine names the one to ask first. "
                f"freshness: {freshness.EXPECTED}. {_LEAD}"
            ),
            properties={
                "query": _TEXT,
                "kind": _TEXT,
                "engine": _TEXT,
                "count": _COUNT,
                "offset": _OFFSET,
                "freshness": _TEXT,
                "language": _TEXT,
                "country": _TEXT,
                "safesearch": _TEXT,
            },
            required=("query",),
        )

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        engines = self._search.engines
        engine = args.get("engine", "").strip().lower()
        name = f'web_search "{one_line(args["query"], 80)}"'
        if engine and not engines.kinds(engine):
            known = ", ".join(engines.names())
            return failed(name, "bad_arguments", f"there is no engine {one_line(engine, 40)!r}; use {known}")
        kind = args.get("kind", "").strip().lower() or (engines.kinds(engine)[0] if engine else "web")
        names = engines.names(kind) if kind in KINDS else ()
        if not names:
            known = ", ".join(each for each in KINDS if engines.names(each))
            return failed(
                name, "bad_arguments", f"no engine searches {one_line(kind, 40)!r}; kind is {known}"
            )
        if engine and engine not in names:
            return failed(
                name, "bad_arguments", f"{engine} does not search {kind}; ask {', '.join(names)} for that"
            )
        order = sorted(names, key=lambda each: each != engine)
        return await _run(
            self._search, "web_search", args, order, kind, args.get("language", ""), self._default_count
        )


class _OfBrave:
    """A tool over Brave alone, with the argument names of its interface."""

    def __init__(self, search: WebSearch, name: str, kind: Kind, what: str, default_count: int) -> None:
        self._search = search
        self._kind = kind
        self._default_count = default_count
        self.spec = ToolSpec(
            name=name,
            description=(
                f"{what} with Brave. q (or query) is what to look for; freshness: {freshness.EXPECTED}; "
                f"country such as us, search_lang such as en. {_LEAD}"
            ),
            properties={
                "q": _TEXT,
                "query": _TEXT,
                "count": _COUNT,
                "offset": _OFFSET,
                "freshness": _TEXT,
                "country": _TEXT,
                "search_lang": _TEXT,
                "safesearch": _TEXT,
            },
        )

    async def run(self, args: Mapping[str, Any], call: Call) -> Outcome:
        language = args.get("search_lang", "")
        return await _run(
            self._search, self.spec.name, args, ["brave"], self._kind, language, self._default_count
        )


class BraveSearch(_OfBrave):
    """`brave_search`: web pages."""

    def __init__(self, search: WebSearch, default_count: int = DEFAULT_COUNT) -> None:
        super().__init__(search, "brave_search", "web", "Search the web", default_count)


class BraveNews(_OfBrave):
    """`brave_news`: news."""

    def __init__(self, search: WebSearch, default_count: int = DEFAULT_COUNT) -> None:
        super().__init__(search, "brave_news", "news", "Search the news", default_count)


async def _run(
    search: WebSearch,
    tool: str,
    args: Mapping[str, Any],
    order: Sequence[str],
    kind: Kind,
    language: str,
    default_count: int,
) -> Outcome:
    given = " ".join((args.get("query") or args.get("q") or "").split())
    name = f'{tool} "{one_line(given, 80)}"'
    if problem := _problem(given, args, language):
        return failed(name, "bad_arguments", problem)
    query = Query(
        text=given,
        kind=kind,
        count=args.get("count", default_count),
        offset=args.get("offset", 0),
        country=args.get("country", "").strip().lower(),
        language=language.strip().lower(),
        freshness=freshness.parse(args.get("freshness", "")),
        safesearch=args.get("safesearch", "").strip().lower(),
        today=_today(search),
    )
    searched = await search.search(query, order)
    if searched.answer is None:
        return _without_answer(search, name, tool, query, searched)
    return _with_answer(tool, name, searched.answer, searched)


def _problem(given: str, args: Mapping[str, Any], language: str) -> str:
    """What is wrong with the values of the arguments, in a sentence; '' when nothing is."""
    if not given:
        return "the query is empty; give the words to look for"
    if len(given) > MAX_CHARACTERS or len(given.split()) > MAX_WORDS:
        return f"the query is too long; give at most {MAX_CHARACTERS} characters and {MAX_WORDS} words"
    if language.strip() and not _LANGUAGE.fullmatch(language.strip().lower()):
        return f"the language {one_line(language, 20)!r} is unknown; give a tag such as en or pt-br"
    country = args.get("country", "").strip().lower()
    if country and not _COUNTRY.fullmatch(country):
        return f"the country {one_line(country, 20)!r} is unknown; give two letters such as us"
    safesearch = args.get("safesearch", "").strip().lower()
    if safesearch not in ("", *_SAFESEARCH):
        return f"safesearch must be {', '.join(_SAFESEARCH[:-1])} or {_SAFESEARCH[-1]}"
    try:
        freshness.parse(args.get("freshness", ""))
    except ValueError as error:
        return f"freshness {one_line(args['freshness'], 40)!r}: {error}"
    return ""


def _today(search: WebSearch) -> date:
    return datetime.fromtimestamp(search.engines.clock.wall(), UTC).date()


def _with_answer(tool: str, name: str, answer: Answer, searched: Searched) -> Outcome:
    hits = answer.found.hits
    text = "\n".join(_lines(answer, searched.calls[:-1])).encode("utf-8", "replace") + b"\n"
    lines = len(Lines(text))
    status = answer.fetched.receipt.status
    return Outcome(
        header=f"{name} · {answer.title} · {len(hits)} hits · captured",
        evidence=EvidenceDraft(
            tier="captured",
            source=f"web search by {answer.title}",
            summary=f"{name} · {len(hits)} hits",
            text=text,
            first=1,
            last=lines,
            lines=lines,
            lead=True,
            media_type="text/plain",
            extractor=EXTRACTOR,
            raw=answer.fetched.body,
            receipt=_receipt(tool, answer, searched),
            http_status=status,
        ),
    )


def _lines(answer: Answer, before: Sequence[events.Search]) -> list[str]:
    """The hits as text, under what a reader must know of them."""
    hits, query = answer.found.hits, answer.query
    page = f", page {query.offset + 1}" if query.offset else ""
    out = [
        f"{answer.title} ({query.kind}{page}): {len(hits)} hits. "
        + (_LEAD if hits else "Try other words, fewer words, or another engine or kind.")
    ]
    out += [f"Not from {call.engine}: {one_line(call.reason, 300)}." for call in before]
    if answer.ignored:
        out.append(f"{answer.title} cannot filter by {', '.join(answer.ignored)}: not applied.")
    if answer.found.note:
        out.append(f"{answer.title}: {one_line(answer.found.note, 300)}.")
    if answer.found.dropped:
        out.append(f"{answer.found.dropped} results without a usable address were left out.")
    for number, hit in enumerate(hits, 1):
        out += _hit_lines(number, hit)
    return out


def _hit_lines(number: int, hit: Hit) -> list[str]:
    about = " · ".join(each for each in (hit.date, hit.age, hit.source) if each)
    rest = [hit.url, about, hit.snippet]
    return [f"[{number}] {hit.title or '(no title)'}", *(f"    {each}" for each in rest if each)]


def _receipt(tool: str, answer: Answer, searched: Searched) -> bytes:
    """What was asked of whom, when, and how it was answered; the key is in none of it."""
    query = answer.query
    document = {
        "tool": tool,
        "engine": answer.engine,
        "kind": query.kind,
        "query": query.text,
        "parameters": dict(answer.parameters),
        "not_applied": answer.ignored,
        "results": len(answer.found.hits),
        "dropped": answer.found.dropped,
        "calls": searched.calls,
        "retrieval": answer.fetched.receipt,
    }
    return msgspec.json.format(msgspec.json.encode(document)) + b"\n"


def _without_answer(search: WebSearch, name: str, tool: str, query: Query, searched: Searched) -> Outcome:
    last = searched.calls[-1]
    if last.cause == "secret" and not last.engine:
        name = tool
    said = ". ".join(one_line(call.reason, 300) for call in searched.calls)
    outcome = failed(name, _error_type(searched.calls), f"{said}. {_way_forward(search, query, searched)}")
    if all(call.outcome == "skipped" for call in searched.calls):
        return msgspec.structs.replace(outcome, outcome="refused")
    return outcome


def _error_type(calls: Sequence[events.Search]) -> str:
    """That of the last call, unless the answer of one was more than what is left of the cap of bytes."""
    call = next((each for each in calls if each.cause == "over_budget"), calls[-1])
    return f"search_{'challenge' if call.outcome == 'challenge' else call.cause or call.outcome}"


def _way_forward(search: WebSearch, query: Query, searched: Searched) -> str:
    """The next thing to do that can work."""
    if any(call.cause == "secret" and not call.engine for call in searched.calls):
        return "Search without it."
    untried = next(_untried(search, query, searched), None)
    if untried is None:
        return (
            "Next: fetch a page whose address you know, or work with what you have and say what is missing."
        )
    kind, engine = untried
    wanted = {"query": query.text, "engine": engine}
    if kind != search.engines.kinds(engine)[0]:
        wanted["kind"] = kind
    return f"Next: web_search {msgspec.json.encode(wanted).decode()}"


def _untried(search: WebSearch, query: Query, searched: Searched) -> Iterator[tuple[Kind, str]]:
    """The engines that were not asked and would be now, each with a kind, that of the query first."""
    tried = {call.engine for call in searched.calls}
    for kind in (query.kind, *(each for each in KINDS if each != query.kind)):
        for engine in search.engines.names(kind):
            if engine not in tried and search.engines.stopped(engine) is None:
                yield kind, engine
