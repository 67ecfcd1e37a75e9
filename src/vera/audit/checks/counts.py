"""Counts and weekdays of which the cited lines give another: four books are not seven.

Small counts are often derived rather than read, so one that is nowhere is a hint (`numbers`). When the
cited lines count the same thing and come to another number, the hint says which. It is hard where a cited
sentence has every other word of the claim: then only the count was altered.
"""

import re
from collections.abc import Iterator, Sequence

from vera.audit.case import Case, CitedLines, language_of, statements
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding, Severity
from vera.text.quantity import Quantity, quantities
from vera.text.sentences import END
from vera.text.words import stem, stems, words

MAX_LINES = 12
"""Citations of more lines than this say nothing of which count is meant."""

MIN_SHARED = 2
"""Content words that claim and sentence share at least beside the count."""

_TIMES = re.compile(
    r"\b(?:twice|thrice|einmal|zweimal|dreimal|once(?=\s(?:an?|per|each|every|daily|weekly|monthly|yearly)\b))\b",
    re.IGNORECASE,
)
_WEEKDAYS = re.compile(r"\b(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day\b")
_NOUN_REACH = 40


def counts(case: Case) -> Iterator[Finding]:
    """`count_differs`, a hint or hard, and `weekday_differs`, hard."""
    for claim, cited in statements(case):
        lines = sum(place.last - place.first + 1 for place in cited)
        if not cited or lines > MAX_LINES or any(place.evidence.tier == "observed" for place in cited):
            continue
        yield from _counts(claim, cited)
        yield from _times(claim, cited)
        yield from _weekdays(claim, cited)


def _counts(claim: Claim, cited: Sequence[CitedLines]) -> Iterator[Finding]:
    read = quantities(claim.text, language_of(cited))
    asked = [quantity for quantity in read if _is_count(quantity) and not quantity.hedge]
    if not asked:
        return
    there = [(place.span.text, quantity) for place in cited for quantity in place.span.quantities]
    values = {quantity.value for _, quantity in there}
    for quantity in asked:
        other = _other_count(claim.text, quantity, there)
        if other is not None and quantity.value not in values:
            yield _differs(quantity.text, other.text, claim, cited)


def _other_count(claim: str, quantity: Quantity, there: Sequence[tuple[str, Quantity]]) -> Quantity | None:
    """The first number of cited lines that counts the same things; None where all of them add up to this one.
    `there`: the numbers, each with its text."""
    noun = _counted(claim, quantity)
    others = [other for text, other in there if _is_count(other) and _counted(text, other) == noun]
    total = sum(other.value for other in others)
    return others[0] if noun and others and quantity.value != total else None


def _times(claim: Claim, cited: Sequence[CitedLines]) -> Iterator[Finding]:
    """Once for twice."""
    said, there = _how_often(claim.text), _how_often("\n".join(place.span.text for place in cited))
    if len(said) == 1 and there and said.isdisjoint(there):
        yield _differs(next(iter(said)), min(there), claim, cited)


def _how_often(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _TIMES.findall(text))


def _differs(said: str, there: str, claim: Claim, cited: Sequence[CitedLines]) -> Finding:
    """`count_differs`: hard where a cited sentence has all of the claim but this."""
    rest = set(stems(claim.text)) - set(stems(said))
    sentences = (each for place in cited for each in END.split(place.span.text) if there in each)
    only = len(rest) >= MIN_SHARED and any(rest <= set(stems(each)) for each in sentences)
    message = f'The cited lines have "{there}" where this says "{said}"; give that.'
    return _finding("count_differs", "hard" if only else "soft", message, said, claim, cited)


def _weekdays(claim: Claim, cited: Sequence[CitedLines]) -> Iterator[Finding]:
    there = {day for place in cited for day in _WEEKDAYS.findall(place.span.text)}
    if not there:
        return
    for day in dict.fromkeys(_WEEKDAYS.findall(claim.text)):
        if not any(day in place.source.text for place in cited):
            named = ", ".join(sorted(there))
            message = f"The cited lines name {named}, and their source no {day}; give that."
            yield _finding("weekday_differs", "hard", message, day, claim, cited)


def _is_count(quantity: Quantity) -> bool:
    return quantity.kind == "number" and quantity.counts


def _counted(text: str, quantity: Quantity) -> str:
    """The stem of what a number counts: the word after it."""
    after = next(words(text[quantity.end : quantity.end + _NOUN_REACH]), None)
    return stem(after.form) if after else ""


def _finding(
    code: str, severity: Severity, message: str, detail: str, claim: Claim, cited: Sequence[CitedLines]
) -> Finding:
    return Finding(
        code=code,
        label="misinterpretation",
        severity=severity,
        message=message,
        claim=claim.key,
        evidence=cited[0].evidence.id,
        first=cited[0].first,
        last=cited[0].last,
        detail=detail,
    )
