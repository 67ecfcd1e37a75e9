"""Lines of an answer that only point at a source: "1. GPL-3.txt [ev_0003:257-262]".

In an answer of extracts the pointer may begin with words of the lines: "“at least three years”: GPL-3.txt".
"""

import re
from collections.abc import Collection, Iterator

from vera.text.markdown import plain

AROUND = " \t\r\n.,:;-–—\"'“”‘’«»()"
"""What may stand around a name without saying anything."""

_WORDS = re.compile(r"(?:(?:see|sources?|references?|from|cf\.?)(?:: ?| |\Z))+", re.IGNORECASE)
_LINES = re.compile(
    r"[,:]? ?\(?\b(?:lines?|ll?\.|pages?|pp?\.) ?[0-9]{1,9}(?: ?(?:[-–—,]|to|and) ?[0-9]{1,9}){0,8}\)?\Z",
    re.IGNORECASE,
)
_EXTENSION = re.compile(r"\S\.(?:[A-Za-z][A-Za-z0-9]{1,7}|[chmr])\Z")
_ADDRESS = re.compile(r"[a-z][a-z0-9+.-]{1,20}://|\.{0,2}/|[^/\s]{1,200}/[^/\s]{1,200}/|[\w-]+(?:\.[\w-]+)+/")
_LEAD = re.compile(r"“([^“”\n]{1,200})”: ")
_NAME_LIMIT = 2000
_NO_BRACKETS = dict.fromkeys(map(ord, "[]【】"), " ")


def lead_of(text: str) -> str:
    """The words of its lines with which an extract begins, '' for none."""
    match = _LEAD.match(text)
    return match.group(1) if match else ""


class Pointers:
    """The names by which the cited sources can be pointed at: paths with their ends, URLs, titles."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = frozenset(each for name in names for each in (*_forms(name), *_forms(_as_read(name))))

    def name_in(self, text: str, *, only_extracts: bool = False) -> str | None:
        """The source that `text` (without markup) points at, '' for none, None when it says something else.

        A title may be a statement, or the very answer. It points only beside the lines or pages that are
        meant, or in an answer that declares itself to be `only_extracts`; file names and addresses always do.
        """
        if only_extracts:
            text = _without(_LEAD, text)
        text = _without(_WORDS, text.strip(AROUND)).strip(AROUND)
        lines = _LINES.search(text, max(0, len(text) - 200))
        name = text[: lines.start()].strip(AROUND) if lines else text
        if not name:
            return ""
        if len(name) > _NAME_LIMIT or _folded(name) not in self._names:
            return None
        is_file = _EXTENSION.search(name) or _ADDRESS.match(name)
        return name if lines or only_extracts or is_file else None


def _without(lead: re.Pattern[str], text: str) -> str:
    """The text without the words that lead to it, if any."""
    found = lead.match(text)
    return text[found.end() :] if found else text


def _as_read(name: str) -> str:
    """A name as an answer shows it, without brackets (of a citation) and without markup (`__init__`)."""
    return plain(name[:_NAME_LIMIT].translate(_NO_BRACKETS))


def _forms(name: str) -> Iterator[str]:
    folded = _folded(name[:_NAME_LIMIT])
    yield folded
    if "://" in folded:
        yield folded.partition("://")[2]
        return
    parts = folded.replace("\\", "/").split("/")
    yield from ("/".join(parts[first:]) for first in range(max(1, len(parts) - 8), len(parts)))


def _folded(name: str) -> str:
    return " ".join(name.casefold().split()).strip(AROUND).rstrip("/")
