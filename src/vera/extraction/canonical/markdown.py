"""Markdown: kept as plain text, with marks on what is struck out or a comment; the title is a heading."""

import re
from collections.abc import Iterator

import msgspec

from vera.extraction.canonical import text as plain
from vera.extraction.canonical.deletions import conflicts, deleted, united
from vera.extraction.canonical.naming import bounded
from vera.extraction.marks import HIDDEN, STRUCK, Mark
from vera.extraction.source import Extracted
from vera.text.late_regex import late_regex

RULES = 4

_HEAD = 1 << 16
_ATX = late_regex(r" {0,3}#{1,6}[ \t]+(.*\w.*?)[ \t]*#*[ \t]*")
_UNDERLINE = late_regex(r" {0,3}(=+|-+)[ \t]*")
_FENCE = late_regex(r" {0,3}(```|~~~)")
_FENCE_BYTES = re.compile(rb" {0,3}(```|~~~)")
_SIGN = re.compile(rb"`[^`\n]{1,400}`|<!--|<(?P<end>/?)(?:del|s|strike)>|~{1,100}", re.IGNORECASE)
_UNSEEN = re.compile(
    rb"!\[(?P<alt>[^\]\n]{1,1000})\](?=[(\[])"
    rb"|^ {0,3}\[(?://|_|#|\w{0,20}comment\w{0,20})\]:[ \t]*(?P<note>[^\n]{1,2000})",
    re.MULTILINE | re.IGNORECASE,
)
_BLANK_LINE = re.compile(rb"\n[ \t]{0,100}\n")


def extract(data: bytes, name: str) -> Extracted:
    """The source as it is: what a reader cites is the line in the file."""
    page = plain.extract(data, name)
    return msgspec.structs.replace(
        page,
        title=_heading(page.text) or page.title,
        media_type="text/markdown",
        extractor=page.extractor.replace("txt/", "md/", 1).replace(f"rules-{plain.RULES}", f"rules-{RULES}"),
        marks=united(page.text, list(_marks(page.text))),
    )


def _marks(text: bytes) -> Iterator[Mark]:
    """What a renderer strikes out (GitHub Flavored Markdown, 6.5; `del`) or leaves away, outside of code:
    comments, the words that stand for a picture, what stands between marks of a deletion, and conflicts."""
    conflicting = list(conflicts(text))
    for start, end in _outside_fences(text):
        if b"~" in text or b"<" in text:
            yield from _between(text, start, end)
        for found in _UNSEEN.finditer(text, start, end):
            yield Mark(HIDDEN, *found.span(found.lastgroup or 0))
        yield from deleted(text, ".md", start, end)
        yield from (each for each in conflicting if start <= each.start < end)


def _between(text: bytes, start: int, end: int) -> Iterator[Mark]:
    element = tildes = -1
    width = 0
    position = start
    while found := _SIGN.search(text, position, end):
        position = found.end()
        sign = found[0]
        if sign.startswith(b"<!"):
            closing = text.find(b"-->", position, end)
            position = end if closing == -1 else closing + 3
            yield Mark(HIDDEN, found.start(), position)
        elif sign.startswith(b"<") and not found["end"]:
            element = found.start() if element == -1 else element
        elif sign.startswith(b"<") and element != -1:
            yield Mark(STRUCK, element, position)
            element = tildes = -1
        elif sign.startswith(b"~"):
            opened, tildes = tildes, -1
            ends = len(sign) == width and text[found.start() - 1 : found.start()].strip() != b""
            ends = ends and (width == 2 or not text[position : position + 1].isalnum())
            if opened != -1 and ends and not _BLANK_LINE.search(text, opened, position):
                if element == -1:
                    yield Mark(STRUCK, opened, position)
            elif len(sign) <= 2 and _begins(text, found.start(), position):
                tildes, width = found.start(), len(sign)


def _begins(text: bytes, start: int, end: int) -> bool:
    """Whether tildes may open a run: before text, and two of them, or one that is not within a word."""
    before = text[start - 1 : start] if start else b""
    return text[end : end + 1].strip() != b"" and (
        end - start == 2 or not (before.isalnum() or before in (b"/", b"="))
    )


def _outside_fences(text: bytes) -> Iterator[tuple[int, int]]:
    """The byte ranges of the text that are no fenced code."""
    start = position = 0
    fence = b""
    for line in text.splitlines(keepends=True):
        found = _FENCE_BYTES.match(line)
        if found and not fence:
            yield start, position
            fence = found[1]
        elif found and found[1] == fence:
            fence, start = b"", position + len(line)
        position += len(line)
    if not fence:
        yield start, position


def _heading(text: bytes) -> str:
    """The first heading (CommonMark, ATX or setext) of the first 64 kB, '' when there is none."""
    fenced = False
    previous = ""
    for line in text[:_HEAD].decode("utf-8", "ignore").split("\n"):
        if _FENCE.match(line):
            fenced = not fenced
        if fenced:
            continue
        if heading := _ATX.fullmatch(line):
            return bounded(heading[1])
        if _UNDERLINE.fullmatch(line) and re.search(r"\w", previous) and "|" not in previous:
            return bounded(previous)
        previous = line
    return ""
