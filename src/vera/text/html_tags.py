"""The tags of an HTML page, told from its text as browsers do (HTML Standard, section 13.2.5, tokenization).

For whoever needs no more of a page than its tags: a page is made into text elsewhere, by a large library in
a process for it. Time is linear in the length: each piece is looked at once, and what is not closed ends the
walk.
"""

import re
from collections.abc import Collection, Iterator
from html import unescape
from typing import NamedTuple

_ATTRIBUTE = (
    r"(?P<name>[^\s/>][^\s/>=]*+)"
    r"(?:\s*+=\s*+(?:\"(?P<double>[^\"]*+)(?:\"|\Z)|'(?P<single>[^']*+)(?:'|\Z)|(?P<bare>[^\s>\"'][^\s>]*+))?+)?+"
)
_UNNAMED = re.sub(r"\(\?P<\w+>", "(?:", _ATTRIBUTE)
_TAG = re.compile(rf"<(?P<close>/?)(?P<name>[a-zA-Z][^\s/>]*+)(?P<rest>(?:[\s/]++|{_UNNAMED})*+)>")
_ATTRIBUTES = re.compile(_ATTRIBUTE)
_OPENING = re.compile(r"<(?:!--|/?[a-zA-Z])")
_RAW = frozenset(("script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"))
"""Elements whose content holds no tags."""

_MOST_ATTRIBUTES = 200
_LONGEST_NAME = 60


class Tag(NamedTuple):
    """A tag from `start` to `end`; `attributes` are those that were wanted, unescaped and without blanks
    around them, each the first of its name."""

    start: int
    end: int
    close: bool
    name: str
    attributes: dict[str, str]


def tags(html: str, wanted: Collection[str]) -> Iterator[Tag]:
    """The tags of a page in their order, with the attributes of these names (in small letters).

    Comments and the content of scripts and the like hold none. A tag that the file ends in is not drawn, and
    neither is what follows an unclosed comment or script.
    """
    position = 0
    while opening := _OPENING.search(html, position):
        position = opening.start()
        if opening.group() == "<!--":
            end = html.find("-->", position + 4)
            if end < 0:
                return
            position = end + 3
            continue
        found = _TAG.match(html, position)
        if found is None:
            return
        name, close = found["name"].lower()[:_LONGEST_NAME], bool(found["close"])
        attributes = {} if close or not found["rest"] else _attributes(found["rest"], wanted)
        yield Tag(position, found.end(), close, name, attributes)
        position = found.end()
        if name in _RAW and not close:
            ended = re.compile(f"</{name}", re.IGNORECASE).search(html, position)
            if ended is None:
                return
            position = ended.start()


def _attributes(rest: str, wanted: Collection[str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for match, _ in zip(_ATTRIBUTES.finditer(rest), range(_MOST_ATTRIBUTES), strict=False):
        name = match["name"].lower()
        if name in wanted and name not in found:
            found[name] = unescape(match["double"] or match["single"] or match["bare"] or "").strip()
    return found
