"""Numbers, dates, percentages and amounts with units, as they are in a text.

Reading is one walk along the words of the text: at a digit, a number word or a month, patterns of bounded
length say what begins there. What is ambiguous keeps its readings (03/05/2021 is in May or in March).
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from decimal import Decimal

from msgspec.structs import replace

from vera.text.han_numbers import HAN, HAN_DIGITS, HAN_STARTS
from vera.text.language import DECIMAL_COMMA, language
from vera.text.late_regex import late_regex
from vera.text.number_words import NUMBER_WORDS, RECURRING, may_be_foreign_number
from vera.text.quantity_dates import (
    DECADES,
    MONTHS,
    RELATIVE,
    date_from_digit,
    date_from_month,
    date_in_han,
    relative_date,
    time_of_day,
)
from vera.text.quantity_kinds import CalendarDate, Hedge, Kind, Quantity
from vera.text.quantity_numbers import (
    VULGAR,
    identifier,
    name_with_number,
    number_from_digit,
    number_from_foreign_word,
    number_from_word,
    number_in_han,
    quarter,
    recurring,
    roman_numeral,
    version,
    vulgar_fraction,
)
from vera.text.units import ARITHMETIC, unit_words

__all__ = ["CalendarDate", "Hedge", "Kind", "Quantity", "quantities"]

_SPACE = "[ \t\u00a0\u202f\u2009]"
_DASH = "[-‐‑‒–—−]"
_TOKEN = late_regex(rf"(?:(?![{HAN}])[^\W_])+|[{HAN_DIGITS}]{{1,24}}|[{HAN}]")
_RANGE = late_regex(rf"{_SPACE}?(?:(?P<dash>{_DASH})|to|x|×|by){_SPACE}?(?:[A-Z]{{0,3}}[$€£¥])?\Z")
_EITHER = late_regex(rf"{_SPACE}?(?:and|or|to|bis|und|oder|à|et|ou|y|o){_SPACE}?\Z")
_PAIR = late_regex(rf"{_SPACE}?(?:{_DASH}|to|and|or|and/or|&){_SPACE}?(?:the{_SPACE})?\Z")
_OTHER_DIGIT = late_regex(
    r"(?![0-9])\d|[①-⑨⑴-⑼⒈-⒐⓵-⓽❶-❾➀-➈➊-➒㊀-㊈]|(?<![^\W\d_])[Ⅰ-Ⅸⅰ-ⅸ](?![^\W\d_])"
    r"|(?<![\u3007\u3040-\u30ff\u3400-\u9fff])[〇一二三四五六七八九](?![\u3007\u3040-\u30ff\u3400-\u9fff])"
)
"""Digits of other scripts and in other dress: ٩, ９, ⑨, Ⅸ, and 九 outside of Chinese text."""

_BESIDE_DIGIT = late_regex(
    r"[①-⑳⑴-⒇⒈-⒛⓪-⓿❶-➓㉑-㉟㊀-㊉㊱-㊿](?=[0-9])|(?<=[0-9])[①-⑳⑴-⒇⒈-⒛⓪-⓿❶-➓㉑-㉟㊀-㊉㊱-㊿]"
)
"""The number of an item that stands directly at another number: ③5 is no 35."""

_LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
_NOTHING_WIDE = late_regex(
    "(?<=[0-9])[\u00ad\u200b-\u200d\u2060\ufeff]{1,8}(?=[0-9.,])|(?<=[0-9][.,])[\u00ad\u200b-\u200d\u2060\ufeff]{1,8}(?=[0-9])"
)
"""Characters of no width within a number, which a reader sees whole."""

_DOTTED = late_regex(r"(?<![\w.,])[0-9]{1,3}(?:(?:\.[0-9]{3}){1,8}|,[0-9]{3})(?![\w]|[.,][0-9])")
"""Three digits behind a mark, which may be thousands or decimals."""

_DECIMAL = late_regex(r"[0-9]{1,9},[0-9]{1,9}(?![0-9,])")
_CUT = late_regex(r"(?<=[^\W\d_] )([1-9][0-9]{0,2})([,.'’]?)\n([0-9]{3})(?![0-9])")
_TURNED = str.maketrans(".,", ",.")
_MARK = late_regex(r"[.)](?:\s|\Z)")
_OPENING = " \t#>*([§"
_BEFORE = 40
_MAX_WORD_LENGTH = 24
_FARTHEST_NEIGHBOUR = 8
_SMALLEST_WITH_OWN_SCALE = 1000
_FIRST_HUNDRED, _LAST_HUNDRED = 10, 20
_MOST_OF = 1000
"""Of at most so many a share is said: 1 in 1,000."""


def quantities(text: str, beside: str = "") -> Iterator[Quantity]:
    """Every quantity of `text`, in order. Takes time proportional to the text, whatever is in it.

    `beside` is the language of the text that it belongs to, or is compared with: it counts where the words of
    `text` do not tell theirs (`vera.text.language`). Digits of every script and style are read as those
    of ASCII (９９, ٩٩), and written so in what is found.
    """
    if not text.isascii():
        if hidden := [match.span() for match in _NOTHING_WIDE.finditer(text)]:
            yield from _without(text, hidden, beside)
            return
        text = _BESIDE_DIGIT.sub(" ", text).translate(_LOWERED)
        text = _OTHER_DIGIT.sub(lambda digit: str(int(unicodedata.numeric(digit[0]))), text)
    uncut = _uncut(text)
    spoken = language(uncut) or beside
    plain = _with_commas(uncut, spoken)
    found = _joined_all(plain, spoken)
    if spoken in DECIMAL_COMMA:
        found = map(_undivided, found)
    if plain is text:
        yield from found
        return
    for quantity in found:
        yield replace(quantity, text=text[quantity.start : quantity.end])


def _without(text: str, hidden: Sequence[tuple[int, int]], beside: str) -> Iterator[Quantity]:
    """The quantities of the text without the characters of no width at `hidden`, each at its own place."""
    kept = [at for at, letter in enumerate(text) if not _is_within(at, hidden)]
    for found in quantities("".join(text[at] for at in kept), beside):
        start, end = kept[found.start], kept[found.end - 1] + 1
        yield replace(found, start=start, end=end)


def _is_within(at: int, spans: Sequence[tuple[int, int]]) -> bool:
    index = bisect_right(spans, (at, len(spans) + at + 1))
    return index > 0 and at < spans[index - 1][1]


def _undivided(found: Quantity) -> Quantity:
    """42,5 as one number, which the text's language makes of it, not also as 42 and 5."""
    return replace(found, parts=()) if found.parts and _DECIMAL.match(found.text) else found


def _uncut(text: str) -> str:
    """The text with numbers of a sentence whole where the border of a line cuts them; of the same length."""
    return _CUT.sub(_joined_number, text) if "\n" in text else text


def _joined_number(cut: re.Match[str]) -> str:
    head, mark, tail = cut.groups()
    return f" {head}{mark}{tail}" if mark else f"{head} {tail}"


def _with_commas(text: str, spoken: str) -> str:
    """The text with thousands as English writes them, 1,250 for 1.250, where its language has it the other
    way; every place stays where it is. The text itself where there is nothing to change."""
    if spoken not in DECIMAL_COMMA or not _DOTTED.search(text):
        return text
    return _DOTTED.sub(lambda number: number[0].translate(_TURNED), text)


def _joined_all(text: str, spoken: str) -> Iterator[Quantity]:
    held: Quantity | None = None
    for found in _each(text, spoken):
        if held is None:
            held = found
            continue
        first, held = _joined(text, held, found)
        if first is not None:
            yield first
    if held is not None:
        yield held


def _each(text: str, spoken: str) -> Iterator[Quantity]:
    """The quantities one by one, before neighbours are joined."""
    end = 0
    for token in _TOKEN.finditer(text):
        if token.start() < end:
            continue
        for found in _begun(text, token.start(), token.end(), spoken):
            if _is_numbering(text, found):
                found = replace(found, numbering=True)
            if found.start < end:  # both neighbours claim a sign that stands between them: "5 $ 6"
                found = replace(found, start=end, text=text[end : found.end])
            yield found
            end = found.end


def _is_numbering(text: str, found: Quantity) -> bool:
    """Whether it stands alone before a full stop or bracket at the beginning of a line."""
    if found.kind != "number" or found.units or found.spelled or not _MARK.match(text, found.end):
        return False
    return not text[max(text.rfind("\n", 0, found.start) + 1, found.start - _BEFORE) : found.start].strip(
        _OPENING
    )


def _begun(text: str, start: int, end: int, spoken: str) -> Sequence[Quantity]:
    """What begins with the run of letters and digits from `start` to `end`."""
    if "0" <= text[start] <= "9":
        name = name_with_number(text, start, end)
        if name is not None:
            return (name,)
        if han := date_in_han(text, start):
            return han
        return (
            date_from_digit(text, start, spoken)
            or time_of_day(text, start)
            or number_from_digit(text, start, end)
        )
    if text[start] in VULGAR:
        return (vulgar_fraction(text, start),)
    if text[start] in HAN_STARTS:
        return date_in_han(text, start) or number_in_han(text, start, end)
    if end - start > _MAX_WORD_LENGTH:
        return ()
    word = text[start:end].lower()
    if roman := roman_numeral(text, start, end):
        return (roman,)
    if word in MONTHS:
        return date_from_month(text, start)
    if word in NUMBER_WORDS:
        return number_from_word(text, start)
    if word == "quarter":
        return quarter(text, start)
    if may_be_foreign_number(word, spoken):
        return number_from_foreign_word(text, start, end, spoken)
    if word in RECURRING:
        return recurring(text, start, end)
    if word in RELATIVE:
        return relative_date(text, start, end)
    if word in DECADES:
        value = Decimal(DECADES[word])
        return (
            Quantity(text=text[start:end], start=start, end=end, kind="decade", value=value, spelled=True),
        )
    if not word.isalpha() and any("0" <= letter <= "9" for letter in word):
        return (version(text, start, end) or identifier(text, start, end),)
    return ()


def _joined(text: str, first: Quantity, second: Quantity) -> tuple[Quantity | None, Quantity]:
    """Two neighbours, where one lends the other what is said once: "5–7 million", "$5–7", "19th and 20th
    century"; feet and inches become one amount, and the first is then None."""
    if not 0 <= second.start - first.end <= _FARTHEST_NEIGHBOUR:
        return first, second
    between = text[first.end : second.start]
    if first.kind == "ordinal" and second.kind == "century" and _PAIR.match(between):
        return replace(first, kind="century"), second
    if second.kind == "decade" and second.value < 100 and first.spelled and between.strip(" -") == "":
        return _decade_of_century(text, first, second)
    if first.kind == second.kind == "amount" and between.strip(" ,") in ("", "and"):
        return _as_one(text, first, second)
    if share := _share(text, first, second, between):
        return None, share
    if match := _RANGE.match(between):
        return _ranged(first, second, dashed=bool(match["dash"]))
    if first.kind == "number" and second.units and not first.numbering and _EITHER.match(between):
        return replace(first, units=second.units, kind=second.kind), second
    return first, second


def _decade_of_century(text: str, first: Quantity, second: Quantity) -> tuple[Quantity | None, Quantity]:
    """ "Nineteen fifties"."""
    if first.kind != "number" or not _FIRST_HUNDRED <= first.value <= _LAST_HUNDRED:
        return first, second
    value = ARITHMETIC.fma(first.value, Decimal(100), second.value)
    written = text[first.start : second.end]
    return None, replace(second, text=written, start=first.start, value=value)


def _as_one(text: str, first: Quantity, second: Quantity) -> tuple[Quantity | None, Quantity]:
    """Feet and inches, and hours and minutes, as one amount of the smaller unit."""
    for large, small, times in (("foot", "inch", 12), ("hour", "minute", 60)):
        if first.units == unit_words()[large] and second.units == unit_words()[small]:
            value = ARITHMETIC.fma(first.value, Decimal(times), second.value)
            written = text[first.start : second.end]
            return None, replace(second, text=written, start=first.start, value=value, hedge=first.hedge)
    return first, second


def _share(text: str, first: Quantity, second: Quantity, between: str) -> Quantity | None:
    """ "1 in 10" and "three out of four" as one fraction."""
    if between not in (" in ", " out of ") or not first.kind == second.kind == "number" or first.numbering:
        return None
    if not 0 < first.value < second.value <= _MOST_OF or first.step != 1 or second.step != 1:
        return None
    return Quantity(
        text=text[first.start : second.end],
        start=first.start,
        end=second.end,
        kind="fraction",
        value=ARITHMETIC.divide(first.value, second.value),
        step=Decimal("0.01"),
        parts=(first.value, second.value),
        hedge=first.hedge,
        spelled=first.spelled,
    )


def _ranged(first: Quantity, second: Quantity, *, dashed: bool) -> tuple[Quantity, Quantity]:
    """Both ends of a range; "10–7 lead" counts no leads."""
    if first.kind not in ("number", "money") or second.kind not in ("number", "money", "percent", "amount"):
        return first, second
    first = _scaled_as(first, second.scale)
    if second.units and not first.units:
        first = replace(first, units=second.units, kind=second.kind)
    elif first.units and not second.units:
        second = replace(second, units=first.units, kind=first.kind)
    if dashed and not second.units:
        second = replace(second, counts=False)
    return first, second


def _scaled_as(first: Quantity, scale: int) -> Quantity:
    """The first end of a range with the scale of the second, where that is meant: "5–7 million"."""
    if first.scale != 1 or scale <= 1 or first.value >= _SMALLEST_WITH_OWN_SCALE:
        return first
    factor = Decimal(scale)
    value, step = ARITHMETIC.multiply(first.value, factor), ARITHMETIC.multiply(first.step, factor)
    return replace(first, value=value, step=step, scale=scale)
