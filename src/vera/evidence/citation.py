"""Citations: the marks in an answer that point at lines of evidence, `[ev_0003:12-14]`."""

import re
from collections.abc import Iterator
from itertools import islice

import msgspec

CITATION_LIMIT = 10_000
"""Citations that are read of one text; an answer with more is no answer."""

LINES_LIMIT = 2000
"""Lines that a citation may name, five times as many as one call of a tool shows. Each check reads them again
for each claim, so without a limit an answer could keep the audit busy for days."""

_BRACKET = re.compile(r"[\[【]\s{0,8}(ev_[0-9][^\[\]【】]{0,2000})[\]】]")
_SEPARATOR = r"\s*(?:[,;]|\Z|(?=ev_))"
_ITEM = re.compile(
    rf"\s*(?:(?P<evidence>ev_[0-9]{{1,9}})(?:\s*:\s*|(?={_SEPARATOR})))?"
    r"(?:[Ll]?(?P<first>[0-9]{1,9})(?:\s*[-‐‑‒–—−]\s*[Ll]?(?P<last>[0-9]{1,9}))?)?" + _SEPARATOR
)


class Citation(msgspec.Struct, frozen=True):
    """One evidence id with the lines that are meant; both None for the whole of it.

    Nothing is promised about the lines: they may not exist, and `first` may be larger than `last`.
    `start` and `end` are the place of the whole bracket in the text, in characters; several citations in
    one bracket share it.
    """

    evidence: str
    first: int | None
    last: int | None
    start: int
    end: int


def find_citations(text: str) -> list[Citation]:
    """The citations in `text`, in order, at most CITATION_LIMIT.

    `[ev_0003]`, `[ev_0003:12]`, `[ev_0003:12-14]`, and several in a bracket, separated by comma,
    semicolon or space: in `[ev_0003:12-14, 20; ev_0007:3]` line 20 is one of ev_0003. Any dash and white
    space are accepted, and the brackets 【 】 that some models write. A bracket with anything else in it
    is no citation, nor is a number of more than nine digits.
    """
    return list(islice(_citations(text), CITATION_LIMIT))


def place_name(evidence: str, first: int | None, last: int | None) -> str:
    """`ev_0003:12-14`, as an answer cites it: one line without an end, no lines without a colon."""
    if first is None:
        return evidence
    return f"{evidence}:{first}" + (f"-{last}" if last not in (None, first) else "")


def without_citations(text: str) -> str:
    """The text on one line, without its citations and the space before each."""
    parts, at = [], 0
    for found in find_citations(text):
        if found.start >= at:
            parts.append(text[at : found.start].rstrip())
            at = found.end
    return " ".join("".join([*parts, text[at:]]).split())


def _citations(text: str) -> Iterator[Citation]:
    for bracket in _BRACKET.finditer(text):
        yield from _items(bracket[1], bracket.start(), bracket.end())


def _items(inside: str, start: int, end: int) -> list[Citation]:
    """The citations of one bracket, none of them unless all of it is well formed."""
    found: list[Citation] = []
    evidence = ""
    position = 0
    while position < len(inside):
        item = _ITEM.match(inside, position)
        if item is None or item.end() == position:
            return []
        evidence = item["evidence"] or evidence
        if not item["evidence"] and not item["first"]:
            return []
        first = int(item["first"]) if item["first"] else None
        last = int(item["last"]) if item["last"] else first
        found.append(Citation(evidence, first, last, start, end))
        position = item.end()
    return found
