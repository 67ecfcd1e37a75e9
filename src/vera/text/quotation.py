"""Quotations in a statement: words in quotation marks of any kind, and block quotations."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

import msgspec

from vera.text.folded_text import CJK, CJK_CHARACTER

QUOTE_LIMIT = 4000
"""Characters of a quotation that are looked for; a longer one is no quotation but a copy."""

MIN_WORDS = 3
MIN_CHARACTERS = 12
"""Shorter words in quotation marks are titles, terms or irony."""

_MARKS = re.compile(r"[“”„‟«»‹›「」『』\"‘’]")
_CLOSERS = {"“": "”", "„": "“”‟", "‟": "”", "«": "»", "»": "«", "「": "」", "『": "』", '"': '"', "‘": "’"}
_RARE = str.maketrans("＂″〃", '"""')
_TWO_APOSTROPHES = re.compile(r"(\s|^|\()''([^'\n]{12,2000})''")
_SAID_IN = re.compile(
    r"(\b(?:says?|said|states?|stated|reads?|wrote|writes|sagt|dit)[:,]?\s)[*_`]([^*_`\n]{12,2000})[*_`]"
)
_SENTENCE_END = re.compile(r"[.!?](?:\s|\Z)|\Z")
_PARAGRAPH_END = re.compile(r"\n[^\S\n]*\n")
_BEGINS = re.compile(r"(?:(?<![^\s(])«\s?|[“„‟«»‹›「『\"‘])(?=[\w“„«»‹「『\"'‘(\[¿¡…])")
"""A mark with the beginning of words behind it; only « has a space between."""

_DEPTH = 4
_BLOCK = re.compile(r"(?m)^[ \t]{0,3}>[^\n]*(?:\n[ \t]{0,3}>[^\n]*){0,200}")
_MARGIN = re.compile(r"(?m)^[ \t]{0,3}>[> \t]{0,8}")


class Quotation(msgspec.Struct, frozen=True):
    """Words in quotation marks, or a block quotation: the `text` between the marks, and its place, marks
    included, in characters."""

    text: str
    start: int
    end: int


def find_quotations(text: str, apart: Sequence[tuple[int, int]] = ()) -> tuple[Quotation, ...]:
    """The quotations of a statement, in order: in “ ”, " ", « », „ “, ‘ ’, 「 」, and lines beginning with >.

    Of nested ones the outer is given. Words in quotation marks with fewer than three words and twelve
    characters are none; an apostrophe and the sign for inches open none. `apart` are stretches of the text,
    in order, that were blanked: quotations with one of them between are not read as one.
    """
    blocks = list(_block_quotes(text))
    plain = _with_usual_marks(text)
    starts = [start for start, _ in apart]
    spans = _joined([*_pairs(plain), *_unclosed(plain)], plain, starts)
    pairs = [Quotation(_between(text, pieces), pieces[0][0], pieces[-1][1]) for pieces in spans]
    found: list[Quotation] = []
    reached = 0
    for quotation in sorted([*blocks, *pairs], key=lambda quotation: (quotation.start, -quotation.end)):
        if quotation.start >= reached:
            reached = quotation.end
            if _telling(quotation.text):
                found.append(quotation)
    return tuple(found)


def without_quotations(text: str) -> str:
    """What a text says itself."""
    for quotation in reversed(find_quotations(text)):
        text = f"{text[: quotation.start]} … {text[quotation.end :]}"
    return text


def _with_usual_marks(text: str) -> str:
    """The text with a usual mark for rarer ones, of the same length: ＂ ″ 〃, two apostrophes, and asterisks
    or backticks around what somebody "says"."""
    text = _TWO_APOSTROPHES.sub(lambda found: f"{found[1]}'\"{found[2]}\"'", text.translate(_RARE))
    return _SAID_IN.sub(lambda found: f'{found[1]}"{found[2]}"', text)


def _unclosed(text: str) -> Iterator[tuple[int, int]]:
    """A quotation that is opened and never closed: to the end of its sentence."""
    opened = text.rfind("“")
    if opened >= 0 and not re.search('[”“„"]', text[opened + 1 :]):
        end = _SENTENCE_END.search(text, opened + 1)
        yield opened, (end.start() if end else len(text)) + 1


def _joined(
    pairs: Sequence[tuple[int, int]], text: str, apart: Sequence[int]
) -> Iterator[list[tuple[int, int]]]:
    """Quotations between which nothing stands, as one that leaves something out: “may” “keep dogs”."""
    outer: list[tuple[int, int]] = []
    for start, end in sorted(pairs, key=lambda pair: (pair[0], -pair[1])):
        if not outer or start >= outer[-1][1]:
            outer.append((start, end))
    group: list[tuple[int, int]] = []
    for pair in outer:
        if group and _are_apart(text, group[-1][1], pair[0], apart):
            yield group
            group = []
        group.append(pair)
    if group:
        yield group


def _are_apart(text: str, end: int, start: int, apart: Sequence[int]) -> bool:
    """Whether words, the end of a paragraph or what was blanked is between two quotations."""
    between = text[end:start]
    blank = bisect_left(apart, start) > bisect_left(apart, end)
    return blank or bool(between.strip()) or _PARAGRAPH_END.search(between) is not None


def _between(text: str, pieces: Sequence[tuple[int, int]]) -> str:
    return " … ".join(text[start + 1 : end - 1].strip(" '*`_") for start, end in pieces)


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


def is_open(text: str) -> bool:
    """Whether a quotation is open at the end of a text, ‘ aside, which may be an apostrophe.

    “ closes what „ opened, and » what « opened. A mark behind a word closes whatever is open: „so".
    """
    opened: list[int] = []
    for found in _MARKS.finditer(text):
        at = found.start()
        pair = _opener(text, opened, at)
        if pair is not None:
            del opened[pair:]
        elif _opens(text, at) and _BEGINS.match(text, at):
            opened.append(at)
        elif opened and text[at] not in "‘’" and _closes(text, at):
            opened.pop()
    return any(text[at] != "‘" for at in opened)


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
    return (
        len(text) >= MIN_CHARACTERS
        or len(text.split()) >= MIN_WORDS
        or _CJK_WORDS.search(text) is not None
        or _CUT.search(text) is not None
    )


_CJK_WORDS = re.compile(f"[{CJK}]{{6}}")
_CUT = re.compile(r"\w\s?(?:\.\.\.|…{1,2})\s?\w")
"""What leaves something out is a quotation, however short."""


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
