"""A request to verify a thesis (VERIFY_REQUEST): made from plain values, kept as objects, named by its key.

The values come from a command line, from JSON or from another agent: each is checked here, and what is wrong
is said in one sentence (`RequestError`).
"""

import re
from collections.abc import Collection, Iterable
from datetime import UTC, date, datetime
from typing import TypeVar, get_args

import msgspec

from vera import events
from vera.attestation.lenses import load_lens
from vera.attestation.objects import (
    Constraints,
    Digest,
    Lens,
    OptionalDigest,
    Output,
    Proposition,
    Risk,
    Scope,
    VerifyRequest,
    Volatility,
    canonical,
    digest,
    hexadecimal,
    object_id,
)
from vera.attestation.proposition import (
    THESIS_LIMIT,
    RequestError,
    folded,
    normalised,
    proposition_of,
    thesis_id,
)
from vera.attestation.restatement import restates, sub_claims
from vera.attestation.source_types import SOURCE_TYPES
from vera.evidence.hosts import entry_of, host_of

__all__ = [
    "AGENT_BUDGET",
    "DOMAINS_LIMIT",
    "THESIS_LIMIT",
    "Budget",
    "RequestError",
    "folded",
    "normalised",
    "proposition_of",
    "request_key",
    "request_objects",
    "request_of",
    "requested",
    "restates",
    "sub_claims",
    "thesis_id",
]

DOMAINS_LIMIT = 100
"""Domains that are allowed or denied, of each."""

LANGUAGES_LIMIT = 20

_SCOPES: tuple[Scope, ...] = get_args(Scope)
_RISKS: tuple[Risk, ...] = get_args(Risk)
_VOLATILITIES: tuple[Volatility, ...] = get_args(Volatility)
_OUTPUTS: tuple[Output, ...] = get_args(Output)
_ITEMS_LIMIT = 1000
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_MOMENT = re.compile(
    r"[0-9]{4}-[0-9]{2}-[0-9]{2}[Tt][0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]{1,6})?(?:[Zz]|[+-][0-9]{2}:[0-9]{2})"
)
_HOST = re.compile(r"(?:[a-z0-9_](?:[a-z0-9_-]{0,62})\.){0,20}[a-z0-9](?:[a-z0-9-]{0,62})|[0-9a-f:]{2,45}")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}")

Word = TypeVar("Word", bound=str)


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """What the look-up for a request may cost, all of it together; each cap is above zero.

    `sources` are pages fetched and files read, `searches` queries, `tokens` those of all model calls, `bytes`
    what is taken in from the web, `seconds` wall time.
    """

    sources: int = 12
    searches: int = 24
    tokens: int = 200_000
    bytes: int = 64 << 20
    seconds: float = 600.0


AGENT_BUDGET = Budget(sources=100, searches=200, tokens=2_000_000, bytes=1 << 30, seconds=3600.0)
"""The most that another agent or a model may ask for; the user's settings limit it further."""

_MAX_BUDGET = Budget(sources=10_000, searches=10_000, tokens=10**9, bytes=1 << 40, seconds=604_800.0)


def request_of(
    thesis: object,
    *,
    scope: object = ("files",),
    risk: object = "med",
    volatility: object = "slow",
    lens: object = "general",
    allow_domains: object = (),
    deny_domains: object = (),
    not_before: object = "",
    not_after: object = "",
    source_types: object = (),
    languages: object = (),
    required: object = (),
    sources: object = None,
    searches: object = None,
    tokens: object = None,
    bytes: object = None,  # noqa: A002 (the budget's word, as in JSON and in the log)
    seconds: object = None,
    corpus: Digest = "",
) -> tuple[VerifyRequest, Budget]:
    """The request that these values mean, and its budget; None of a budget is the default.

    Lists may be given as sequences or as one string with commas. `lens` is the name of one that comes with
    VERA, or a Lens (`vera.attestation.lenses.load_lens` reads the user's). Dates are days or RFC 3339
    times, kept as days in UTC. `corpus` is a digest of what the scopes `files` and `connectors`
    hold. Raises RequestError.
    """
    if not isinstance(thesis, str):
        raise RequestError("The thesis is no text. State in a sentence what should hold.")
    text = normalised(thesis)
    rubric = lens if isinstance(lens, Lens) else load_lens(_word("lens", lens))
    looked_in = _chosen("scope", scope, _SCOPES)
    if not looked_in:
        raise RequestError(f"The scope is empty. Name where to look: {', '.join(_SCOPES)}.")
    constraints = Constraints(
        allow_domains=_domains("allowed", allow_domains),
        deny_domains=_domains("denied", deny_domains),
        not_before=_day("not_before", not_before),
        not_after=_day("not_after", not_after),
        source_types=_chosen("source_types", source_types, SOURCE_TYPES),
        languages=_languages(languages),
    )
    _agree(constraints, looked_in)
    request = VerifyRequest(
        thesis=thesis_id(thesis),
        text=text,
        lens=rubric.name,
        rubric=object_id(rubric),
        scope=looked_in,
        constraints=constraints,
        risk=_one("risk", risk, _RISKS),
        volatility=_one("volatility", volatility, _VOLATILITIES),
        required=(*rubric.required, *_chosen("required", required, _OUTPUTS)),
        corpus=corpus if {"files", "connectors"} & set(looked_in) else "",
    )
    usual = Budget()
    budget = Budget(
        sources=_count("sources", sources, usual.sources, _MAX_BUDGET.sources),
        searches=_count("searches", searches, usual.searches, _MAX_BUDGET.searches),
        tokens=_count("tokens", tokens, usual.tokens, _MAX_BUDGET.tokens),
        bytes=_count("bytes", bytes, usual.bytes, _MAX_BUDGET.bytes),
        seconds=_seconds(seconds, usual.seconds),
    )
    return request, budget


def request_key(request: VerifyRequest) -> Digest:
    """The key under which a verdict on this request is found again: the request's id.

    Rules are not in it: a verdict is used again only where its policy object is the one of now, too.
    """
    return object_id(request)


def request_objects(request: VerifyRequest, lens: Lens) -> dict[Digest, bytes]:
    """The canonical bytes of a request and of what it names, by id: proposition, lens, request.

    Raises ValueError when `lens` is not the request's.
    """
    if object_id(lens) != request.rubric:
        raise ValueError("another lens than the request names")
    values: tuple[Proposition | Lens | VerifyRequest, ...] = (proposition_of(request.text), lens, request)
    return {object_id(value): canonical(value) for value in values}


def requested(
    request: VerifyRequest, budget: Budget, supersedes: OptionalDigest = ""
) -> events.VerifyRequested:
    """The record of a request and its budget, for the log; `request_objects` must be in the store.

    `supersedes` is the attestation in whose place the new one stands.
    """
    data = canonical(request)
    return events.VerifyRequested(
        request=events.Blob(hexadecimal(digest(data)), len(data)),
        thesis_id=request.thesis,
        supersedes=supersedes,
        **msgspec.structs.asdict(budget),
    )


def _agree(constraints: Constraints, scope: Collection[str]) -> None:
    """Raises RequestError for constraints that no source can meet together."""
    _agree_on_domains(constraints)
    if constraints.allow_domains and "web" not in scope:
        raise RequestError(
            "Domains are allowed, and the web is not in the scope. Add web to the scope, or drop them."
        )
    first, last = constraints.not_before, constraints.not_after
    if first and last and first > last:
        raise RequestError(f"The time window is empty: it begins on {first} and ends on {last}.")
    types = set(constraints.source_types)
    if types and not {"web", "kb", "connectors"} & set(scope) and "file" not in types:
        raise RequestError(
            f"Only sources of type {', '.join(sorted(types))} may count, and the scope holds files only. "
            "Add web to the scope, or file to the types."
        )


def _agree_on_domains(constraints: Constraints) -> None:
    """Raises RequestError for a domain that is both allowed and denied."""
    denied = frozenset(constraints.deny_domains)
    for domain in constraints.allow_domains:
        if over := entry_of(domain, denied):
            if over == domain:
                raise RequestError(
                    f"The domain {domain} is both allowed and denied. Take it out of one list."
                )
            raise RequestError(
                f"The domain {domain} is allowed, and {over}, under which it lies, is denied. "
                "Take one of them out."
            )


def _word(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise RequestError(f"{name} is no text: {_shown(value)}.")
    return value.strip()


def _items(name: str, value: object) -> list[str]:
    """The items of a list, or of a string with commas, each once and not empty."""
    if isinstance(value, str):
        given: Iterable[object] = value.split(",")
    elif isinstance(value, list | tuple | set | frozenset):
        given = value
    else:
        raise RequestError(f"{name} is no list: {_shown(value)}.")
    words = [_word(name, each) for each in given]
    if len(words) > _ITEMS_LIMIT:
        raise RequestError(f"{name} has {len(words)} items. Give at most {_ITEMS_LIMIT}.")
    return list(dict.fromkeys(word for word in words if word))


def _one(name: str, value: object, known: tuple[Word, ...]) -> Word:
    word = _word(name, value)
    for each in known:
        if word.lower() == each:
            return each
    raise RequestError(f"{name} cannot be {_shown(word)}. It is one of {', '.join(known)}.")


def _chosen(name: str, value: object, known: tuple[Word, ...]) -> tuple[Word, ...]:
    return tuple(dict.fromkeys(_one(name, item, known) for item in _items(name, value)))


def _domains(what: str, value: object) -> tuple[str, ...]:
    """Domains in lower case: `https://www.Example.org/x` is example.org, all hosts under it."""
    items = _items(f"{what} domains", value)
    if len(items) > DOMAINS_LIMIT:
        raise RequestError(f"{len(items)} domains are {what}. Give at most {DOMAINS_LIMIT}.")
    return tuple(_domain(what, item) for item in items)


def _domain(what: str, item: str) -> str:
    host = host_of(item.removeprefix("*.")).removeprefix("www.")
    if not _HOST.fullmatch(host):
        raise RequestError(f"{_shown(item)} is {what} and is no domain. Write it as example.org.")
    return host


def _languages(value: object) -> tuple[str, ...]:
    items = _items("languages", value)
    if len(items) > LANGUAGES_LIMIT:
        raise RequestError(f"{len(items)} languages are asked for. Give at most {LANGUAGES_LIMIT}.")
    for item in items:
        if not _LANGUAGE.fullmatch(item):
            raise RequestError(f"{_shown(item)} is no language. Write its code, such as en or pt-BR.")
    return tuple(item.lower() for item in items)


def _day(name: str, value: object) -> str:
    """A day in UTC, '' for none."""
    if value is None:
        return ""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value.isoformat()
    text = value.isoformat() if isinstance(value, datetime) else _word(name, value)
    if not text:
        return ""
    try:
        if _DAY.fullmatch(text):
            return date.fromisoformat(text).isoformat()
        if _MOMENT.fullmatch(text):
            return datetime.fromisoformat(text.upper()).astimezone(UTC).date().isoformat()
    except (ValueError, OverflowError):
        pass
    raise RequestError(f"{name} is no date: {_shown(text)}. Write it as 2025-01-31.")


def _count(name: str, value: object, usual: int, most: int) -> int:
    if value is None:
        return usual
    if isinstance(value, bool) or not isinstance(value, int):
        raise RequestError(f"The budget of {name} is no whole number: {_shown(value)}.")
    return _in_budget(name, value, most)


def _seconds(value: object, usual: float) -> float:
    if value is None:
        return usual
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise RequestError(f"The budget of seconds is no number: {_shown(value)}.")
    return float(_in_budget("seconds", value, _MAX_BUDGET.seconds))


Number = TypeVar("Number", int, float)


def _in_budget(name: str, value: Number, most: Number) -> Number:
    if value == 0:
        raise RequestError(f"The budget of {name} is zero, so nothing can be looked up. Give more, or none.")
    if not 0 < value <= most:
        raise RequestError(f"The budget of {name} cannot be {value:.16g}. It lies between 0 and {most:.16g}.")
    return value


def _shown(value: object) -> str:
    """A value as it was given, cut, for a sentence."""
    return f'"{" ".join(value.split())[:80]}"' if isinstance(value, str) else type(value).__name__
