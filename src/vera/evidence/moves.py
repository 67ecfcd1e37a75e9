"""What a tool call is as a move of the search: where it looks, what it asks, what it repeats."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

import msgspec

from vera.evidence.domains import registrable_domain, unwrap
from vera.evidence.official import owner
from vera.evidence.queries import family, is_search_engine, query_of_url, vector

MAX_TARGETS = 20
"""The addresses of one command that are looked at."""

SEARCH_TOOLS = frozenset({"web_search", "brave_search", "brave_news", "search"})
"""Tools that are asked in words."""

_URL_LIMIT = 2000
_QUERY_LIMIT = 1000
_COMMAND_LIMIT = 200_000
_URLS_READ = 200

_URL = re.compile(r"(?i)\bhttps?://[^\s'\"<>|;`()\\]{1,2000}")
_DOMAIN = re.compile(r"[a-z0-9._-]{1,255}(?::\d{1,5})?|[0-9a-f:.]{2,45}(?::\d{1,5})?")
_AFTER_URL = ".,:!?&]}*"


class Target(msgspec.Struct, frozen=True):
    """An address that a call is about.

    `url` is without archives and other wrappers, `domain` its registrable domain. `source_class` and
    `official` are as in `vera.evidence.official.Ownership`; `reason` says why, in a sentence.
    """

    url: str
    domain: str
    source_class: str
    official: bool
    reason: str


class CallIntent(msgspec.Struct, frozen=True):
    """What a call is about: the addresses it names, the query it asks and that query's family, '' for none,
    and the intent (`vera.evidence.queries.vector`)."""

    tool: str
    targets: tuple[Target, ...]
    query: str
    family: str
    vector: str


def aim(
    tool: str,
    args: Mapping[str, Any],
    *,
    names: frozenset[str],
    official_domains: frozenset[str],
    families: Sequence[str],
) -> CallIntent:
    """What a call of `tool` with `args` is about; never fails, whatever the arguments hold.

    `names` are the subject's names (`official_names` of the question), `official_domains` what a person
    listed, `families` the keys of the queries asked so far. A `fetch` has its address, and the query which
    that carries; a search has its query; a `shell` command has every address that is in it, at most
    `MAX_TARGETS`, and the query of the first that carries one. Any other tool looks nowhere.
    """
    urls: tuple[str, ...] = ()
    query = ""
    if tool in SEARCH_TOOLS:
        query = _text(args, "query", "q")
    elif tool == "fetch":
        urls = tuple(_unwrapped([_text(args, "url")]))
    elif tool == "shell":
        urls = tuple(_unwrapped(urls_in(args.get("cmd"))))
    targets = tuple(_target(url, names, official_domains) for url in urls)
    carrier = next((target for target in targets if query_of_url(target.url)), None)
    if carrier:
        query = query_of_url(carrier.url)
    seen = carrier or (targets[0] if targets else None)
    return CallIntent(
        tool,
        targets,
        query,
        family(query, families),
        vector(seen.url, seen.domain, seen.official) if seen else vector(query, "", False),
    )


def move_type(aim: CallIntent, previous: Sequence[tuple[str, str]]) -> str:
    """How a call differs from the earlier moves, given as (registrable domain, query family), '' for none.

    The move's own domain is that of its first target. A query to a search tool has no domain: all those are
    at one place, the search tools.

    - non_search: it names no address and asks nothing.
    - initial: no earlier move names an address or asks anything.
    - retry: the same query family was asked at the same place before.
    - reformulate: another query was asked at this place before.
    - same_domain: this domain was visited before, and one of the two visits carried no query.
    - source_shift: a place not visited before, for a query family that was asked elsewhere.
    - domain_shift: a place not visited before, otherwise.
    """
    domain = aim.targets[0].domain if aim.targets else ""
    if not domain and not aim.family:
        return "non_search"
    earlier = set(previous) - {("", "")}
    if not earlier:
        return "initial"
    asked_here = {asked for place, asked in earlier if place == domain}
    if asked_here:
        return _at_known_place(aim.family, asked_here)
    asked = {asked for _, asked in earlier}
    return "source_shift" if aim.family and aim.family in asked else "domain_shift"


def _at_known_place(family: str, asked_here: Set[str]) -> str:
    if not family or asked_here == {""}:
        return "same_domain"
    return "retry" if family in asked_here else "reformulate"


def signature(move_type: str, domain: str, family: str) -> str:
    """The key by which repeated moves are counted: `type:domain:family`."""
    return f"{move_type}:{domain}:{family}"


def _target(url: str, names: frozenset[str], official_domains: frozenset[str]) -> Target:
    domain = registrable_domain(url)
    if is_search_engine(url) and query_of_url(url):
        return Target(url, domain, "search", False, f"It is a page of results from {domain}.")
    owned = owner(url, names=names, official_domains=official_domains)
    return Target(url, domain, owned.source_class, owned.official, owned.reason)


def _unwrapped(urls: Iterable[str]) -> Iterator[str]:
    """The addresses without wrappers, each once, those that name a host."""
    seen: set[str] = set()
    for written in urls:
        url = unwrap(written.replace("\\", "/"))[:_URL_LIMIT]
        if url not in seen and _DOMAIN.fullmatch(registrable_domain(url)):
            seen.add(url)
            yield url
            if len(seen) == MAX_TARGETS:
                return


def urls_in(command: object) -> Iterator[str]:
    """The addresses that are in a command, in order; `command` may be a list of words."""
    if isinstance(command, (list, tuple)):
        command = " ".join(word for word in command[:1000] if isinstance(word, str))
    if not isinstance(command, str):
        return
    for count, found in enumerate(_URL.finditer(command[:_COMMAND_LIMIT])):
        if count == _URLS_READ:
            return
        yield _clean(found.group().rstrip(_AFTER_URL))


def _text(args: Mapping[str, Any], *keys: str) -> str:
    """The first of the arguments that holds text, on one line."""
    for key in keys:
        value = args.get(key)
        if isinstance(value, str) and value.strip():
            return " ".join(_clean(value[: 4 * _QUERY_LIMIT]).split())[: max(_QUERY_LIMIT, _URL_LIMIT)]
    return ""


def _clean(text: str) -> str:
    """Text that can be written as UTF-8: lone surrogates become question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
