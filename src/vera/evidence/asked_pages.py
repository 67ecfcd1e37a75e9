"""The pages that a task names by their addresses.

Who asks what https://example.org/report says needs that page, and no second publisher who says the same.
"""

import re
from collections.abc import Iterator
from urllib.parse import urlsplit

from vera.evidence.domains import unwrap

MAX_NAMED = 20
"""Addresses of a task that count; a list of more is material and no question about pages."""

USUAL_SOURCES = 2
"""A person who asks for more independent sources than this gets them also where a page is named."""

_ADDRESS = re.compile(r"(?i)\bhttps?://[^\s<>\"'“”„«»()\[\]{}|\\^`]{3,2000}")
_PORTS = {"http": 80, "https": 443}


def named_pages(task: str) -> frozenset[str]:
    """The keys (`page_key`) of the pages that a task names, none where it names more than MAX_NAMED."""
    found = {page_key(each) for each in _addresses(task)} - {""}
    return frozenset(found) if len(found) <= MAX_NAMED else frozenset()


def addresses(task: str) -> tuple[str, ...]:
    """The addresses of the pages that a task names, as it writes them, in order; the first MAX_NAMED."""
    return tuple(dict.fromkeys(each for each in _addresses(task) if page_key(each)))[:MAX_NAMED]


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
