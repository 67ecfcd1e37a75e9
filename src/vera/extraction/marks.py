"""Marks: spans of a canonical text that a reader would not take for what the document says.

Text that is struck out or hidden keeps its place in the text, so that bytes and line numbers stay; a mark
beside the text says which bytes it is. While a text is made, markers within it carry the marks through every
change of white space and every fold of a line. They are noncharacters of Unicode, which no document may use
for itself: `unmarked` replaces those that it brings.
"""

import re
from collections.abc import Callable, Sequence
from typing import Final, NamedTuple

STRUCK: Final = "struck"
"""Struck out, deleted by a change that is recorded in the document, commented out, or a side of an unresolved
merge conflict."""

HIDDEN: Final = "hidden"
"""In the file, but not to be seen by a reader."""

MAX_MARKS = 5000
"""Marks of one text. Of more, those with the least text between them are joined, which marks more."""

_MARKERS = {STRUCK: ("\ufdd0", "\ufdd1"), HIDDEN: ("\ufdd2", "\ufdd3")}
_ENDS = {
    marker.encode(): (kind, opens)
    for kind, pair in _MARKERS.items()
    for marker, opens in zip(pair, (True, False), strict=True)
}
_MARKER = re.compile(b"\xef\xb7[\x90-\x93]")
_FOREIGN = re.compile("[\ufdd0-\ufdd3]")
_CORE = re.compile(r"\S(?:.*\S)?", re.DOTALL)
_NOT_NEWLINE = re.compile(rb"[^\n]")


class Mark(NamedTuple):
    """Bytes `start` to `end` (exclusive) of a canonical text are `kind`: struck or hidden."""

    kind: str
    start: int
    end: int


def marked(text: str, kind: str) -> str:
    """The text between markers; white space at its ends stays outside, so that it folds as it would."""
    core = _CORE.search(text)
    if core is None:
        return text
    opening, closing = _MARKERS[kind]
    return f"{text[: core.start()]}{opening}{core[0]}{closing}{text[core.end() :]}"


def unmarked(text: str) -> str:
    """The text of a document without markers that it brought itself."""
    return text if text.isascii() else _FOREIGN.sub("\ufffd", text)


def lifted(text: bytes) -> tuple[bytes, tuple[Mark, ...]]:
    """A canonical text without its markers, and the marks that they were, in order, none empty."""
    if b"\xef\xb7" not in text:
        return text, ()
    pieces: list[bytes] = []
    marks: list[Mark] = []
    depth = {STRUCK: 0, HIDDEN: 0}
    done = size = 0
    for found in _MARKER.finditer(text):
        _extend(marks, depth, size, found.start() - done)
        pieces.append(text[done : found.start()])
        size += found.start() - done
        done = found.end()
        kind, opens = _ENDS[found[0]]
        depth[kind] = max(0, depth[kind] + (1 if opens else -1))
    pieces.append(text[done:])
    plain = b"".join(pieces)
    return plain, bounded(joined(plain, marks))


def joined(text: bytes, marks: Sequence[Mark]) -> list[Mark]:
    """Marks in order; those of one kind with only white space between them are one."""
    found: list[Mark] = []
    for mark in marks:
        last = found[-1] if found else None
        if last and last.kind == mark.kind and not text[last.end : mark.start].strip():
            found[-1] = last._replace(end=mark.end)
        elif mark.start < mark.end:
            found.append(mark)
    return found


def bounded(marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """At most MAX_MARKS marks: those that stand nearest to each other are joined first."""
    if len(marks) <= MAX_MARKS:
        return tuple(marks)
    gaps = sorted(range(1, len(marks)), key=lambda index: marks[index].start - marks[index - 1].end)
    closed = frozenset(gaps[: len(marks) - MAX_MARKS])
    found: list[Mark] = []
    for index, mark in enumerate(marks):
        if index in closed:
            found[-1] = found[-1]._replace(end=mark.end)
        else:
            found.append(mark)
    return tuple(found)


def blanked(text: bytes, marks: Sequence[tuple[str, int, int]]) -> bytes:
    """The text with what is marked turned into spaces: every byte and line stays where it is."""
    return _replaced(text, marks, lambda kind, part: _NOT_NEWLINE.sub(b" ", part))


def told(text: bytes, marks: Sequence[tuple[str, int, int]]) -> bytes:
    """The text with its marks said in words, `[struck out: …]` and `[hidden: …]`, line by line."""
    return _replaced(text, marks, _in_words)


def _in_words(kind: str, part: bytes) -> bytes:
    said = b"struck out" if kind == STRUCK else b"hidden"
    return b"\n".join(b"[%s: %s]" % (said, line) if line.strip() else line for line in part.split(b"\n"))


def _replaced(
    text: bytes, marks: Sequence[tuple[str, int, int]], instead: Callable[[str, bytes], bytes]
) -> bytes:
    if not marks:
        return text
    pieces: list[bytes] = []
    done = 0
    for kind, start, end in sorted(marks, key=lambda mark: mark[1]):
        start, end = max(start, done), min(end, len(text))
        if start < end:
            pieces += (text[done:start], instead(kind, text[start:end]))
            done = end
    pieces.append(text[done:])
    return b"".join(pieces)


def within(marks: Sequence[tuple[str, int, int]], start: int, end: int) -> tuple[tuple[str, int, int], ...]:
    """The marks that touch bytes `start` to `end`, cut to them, their places counted from `start`."""
    return tuple(
        (kind, max(first, start) - start, min(last, end) - start)
        for kind, first, last in marks
        if first < end and last > start
    )


def _extend(marks: list[Mark], depth: dict[str, int], start: int, length: int) -> None:
    kind = HIDDEN if depth[HIDDEN] > 0 else STRUCK if depth[STRUCK] > 0 else ""
    if kind and length > 0:
        marks.append(Mark(kind, start, start + length))
