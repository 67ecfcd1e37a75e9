"""Numbers as they are in a text, in digits or in words, with their currency, scale word and unit."""

import re
from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

from vera.text.han_numbers import han_number, han_scale
from vera.text.late_regex import late_regex
from vera.text.number_words import (
    NUMBER_WORDS,
    RECURRING,
    SCALES,
    Spelled,
    foreign_number,
    foreign_share,
    spelled,
)
from vera.text.quantity_dates import LATEST_YEAR, MONTHS, month_and_day
from vera.text.quantity_kinds import CalendarDate, Hedge, Kind, Quantity
from vera.text.units import ARITHMETIC, HAN_UNIT, Unit, is_money, unit_symbols, unit_words

_EARLIEST_YEAR = 1000
_THOUSANDTH = Decimal("0.001")
"""The last digit of "1.250 Euro": prices have no thousandths, so the point groups thousands."""

_MAX_NUMBER_LENGTH = 24
_MAX_IDENTIFIER_LENGTH = 64
_BEFORE = 20
"""Characters before a number in which a currency or a rounding word is looked for."""

_SPACE = "[ \\t\u00a0\u202f\u2009]"
_IDENTIFIER = late_regex(
    r"97[89][- ]?(?:[0-9][- ]?){9}[0-9Xx](?![0-9])"
    r"|[0-9]{1,6}(?:\.[0-9]{1,6}){2,6}(?![0-9])"
    r"|[0-9]{3}[-. ][0-9]{3}[-. ][0-9]{4}(?![0-9])"
    r"|[0-9]{1,12}(?:-[0-9]{1,12}){2,8}(?![0-9])"
    r"|[0-9]{1,12}:[0-9]{2}(?:[:.][0-9]{1,3}){1,2}(?![0-9])"
    r"|[0-9]{1,4}(?:\([0-9a-z]{1,3}\)){1,4}"
    r"|[0-9]{1,4}/[0-9]{1,4}(?![0-9/])"
)
_NUMBER = late_regex(
    r"(?P<dots>[0-9]{1,3}(?:\.[0-9]{3}){2,8}(?:,[0-9]{1,12})?(?![0-9.])"
    r"|[0-9]{1,3}(?:\.[0-9]{3}){1,8},[0-9]{1,12}(?![0-9]))"
    r"|(?P<commas>[0-9]{1,3}(?:,[0-9]{3}){1,8}(?![0-9])(?:\.[0-9]{1,24})?)"
    r"|(?P<lakhs>[0-9]{1,2}(?:,[0-9]{2}){1,6},[0-9]{3}(?![0-9]))"
    r"|(?P<marks>[0-9]{1,3}(?:['’\u00a0\u202f\u2009][0-9]{3}){1,8}(?![0-9])(?:[.,][0-9]{1,24})?)"
    r"|(?P<spaces>[1-9][0-9]{0,2}(?: [0-9]{3}){1,8}(?![0-9]))"
    r"|(?P<comma>[0-9]{1,3},[0-9]{1,2}(?![0-9,]))"
    r"|(?P<plain>[0-9]{1,24}(?:\.[0-9]{1,24})?)"
)
_OVER = r"(?P<over>[1-9][0-9]{0,2})[/⁄](?P<under>[2-9]|1[026]|32|64)(?![0-9/])"
_MIXED = late_regex(rf"(?P<whole>[1-9][0-9]{{0,2}})[ \u00a0\u202f-]{_OVER}")
"""A number with a fraction: 1 1/2."""

_FRACTION = late_regex(rf"(?P<whole>){_OVER}")
"""A fraction alone. It is one only before a length, an area, a volume or a weight: 3/4 inch."""

_OF_FRACTIONS = frozenset(("length", "area", "volume", "mass"))
_NOTE = late_regex(r"[¹²³⁴-⁹]{1,2}(?=[ \u00a0])")
"""The number of a footnote between a value and its unit."""

_POWER = late_regex(r"10(?:\^\{?|\*\*)?(?P<exponent>(?<=[\^{*])[-−]?[0-9]{1,3}|⁻?[⁰¹²³⁴-⁹]{1,3})(?![0-9])")
_SCIENTIFIC = late_regex(
    r"(?P<digits>[0-9]{1,6}(?:\.[0-9]{1,12})?)[eE](?P<exponent>[+-]?[0-9]{1,3})(?![\w.])"
)
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
_VERSION_BEFORE = late_regex(
    r"(?:\b(?:versions?|releases?|fassung|versión|versiones|versioni?|versione|versão|versões)\s|版本?\s?)\Z",
    re.IGNORECASE,
)
_CODE = late_regex(r"0[0-9]{2,23}(?![0-9])(?![.,:/-]?[0-9])")
"""A number with a zero in front, which is no 420: 0420."""

_VERSION = late_regex(r"[0-9]{1,24}(?:\.[0-9]{1,24}){1,8}")
_ROMAN = late_regex(r"(?=[IVX]{2})X{0,3}(?:IX|IV|V?I{0,3})")
_ROMAN_DIGITS = {"I": 1, "V": 5, "X": 10}
_ROMAN_BEFORE = late_regex(
    r"(?:\b[A-Z][a-zà-ÿ]{2,20}|\b(?:chapter|part|book|volume|article|section|title|annex|act|scene|appendix"
    r"|figure|table|phase|stage|type|class|clause|paragraph))\s\Z"
)
_CELL = late_regex(
    r"(?P<dots>(?!))?(?P<commas>(?!))?(?P<lakhs>(?!))?(?P<marks>(?!))?(?P<spaces>(?!))?(?P<comma>(?!))?"
    r"(?P<plain>[0-9]{1,24}(?:\.[0-9]{1,24})?)"
)
"""A number directly behind a comma is a cell of a row of data: 50 and 700 of "Berlin,50,700"."""

VULGAR = {
    sign: ARITHMETIC.divide(Decimal(over), Decimal(under))
    for sign, over, under in (
        ("½", 1, 2), ("⅓", 1, 3), ("⅔", 2, 3), ("¼", 1, 4), ("¾", 3, 4), ("⅕", 1, 5), ("⅖", 2, 5),
        ("⅗", 3, 5), ("⅘", 4, 5), ("⅙", 1, 6), ("⅚", 5, 6), ("⅐", 1, 7), ("⅛", 1, 8), ("⅜", 3, 8),
        ("⅝", 5, 8), ("⅞", 7, 8), ("⅑", 1, 9), ("⅒", 1, 10),
    )
}  # fmt: skip
"""Fractions in one character → their value."""

_IS_YEAR = late_regex(r"(?:[0-9]|[〇零一二三四五六七八九]){4}\Z")
_INNER = frozenset((",", ".", "'", "’"))
_ORDINAL = late_regex(r"(?:st|nd|rd|th|er|ère|e|ème)(?![^\W_])")
_CENTURY = late_regex(r"[\s-]{1,3}(?:century|centuries|cent\.|siècles?)", re.IGNORECASE)
_JAHRHUNDERT = late_regex(r"\.\s{1,3}Jahrhunderts?\b")
_DECADE = late_regex(r"['’]?s(?![A-Za-z0-9])")
_SCALE = late_regex(
    rf"(?:{_SPACE}|-|\n)?(?P<word>(?i:hundred|thousand|million|billion|trillion|lakh|crore))s?(?![^\W\d_])"
    rf"|{_SPACE}(?P<foreign>(?i:tausend|millionen|milliarden?|billionen|milliards?|millones|mille|milliers?"
    r"|migliaia|milhares|miles(?=\sde\s)|milion[ei]|miliard[oi]|milhões))(?![^\W\d_])"
    rf"|{_SPACE}?(?P<short>bn|mn|mln|tn|Mio|Mrd)\b(?:(?<=[od])\.)?"
    r"|(?P<letter>[kKMB])(?![A-Za-z0-9])"
)
_MONEY_SCALE = late_regex(rf"{_SPACE}?(?P<letter>[mMbB])(?![A-Za-z0-9])")
_SHORT_SCALES = {
    "k": 1_000,
    "m": 1_000_000,
    "mn": 1_000_000,
    "mln": 1_000_000,
    "b": 1_000_000_000,
    "bn": 1_000_000_000,
    "tn": 1_000_000_000_000,
    "mio": 1_000_000,
    "mrd": 1_000_000_000,
}
_FOREIGN_SCALES = {
    "tausend": 1_000,
    "mille": 1_000,
    "millier": 1_000,
    "milliers": 1_000,
    "migliaia": 1_000,
    "milhares": 1_000,
    "miles": 1_000,
    "millionen": 1_000_000,
    "millones": 1_000_000,
    "milliarde": 1_000_000_000,
    "milliarden": 1_000_000_000,
    "milliard": 1_000_000_000,
    "milliards": 1_000_000_000,
    "milione": 1_000_000,
    "milioni": 1_000_000,
    "miliardo": 1_000_000_000,
    "miliardi": 1_000_000_000,
    "milhões": 1_000_000,
    "billionen": 1_000_000_000_000,
}
_UNIT_WORDS = late_regex(
    r"(-|\s?(?:(?<=\n)[ \t]{0,12}|\n[ \t]{0,12})?)(?P<one>[^\W\d_]{2,16})"
    r"(?:\.?[ -](?P<two>[^\W\d_]{1,12})(?:[ -](?P<three>[A-Za-z]{4,10}))?)?"
)
_UNIT_SYMBOL = late_regex(
    rf"(?P<gap>(?:{_SPACE}|-)?)(?P<symbol>[°º]{_SPACE}?[CF](?![A-Za-z])|[%％‰€£¥₹$″′]"
    r"|[A-Za-zµμ]{1,4}[²³23]?(?:/[A-Za-z]{1,2}[²³23]?)?(?![A-Za-z0-9À-ÖØ-öø-ÿ]|['’][^\W\d_]))"
)
_OF = late_regex(r" (?:d['’]|d[ei](?= ))")
"""Between a scale word and its unit: millions d'euros, millones de euros."""

_SAID_AGAIN = late_regex(r"[^\W\d_] \([0-9]{1,9}\)\s")
"""A number in digits behind the same in words, whose unit follows: thirty-six (36) months."""

_INCHES_FOLLOW = late_regex(r"\.?\s{0,2}(?:[(×,;)/]|x\s|by\s|\Z)")
_FEET_INCHES = late_regex(r"(?P<feet>[0-9]{1,2})['’′]\s?(?P<inches>[0-9]{1,2})[\"”″]")
_MONEY_BEFORE = late_regex(
    r"(?:(?<![A-Za-z])(?:US|CA|AU|NZ|HK|A|C|S|R)?\$|[€£¥₹₽₩₺₪฿₫₦]"
    r"|(?<![A-Za-z])(?:USD|EUR|GBP|JPY|CNY|RMB|INR|CHF|CAD|AUD|SEK|NOK|DKK|KRW|SGD|HKD|NZD|Rs)\.?)"
    rf"{_SPACE}?\Z"
)
_HEDGE = late_regex(
    r"(?:(?P<about>~|≈|\b(?:about|around|approximately|approx\.?|roughly|some|circa|ca?\.|estimated"
    r"|etwa|rund|ungefähr|environ))"
    r"|(?P<above>[>≥]|\b(?:over|more than|at least|above|upwards of|exceeding|as many as|as much as"
    r"|mindestens|mehr als|über|au moins|plus de))"
    r"|(?P<below>[<≤]|\b(?:nearly|almost|under|less than|fewer than|below|up to|at most"
    r"|höchstens|weniger als|bis zu|fast|au plus|moins de|jusqu['’]à|presque)))"
    r"\s{0,2}(?:the\s|an?\s)?\Z",
    re.IGNORECASE,
)
_HEDGE_END_LIST = (
    "~ ≈ > ≥ < ≤ about around approximately approx approx. roughly some circa c. ca. estimated over than "
    "least above of exceeding many much nearly almost under below to most the a an "
    "etwa rund ungefähr environ mindestens als über moins de höchstens zu fast plus à presque"
)
_HEDGE_ENDS = tuple(_HEDGE_END_LIST.split())
_MAX_NAME_PART_LENGTH = 3
"""Digits behind a word in lower case that make one name with it; more of them are a year or a count."""

_NAME_BEFORE = late_regex(r"(?<![^\W_])(?P<word>[^\W\d_]{1,24})[-‐‑]\Z")
_PREFIX_WORDS = "pre post mid late early then sub over under top non ex no age aged page line plus minus"
_PREFIXES = frozenset(_PREFIX_WORDS.split())
_OF_TIME = late_regex(r"(?i)quarters?\b(?! of (?!an hour|the hour|a year|the year)| from| to the)")
_ONE_BEFORE = late_regex(r"\b(?:an?|one)\s\Z", re.IGNORECASE)
_PER = late_regex(r"\bper\s\Z", re.IGNORECASE)
_NEXT_WORD = late_regex(r"[\s-](?P<word>[a-z]{1,20})")
_FUNCTION_WORD_LIST = (
    "a about after also among an and are as at be before between but by during for from had has have if in "
    "into is it its last near of on or out over per since than that the their then there they this through "
    "to under until up was were when where which while who will with would"
)
_FUNCTION_WORDS = frozenset(_FUNCTION_WORD_LIST.split())


class _Digits(NamedTuple):
    """A number in digits, to `end`: the value, what one more in the last digit adds, the other reading."""

    value: Decimal
    step: Decimal
    parts: tuple[Decimal, ...]
    end: int


def number_from_digit(text: str, start: int, end: int) -> Sequence[Quantity]:
    """The number or identifier that begins with the digit at `start`; the run of letters and digits that
    begins there ends at `end`."""
    if match := _FEET_INCHES.match(text, start):
        inches = Decimal(int(match["feet"]) * 12 + int(match["inches"]))
        return (
            Quantity(
                text=match[0],
                start=start,
                end=match.end(),
                kind="amount",
                value=inches,
                units=unit_words()["inch"],
            ),
        )
    if power := _POWER.match(text, start) or _SCIENTIFIC.match(text, start):
        return (_power(power, start),)
    if fraction := _with_fraction(text, start):
        return (fraction,)
    match = (_CELL if text[start - 1 : start] == "," else _NUMBER).match(text, start)
    if last := _identifier_end(text, start, match):
        return (identifier(text, start, last),)
    return (_number(text, start, end, match),) if match else ()


def _with_fraction(text: str, start: int) -> Quantity | None:
    """A number with a fraction, or a fraction of a measure, that begins at `start`."""
    mixed = _MIXED.match(text, start)
    match = mixed or _FRACTION.match(text, start)
    if match is None or (mixed and int(mixed["over"]) >= int(mixed["under"])):
        return None
    units, end = _unit(text, match.end())
    if not mixed and not any(unit.dimension in _OF_FRACTIONS for unit in units):
        return None
    value = ARITHMETIC.divide(Decimal(match["over"]), Decimal(match["under"]))
    return Quantity(
        text=text[start:end],
        start=start,
        end=end,
        kind=_kind(units),
        value=ARITHMETIC.add(value, Decimal(match["whole"] or 0)),
        step=Decimal("0.01"),
        units=units,
        hedge=_hedge(text, start, end),
        counts=_counts(text, end),
    )


def _identifier_end(text: str, start: int, number: re.Match[str] | None) -> int:
    """Where what begins like a number ends as an identifier or a version; 0 where it is a number."""
    if number is not None and "." in number[0] and _VERSION_BEFORE.search(text, max(0, start - 12), start):
        version = _VERSION.match(text, start)
        return version.end() if version else number.end()
    if number is not None and number["dots"]:
        return 0
    other = _IDENTIFIER.match(text, start)
    return other.end() if other else 0


def _number(text: str, start: int, end: int, match: re.Match[str]) -> Quantity:
    """What a number in digits is, with all that belongs to it."""
    digits = _digits(text, match)
    if digits.step == 1 and (century := _JAHRHUNDERT.match(text, digits.end)):
        end = century.end()
        return Quantity(text=text[start:end], start=start, end=end, kind="century", value=digits.value)
    if _CODE.fullmatch(match[0]) and _CODE.match(text, start) and text[start - 1 : start] not in _INNER:
        return identifier(text, start, max(end, digits.end))
    return _ordinal_or_decade(text, start, digits) or _completed(text, start, end, digits)


def _power(match: re.Match[str], start: int) -> Quantity:
    """10^9, 10⁹ or 5e9 as one number."""
    exponent = int(match["exponent"].translate(_RAISED))
    digits = match.groupdict().get("digits")
    value = Decimal(digits or "1").scaleb(exponent)
    return Quantity(
        text=match[0],
        start=start,
        end=match.end(),
        kind="number",
        value=value,
        step=Decimal(1).scaleb(exponent),
    )


def roman_numeral(text: str, start: int, end: int) -> Quantity | None:
    """XIV of "chapter XIV" or "Louis XIV": of two letters at least, behind a name or the word for a part."""
    written = text[start:end]
    if not _ROMAN.fullmatch(written) or not _ROMAN_BEFORE.search(text, max(0, start - _BEFORE), start):
        return None
    values = [_ROMAN_DIGITS[letter] for letter in written]
    total = sum(-one if one < other else one for one, other in zip(values, [*values[1:], 0], strict=True))
    return Quantity(text=written, start=start, end=end, kind="number", value=Decimal(total))


def name_with_number(text: str, start: int, end: int) -> Quantity | None:
    """The name that ends in the number from `start` to `end` ("COVID-19", "sars-cov-2"); None for
    "mid-1990"."""
    if not start or text[start - 1] not in "-‐‑":
        return None
    name = _NAME_BEFORE.search(text, max(0, start - 26), start)
    if name is None or name["word"].lower() in MONTHS.keys() | _PREFIXES | NUMBER_WORDS:
        return None
    if name["word"].islower() and end - start > _MAX_NAME_PART_LENGTH:
        return None
    return identifier(text, name.start(), end)


def version(text: str, start: int, end: int) -> Quantity | None:
    """The version of which "v3" from `start` to `end` is the beginning: v3.3.2 is 3.3.2."""
    if text[start] not in "vV" or not text[start + 1 : end].isdigit():
        return None
    found = _VERSION.match(text, start + 1)
    return identifier(text, start + 1, found.end()) if found else None


def identifier(text: str, start: int, end: int) -> Quantity:
    """What stands from `start` to `end` as an identifier, its runs of digits as parts."""
    written = text[start:end]
    whole = len(written) > _MAX_IDENTIFIER_LENGTH or _VERSION.fullmatch(written) or _CODE.fullmatch(written)
    runs = [] if whole else re.findall(r"[0-9]+", written)
    return Quantity(
        text=written,
        start=start,
        end=end,
        kind="identifier",
        parts=tuple(Decimal(run) for run in runs if len(run) <= _MAX_NUMBER_LENGTH),
        dates=month_and_day(written),
    )


def number_from_word(text: str, start: int) -> Sequence[Quantity]:
    """The number in words that begins at `start`."""
    number = spelled(text, start)
    if number is None:
        return ()
    if number.form == "ordinal" and (share := _share(text, start, number)):
        return (share,)
    end = number.end
    kind: Kind = number.form
    units: tuple[Unit, ...] = ()
    if number.form == "number":
        units, end = _unit(text, end)
        kind = _kind(units)
    elif number.form == "ordinal":
        if _PER.search(text, max(0, start - 4), start):
            return ()
        if century := _CENTURY.match(text, end):
            kind, end = "century", century.end()
    return (
        Quantity(
            text=text[start:end],
            start=start,
            end=end,
            kind=kind,
            value=number.value,
            step=number.step,
            units=units,
            hedge=_hedge(text, start, end),
            spelled=True,
            counts=_counts(text, end),
        ),
    )


def _share(text: str, start: int, number: Spelled) -> Quantity | None:
    """ "A third of" as a fraction."""
    if not 2 < number.value <= 10 or not _ONE_BEFORE.search(text, max(0, start - 5), start):
        return None
    if not text.startswith(" of ", number.end):
        return None
    value = ARITHMETIC.divide(Decimal(1), number.value)
    end = number.end
    return Quantity(
        text=text[start:end],
        start=start,
        end=end,
        kind="fraction",
        value=value,
        step=Decimal("0.01"),
        spelled=True,
    )


def vulgar_fraction(text: str, start: int) -> Quantity:
    """The fraction in one character at `start`, with its unit."""
    units, end = _unit(text, start + 1)
    return Quantity(
        text=text[start:end],
        start=start,
        end=end,
        kind=_kind(units) if units else "fraction",
        value=VULGAR[text[start]],
        step=Decimal("0.01"),
        units=units,
        hedge=_hedge(text, start, end),
    )


def number_in_han(text: str, start: int, end: int) -> Sequence[Quantity]:
    """The number in Chinese numerals that begins at `start`: 三十五万, 伍仟; none within another word."""
    number = han_number(text, start, end)
    if number is None:
        return ()
    units, last = _unit(text, number.end)
    if text.endswith("百分之", 0, start):
        units = unit_words()["percent"]
    year = number.is_year and not units and Decimal(_EARLIEST_YEAR) <= number.value <= LATEST_YEAR
    kind: Kind = "ordinal" if number.is_ordinal else "date" if year else _kind(units)
    return (
        Quantity(
            text=text[start:last],
            start=start,
            end=last,
            kind=kind,
            value=number.value,
            step=number.step,
            units=units,
            dates=(CalendarDate(int(number.value)),) if year else (),
            spelled=True,
            counts=True,
        ),
    )


def number_from_foreign_word(text: str, start: int, end: int, spoken: str) -> Sequence[Quantity]:
    """The number that begins with the word from `start` to `end` in the language `spoken`."""
    value, end = foreign_number(text, start, end, spoken)
    if value is None:
        return ()
    if share := foreign_share(text, end, value, spoken):
        value, end = share
        return (_fraction(text, start, end, value),)
    scale, end = _scale(text, end, False)
    units, end = _unit(text, end)
    return (
        Quantity(
            text=text[start:end],
            start=start,
            end=end,
            kind=_kind(units),
            value=ARITHMETIC.multiply(value, Decimal(scale)),
            step=Decimal(scale),
            units=units,
            hedge=_hedge(text, start, end),
            spelled=True,
            counts=_counts(text, end),
        ),
    )


def _fraction(text: str, start: int, end: int, value: Decimal) -> Quantity:
    return Quantity(
        text=text[start:end],
        start=start,
        end=end,
        kind="fraction",
        value=value,
        step=Decimal("0.01"),
        spelled=True,
    )


def quarter(text: str, start: int) -> Sequence[Quantity]:
    """ "A quarter" of something; none of a year or an hour, nor "each quarter"."""
    if not _ONE_BEFORE.search(text, max(0, start - 5), start) or _OF_TIME.match(text, start):
        return ()
    return (_fraction(text, start, start + len("quarter"), Decimal("0.25")),)


def recurring(text: str, start: int, end: int) -> Sequence[Quantity]:
    """How often or how many times, in one word (a key of RECURRING): "biennially" is every two years."""
    value, period = RECURRING[text[start:end].lower()]
    units = unit_words()[period] if period else ()
    return (
        Quantity(
            text=text[start:end],
            start=start,
            end=end,
            kind=_kind(units),
            value=Decimal(value),
            units=units,
            spelled=True,
        ),
    )


def _digits(text: str, match: re.Match[str]) -> _Digits:
    written = match[0]
    parts: tuple[Decimal, ...] = ()
    if match["dots"]:
        plain = written.replace(".", "").replace(",", ".")
    elif match["comma"]:
        plain = written.replace(",", ".")
        parts = tuple(Decimal(part) for part in written.split(","))
    elif match["spaces"]:
        plain = written.replace(" ", "")
        parts = tuple(Decimal(part) for part in written.split())
    elif match["marks"]:
        plain = re.sub("['’\u00a0\u202f\u2009]", "", written).replace(",", ".")
    else:
        plain = written.replace(",", "")
    value, decimals, end = Decimal(plain), len(plain.partition(".")[2]), match.end()
    if end < len(text) and text[end] in VULGAR:
        value, decimals, end = ARITHMETIC.add(value, VULGAR[text[end]]), 2, end + 1
    return _Digits(value, Decimal((0, (1,), -decimals)), parts, end)


def _ordinal_or_decade(text: str, start: int, digits: _Digits) -> Quantity | None:
    value, end = digits.value, digits.end
    if digits.step != 1:
        return None
    if match := _ORDINAL.match(text, end):
        century = _CENTURY.match(text, match.end())
        end = century.end() if century else match.end()
        kind: Kind = "century" if century else "ordinal"
        counts = _counts(text, end)
        return Quantity(text=text[start:end], start=start, end=end, kind=kind, value=value, counts=counts)
    if end - start in (2, 4) and text[end - 1] == "0" and (match := _DECADE.match(text, end)):
        return Quantity(
            text=text[start : match.end()], start=start, end=match.end(), kind="decade", value=value
        )
    return None


def _signed(text: str, start: int, digits: _Digits) -> tuple[int, _Digits]:
    """Where the number begins with its sign or its leading point, and what it then is."""
    before = text[start - 1] if start else ""
    outside = text[start - 2] if start > 1 else " "
    if before == "." and not outside.isalnum() and outside != "." and digits.step == 1:
        places = digits.end - start
        value = digits.value.scaleb(-places, ARITHMETIC)
        return start - 1, digits._replace(value=value, step=Decimal((0, (1,), -places)))
    if before in ("-", "−") and (outside.isspace() or outside in "([{:="):
        return start - 1, digits._replace(value=digits.value.copy_negate())
    return start, digits


def _completed(text: str, start: int, token_end: int, digits: _Digits) -> Quantity:
    """The number with its sign, currency, scale word and unit; an identifier when letters are left over."""
    begin, digits = _signed(text, start, digits)
    money = _MONEY_BEFORE.search(text, max(0, begin - 6), begin) if begin else None
    scale, end = _scale(text, digits.end, money is not None)
    if money:
        begin = money.start()
        units, end = _currency(text, money[0], end)
    else:
        units, last = _unit(text, end)
        if not units and scale > 1 and (of := _OF.match(text, end)):
            units, last = _unit(text, of.end())
            last = last if units else end
        if not units and _SAID_AGAIN.match(text, begin - 3):
            units = _unit(text, end + 1)[0]
        if text.endswith("百分之", 0, begin):
            units = unit_words()["percent"]
        if text[end:last].strip() == "m":
            millions = ARITHMETIC.multiply(digits.value, Decimal(_SHORT_SCALES["m"]))
            digits = digits._replace(parts=(*digits.parts, millions))
        end = last
    if end < token_end:
        return identifier(text, start, token_end)
    if scale == 1:
        digits = _in_thousands(digits, units)
    hedge = _hedge(text, begin, end)
    dates = _year(digits) if end - begin == 4 and hedge in ("", "about") else ()
    return Quantity(
        text=text[begin:end],
        start=begin,
        end=end,
        kind="date" if dates else _kind(units),
        value=ARITHMETIC.multiply(digits.value, Decimal(scale)),
        step=ARITHMETIC.multiply(digits.step, Decimal(scale)),
        scale=scale,
        units=units,
        dates=dates,
        parts=digits.parts,
        hedge=hedge,
        counts=_counts(text, end),
    )


def _currency(text: str, symbol: str, end: int) -> tuple[tuple[Unit, ...], int]:
    """The readings of a symbol before a number, and where the number ends: behind a unit that says the same
    ("$5 dollars"), else at `end`."""
    units = unit_symbols().get(re.sub(r"[\s.]", "", symbol), ())
    after, last = _unit(text, end)
    return units, last if {unit.dimension for unit in units} & {unit.dimension for unit in after} else end


def _in_thousands(digits: _Digits, units: tuple[Unit, ...]) -> _Digits:
    """An amount of money with three digits behind a mark as a whole number: €1.250."""
    if digits.step != _THOUSANDTH or not any(is_money(unit) for unit in units):
        return digits
    value = digits.value.scaleb(3, ARITHMETIC)
    return digits._replace(value=value, step=Decimal(1), parts=(*digits.parts, digits.value))


def _year(digits: _Digits) -> tuple[CalendarDate, ...]:
    """The year that a whole number may be."""
    if digits.step != 1 or not _EARLIEST_YEAR <= digits.value <= LATEST_YEAR:
        return ()
    return (CalendarDate(int(digits.value)),)


def _kind(units: tuple[Unit, ...]) -> Kind:
    if not units:
        return "number"
    if units[0].dimension == "percent":
        return "percent"
    return "money" if all(is_money(unit) for unit in units) else "amount"


def _scale(text: str, end: int, money: bool) -> tuple[int, int]:
    """The factor of the scale word that begins at `end`, and where it ends; 1 and `end` without one."""
    if han := han_scale(text, end):
        return han
    match = _SCALE.match(text, end)
    if match and match["word"]:
        return SCALES[match["word"].lower()], match.end()
    if match and match["foreign"]:
        return _FOREIGN_SCALES[match["foreign"].lower()], match.end()
    if match:
        return _SHORT_SCALES[(match["short"] or match["letter"]).lower()], match.end()
    match = _MONEY_SCALE.match(text, end) if money else None
    return (_SHORT_SCALES[match["letter"].lower()], match.end()) if match else (1, end)


def _unit(text: str, end: int) -> tuple[tuple[Unit, ...], int]:
    """The readings of the unit that begins at `end`, and where it ends; none and `end` without one."""
    if (han := HAN_UNIT.match(text, end)) and not (
        han[0] == "年" and _IS_YEAR.search(text, max(0, end - 5), end)
    ):
        return unit_words()[han[0]], han.end()
    return _unit_in_words(text, end) or _unit_symbol(text, end) or ((), end)


def _unit_in_words(text: str, end: int) -> tuple[tuple[Unit, ...], int] | None:
    note = _NOTE.match(text, end)
    match = _UNIT_WORDS.match(text, note.end() if note else end)
    words = [word for word in match.group("one", "two", "three") if word] if match else []
    for count in range(len(words), 0, -1):
        units = unit_words().get(" ".join(words[:count]).lower())
        if units and match:
            return units, match.end(count + 1)
    return None


def _unit_symbol(text: str, end: int) -> tuple[tuple[Unit, ...], int] | None:
    match = _UNIT_SYMBOL.match(text, end)
    if match is None:
        return None
    symbol = re.sub(r"\s", "", match["symbol"])
    units = unit_symbols().get(symbol, ())
    over, _, under = symbol.partition("/")
    if not units and len(under) > 1:  # of "5 kg/day" the 5 kg are read, "m³/h" is one sign
        units = unit_symbols().get(over, ())
    if symbol == "d" and match["gap"] in ("", "-"):  # 3d is no three days
        return None
    if units and (symbol != "in" or match["gap"] != " " or _INCHES_FOLLOW.match(text, match.end())):
        return units, match.end()
    return None


def _hedge(text: str, start: int, end: int) -> Hedge:
    if text.startswith("+", end):
        return "above"
    before = text[max(0, start - _BEFORE) : start]
    if not before.rstrip().lower().endswith(_HEDGE_ENDS):
        return ""
    match = _HEDGE.search(before)
    if match is None:
        return ""
    if match["about"]:
        return "about"
    return "above" if match["above"] else "below"


def _counts(text: str, end: int) -> bool:
    """Whether the next word can be what is counted."""
    match = _NEXT_WORD.match(text, end)
    return match is not None and match["word"] not in _FUNCTION_WORDS
