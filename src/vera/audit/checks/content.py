"""What was cited has content: no failed command, no error page, no wall before the page, no list of hits.

A page is judged by what is left of it when the words of a wall are taken away, so that a page about error
pages or cookies is not taken for one. Only short pages can be walls.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from vera.audit.case import Case
from vera.events import Evidence
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding
from vera.text.words import stems

_WALL_BYTES = 8000
_MIN_WORDS = 25
_MIN_WORDS_BESIDE_BANNER = 12
_MAX_CHECKED = 2000


_DOCUMENT = r"(?:page|file|document|article|content|resource|url)"


class _Fault(NamedTuple):
    code: str
    message: str
    detail: str = ""


class _Wall(NamedTuple):
    """A kind of page without content: the phrases that tell its sentences, and how many words of anything
    else (with `prose`, of whole sentences only) a page must hold not to be one."""

    name: str
    phrases: tuple[str, ...]
    least: int
    prose: bool


@cache
def _any_of(phrases: tuple[str, ...]) -> re.Pattern[str]:
    """Compiled when the first short page is looked at."""
    return re.compile("|".join(phrases), re.IGNORECASE)


_WALLS = (
    _Wall(
        "a bot check",
        (
            r"\b(?:verify|confirm|prove)(?:ing)?\b.{0,20}\byou\b.{0,15}\b(?:human|robot)\b",
            r"\byou(?:'re| are|’re) not a (?:robot|bot)\b|\bare you a (?:human|robot)\b",
            r"\bi(?: am|'m|’m) not a robot\b|\bchecking (?:your browser|if the site connection)\b",
            r"\bjust a moment\b|\battention required!|\bunusual traffic from your\b",
            r"\bautomated (?:access|requests|queries)\b.{0,40}\b(?:detected|blocked)\b",
            r"\b(?:complete|solve|enter)\b.{0,12}\b(?:captcha|security check|characters you see)\b",
            r"\bddos protection by\b|\bray id:|\bperformance (?:&|and) security by\b",
            r"\bsecurity (?:service to protect|solution)\b|\btrigger this block\b|\bemail the site owner\b",
            r"\bplease enable cookies\b|\byou have been blocked\b|\bpardon our interruption\b",
        ),
        _MIN_WORDS,
        True,
    ),
    _Wall(
        "a page that needs JavaScript",
        (
            r"\b(?:enable|turn on|activate|requires?|needs?|without)\b.{0,12}\bjavascript\b",
            r"\bjavascript\b.{0,20}\b(?:is|must be|has been|to be)\b.{0,12}\b(?:disabled|enabled|required)\b",
        ),
        _MIN_WORDS,
        True,
    ),
    _Wall(
        "a login page",
        (
            r"\b(?:sign|log) ?in (?:to (?:continue|your account|read|view|access)|required)\b",
            r"\b(?:sign|log) ?in with (?:google|facebook|apple)\b|\bforgot(?:ten)? (?:your )?password\b",
            r"\byou (?:must|need to|have to) (?:be (?:signed|logged) in|sign in|log in)\b",
            r"\b(?:subscribe|register|create an account) to (?:continue|keep) reading\b",
            r"\bfor subscribers only\b",
        ),
        _MIN_WORDS,
        True,
    ),
    _Wall(
        "an error page",
        (
            r"\A\W{0,4}(?:error )?(?:40[0134]|410|429|50[0234])\b.{0,60}\Z",
            r"\A\W{0,4}(?:(?:page|file|document|article|content) )?not found\b.{0,60}\Z",
            r"\A.{0,60}\bpage not found\W{0,4}\Z",
            r"\A\W{0,4}(?:access denied|forbidden|internal server error|bad gateway)\b.{0,60}\Z",
            r"\A\W{0,4}service (?:temporarily )?unavailable\b.{0,60}\Z",
            rf"\b{_DOCUMENT}\b.{{0,60}}\b(?:could not|cannot|can't|couldn't) be found\b",
            rf"\b{_DOCUMENT}\b.{{0,60}}\b(?:does not|doesn't|no longer) exists?\b",
            rf"\bwe (?:can't|cannot|couldn't|could not) find the {_DOCUMENT}\b",
            r"\brequested url\b.{0,80}\bnot found\b|\bdon't have permission to access\b",
            r"\bsomething went wrong\b|\btoo many requests\b",
        ),
        _MIN_WORDS,
        True,
    ),
    _Wall(
        "a consent wall",
        (
            r"\bbefore you continue\b|\bwe (?:value|care about|respect) your privacy\b",
            r"\bcookie (?:consent|settings)\b|\b(?:we|partners|this (?:web)?site)\b.{0,60}\bcookies\b",
            r"\b(?:accept|reject|agree|manage|allow|decline)\b.{0,24}\b(?:all|cookies|options|choices)\b",
            r"\bour \d{0,5} ?partners\b|\byour (?:choices|consent|personal data)\b|\blegitimate interest\b",
        ),
        _MIN_WORDS_BESIDE_BANNER,
        False,
    ),
)
_BUTTON = (
    r"\A\W{0,4}(?:i agree|agree|accept|reject|ok|close|more options|learn more)\W{0,4}\Z",
    r"\A\W{0,4}(?:privacy policy|settings|terms(?: of (?:use|service))?|imprint)\W{0,4}\Z",
)
"""Words of a banner that are no content, and do not make a page a wall by themselves."""

_PIECE = re.compile(r"(?<=[.!?])\s+|\n")
_WORD = re.compile(r"\w+")
_PROSE_WORDS = 8

_ENGINES = {
    "google": ("/search", "/scholar"),
    "bing": ("/search", "/news/search"),
    "duckduckgo": ("/", "/html", "/lite"),
    "brave": ("/search", "/news"),
    "yahoo": ("/search",),
    "yandex": ("/search",),
    "baidu": ("/s",),
    "startpage": ("/sp/search", "/do/search", "/search"),
    "ecosia": ("/search",),
}
_QUERY_FIELDS = frozenset(
    ("q", "query", "s", "p", "search", "search_query", "searchterm", "term", "text", "wd")
)
_MIN_ECHOED = 3
"""Words that carry content in a statement that can be called an echo."""
_SEARCH_PATHS = ("/results", "/search.php", "/search.html", "/search/results")


def content(case: Case) -> Iterator[Finding]:
    """`command_failed`, `http_error` or `no_content` (with the kind in `detail`) for each claim that cites
    such evidence. All are hard; each evidence is looked at once."""
    seen: dict[str, _Fault | None] = {}
    for claim in case.claims:
        for name in dict.fromkeys(cite.evidence for cite in claim.cites):
            evidence = case.evidence.get(name)
            if evidence is None:
                continue
            if name not in seen:
                seen[name] = _fault(case, evidence)
            fault = seen[name] or _echo(claim, evidence)
            if fault is not None:
                yield Finding(
                    code=fault.code,
                    label="invalid_source",
                    severity="hard",
                    claim=claim.key,
                    evidence=name,
                    message=fault.message,
                    detail=fault.detail,
                )


def _echo(claim: Claim, evidence: Evidence) -> _Fault | None:
    """A page that was asked for with the statement in its address may only give back what it was asked."""
    if evidence.http_status is None:
        return None
    try:
        query = parse_qsl(urlsplit(evidence.source).query, keep_blank_values=True, max_num_fields=200)
    except ValueError:
        return None
    asked = frozenset(stems(" ".join(part for field in query for part in field)))
    said = frozenset(stems(claim.text))
    if len(said) < _MIN_ECHOED or not said <= asked:
        return None
    message = f"{evidence.id} has the statement in its own address; cite a page that says it by itself."
    return _Fault("no_content", message, "an echo")


def _fault(case: Case, evidence: Evidence) -> _Fault | None:
    if evidence.exit_code:
        message = (
            f"The command of {evidence.id} failed (exit {evidence.exit_code}); make it work, then cite it."
        )
        return _Fault("command_failed", message, str(evidence.exit_code))
    status = evidence.http_status
    if status is not None and not 200 <= status <= 299:
        message = (
            f"The server answered {evidence.id} with HTTP {status}, so it is no page; cite another source."
        )
        return _Fault("http_error", message, str(status))
    source = case.sources.get(evidence.text.sha256)
    if source is None:
        return None
    if not source.data.strip():
        return _no_content(evidence, "no text")
    if status is None:
        return None
    if _is_search_page(evidence.source):
        return _no_content(evidence, "a search page")
    if len(source.data) > _WALL_BYTES:
        return None
    wall = _wall(evidence.title, source.text)
    return _no_content(evidence, wall) if wall else None


def _no_content(evidence: Evidence, kind: str) -> _Fault:
    message = f"{evidence.id} is {kind}" if kind != "no text" else f"{evidence.id} holds no text"
    return _Fault("no_content", f"{message}; it shows nothing, so cite a page that holds the content.", kind)


def _wall(title: str, text: str) -> str:
    """Which wall a short page is, '' for none."""
    pieces = [piece.strip()[:_MAX_CHECKED] for piece in _PIECE.split(text) if piece.strip()]
    for wall in _WALLS:
        sentence = _any_of(wall.phrases)
        hit = sentence.search(title[:_MAX_CHECKED]) is not None
        left = 0
        for piece in pieces:
            if sentence.search(piece):
                hit = True
                continue
            if _any_of(_BUTTON).search(piece):
                continue
            words = len(_WORD.findall(piece))
            left += words if not wall.prose or words >= _PROSE_WORDS else 0
        if hit and left < wall.least:
            return wall.name
    return ""


def _is_search_page(address: str) -> bool:
    """Whether a URL is that of a page of search hits."""
    try:
        parts = urlsplit(address)
        fields = {name.lower() for name, value in parse_qsl(parts.query, max_num_fields=200) if value}
    except ValueError:
        return False
    if not fields & _QUERY_FIELDS:
        return False
    path = parts.path.rstrip("/").lower() or "/"
    return (
        path in _SEARCH_PATHS
        or path.endswith("/search")
        or (path == "/" and bool(fields & {"q", "s", "term"}))
        or _is_of_engine(parts.hostname or "", path)
    )


def _is_of_engine(host: str, path: str) -> bool:
    """Whether a known search engine shows its hits there."""
    labels = set(host.split("."))
    return any(engine in labels and path in paths for engine, paths in _ENGINES.items())
