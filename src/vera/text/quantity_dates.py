"""Dates and times of day as they are in a text, each at a place where one may begin."""

import re
from collections.abc import Sequence
from datetime import date
from decimal import Decimal

from vera.text.han_numbers import han_number
from vera.text.late_regex import late_regex
from vera.text.quantity_kinds import CalendarDate, Quantity
from vera.text.units import unit_words

LATEST_YEAR = 2100
"""A number of four digits is taken for a year from 1000 to this one."""

_SPACE = "[ \\t\u00a0\u202f\u2009]"
_GAP = f"{_SPACE}{{0,2}}\\n?{_SPACE}{{0,2}}"
_DASH = "[-‐‑‒–—−]"
MONTH_NAMES = (
    "january jan",
    "february feb",
    "march mar",
    "april apr",
    "may",
    "june jun",
    "july jul",
    "august aug",
    "september sep sept",
    "october oct",
    "november nov",
    "december dec",
)
"""English months in their order, each name with its abbreviations behind it."""

_FOREIGN_MONTH_NAMES = (
    "januar jänner janvier enero gennaio janeiro",
    "februar février febrero febbraio fevereiro",
    "märz mars marzo março",
    "avril abril aprile",
    "mai mayo maggio maio",
    "juni juin junio giugno junho",
    "juli juillet julio luglio julho",
    "août agosto",
    "septembre septiembre settembre setembro",
    "oktober octobre octubre ottobre outubro",
    "novembre noviembre novembro",
    "dezember décembre diciembre dicembre dezembro",
)
"""German, French, Spanish, Italian and Portuguese; the names that English shares are not repeated."""

FOREIGN_MONTHS = {
    name: number for number, names in enumerate(_FOREIGN_MONTH_NAMES, 1) for name in names.split()
}
"""Months that are read as such only beside a day or a year: Mars is a planet as well."""

MONTHS = {name: number for number, names in enumerate(MONTH_NAMES, 1) for name in names.split()}
MONTHS |= FOREIGN_MONTHS
"""Month or its abbreviation, in lower case → its number."""

_OTHER_WORDS = frozenset(("may", "march", "august", "mars", "jan", "mar", "sept", "dec", "mai"))
"""Months that in lower case may be other words; without a year they need their capital."""

DECADES = {
    "twenties": 20,
    "thirties": 30,
    "forties": 40,
    "fifties": 50,
    "sixties": 60,
    "seventies": 70,
    "eighties": 80,
    "nineties": 90,
}
"""Decade in words, in lower case → its first year in a century."""

_WEEKDAY_NAMES = "monday tuesday wednesday thursday friday saturday sunday"
_WEEKDAYS = {name: number for number, name in enumerate(_WEEKDAY_NAMES.split())}
_NEAR_DAYS = {"yesterday": -1, "today": 0, "tomorrow": 1}
_NEAR = {"last": -1, "this": 0, "next": 1}
RELATIVE = frozenset({*_WEEKDAYS, *_NEAR_DAYS, *_NEAR})
"""Words, in lower case, with which a date can begin that is counted from the day of writing."""

_MONTH = (
    "(?P<month>(?i:"
    + "|".join(sorted(MONTHS, key=len, reverse=True))
    + r")(?![^\W\d_]))(?:\.(?=\s{0,3}[0-9]))?"
)
_YEAR = r"(?P<year>[12][0-9]{3})(?![0-9])"
_SUFFIX = r"(?:st|nd|rd|th|er|\.(?=\s))?"
_AND = rf"{_GAP}(?:{_DASH}|to|and|&|bis|und|au|et|al|y){_GAP}"
_BEGINS_DATE = late_regex(
    r"[0-9]{1,4}(?:st|nd|rd|th|er)?(?:[-/.‐-―−]|\s{0,5}(?:[-/‐-―−&]|(?:to|and|of|day|bis|und|au|et|al|y|de)\s"
    r"|[JFMASONDEjfmasonde][^\W\d_]{2}))"
)
"""What every date in digits begins with; most numbers do not, and are spared the more expensive patterns."""

_ISO_DATE = late_regex(
    r"(?P<year>[12][0-9]{3})(?P<mark>[-/.])(?P<month>[0-9]{1,2})(?P=mark)(?P<day>[0-9]{1,2})(?![0-9])"
    r"(?:T[0-9:.]{4,16}(?:Z|[+-][0-9:]{4,6})?)?"
)
_NUMERIC_DATE = late_regex(
    r"(?P<one>[0-9]{1,2})(?P<mark>[/.-])(?P<two>[0-9]{1,2})(?P=mark)(?P<year>[12][0-9]{3}|[0-9]{2})"
    r"(?![0-9./-][0-9]|[0-9])"
)
_DAY_MONTH = late_regex(
    rf"(?P<day>[0-9]{{1,2}}){_SUFFIX}(?:{_AND}(?P<last>[0-9]{{1,2}}){_SUFFIX})?"
    rf"(?:{_GAP}|-)(?:day{_GAP})?(?:(?:of|de){_GAP})?{_MONTH}(?:(?:,?{_GAP}(?:de{_GAP})?|-){_YEAR})?"
)
_MONTH_DAY = late_regex(
    rf"{_MONTH}{_GAP}(?:the{_GAP})?(?P<day>[0-9]{{1,2}})(?![0-9:%])(?!\.[0-9]){_SUFFIX}"
    rf"(?:{_AND}(?P<last>[0-9]{{1,2}})(?![0-9]){_SUFFIX})?(?:,?{_GAP}{_YEAR})?"
)
_MONTH_YEAR = late_regex(rf"{_MONTH}(?:,?{_GAP}|-)(?:(?:of|de){_GAP})?{_YEAR}")
_MONTH_ALONE = late_regex(_MONTH)
_YEARS = late_regex(
    rf"(?P<first>[12][0-9]{{3}}){_SPACE}?(?:--|{_DASH}|/){_SPACE}?(?P<last>[0-9]{{2}})(?![0-9/-])"
)
_MONTH_OF_YEAR = late_regex(r"(?P<month>0?[1-9]|1[0-2])/(?P<year>(?:19|20)[0-9]{2})\Z")
_ISO_MONTH = late_regex(r"(?P<year>(?:19|20)[0-9]{2})-(?P<month>0[1-9]|1[0-2])(?![0-9]|[-/][0-9])")
_DOTTED_DAY = late_regex(r"(?P<day>[0-9]{1,2})\.[ \u00a0]?(?P<month>1[0-2]|0?[1-9])\.(?![0-9])")
"""A day as German writes it without a year: 15.5."""

_DAY_OF_ROW = late_regex(r"[0-9]{2}\.[0-9]{2}\.\s?[;|\t]")
"""The same as the cell of a row, where the last point ends no sentence."""

_PART_BEFORE = late_regex(
    r"(?:(?:\A|\n)[ \t#*>]*|§{1,2}\s?|\b(?:Nr|Ziff|Abs|Art|Kap)\.\s?|\b(?:Nummer|Ziffer|Abschnitt|Absatz"
    r"|Kapitel|Punkt|Artikel|Anlage|Anhang|Teil|Version|Fassung)\s)\Z"
)
"""What goes before the number of a part of a document: 3.3. in "Abschnitt 3.3."."""

_MONTH_AND_DAY = late_regex(r"(?P<one>[0-9]{1,2})/(?P<two>[0-9]{1,2})\Z")
_NEAR_PERIOD = late_regex(r"(?P<near>last|this|next)\s{1,3}(?P<period>month|year)(?![A-Za-z])", re.IGNORECASE)
_CLOCK = late_regex(
    rf"(?P<hour>[0-9]{{1,2}})(?:[:.](?P<minute>[0-5][0-9]))?{_SPACE}?(?P<half>[ap])\.?m(?![A-Za-z0-9])\.?",
    re.IGNORECASE,
)
_CLOCK_24 = late_regex(
    r"(?P<hour>[0-9]{1,2})(?::(?P<minute>[0-5][0-9])(?![0-9:]|\.[0-9])"
    r"|(?:[:.](?P<sharp>[0-5][0-9]))?[ \u00a0]?Uhr(?!\w)"
    r"|[ \u00a0]?h[ \u00a0]?(?P<past>[0-5][0-9])(?!\w|[ \u00a0]?m))"
)
"""14:30, 14 Uhr, 14.30 Uhr, 14 h 30."""

_TWO_DIGIT_YEARS_FROM = 30
_PART_REACH = 14


_HAN_DATE = late_regex(
    r"(?:(?P<year>[12][0-9]{3}|[一二][〇零一二三四五六七八九]{3})\s?年\s?)?(?P<month>[0-9]{1,2}|[一二三四五六七八九十]{1,3})\s?月"
    r"(?:\s?(?P<day>[0-9]{1,2}|[一二三四五六七八九十]{1,3})\s?[日号])?"
)


def date_from_digit(text: str, start: int, spoken: str) -> Sequence[Quantity]:
    """The one or two dates that begin with the digit at `start`, in a text of the language `spoken`."""
    if not _BEGINS_DATE.match(text, start):
        return ()
    if match := _ISO_DATE.match(text, start):
        found = _valid(int(match["year"]), int(match["month"]), int(match["day"]))
        if found:
            return (_date(text, start, match.end(), found),)
    if match := _NUMERIC_DATE.match(text, start):
        readings = _numeric_readings(match)
        if readings:
            return (_date(text, start, match.end(), *readings),)
    if match := _DAY_MONTH.match(text, start):
        return _days(text, match)
    if (match := _YEARS.match(text, start)) and (years := _years(text, match)):
        return years
    if match := _ISO_MONTH.match(text, start):
        return (_date(text, start, match.end(), CalendarDate(int(match["year"]), int(match["month"]))),)
    of_row = _DAY_OF_ROW.match(text, start) is not None
    return _dotted_day(text, start, of_row=of_row) if spoken == "de" or (of_row and not spoken) else ()


def _dotted_day(text: str, start: int, *, of_row: bool) -> Sequence[Quantity]:
    match = _DOTTED_DAY.match(text, start)
    if match is None or (not of_row and _PART_BEFORE.search(text, max(0, start - _PART_REACH), start)):
        return ()
    found = _valid(0, int(match["month"]), int(match["day"]))
    return (_date(text, start, match.end(), found),) if found else ()


def date_in_han(text: str, start: int) -> Sequence[Quantity]:
    """The date that begins at `start` as Chinese writes it: 1978年3月5日, 三月五日."""
    match = _HAN_DATE.match(text, start)
    if match is None:
        return ()
    year = _han_value(match["year"]) if match["year"] else 0
    month, day = _han_value(match["month"]), _han_value(match["day"]) if match["day"] else 0
    if not 1 <= month <= 12:
        return ()
    found = _valid(year, month, day) if day else CalendarDate(year, month)
    return (_date(text, start, match.end(), found),) if found else ()


def _han_value(written: str) -> int:
    if written.isascii():
        return int(written)
    number = han_number(written, 0, len(written))
    return int(number.value) if number else 0


def date_from_month(text: str, start: int) -> Sequence[Quantity]:
    """The one or two dates that begin with the name of a month at `start`. A month alone is one only in
    English, and with a capital where it may be another word ("may", "march")."""
    if (match := _MONTH_DAY.match(text, start)) and (days := _days(text, match)):
        return days
    if match := _MONTH_YEAR.match(text, start):
        found = CalendarDate(int(match["year"]), MONTHS[match["month"].lower()])
        return (_date(text, start, match.end(), found),)
    match = _MONTH_ALONE.match(text, start)
    if match is None or not _is_month_alone(match["month"]):
        return ()
    return (_date(text, start, match.end("month"), CalendarDate(0, MONTHS[match["month"].lower()])),)


def _is_month_alone(month: str) -> bool:
    name = month.lower()
    return name not in FOREIGN_MONTHS and (month[0].isupper() or name not in _OTHER_WORDS) and len(name) > 2


def relative_date(text: str, start: int, end: int) -> Sequence[Quantity]:
    """The relative date that begins with the word from `start` to `end`, one of RELATIVE."""
    word = text[start:end].lower()
    if word in _NEAR_DAYS:
        value, period = _NEAR_DAYS[word], "day"
    elif word in _WEEKDAYS:
        value, period = _WEEKDAYS[word], "week"
    else:
        match = _NEAR_PERIOD.match(text, start)
        if match is None:
            return ()
        end, value, period = match.end(), _NEAR[word], match["period"].lower()
    units = unit_words()[period]
    return (
        Quantity(
            text=text[start:end], start=start, end=end, kind="relative", value=Decimal(value), units=units
        ),
    )


def time_of_day(text: str, start: int) -> Sequence[Quantity]:
    """The time of day that begins at `start`. Without a.m. or p.m. a time before 13:00 has two readings, of
    which the second is in `parts`."""
    if (match := _CLOCK.match(text, start)) and 1 <= int(match["hour"]) <= 12:
        minutes = int(match["hour"]) % 12 * 60 + int(match["minute"] or 0)
        afternoon = 720 if match["half"] in "pP" else 0
        return (_time(text, match, minutes + afternoon),)
    if (match := _CLOCK_24.match(text, start)) and int(match["hour"]) <= 24:
        hour, minute = int(match["hour"]), int(match["minute"] or match["sharp"] or match["past"] or 0)
        other = ((hour + 12) % 24 * 60 + minute,) if 1 <= hour <= 12 else ()
        return (_time(text, match, hour * 60 + minute, *other),)
    return ()


def month_and_day(text: str) -> tuple[CalendarDate, ...]:
    """The readings of "9/11" as a day without a year, and of "09/2022" as a month; none of any other text."""
    if month := _MONTH_OF_YEAR.match(text):
        return (CalendarDate(int(month["year"]), int(month["month"])),)
    match = _MONTH_AND_DAY.match(text)
    if match is None:
        return ()
    one, two = int(match["one"]), int(match["two"])
    return tuple(found for found in (_valid(0, one, two), _valid(0, two, one)) if found)


def _date(text: str, start: int, end: int, *readings: CalendarDate) -> Quantity:
    return Quantity(text=text[start:end], start=start, end=end, kind="date", dates=readings)


def _time(text: str, match: re.Match[str], minutes: int, *others: int) -> Quantity:
    start, end = match.span()
    parts = tuple(Decimal(other) for other in others)
    return Quantity(
        text=text[start:end], start=start, end=end, kind="time", value=Decimal(minutes), parts=parts
    )


def _valid(year: int, month: int, day: int) -> CalendarDate | None:
    """The date if the calendar has it; one without a year may be the 29th of February."""
    try:
        date(year or 2000, month, day)
    except ValueError:
        return None
    return CalendarDate(year, month, day)


def _numeric_readings(match: re.Match[str]) -> tuple[CalendarDate, ...]:
    """Day first and month first. A year of two digits is one of 1930 to 2029, never with hyphens."""
    year = int(match["year"])
    if len(match["year"]) == 2:
        if match["mark"] == "-":
            return ()
        year += 1900 if year >= _TWO_DIGIT_YEARS_FROM else 2000
    one, two = int(match["one"]), int(match["two"])
    readings = (_valid(year, two, one), _valid(year, one, two))
    return tuple(dict.fromkeys(reading for reading in readings if reading))


def _days(text: str, match: re.Match[str]) -> Sequence[Quantity]:
    """The one or two days of a match that names a month; without a year one that may be another word must
    have its capital."""
    month, year = MONTHS[match["month"].lower()], int(match["year"] or 0)
    found = _valid(year, month, int(match["day"]))
    if found is None or (not year and match["month"] in _OTHER_WORDS):
        return ()
    last = _valid(year, month, int(match["last"])) if match["last"] else None
    if last is None:
        return (_date(text, match.start(), match.end(), found),)
    return (
        _date(text, match.start(), match.end("day"), found),
        _date(text, match.start("last"), match.end(), last),
    )


def _years(text: str, match: re.Match[str]) -> Sequence[Quantity]:
    """Both years of "1997-98"; "1999-00" ends in the next century."""
    first = int(match["first"])
    last = first - first % 100 + int(match["last"])
    last += 100 if last == first - first % 100 and first % 100 == 99 else 0
    if not first < last <= LATEST_YEAR:
        return ()
    return (
        _date(text, match.start(), match.end("first"), CalendarDate(first)),
        _date(text, match.start("last"), match.end(), CalendarDate(last)),
    )
