"""Text from outside, put into a prompt as data.

Each line stands behind a mark of ours and a bar (`12| text`), so none of them can begin like a line of
ours; around them is a delimiter that the text does not contain, since it is made from the text's hash.
"""

import hashlib
import unicodedata
from collections.abc import Iterable

import msgspec

from vera.sanitize import one_line

MAX_LINE_LENGTH = 4000
"""Characters of one line that are shown."""

MIN_LINE = 80
"""Bytes of room for which a line is begun."""

Row = tuple[str, str]
"""A mark of ours (a line number, `claim`, `finding`) and the text that stands behind it."""


class Fence(msgspec.Struct, frozen=True):
    """A fenced block, and how many of its rows it shows."""

    text: str
    shown: int


def fence(title: str, rows: Iterable[Row], room: int) -> Fence:
    """The rows inside a fence called `title`, in at most about `room` bytes; what was left out is said.

    The first row is always shown, and the last one that fits is cut. The same rows give the same fence.
    """
    body: list[str] = []
    left, hidden = room, 0
    for mark, text in rows:
        if body and left < MIN_LINE:
            hidden += 1
            continue
        line = _cut(f"{mark}| {_tame(text)}", max(left, MIN_LINE))
        body.append(line)
        left -= len(line.encode()) + 1
    more = [f"[{hidden} more not shown]"] if hidden else []
    edge = delimiter("\n".join(body))
    inside = "\n".join([f"<<<DATA {edge} {one_line(title)}", *body, *more, f"DATA {edge}>>>"])
    return Fence(inside, len(body))


def named(mark: str, text: str) -> list[Row]:
    """The lines of `text`, each behind the same mark."""
    return [(mark, line) for line in text.strip().split("\n")]


def delimiter(body: str) -> str:
    """Sixteen hexadecimal digits that are not in `body`."""
    digest = hashlib.sha256(body.encode("utf-8", "replace")).hexdigest()
    while digest[:16] in body:
        digest = hashlib.sha256(digest.encode()).hexdigest()
    return digest[:16]


def _tame(text: str) -> str:
    """One visible line: no controls, no line breaks of any kind, nothing that is not seen."""
    cut = text if len(text) <= MAX_LINE_LENGTH else text[: MAX_LINE_LENGTH - 1] + "…"
    return visible(cut)


def _cut(line: str, most: int) -> str:
    """The line in at most `most` bytes."""
    data = line.encode()
    return line if len(data) <= most else data[: most - 3].decode("utf-8", "ignore") + "…"


def visible(line: str) -> str:
    """The line without what no one sees: other spaces are blanks, controls are U+FFFD."""
    return line if line.isprintable() else "".join(map(_visible, line))


def _visible(character: str) -> str:
    if character.isprintable():
        return character
    category = unicodedata.category(character)
    if category == "Cf":
        return ""
    return " " if category[0] == "Z" or character in "\t\r" else "\N{REPLACEMENT CHARACTER}"
