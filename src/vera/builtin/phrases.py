"""The one phrase of some lines that is of the kind asked for: "at least three years" for how long."""

import re
from itertools import islice, takewhile

from vera.builtin import patterns
from vera.builtin.expressions import MAX_TEXT_LENGTH
from vera.builtin.question import Kind, Question
from vera.builtin.words import affinity, words

MAX_PHRASE_LENGTH = 80
"""In characters: a longer run of expressions is a list, and no phrase."""
MAX_BOUND_LENGTH = 24
"""Characters before an expression in which a bound may begin: "not more than "."""
SAME_UNIT = 0.7
"""How nearly a word is what the question counts; as in `vera.builtin.expressions`."""
MAX_BEHIND = 3
"""Words behind a number among which that may be: "12 new members"."""

_BETWEEN = re.compile(r"[\s,./:–-]{0,3}|\s(?:and|to|of|und|bis|à)\s")
_GOES_ON = re.compile(r"[\d.,]*\d|\s(?:million|billion|thousand)\b", re.IGNORECASE)
_CLAUSE_END = re.compile(r"[,;:()—–]|[.!?]\s")
_OF_KIND = {
    Kind.COUNT: patterns.NUMBER,
    Kind.DURATION: patterns.DURATION,
    Kind.MEASURE: patterns.MEASURE,
    Kind.MONEY: patterns.MONEY,
    Kind.PERCENT: patterns.PERCENT,
    Kind.DATE: patterns.DATE,
    Kind.CLOCK: patterns.CLOCK,
    Kind.PERSON: patterns.FULL_NAME,
}

Span = tuple[int, int]


def phrase(question: Question, text: str) -> str:
    """The phrase of `text`, word for word, with the bound before it; '' where nothing is sure.

    That is where no expression of the kind is there or the question has its words already, where there are
    several (only a reader can tell which of them answers), and where the text denies something before it or
    in the rest of its clause: a phrase without its "not" says the opposite.
    """
    pattern = _OF_KIND.get(question.kind)
    if pattern is None or len(text) > MAX_TEXT_LENGTH:
        return ""
    whole = (_whole(question, text, *match.span()) for match in pattern.finditer(text))
    found = [
        span
        for span in _joined(text, [span for span in whole if span is not None])
        if any(word.form not in question.spoken for word in words(text[slice(*span)]))
    ]
    if len(found) != 1:
        return ""
    start, end = _with_bound(text, *found[0])
    return "" if end - start > MAX_PHRASE_LENGTH or _is_denied(text, start, end) else text[start:end]


def _is_denied(text: str, start: int, end: int) -> bool:
    """Whether a text denies something before a phrase or in the rest of its clause."""
    behind = _CLAUSE_END.search(text, end)
    clause_end = behind.start() if behind else len(text)
    return any(patterns.DENIES.search(text, *span) for span in ((0, start), (end, clause_end)))


def _whole(question: Question, text: str, start: int, end: int) -> Span | None:
    """An expression with the rest of its number; of a count, with what is counted, None where that is
    something else than the question counts."""
    if match := _GOES_ON.match(text, end):
        end = match.end()
    if question.kind is not Kind.COUNT:
        return start, end
    asked = {term.word.form for term in question.terms}
    behind = list(islice(words(text[end : end + MAX_PHRASE_LENGTH]), MAX_BEHIND))
    for place, counted in enumerate(behind):
        if any(affinity(unit, counted) >= SAME_UNIT for unit in question.units):
            also = takewhile(lambda word: word.form in asked, behind[place + 1 :])
            return start, end + max((word.end for word in also), default=counted.end)
    return None


def _joined(text: str, spans: list[Span]) -> list[Span]:
    """The spans, those that touch or go on as one: "12", "March 2020"."""
    joined: list[Span] = []
    for start, end in spans:
        if joined and (start <= joined[-1][1] or _BETWEEN.fullmatch(text, joined[-1][1], start)):
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        else:
            joined.append((start, end))
    return joined


def _with_bound(text: str, start: int, end: int) -> Span:
    """The span with the words before it that make it a bound."""
    before = text[max(0, start - MAX_BOUND_LENGTH) : start]
    bounds = [
        match.start() for side in (patterns.AT_LEAST, patterns.AT_MOST) if (match := side.search(before))
    ]
    return (start - len(before) + min(bounds), end) if bounds else (start, end)
