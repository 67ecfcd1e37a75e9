"""Markdown: kept as plain text; the title is its first heading."""

import re

import msgspec

from vera.evidence.canonical import text as plain
from vera.evidence.canonical.naming import bounded
from vera.evidence.source import Extracted

RULES = 1

_HEAD = 1 << 16
_ATX = re.compile(r" {0,3}#{1,6}[ \t]+(.*\w.*?)[ \t]*#*[ \t]*")
_UNDERLINE = re.compile(r" {0,3}(=+|-+)[ \t]*")
_FENCE = re.compile(r" {0,3}(```|~~~)")


def extract(data: bytes, name: str) -> Extracted:
    """The source as it is: what a reader cites is the line in the file."""
    page = plain.extract(data, name)
    return msgspec.structs.replace(
        page,
        title=_heading(page.text) or page.title,
        media_type="text/markdown",
        extractor=page.extractor.replace("txt/", "md/", 1).replace(f"rules-{plain.RULES}", f"rules-{RULES}"),
    )


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
