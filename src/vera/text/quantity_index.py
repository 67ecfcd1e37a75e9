"""Whether a quantity of a claim is in a source, asked of an index that is made once for the source."""

import re
from bisect import bisect_left
from collections.abc import Iterable
from datetime import date, timedelta
from decimal import Decimal
from functools import cached_property
from typing import Literal

from vera.text.quantity_kinds import CalendarDate, Quantity
from vera.text.units import ARITHMETIC, Unit, unit_words

Backing = Literal["stated", "unclear", "absent"]
"""`stated`: the source has it, or what rounds to it, converts to it or lies in its decade or century.
`unclear`: only a reading that people rarely mean has it. `absent`: no reading has it."""

_HALF = Decimal("0.5")
_QUARTER = Decimal("0.25")
_TENTH = Decimal("0.1")
_HUNDREDTH = Decimal("0.01")
_ROUND_YEARS = 5
_LEAP_YEAR = 2000
_DAYS_OF_WEEK = 7
_MAX_DIFFERENCE_LENGTH = 150
_FEW_YEARS = 12
_FEW_WEEKDAYS = 3
"""Above these some year or weekday fits whatever is claimed, so that none says anything."""


class Values:
    """A set of numbers that can be asked for an interval in logarithmic time."""

    def __init__(self) -> None:
        self._set: set[Decimal] = set()

    def add(self, value: Decimal) -> None:
        self._set.add(value)

    def __contains__(self, value: Decimal) -> bool:
        return value in self._set

    @cached_property
    def _sorted(self) -> list[Decimal]:
        return sorted(self._set)

    def within(self, low: Decimal, high: Decimal) -> bool:
        """Whether some number is neither below `low` nor above `high`."""
        if low == high:
            return low in self._set
        position = bisect_left(self._sorted, low)
        return position < len(self._sorted) and self._sorted[position] <= high


class QuantityIndex:
    """What a source, or a part of one, states, found by value. Making it is linear, asking it logarithmic."""

    def __init__(self, found: Iterable[Quantity]) -> None:
        self.written = Values()
        """Every number as written, whatever its unit, years too."""
        self.numbering = Values()
        """Numbers of headings and of items of lists."""
        self.bare = Values()
        """Numbers without a unit, years too."""
        self.unitless = Values()
        """The same without those that number a heading or an item: a head of a table may give them a unit."""
        self.units: dict[Unit, Values] = {}
        self.dates: set[CalendarDate] = set()
        """Dates with all that they imply: 3 May 2021 is also May 2021, 2021, 3 May and May."""
        self.yearless: set[CalendarDate] = set()
        """Days and months that stand without a year."""
        self.days = Values()
        """The days of dates, which an ordinal may mean."""
        self.decades = Values()
        self.centuries = Values()
        self.times = Values()
        self.relative: dict[Unit, set[int]] = {}
        """Weekdays, and days, months and years from the day of writing, by their unit."""
        self.identifiers: set[str] = set()
        for quantity in found:
            self._add(quantity)

    @cached_property
    def years(self) -> frozenset[int]:
        """Every year that is there, alone or in a date."""
        return frozenset(reading.year for reading in self.dates if reading.year)

    def _add(self, quantity: Quantity) -> None:
        match quantity.kind:
            case "date":
                self._add_dates(quantity.dates)
            case "decade":
                self.decades.add(quantity.value)
            case "century":
                self.centuries.add(quantity.value)
            case "time":
                self.times.add(quantity.value)
            case "relative":
                for unit in quantity.units:
                    self.relative.setdefault(unit, set()).add(int(quantity.value))
            case "identifier":
                self.identifiers.add(_folded(quantity.text))
                self._add_dates(reading for reading in quantity.dates if reading.year)
            case _:
                self._add_number(quantity)
        self._add_parts(quantity)

    def _add_parts(self, quantity: Quantity) -> None:
        """The other readings of a quantity, or the numbers within it."""
        for part in quantity.parts:
            values = self.times if quantity.kind == "time" else self.bare
            values.add(part)
            if not quantity.units and quantity.kind != "identifier":
                self.unitless.add(part)
            self.written.add(part)

    def _add_number(self, quantity: Quantity) -> None:
        if "." in quantity.text:
            self.identifiers.add(_folded(quantity.text))  # "GPL 2.1" backs "version 2.1", and not "2.10"
        for value in {quantity.value, quantity.value.copy_abs()}:
            self.written.add(value)
            if not quantity.units:
                self.bare.add(value)
                (self.numbering if quantity.numbering else self.unitless).add(value)
            for unit in quantity.units:
                self.units.setdefault(unit, Values()).add(value)
        if quantity.kind == "fraction":
            (percent,) = unit_words()["percent"]
            self.units.setdefault(percent, Values()).add(ARITHMETIC.multiply(quantity.value, Decimal(100)))

    def _add_dates(self, readings: Iterable[CalendarDate]) -> None:
        for year, month, day in readings:
            full = CalendarDate(year, month, day)
            self.dates |= {full, CalendarDate(year, month), CalendarDate(year), CalendarDate(0, month)}
            if day:
                self.dates.add(CalendarDate(0, month, day))
            if year:
                self.written.add(Decimal(year))
                self.bare.add(Decimal(year))
                self.unitless.add(Decimal(year))
            else:
                self.yearless |= {full, CalendarDate(0, month)}
            if day:
                self.days.add(Decimal(day))


def backed(quantity: Quantity, index: QuantityIndex) -> bool:
    """Whether the source states `quantity`: the same, or the same after rounding to its last written digit,
    conversion of its unit, or as part of its decade or century."""
    return backing(quantity, index) == "stated"


def backing(quantity: Quantity, index: QuantityIndex) -> Backing:
    """How a source backs `quantity`."""
    match quantity.kind:
        case "date":
            return _date_backing(quantity, index)
        case "decade":
            return _graded(_has_decade(int(quantity.value), index))
        case "century":
            return _graded(_has_century(int(quantity.value), index))
        case "time":
            return _graded(any(value in index.times for value in (quantity.value, *quantity.parts)))
        case "identifier":
            return _graded(_has_identifier(quantity, index))
        case "relative":
            return "stated"
        case "fraction":
            return _graded(_has_fraction(quantity, index))
        case _:
            return _number_backing(quantity, index)


def _graded(stated: bool) -> Backing:
    return "stated" if stated else "absent"


def _number_backing(quantity: Quantity, index: QuantityIndex) -> Backing:
    if quantity.kind == "ordinal" and quantity.value in index.days:
        return "stated"
    if _in_units(quantity, index):
        return "stated"
    if _may_be_numbering(quantity, index):
        return "unclear"
    if _has_value(quantity, index.unitless if quantity.units else index.written):
        return "unclear" if quantity.units else "stated"
    if _has_parts(quantity, index):
        return "stated"
    return "unclear" if _loosely(quantity, index) else "absent"


def _may_be_numbering(quantity: Quantity, index: QuantityIndex) -> bool:
    """Whether the source has a count only as the number of a heading or an item."""
    return quantity.counts and quantity.value in index.numbering and quantity.value not in index.unitless


def _has_value(quantity: Quantity, values: Values) -> bool:
    """Whether a number is the same, or the same after rounding or as its hedge allows."""
    if quantity.value in values or (quantity.step != 1 and values.within(*interval(quantity))):
        return True
    return _hedged(quantity, values)


def _has_parts(quantity: Quantity, index: QuantityIndex) -> bool:
    """Whether the source has all numbers of another reading, or of an identifier."""
    return bool(quantity.parts) and all(part in index.bare for part in quantity.parts)


def interval(quantity: Quantity) -> tuple[Decimal, Decimal]:
    """The numbers that round to the quantity at its last written digit."""
    half = ARITHMETIC.multiply(quantity.step, _HALF)
    return ARITHMETIC.subtract(quantity.value, half), ARITHMETIC.add(quantity.value, half)


def _last_digit(quantity: Quantity) -> Decimal:
    """What one more in the last digit that is not zero adds: 10 for 460, 1000 for 5,000."""
    exponent = quantity.value.normalize(ARITHMETIC).as_tuple().exponent
    return max(quantity.step, Decimal(1).scaleb(exponent)) if isinstance(exponent, int) else quantity.step


def _loosened(quantity: Quantity) -> tuple[Decimal, Decimal]:
    """The numbers that "about", "more than" or "nearly" may mean."""
    size, digit = quantity.value.copy_abs(), _last_digit(quantity)
    if quantity.hedge == "about":
        slack = min(ARITHMETIC.multiply(digit, _HALF), ARITHMETIC.multiply(size, _TENTH))
        return ARITHMETIC.subtract(quantity.value, slack), ARITHMETIC.add(quantity.value, slack)
    slack = min(digit, ARITHMETIC.multiply(size, _QUARTER))
    if quantity.hedge == "above":
        return quantity.value, ARITHMETIC.add(quantity.value, slack)
    return ARITHMETIC.subtract(quantity.value, slack), quantity.value


def _hedged(quantity: Quantity, values: Values) -> bool:
    return bool(quantity.hedge) and values.within(*_loosened(quantity))


def _in_units(quantity: Quantity, index: QuantityIndex) -> bool:
    """Whether the source has it in its own unit, rounded, or in another unit of its dimension."""
    for unit in quantity.units:
        for other, values in index.units.items():
            if other == unit:
                if values.within(*interval(quantity)) or _hedged(quantity, values):
                    return True
            elif other.dimension == unit.dimension and values.within(*_converted(quantity, unit, other)):
                return True
    return False


def is_in(values: Values, quantity: Quantity, unit: Unit, other: Unit) -> bool:
    """Whether some of `values`, which are in the unit `other`, is the quantity in its unit `unit`, as it is
    rounded or hedged. Between units of one system no more is allowed: 3.02 m are no 3,000 mm."""
    ratio = ARITHMETIC.divide(unit.factor, other.factor)
    if unit.offset != other.offset or ratio.normalize(ARITHMETIC).as_tuple().digits != (1,):
        return values.within(*_converted(quantity, unit, other))
    spans = [interval(quantity), *([_loosened(quantity)] if quantity.hedge else [])]
    return any(
        values.within(ARITHMETIC.multiply(low, ratio), ARITHMETIC.multiply(high, ratio))
        for low, high in spans
    )


def _converted(quantity: Quantity, unit: Unit, other: Unit) -> tuple[Decimal, Decimal]:
    """The interval of the quantity in another unit. Converted values are rounded as people do: to the last
    digit that is not zero, at least by one in a hundred and at most by one in ten."""
    size = quantity.value.copy_abs()
    half = ARITHMETIC.multiply(_last_digit(quantity), _HALF)
    most = ARITHMETIC.multiply(size, _TENTH)
    slack = max(min(half, most), ARITHMETIC.multiply(size, _HUNDREDTH))
    low, high = ARITHMETIC.subtract(quantity.value, slack), ARITHMETIC.add(quantity.value, slack)
    if quantity.hedge:
        loose = _loosened(quantity)
        low, high = min(low, loose[0]), max(high, loose[1])
    return _convert(low, unit, other), _convert(high, unit, other)


def _convert(value: Decimal, unit: Unit, other: Unit) -> Decimal:
    base = ARITHMETIC.fma(value, unit.factor, unit.offset)
    return ARITHMETIC.divide(ARITHMETIC.subtract(base, other.offset), other.factor)


def _loosely(quantity: Quantity, index: QuantityIndex) -> bool:
    """Readings that are possible but rarely meant: rounded without saying so, the sign left to the wording,
    the scale left to the head of a table."""
    size = quantity.value.copy_abs()
    values = index.unitless if quantity.units else index.bare
    if size in values or any(size in index.units.get(unit, ()) for unit in quantity.units):
        return True
    if _is_difference(quantity, index):
        return True
    return quantity.value != 0 and (_is_rounded(quantity, index) or _lacks_scale(quantity, index))


def _is_rounded(quantity: Quantity, index: QuantityIndex) -> bool:
    """Whether a number of the source rounds to it, at its last written digit or at its last zeros."""
    values = index.unitless if quantity.units else index.written
    if values.within(*interval(quantity)):
        return True
    digit = _last_digit(quantity)
    if digit < 100:
        return False
    half = ARITHMETIC.multiply(digit, _HALF)
    return values.within(ARITHMETIC.subtract(quantity.value, half), ARITHMETIC.add(quantity.value, half))


def _lacks_scale(quantity: Quantity, index: QuantityIndex) -> bool:
    """Whether the source has the number without its "million", which the head of a table may say."""
    unscaled = ARITHMETIC.divide(quantity.value, Decimal(quantity.scale))
    return quantity.scale > 1 and len(unscaled.as_tuple().digits) >= 3 and unscaled in index.bare


def _is_difference(quantity: Quantity, index: QuantityIndex) -> bool:
    """Whether a number of years lies between two years of the source."""
    if quantity.units != unit_words()["year"] or not 0 < quantity.value <= _MAX_DIFFERENCE_LENGTH:
        return False
    if len(index.years) > _FEW_YEARS:
        return False
    return any(year + quantity.value in index.years for year in index.years)


def _date_backing(quantity: Quantity, index: QuantityIndex) -> Backing:
    if any(_has_date(reading, index) for reading in quantity.dates):
        return "stated"
    if _is_about_year(quantity, index) or any(_may_be_dated(reading, index) for reading in quantity.dates):
        return "unclear"
    return "absent"


def _is_about_year(quantity: Quantity, index: QuantityIndex) -> bool:
    """Whether "about 1490" stands for a year near it; "about 1491" does not."""
    if quantity.hedge != "about" or int(quantity.value) % _ROUND_YEARS:
        return False
    around = Decimal(_ROUND_YEARS)
    low, high = ARITHMETIC.subtract(quantity.value, around), ARITHMETIC.add(quantity.value, around)
    return index.written.within(low, high)


def _has_date(reading: CalendarDate, index: QuantityIndex) -> bool:
    if reading in index.dates:
        return True
    if not reading.month:
        return Decimal(reading.year) in index.written
    yearless = reading._replace(year=0)
    return bool(reading.year) and yearless in index.yearless and Decimal(reading.year) in index.written


def _may_be_dated(reading: CalendarDate, index: QuantityIndex) -> bool:
    """Whether the source leaves it to the reader to count from the day on which it was written."""
    if reading.month and reading.year and reading._replace(year=0) in index.yearless:
        return bool(index.years & {reading.year - 1, reading.year, reading.year + 1})
    if not index.years:
        return not reading.year and _may_be_this_year(reading, index)
    if reading.day:
        return _is_near_day(reading, index)
    if reading.month:
        return bool(reading.year) and _is_near_month(reading, index)
    return any(reading.year - near in index.years for near in _relative(index, "year"))


def _may_be_this_year(reading: CalendarDate, index: QuantityIndex) -> bool:
    """Whether a source without any year has the month of a date, or counts from the day on which it was
    written."""
    named = not reading.month or CalendarDate(0, reading.month) in index.dates
    return named or any(_relative(index, period) for period in ("day", "week", "month"))


def _relative(index: QuantityIndex, period: str) -> frozenset[int]:
    return frozenset(near for unit in unit_words()[period] for near in index.relative.get(unit, ()))


def _is_near_day(reading: CalendarDate, index: QuantityIndex) -> bool:
    """Whether a date of the source and a weekday, or "yesterday", lead to this day."""
    day = date(reading.year or _LEAP_YEAR, reading.month, reading.day)
    near, weekdays = _relative(index, "day"), _relative(index, "week")
    if len(weekdays) > _FEW_WEEKDAYS:
        weekdays = frozenset()
    if reading.year:
        weekdays &= {day.weekday()}
    for distance in range(-_DAYS_OF_WEEK, _DAYS_OF_WEEK + 1):
        written = day - timedelta(days=distance)
        known = CalendarDate(written.year if reading.year else 0, written.month, written.day)
        if known in index.dates and (weekdays or distance in near):
            return True
    return False


def _is_near_month(reading: CalendarDate, index: QuantityIndex) -> bool:
    for near in _relative(index, "month"):
        months = reading.year * 12 + reading.month - 1 - near
        if CalendarDate(months // 12, months % 12 + 1) in index.dates:
            return True
    return False


def _has_decade(decade: int, index: QuantityIndex) -> bool:
    if Decimal(decade) in index.decades or (decade % 100 and Decimal(decade % 100) in index.decades):
        return True
    if decade >= 100:
        last = decade + (9 if decade % 100 else 99)  # the 1700s are a century as well
        return index.written.within(Decimal(decade), Decimal(last))
    hundreds = [century * 100 + decade for century in range(10, 21)]
    if any(Decimal(full) in index.decades for full in hundreds):
        return True
    return any(index.written.within(Decimal(first), Decimal(first + 9)) for first in (decade, *hundreds))


def _has_century(century: int, index: QuantityIndex) -> bool:
    if Decimal(century) in index.centuries:
        return True
    first, last = Decimal(100 * (century - 1)), Decimal(100 * century)
    return index.bare.within(first, last) or index.decades.within(first, last)


def _has_identifier(quantity: Quantity, index: QuantityIndex) -> bool:
    if _folded(quantity.text) in index.identifiers or any(day in index.dates for day in quantity.dates):
        return True
    return _has_parts(quantity, index)


def _has_fraction(quantity: Quantity, index: QuantityIndex) -> bool:
    low, high = interval(quantity)
    if index.bare.within(low, high):
        return True
    if quantity.parts and all(part in index.bare for part in quantity.parts):
        return True
    percent = [values for unit, values in index.units.items() if unit.dimension == "percent"]
    around = Decimal(2)
    hundred = ARITHMETIC.multiply(quantity.value, Decimal(100))
    return any(
        values.within(ARITHMETIC.subtract(hundred, around), ARITHMETIC.add(hundred, around))
        for values in percent
    )


def _folded(text: str) -> str:
    return re.sub(r"[\s‐‑–-]", "", text).casefold()
