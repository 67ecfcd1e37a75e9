"""Whether a value of a claim may be one that its writer worked out or took from a name, not one that he read.

Such a value need not be in what is cited: that it is missing there is a hint. Where the source states a
value of the same kind itself (its own total, another bound, the same name with another number), the claim
could have read that one, and the excuse does not hold.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from itertools import combinations, permutations

from vera.audit.case import CitedLines
from vera.audit.source_text import SourceText
from vera.text.lexicon import FUNCTION_WORDS, is_verb, word_set
from vera.text.number_words import RECURRING
from vera.text.quantity import Quantity
from vera.text.quantity_dates import LATEST_YEAR, MONTHS
from vera.text.quantity_index import Values, interval
from vera.text.units import ARITHMETIC, Unit
from vera.text.words import STOPWORDS, stem, words

_LARGEST_COUNT = Decimal(12)
_LARGEST_RANK = Decimal(3)
_SEASON_END = len("98")
"""The second year of "1997–98" follows from the first in a season or an academic year."""

_EARLIEST_YEAR = 1000
_FARTHEST_BOUND = 10
"""A value so many times as large says nothing of a bound."""

MAX_COMPARED = 5_000
"""Quantities of a source of which each is compared; in a larger one only small values are excused."""

_MIN_OF_ITEM = 3
"""Words behind the number of an item."""

_NEAR = 48
"""Characters before and behind a value in which the words stand that say what it is."""

_WORK = re.compile(
    r"\s(?:[\w-]{1,20}\s)?(?:film|movie|novel|book|play|musical|opera|album|song|single|series|game)\b", re.I
)
_EVENT = re.compile(
    r"\s(?:[\w.'’-]{1,20}\s){0,3}(?:Tour|Cup|Open|Championships?|Olympics|Games|Prix|Awards?|Bowl|Festival)\b"
)
_BEFORE = re.compile(
    r"(?:\b(?:before|by|until|till|prior to|no later than|not later than|vor|bis|avant)\s(?:the\s)?)\Z", re.I
)
_AFTER = re.compile(r"(?:\b(?:after|since|as of|from|seit|nach|depuis|après|at least)\s(?:the\s)?)\Z", re.I)
_OR_LATER = re.compile(r"\s(?:or|and) (?P<way>later|after|newer|earlier|before|older)\b", re.I)
_LATER = frozenset(("later", "after", "newer"))
_TOTAL = re.compile(
    r"\b(?:totals?|totalled|totaling|in all|altogether|combined|sum of|insgesamt|zusammen|au total)\b", re.I
)
_SENTENCE_END = re.compile(r"[.;!?\n]\s")
_ONE, _HUNDRED = Decimal(1), Decimal(100)
_FEW, _MAX_FOUND = 12, 2000
"""Values of a kind of which two are added, and values that are looked at."""

_DIFFERENCE = re.compile(
    r"\s(?:[\w%]{1,20}\s){0,2}(?:more|fewer|less|older|younger|longer|shorter|higher|lower|later|earlier"
    r"|greater|larger|smaller|taller|heavier|mehr|weniger|plus|moins) (?:than|als|que)\b",
    re.I,
)
_OF = re.compile(r"\sof\b", re.I)
_NAMED = re.compile(r"(?:\A|.*[\s(\"“‘])(?P<name>[^\W\d_][\w'’]{1,30})[\s-]\Z", re.DOTALL)
_PARTS = word_set(
    """section sections article articles chapter chapters page pages rule rules clause clauses figure table
    line lines paragraph part annex item step note footnote appendix schedule no nr number almost exactly
    artikel absatz kapitel seite chapitre"""
)
"""Words before the number of a part of a document, and other words that make no name with a number."""

_NO_NAMES = (STOPWORDS | FUNCTION_WORDS | _PARTS).union(MONTHS)


def is_derivable(quantity: Quantity, claim: str, cited: Sequence[CitedLines]) -> bool:
    """Whether a writer may have counted or worked it out, or taken it from the wording of the subject."""
    if _is_worked_out(quantity, claim, cited) or _is_sum(quantity, cited) or _is_share(quantity, cited):
        return True
    if is_another_share(quantity, claim, cited):
        return False
    is_small = _is_small(quantity) or _tells_works_apart(quantity, claim)
    if any(len(place.source.quantities) > MAX_COMPARED for place in cited):
        return is_small
    if is_small or _is_of_name(quantity, claim):
        return not _names_another(quantity, claim, cited)
    return _is_bound(quantity, claim, cited)


def is_idle(quantity: Quantity, claim: str) -> bool:
    """Words that are rarely meant as numbers: one, first, half; how often; and dates told from the day of
    writing; and the number of an item before its sentence. A number that is the whole claim is meant."""
    if quantity.kind == "relative":
        return True
    if quantity.numbering:
        return len(claim[quantity.end :].split()) > _MIN_OF_ITEM
    if quantity.kind == "amount" and quantity.text.lower() in RECURRING:
        return True
    return quantity.spelled and quantity.value in (0, 1, Decimal("0.5")) and not quantity.parts


def is_difference(quantity: Quantity, claim: str) -> bool:
    """Whether the claim calls it a difference: "14 points more than"."""
    return _DIFFERENCE.match(claim, quantity.end) is not None


def is_another_share(quantity: Quantity, claim: str, cited: Sequence[CitedLines]) -> bool:
    """Whether the claim gives a share of something, and the cited lines another one: half for a third."""
    if quantity.kind != "fraction" or not _OF.match(claim, quantity.end):
        return False
    shares = (
        other
        for place in cited
        for other in place.span.quantities
        if other.kind == "fraction" and _OF.match(place.span.text, other.end)
    )
    values = {other.value for other in shares}
    return bool(values) and quantity.value not in values


def _is_small(quantity: Quantity) -> bool:
    match quantity.kind:
        case "fraction":
            return quantity.spelled or not quantity.parts
        case "number":
            is_count = quantity.value == quantity.value.to_integral_value() <= _LARGEST_COUNT
            return is_count and (quantity.spelled or quantity.counts)
        case "ordinal":
            return quantity.value <= _LARGEST_RANK
        case "amount":
            return quantity.value == 1
        case "identifier":
            return "/" in quantity.text or any(letter.isalpha() for letter in quantity.text)
        case "date":
            month_alone = not any(reading.year or reading.day for reading in quantity.dates)
            return month_alone or len(quantity.text) == _SEASON_END
        case _:
            return False


def _tells_works_apart(quantity: Quantity, claim: str) -> bool:
    """Whether a year only says which work or event is meant ("the 2017 film", "the 2016 Tour de France")."""
    if quantity.kind != "date":
        return False
    return _WORK.match(claim, quantity.end) is not None or _EVENT.match(claim, quantity.end) is not None


def _is_of_name(quantity: Quantity, claim: str) -> bool:
    """Whether a number ends a name (Apollo 11, Blade Runner 2049), or is in one (Hundred Years' War)."""
    if quantity.kind == "amount":
        return quantity.spelled and quantity.text.istitle() and claim[quantity.end : quantity.end + 1] in "'’"
    return quantity.kind in ("number", "date") and not quantity.units and bool(_name_before(claim, quantity))


def _name_before(text: str, quantity: Quantity) -> str:
    """The word of a name that ends before the number, in lower case; '' for none."""
    if quantity.kind == "identifier":
        word = re.match(r"[^\W\d_]{2,30}(?=[\s‐‑-]?\d)", quantity.text)
        return word[0].lower() if word else ""
    if not quantity.text.isdigit() or quantity.hedge:
        return ""
    before = text[max(0, quantity.start - _NEAR) : quantity.start]
    found = _NAMED.match(before)
    if found is None or not _is_part_of_name(found["name"]):
        return ""
    name = found["name"]
    opens = before[: -len(name) - 1].rstrip()[-1:] in ("", ".", "!", "?")
    return "" if opens and quantity.counts and not is_verb(_next(text, quantity)) else name.lower()


def _is_part_of_name(word: str) -> bool:
    return word[:1].isupper() and word.lower() not in _NO_NAMES and not word.lower().endswith("ly")


def _names_another(quantity: Quantity, claim: str, cited: Sequence[CitedLines]) -> bool:
    """Whether a source has the name of the claim with another number: Apollo 12 for Apollo 11."""
    name = _name_before(claim, quantity)
    if not name:
        return False
    return any(_name_before(place.source.text, other) == name for place, other in _all(cited))


def _is_worked_out(quantity: Quantity, claim: str, cited: Sequence[CitedLines]) -> bool:
    """Whether the claim calls it a sum or a difference, and no cited line states one itself."""
    total = _TOTAL.search(claim[max(0, quantity.start - _NEAR) : quantity.end + _NEAR])
    difference = is_difference(quantity, claim)
    if total and not any(_states_total(place, quantity) for place in cited):
        return True
    return difference and not any(_DIFFERENCE.search(place.span.text) for place in cited)


def _states_total(place: CitedLines, quantity: Quantity) -> bool:
    """Whether a sentence of the cited lines calls a value of the same kind a total."""
    text = place.span.text
    return any(
        _TOTAL.search(_SENTENCE_END.split(text[max(0, other.start - _NEAR) : other.start])[-1])
        or _TOTAL.search(_SENTENCE_END.split(text[other.end : other.end + _NEAR])[0])
        for other in place.span.quantities
        if _dimensions(quantity) == _dimensions(other)
    )


def _is_sum(quantity: Quantity, cited: Sequence[CitedLines]) -> bool:
    """Whether two of a few values of the same kind in the cited lines add up to it."""
    found: set[tuple[Decimal, Unit]] = set()
    for place in cited:
        found.update((other.value, unit) for other in place.span.quantities for unit in other.units)
        if len(found) > _MAX_FOUND:
            return False
    for unit in quantity.units:
        alike = [
            ARITHMETIC.multiply(value, other.factor)
            for value, other in found
            if other.dimension == unit.dimension
        ]
        low, high = (ARITHMETIC.multiply(end, unit.factor) for end in interval(quantity))
        sums = (ARITHMETIC.add(*pair) for pair in combinations(alike, 2)) if len(alike) <= _FEW else ()
        if any(low <= total <= high for total in sums):
            return True
    return False


def _is_share(quantity: Quantity, cited: Sequence[CitedLines]) -> bool:
    """Whether a percentage is the share of one value in another, or the change from one to the other, where
    both are in one line, or one of them below or above the other in a row of totals."""
    if quantity.kind != "percent" or any(len(place.source.quantities) > MAX_COMPARED for place in cited):
        return False
    low, high = interval(quantity)
    if quantity.hedge:
        low, high = ARITHMETIC.subtract(low, _ONE), ARITHMETIC.add(high, _ONE)
    return any(_percentages(place.span).within(low, high) for place in cited)


@lru_cache(maxsize=8)
def _percentages(span: SourceText) -> Values:
    """The shares and changes between the values of a text that are likely compared with each other."""
    found = Values()
    for one, other in _compared(span):
        if one != other:
            change = ARITHMETIC.subtract(other, one).copy_abs()
            found.add(ARITHMETIC.divide(ARITHMETIC.multiply(one, _HUNDRED), other))
            found.add(ARITHMETIC.divide(ARITHMETIC.multiply(change, _HUNDRED), other))
    return found


def _compared(span: SourceText) -> Iterator[tuple[Decimal, Decimal]]:
    measured = [
        each for each in span.quantities if each.kind in ("number", "money", "amount") and each.value > 0
    ]
    starts = [each.start for each in measured]
    rows: list[tuple[str, list[Decimal]]] = []
    start = 0
    for text in span.text.split("\n"):
        end = start + len(text) + 1
        inside = measured[bisect_left(starts, start) : bisect_left(starts, end)]
        if inside:
            rows.append((text, [each.value for each in inside[:_FEW]]))
        start = end
    for _, values in rows:
        yield from permutations(values, 2)
    for totals in [values for text, values in rows if _TOTAL.search(text)][:_FEW]:
        for _, values in rows:
            yield from zip(reversed(values), reversed(totals), strict=False)


def _dimensions(quantity: Quantity) -> frozenset[str]:
    return frozenset(unit.dimension for unit in quantity.units)


def _is_bound(quantity: Quantity, claim: str, cited: Sequence[CitedLines]) -> bool:
    """Whether the claim gives a bound, a value of a source keeps within it, and no source gives a bound of
    the same kind."""
    way = _way(claim, quantity)
    if not way:
        return False
    kept = False
    for place, other in _all(cited):
        if not _is_alike(quantity, claim, other, place.source.text):
            continue
        if _way(place.source.text, other):
            return False
        kept = kept or _keeps(other, quantity, way)
    return kept


def _way(text: str, quantity: Quantity) -> str:
    """The side of a bound on which values are meant: above, below; '' when it is not a bound."""
    if quantity.hedge in ("above", "below"):
        return quantity.hedge
    if not _year(quantity):
        return ""
    if later := _OR_LATER.match(text, quantity.end):
        return "above" if later["way"].lower() in _LATER else "below"
    before = text[max(0, quantity.start - _NEAR) : quantity.start]
    return "below" if _BEFORE.search(before) else "above" if _AFTER.search(before) else ""


def _is_alike(one: Quantity, text: str, other: Quantity, source: str) -> bool:
    """Whether both measure the same: years, one dimension, or the same thing that is counted."""
    if _year(one):
        return bool(_year(other))
    if one.units:
        return bool({unit.dimension for unit in one.units} & {unit.dimension for unit in other.units})
    noun = _counted(text, one)
    return bool(noun) and not other.units and noun == _counted(source, other)


def _keeps(value: Quantity, bound: Quantity, way: str) -> bool:
    if _year(bound):
        return _year(value) >= _year(bound) if way == "above" else _year(value) <= _year(bound)
    low, high = (bound, value) if way == "above" else (value, bound)
    if bound.units and bound.units[0] not in value.units:
        return False
    return low.value <= high.value <= low.value * _FARTHEST_BOUND


def _year(quantity: Quantity) -> int:
    """The year that it says, 0 for none."""
    if quantity.dates:
        return quantity.dates[0].year
    plain = quantity.kind == "number" and quantity.text.isdigit() and len(quantity.text) == len("1979")
    return int(quantity.value) if plain and _EARLIEST_YEAR <= quantity.value <= LATEST_YEAR else 0


def _counted(text: str, quantity: Quantity) -> str:
    """The stem of the word behind a number."""
    return stem(_next(text, quantity))


def _next(text: str, quantity: Quantity) -> str:
    """The word behind a number, '' for none."""
    after = next(words(text[quantity.end : quantity.end + _NEAR]), None)
    return after.form if after else ""


def _all(cited: Sequence[CitedLines]) -> Iterator[tuple[CitedLines, Quantity]]:
    for place in {place.evidence.text.sha256: place for place in cited}.values():
        if place.evidence.tier != "observed":
            for quantity in place.source.quantities:
                yield place, quantity
