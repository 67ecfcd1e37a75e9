"""The source that a task asks for: pages by their addresses, or the official source in words.

Who asks what https://example.org/report says needs that page, and no second publisher who says the same. So
does who asks for the official source, where the page lies under a domain that a person listed as official:
neither a page nor a task can make a domain official.
"""

import re
from collections.abc import Collection, Iterator
from urllib.parse import urlsplit

import msgspec

from vera.evidence.domains import unwrap
from vera.evidence.official import listed_as_official, wanted

MAX_NAMED = 20
"""Addresses of a task that count; a list of more is material and no question about pages."""

USUAL_SOURCES = 2
"""A person who asks for more independent sources than this gets them also where a page is named."""

_ADDRESS = re.compile(r"(?i)\bhttps?://[^\s<>\"'“”„«»()\[\]{}|\\^`]{3,2000}")
_OFFICIAL = re.compile(
    r"(?i)(?<![-\w])official\s+(?:\w+\s+){0,2}?(?:sources?|sites?|web\s?sites?|pages?|documentation|docs|publications?|"
    r"announcements?|records?|registers?)\b"
    r"|\b(?:offiziell|amtlich)\w{0,2}\s+(?:quellen?|seiten?|websites?|webseiten?|dokumentation|angaben)\b"
    r"|\b(?:sources?|sites?|pages?|documentation)\s+officiel(?:le)?s?\b"
)
_PORTS = {"http": 80, "https": 443}


def named_pages(task: str) -> frozenset[str]:
    """The keys (`page_key`) of the pages that a task names, none where it names more than MAX_NAMED."""
    found = {page_key(each) for each in _addresses(task)} - {""}
    return frozenset(found) if len(found) <= MAX_NAMED else frozenset()


class AskedSources(msgspec.Struct, frozen=True):
    """What a task asks for: the keys of `pages` that it names, and whether it asks for the `official` source,
    with the `domains` that a person listed as official."""

    pages: frozenset[str] = frozenset()
    official: bool = False
    domains: tuple[str, ...] = ()

    def has(self, address: str) -> bool:
        """Whether a page is one that was asked for."""
        if page_key(address) in self.pages:
            return True
        return self.official and bool(page_key(address) and listed_as_official(address, self.domains))

    @property
    def is_known(self) -> bool:
        """Whether it can be told of a page whether it was asked for."""
        return bool(self.pages) or (self.official and bool(self.domains))


def asked_sources(task: str, official_domains: Collection[str] = ()) -> AskedSources:
    """The sources that a task asks for."""
    official = _OFFICIAL.search(wanted(task)) is not None
    return AskedSources(named_pages(task), official, tuple(official_domains))


def addresses(task: str) -> tuple[str, ...]:
    """The addresses of the pages that a task names, as it writes them, in order; the first MAX_NAMED."""
    return tuple(dict.fromkeys(each for each in _addresses(task) if page_key(each)))[:MAX_NAMED]


def without_addresses(task: str) -> str:
    """The task without the addresses that it names."""
    return _ADDRESS.sub(" ", task)


def _addresses(task: str) -> Iterator[str]:
    return (match.group().rstrip(".,;:!?*_~") for match in _ADDRESS.finditer(task))


def page_key(address: str) -> str:
    """What is the same for all spellings of one page's address: without the scheme, "www.", a usual port, a
    slash at the end and what follows #; the address inside an archive's. '' for what is no web address."""
    try:
        parts = urlsplit(unwrap(address))
        host, port = (parts.hostname or "").removeprefix("www."), parts.port
    except ValueError:
        return ""
    if parts.scheme not in _PORTS or not host:
        return ""
    where = host if port in (None, _PORTS[parts.scheme]) else f"{host}:{port}"
    query = f"?{parts.query}" if parts.query else ""
    return f"{where}{parts.path.rstrip('/')}{query}"
