"""Cited lines made whole: the sentences that touch them, from their first word to their last.

A line of a text may end inside a sentence, and even inside a number; whoever cites that line alone cites
half of what is said: "1" of "1,250", "must" of "must not". So every reader is given whole sentences. Lists,
tables, headings and code keep their lines.
"""

import re
from typing import NamedTuple

from vera.text.headings import is_marked
from vera.text.negation import is_box, is_remark
from vera.text.sentences import END, NO_INITIAL, NOTE_MARK
from vera.text.span import Lines
from vera.text.words import STOPWORDS

REACH = 60
"""Lines that a sentence may go on for, in each direction. The longest sentences of laws have about 40."""

WRAPPED = 40
"""A line that is at least as long, in characters, goes on in the next one unless it ends a sentence."""

_ENDED = re.compile(
    NO_INITIAL + r"(?<!\b(?:Dr|Mr|Ms|St|Mt|Jr|Sr|No|vs|ca))(?<!\b(?:Mrs|Art|Sec|Fig|Abs|bzw))(?<!\bapprox)"
    rf"[.!?…][\"'”’)\]*_]{{0,4}}{NOTE_MARK}\Z|[:：。！？][」』”’）]{{0,2}}\Z"
)
_ITEM = re.compile(
    r"\s{0,40}(?:[-*•‣+#|>](?:\s|\Z)|\(?(?:[0-9]{1,3}(?:\.[0-9]{1,2}){0,3}|[A-Za-z]|[ivxIVX]{2,5})[.)]\s)"
)
_ROW = re.compile(r"[\t|{}=<>]|[A-Za-z]\"?,\"?[A-Za-z0-9-]|\",\"")
_FIELD = re.compile(r"[\w\"'][\w .\"'/-]{0,40}:(?:\s|\Z)")
_HAN_HEADING = re.compile(
    r"(?:[（(]?[一二三四五六七八九十]{1,3}[）)、.]|第[一二三四五六七八九十百\d]{1,6}[章节節条條编編部])"
    r"[^，,；;。不未无無没沒勿禁非仅僅只如若除当當但须須应應可得将將]{0,10}\Z"
)
"""The heading of a part in Chinese: "一、交易概述". A line that denies may break off a sentence."""

_RULE = re.compile(r"[\s=~_*#-]*\Z")
_CUT_NUMBER = re.compile(r"\d[.,'’]?\Z")
_LAST_WORD = re.compile(r"([^\W\d_]+)\Z")
_WORD = re.compile(r"[^\W\d_]+")
_NEGATION = re.compile(r"(?i)(?:not|never|no|nor|nicht|kein\w{0,2}|nie|pas|jamais|ne|sans|non|nunca)\b")
_SMALL_TEXT = """
    must darf dürfen muss müssen kann können soll sollen ist sind wird werden der die das den dem des ein
    eine einen einem einer und oder in im am an auf von vom zu zum zur mit für bei doit doivent peut peuvent
    est sont le la les un une des du de et ou à au aux en sur par pour avec debe deben puede pueden es son
    el los las una y o con por para
"""
SMALL_WORDS = STOPWORDS.union(_SMALL_TEXT.split())
"""Words with which no sentence ends."""
_PROSE = 3
"""Words from which a line without an end is taken for part of a sentence that a number continues."""


class Whole(NamedTuple):
    """Lines `first` to `last`, and the bytes `start` to `end` of the text: whole sentences within them."""

    first: int
    last: int
    start: int
    end: int


def whole(lines: Lines, first: int, last: int) -> Whole:
    """The sentences that touch lines `first` to `last`. Raises IndexError when there are no such lines."""
    start, end = lines.bounds(first, last)
    top, bottom = first, last
    while top > 1 and first - top < REACH and runs_on(line(lines, top - 1), line(lines, top)):
        top -= 1
        start, _ = lines.bounds(top, top)
        ends = [match.end() for match in END.finditer(line(lines, top))]
        if ends:
            start += len(line(lines, top)[: ends[-1]].encode("utf-8", "replace"))
            break
    while (
        bottom < len(lines)
        and bottom - last < REACH
        and runs_on(line(lines, bottom), line(lines, bottom + 1))
    ):
        bottom += 1
        begin, end = lines.bounds(bottom, bottom)
        if found := END.search(line(lines, bottom)):
            end = begin + len(line(lines, bottom)[: found.end()].rstrip().encode("utf-8", "replace"))
            break
    return Whole(top, bottom, start, end)


def line(lines: Lines, number: int) -> str:
    """The text of one line."""
    return lines.cut(number, number).decode("utf-8", "replace")


def runs_on(above: str, below: str) -> bool:
    """Whether a sentence that one line breaks off goes on in the next one. A box that is alone on its line
    belongs to the next line, a remark that is alone ("(Repealed.)") to the one before."""
    over, under = above.strip(), below.strip()
    if over and under and (is_box(over) or is_remark(under)):
        return not is_box(under)
    if not over or not under or is_marked(above) or _RULE.match(over) or _RULE.match(under):
        return False
    if is_row(over) or is_row(under) or _HAN_HEADING.match(over):
        return False
    prose = len(_WORD.findall(over)) >= _PROSE
    if prose and under[0].isdigit() and _CUT_NUMBER.search(over):
        return True
    if _ENDED.search(over) or _ITEM.match(below):
        return False
    if _NEGATION.match(under) and not _FIELD.match(under):
        return not (over.isupper() and len(over) < WRAPPED and not under.isupper())  # a heading in capitals
    if len(over) < WRAPPED and _FIELD.match(under):
        return False
    if over[-1] in ",-‐‑–—(&/" or (under[0].isalpha() and not under[0].isupper()) or under[0] == "(":
        return True
    if prose and under[0].isdigit():
        return True
    last = _LAST_WORD.search(over)
    return len(over) >= WRAPPED or (last is not None and last[1].lower() in SMALL_WORDS)


def is_row(text: str) -> bool:
    """Whether a line is one of a table, of data or of code, which no sentence runs through."""
    return _ROW.search(text) is not None or not _WORD.search(text)
