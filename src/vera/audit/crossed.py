"""A claim that gives the value of one year to another one, where the cited lines have one value for each."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from vera.audit.case import CitedLines
from vera.audit.derivable import is_idle
from vera.audit.literal import sentences_of
from vera.audit.oppositions import borders
from vera.text.headings import over
from vera.text.lexicon import FUNCTION_WORDS, word_set
from vera.text.quantity import Quantity, quantities
from vera.text.quantity_dates import LATEST_YEAR
from vera.text.stopwords import LANGUAGES
from vera.text.whole_sentences import line
from vera.text.words import STOPWORDS, stem, words

SHARED_PERCENT = 80
"""The share of a claim's other content words that both lines, with their headings, must have."""

MIN_WORDS = 2
_ALIKE = 4
"""First letters by which two forms of a verb are one word: beträgt, betrug."""

_BEFORE_DATES = word_set(
    "since until from ab bis seit seitdem depuis jusqu desde hasta partir an jahr year annee ano anno"
)
_SMALL = STOPWORDS | FUNCTION_WORDS | _BEFORE_DATES | frozenset[str]().union(*LANGUAGES)
"""Words that ask or join, and those before a date, which differ between two years."""

_FIRST_YEAR = 1000
_VALUES = frozenset(("number", "percent", "money", "amount"))
_UNRELATED = frozenset(("relative", "ordinal"))


class Crossed(NamedTuple):
    """A cited line and the place that it is of."""

    text: str
    place: CitedLines


class _Line(NamedTuple):
    told: Crossed
    years: frozenset[int]
    values: tuple[Quantity, ...]
    words: frozenset[str]


def crossed(claim: str, cited: Sequence[CitedLines], spoken: str) -> Crossed | None:
    """The cited line that has another value for the claim's year, while the claim's value is that of another
    year; None for none. The claim must have one date and one other number, in one clause."""
    found = [each for each in quantities(claim, spoken) if each.kind not in _UNRELATED]
    dates, values = list(filter(_years, found)), list(filter(_is_value, found))
    if len(found) != 2 or len(dates) != 1 or len(values) != 1 or not _are_together(claim, found):
        return None
    (year, *more), value = _years(dates[0]), values[0]
    wanted = _words(claim, found)
    if more or value.hedge or is_idle(value, claim) or len(wanted) < MIN_WORDS:
        return None
    told = list(_lines(cited, spoken))
    having = [each for each in told if any(_is_same(value, other) for other in each.values)]
    if not having or any(year in each.years or not each.years for each in having):
        return None
    if not any(_is_about(wanted, each) for each in having):
        return None
    right = (each.told for each in told if _has_another(year, value, each) and _is_about(wanted, each))
    return next(right, None)


def _years(quantity: Quantity) -> list[int]:
    """The year of a date, or of a number of four digits; none of anything else."""
    if quantity.kind == "date":
        return sorted({each.year for each in quantity.dates if each.year})
    plain = quantity.kind == "number" and not quantity.units and quantity.text.isdigit()
    is_year = plain and len(quantity.text) == len("1979") and _FIRST_YEAR <= quantity.value <= LATEST_YEAR
    return [int(quantity.value)] if is_year else []


def _is_value(quantity: Quantity) -> bool:
    return quantity.kind in _VALUES and not _years(quantity) and not quantity.numbering


def _are_together(claim: str, found: Sequence[Quantity]) -> bool:
    """Whether no comma and no conjunction stands between the first and the last of these."""
    return any(start <= found[0].start and found[-1].end <= end for start, end in borders(claim))


def _lines(cited: Sequence[CitedLines], spoken: str) -> Iterator[_Line]:
    """The sentences of the cited places and their lines, each with the headings over it."""
    for place in cited:
        for sentence in sentences_of(place.span.text):
            yield _line(sentence, place, place.headings, spoken)
        for number in range(place.first, place.last + 1):
            yield _line(line(place.source.lines, number), place, _headings(place, number), spoken)


def _headings(place: CitedLines, number: int) -> Sequence[str]:
    return over(lambda each: line(place.source.lines, each), number)


def _line(text: str, place: CitedLines, headings: Sequence[str], spoken: str) -> _Line:
    found = list(quantities(text, spoken))
    years = frozenset(year for each in found for year in _years(each))
    about = _words("\n".join(headings), ()) | _words(text, found)
    return _Line(Crossed(" ".join(text.split()), place), years, tuple(filter(_is_value, found)), about)


def _words(text: str, found: Sequence[Quantity]) -> frozenset[str]:
    """The stems of the content words outside of these numbers."""
    return frozenset(
        stem(word.form)
        for word in words(text)
        if word.form not in _SMALL
        and not any(each.start < word.end and word.start < each.end for each in found)
    )


def _is_about(wanted: frozenset[str], line: _Line) -> bool:
    begins = {word[:_ALIKE] for word in line.words}
    shared = sum(word in line.words or (len(word) > _ALIKE and word[:_ALIKE] in begins) for word in wanted)
    return 100 * shared >= SHARED_PERCENT * len(wanted)


def _is_same(one: Quantity, other: Quantity) -> bool:
    return one.value == other.value and (_is_alike(one, other) or not other.units)


def _is_alike(one: Quantity, other: Quantity) -> bool:
    return bool(set(one.units) & set(other.units)) if one.units or other.units else one.kind == other.kind


def _has_another(year: int, value: Quantity, line: _Line) -> bool:
    """Whether a line has this year alone, and another value of the same kind."""
    return line.years == {year} and any(
        _is_alike(value, each) and each.value != value.value for each in line.values
    )
