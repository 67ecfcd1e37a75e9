"""Quotations in a statement: words in quotation marks of any kind, and block quotations."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from vera.evidence.folded_text import CJK, CJK_CHARACTER

QUOTE_LIMIT = 4000
"""Characters of a quotation that are looked for; a longer one is no quotation but a copy."""

MIN_WORDS = 3
MIN_CHARACTERS = 12
"""Shorter words in quotation marks are titles, terms or irony."""

_MARKS = re.compile(r"[“”„‟«»‹›「」『』\"‘’]")
_CLOSERS = {"“": "”", "„": "“”‟", "‟": "”", "«": "»", "»": "«", "「": "」", "『": "』", '"': '"', "‘": "’"}
_DEPTH = 4
_BLOCK = re.compile(r"(?m)^[ \t]{0,3}>[^\n]*(?:\n[ \t]{0,3}>[^\n]*){0,200}")
_MARGIN = re.compile(r"(?m)^[ \t]{0,3}>[> \t]{0,8}")


class Quotation(msgspec.Struct, frozen=True):
    """Words in quotation marks, or a block quotation: the `text` between the marks, and its place, marks
    included, in characters."""

    text: str
    start: int
    end: int


def find_quotations(text: str) -> tuple[Quotation, ...]:
    """The quotations of a statement, in order: in “ ”, " ", « », „ “, ‘ ’, 「 」, and lines beginning with >.

    Of nested ones the outer is given. Words in quotation marks with fewer than three words and twelve
    characters are none; an apostrophe and the sign for inches open none.
    """
    blocks = list(_block_quotes(text))
    pairs = [Quotation(text[start + 1 : end - 1].strip(), start, end) for start, end in _pairs(text)]
    found: list[Quotation] = []
    reached = 0
    for quotation in sorted([*blocks, *pairs], key=lambda quotation: (quotation.start, -quotation.end)):
        if quotation.start >= reached:
            reached = quotation.end
            if _telling(quotation.text):
                found.append(quotation)
    return tuple(found)


def _pairs(text: str) -> Iterator[tuple[int, int]]:
    """The places of marks that open and close a quotation, marks included; inner ones before outer ones."""
    opened: list[int] = []
    for found in _MARKS.finditer(text):
        at = found.start()
        pair = _opener(text, opened, at)
        if pair is not None:
            yield opened[pair], at + 1
            del opened[pair:]
        elif _opens(text, at):
            opened = [*opened[-_DEPTH + 1 :], at]


def _opener(text: str, opened: Sequence[int], at: int) -> int | None:
    """Which of the opened marks the one at `at` closes."""
    if not _closes(text, at):
        return None
    for index in range(len(opened) - 1, -1, -1):
        if text[at] in _CLOSERS[text[opened[index]]] and at - opened[index] <= QUOTE_LIMIT:
            return index
    return None


def _block_quotes(text: str) -> Iterator[Quotation]:
    for block in _BLOCK.finditer(text):
        yield Quotation(_MARGIN.sub("", block.group()).strip(), *block.span())


def _telling(text: str) -> bool:
    if not any(map(str.isalnum, text)):
        return False
    return len(text) >= MIN_CHARACTERS or len(text.split()) >= MIN_WORDS or bool(_CJK_WORDS.search(text))


_CJK_WORDS = re.compile(f"[{CJK}]{{6}}")


def _opens(text: str, at: int) -> bool:
    """Whether a mark may open a quotation: a word begins after it, and none ends before it."""
    mark = text[at]
    if mark not in _CLOSERS or at + 1 >= len(text) or (text[at + 1].isspace() and mark not in "«»"):
        return False
    before = text[at - 1] if at else " "
    if mark in "「『":
        return True
    return not before.isalnum() or bool(CJK_CHARACTER.match(before))


def _closes(text: str, at: int) -> bool:
    if text[at] not in '"’':
        return True
    after = text[at + 1] if at + 1 < len(text) else " "
    return not text[at - 1].isspace() and (not after.isalnum() or bool(CJK_CHARACTER.match(after)))
