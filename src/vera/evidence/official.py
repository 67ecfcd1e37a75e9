"""Whom a domain belongs to: the subject of the question, a public body, or someone else.

Told by registrable domain and by what a person lists, never by a word inside a host name.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from typing import TYPE_CHECKING

import msgspec

from vera.evidence.domains import registrable_domain, unwrap
from vera.evidence.hosts import (
    COMMENTARY,
    LITERATURE,
    PUBLIC_BODIES,
    REGISTRIES,
    STANDARDS_BODIES,
    entry_of,
    host_of,
)
from vera.evidence.queries import is_search_engine
from vera.text.late_regex import late_regex
from vera.text.words import STOPWORDS, unmarked

if TYPE_CHECKING:
    from publicsuffixlist import PublicSuffixList

_TEXT_LIMIT = 4000
_SHORTEST_NAME = 3
_WORDS_OF_A_NAME = (1, 2, 3)

_WORD = late_regex(r"[^\W_]+")
# Words that a task writes with a capital and that name no one: its orders, and the calendar.
_NO_NAMES = frozenset({
    "write", "list", "find", "name", "give", "tell", "summarise", "summarize", "explain", "compare",
    "describe", "show", "check", "determine", "identify", "provide", "answer", "search", "report", "verify",
    "confirm", "please", "question", "task", "note", "make", "use", "using", "return", "create", "state",
    "today", "january", "february", "march", "april", "june", "july", "august", "september", "october",
    "november", "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday",
})  # fmt: skip
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "Ä": "Ae", "Ö": "Oe", "Ü": "Ue"})
# What a task tells the reader to leave alone is not what it asks about.
_UNWANTED = late_regex(
    r"\b(?:(?:do not|don['’]t|never|without|instead of|rather than)\s{1,4}"
    r"(?:use|using|cite|citing|quote|quoting|rely|relying|trust|trusting|consult|consulting|visit|visiting"
    r"|open|opening|read|reading|search|searching|fetch|fetching|ask|asking|take|taking|include|including)"
    r"|(?:avoid|ignore|exclude|skip|other than|apart from))\b[^.;:!?\n]{0,400}",
    re.IGNORECASE,
)
# Suffixes under which only a state or a treaty body may register.
_RESERVED = late_regex(
    r"(?:^|\.)(?:gov|mil|int|gov\.[a-z]{2}|mil\.[a-z]{2}|gob\.[a-z]{2}|gouv\.[a-z]{2}|govt\.[a-z]{2}"
    r"|go\.(?:jp|kr|th|id|ke)|gc\.ca|gv\.at|admin\.ch|bund\.de|europa\.eu)$"
)


class Ownership(msgspec.Struct, frozen=True):
    """Whether a domain speaks officially, what class of source it is, and why, in a sentence.

    `source_class` is official (the subject's own), regulatory (a government's, a treaty body's or a standards
    body's), registry, primary_literature, commentary, search or unknown.
    """

    official: bool
    source_class: str
    reason: str


def wanted(text: str) -> str:
    """A task without what it tells the reader to leave alone ("do not use Wikipedia")."""
    return _UNWANTED.sub(" ", text[:_TEXT_LIMIT])


def official_names(text: str) -> frozenset[str]:
    """The names in a text as a domain would spell them: "World Bank" gives world, bank, worldbank.

    A name is a word with a capital that is not in lower case as well ("Car makers … a car"), and
    is no order to the reader. Letters with marks also give their plain spelling (Nestlé: nestle). A
    script without capitals gives none: there a person lists the official domains.
    """
    forms = _WORD.findall(wanted(text))
    common = {form for form in forms if form[0].islower()} | STOPWORDS | _NO_NAMES
    named = [form if form[0].isupper() and form.lower() not in common else "" for form in forms]
    joined = {
        "".join(named[start : start + size])
        for size in _WORDS_OF_A_NAME
        for start in range(len(named) - size + 1)
        if all(named[start : start + size])
    }
    return frozenset(
        spelled for name in joined for spelled in _spellings(name) if len(spelled) >= _SHORTEST_NAME
    )


def listed_as_official(address: str, official_domains: Collection[str]) -> str:
    """The entry of what a person listed as official under which an address lies, '' for none.

    A registrable domain speaks for every host under it. Nothing on the page, in the task or in a host's name
    makes an address official here.
    """
    host, registered = host_of(unwrap(address).replace("\\", "/")), registrable_domain(unwrap(address))
    if not registered:
        return ""
    return (
        registered if registered in official_domains else entry_of(host, _hosts(frozenset(official_domains)))
    )


def owner(domain: str, *, names: frozenset[str], official_domains: frozenset[str] = frozenset()) -> Ownership:
    """Whom a domain belongs to, given the `names` of the subject and the domains a person listed as official.

    `domain` is a registrable domain, a host or a URL; with the host, kinds of source are told more finely
    (pubmed.ncbi.nlm.nih.gov is literature). Who speaks officially hangs on the registrable domain alone, so
    every host under it gets one answer, except that a person may also list one host. A name that anyone may
    take for the asking, under a shared host such as github.io, makes no one official.
    """
    address = unwrap(domain).replace("\\", "/") if "://" in domain else f"https://{domain.strip()}/"
    host, registered = host_of(address), registrable_domain(address)
    if not registered:
        return Ownership(False, "unknown", "It is no web address.")
    if listed := listed_as_official(address, official_domains):
        return Ownership(True, "official", f"{listed} was listed as official by a person.")
    label = registered.partition(".")[0].replace("-", "")
    if label in names and not _under_shared_host(registered):
        return Ownership(
            True, "official", f"The name of {registered} is that of a subject of the question, {label}."
        )
    body = _public_body(registered)
    kind, why = _kind(host, registered)
    if kind:
        return Ownership(bool(body), kind, f"{why} {body}".strip())
    if body:
        return Ownership(True, "regulatory", body)
    return Ownership(False, "unknown", f"{registered} is in no table and bears no name of the question.")


def _public_body(registered: str) -> str:
    """Why a registrable domain is a public body's, '' for any other."""
    if _RESERVED.search(registered):
        return f"{registered} lies under a suffix kept for governments and treaty bodies."
    if registered in STANDARDS_BODIES:
        return f"{registered} belongs to a standards body."
    if registered in PUBLIC_BODIES:
        return f"{registered} belongs to a public body."
    return ""


def _kind(host: str, registered: str) -> tuple[str, str]:
    """The class of source that the tables give a host, with the reason; ("", "") for none."""
    if is_search_engine(host):
        return "search", f"{host} is a search engine."
    if entry := entry_of(host, REGISTRIES):
        return "registry", f"{entry} keeps a register."
    if entry := entry_of(host, LITERATURE):
        return "primary_literature", f"{entry} publishes primary literature."
    if entry := entry_of(host, COMMENTARY):
        return "commentary", f"{entry} reports or discusses what others do."
    if _under_shared_host(registered):
        return "commentary", f"{registered} is a name that anyone may take under a shared host."
    return "", ""


@lru_cache(maxsize=16)
def _hosts(listed: frozenset[str]) -> frozenset[str]:
    """What a person listed, as hosts: `https://www.Apple.com/` is apple.com. An address in numbers, or a host
    without a dot, is compared with its port, so it is left out here."""
    hosts = (host_of(each).removeprefix("www.") for each in listed)
    return frozenset(host for host in hosts if _is_name(host))


def _is_name(host: str) -> bool:
    """Whether a host is a name under a top-level domain: no address in numbers, no `localhost`, no port."""
    head, _, last = host.rpartition(".")
    return bool(head) and last[:1].isalpha() and ":" not in last


def _spellings(name: str) -> set[str]:
    return {name.lower(), unmarked(name), unmarked(name.translate(_UMLAUTS))}


def _under_shared_host(registered: str) -> bool:
    """Whether the suffix is one that a company lets to its customers (the private part of the Public Suffix
    List), not one of a domain registry."""
    return _is_name(registered) and _registry_suffixes().privatesuffix(registered) not in {None, registered}


@lru_cache(maxsize=1)
def _registry_suffixes() -> "PublicSuffixList":
    from publicsuffixlist import PublicSuffixList

    return PublicSuffixList(only_icann=True)
