"""Whether a text writes the day or the month first in dates of digits, as it says or as its dates tell.

"03/04/2023" is in March or in April. A text that declares its order ("DD/MM/YYYY", "all dates are written
day/month/year"), or has a date of the same form with a part above 12, leaves no doubt. One that declares or
shows both leaves it open.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Literal

from msgspec.structs import replace

from vera.text.late_regex import late_regex
from vera.text.quantity_kinds import Quantity

Order = Literal["day", "month"]
"""What stands first."""

Form = tuple[str, int]
"""What parts a date, and the digits of its year."""

Orders = Mapping[Form, Order]
"""The forms of which the order is known."""

_MONTHS = 12
_ANY = ""
_NUMERIC = re.compile(
    r"(?P<one>[0-9]{1,2})(?P<mark>[/.-])(?P<two>[0-9]{1,2})(?P=mark)(?P<year>[0-9]{4}|[0-9]{2})"
)
_DAY, _YEAR = r"(?:d{1,2}|t{1,2}|j{1,2}|g{1,2})", r"(?:y{2,4}|j{2,4}|a{2,4})"
_LETTERS: Mapping[Order, re.Pattern[str]] = {
    "day": late_regex(rf"\b{_DAY}(?P<mark>[/.-])m{{1,2}}(?P=mark){_YEAR}\b", re.IGNORECASE),
    "month": late_regex(rf"\bm{{1,2}}(?P<mark>[/.-]){_DAY}(?P=mark){_YEAR}\b", re.IGNORECASE),
}
"""DD/MM/YYYY, TT.MM.JJJJ, jj/mm/aaaa, gg/mm/aaaa."""

_D = r"(?:day|tag|jour|d[ií]a|giorno|dag|日)"
_M = r"(?:month|monat|mois|m[eê]s|mese|maand|月)"
_Y = r"(?:year|jahr|année|an|año|ano|anno|jaar|年)"
_PART = r"\s?(?P<mark>[/.,-])\s?"
_DATES = r"\b(?:dates?|datum|datumsangaben|daten|fechas?|datas?)\b[^.\n]{0,60}?"
_FIRST = (
    r"\s(?:(?:is|comes|goes|stands|steht|kommt)\s)?(?:first|zuerst|en premier|primero|primeiro|per primo)\b"
)
_BEFORE = r"\s(?:before|vor|avant|antes d[eo]l?|prima del)\s(?:(?:the|dem|le|el|o)\s)?"
_IN_STYLE = r"\b(?:{})\s(?:date\s)?(?:format|style|notation|order|convention)\b"
_WORDS: Mapping[Order, re.Pattern[str]] = {
    "day": late_regex(
        rf"(?<!\w){_D}{_PART}{_M}\s?(?P=mark)\s?{_Y}(?!\w)|{_DATES}\b(?:{_D}{_FIRST}|{_D}{_BEFORE}{_M}\b"
        rf"|{_IN_STYLE.format('British|UK|European')})",
        re.IGNORECASE,
    ),
    "month": late_regex(
        rf"(?<!\w){_M}{_PART}{_D}\s?(?P=mark)\s?{_Y}(?!\w)|{_DATES}\b(?:{_M}{_FIRST}|{_M}{_BEFORE}{_D}\b"
        rf"|{_IN_STYLE.format('US|American')})",
        re.IGNORECASE,
    ),
}
"""Day/month/year, the day comes first, the day before the month, in US format."""


def date_orders(text: str, found: Sequence[Quantity]) -> Orders:
    """The order of each form of date in a text whose quantities are `found`, where it is known."""
    forms = {form for each in found if len(each.dates) > 1 and (form := _form(each))}
    if not forms:
        return {}
    told = [*_told(found), *_declared(text)]
    orders: dict[Form, Order] = {}
    for mark, year in forms:
        known = {order for (of, digits), order in told if of in (mark, _ANY) and digits in (year, 0)}
        if len(known) == 1:
            orders[mark, year] = known.pop()
    return orders


def in_order(found: Sequence[Quantity], orders: Callable[[], Orders]) -> tuple[Quantity, ...]:
    """The quantities, a date whose order is known with this reading alone. The orders are asked for only
    where some date has two readings."""
    if not any(len(each.dates) > 1 for each in found):
        return tuple(found)
    known = orders()
    return tuple(_ordered(each, known) for each in found)


def _ordered(quantity: Quantity, orders: Orders) -> Quantity:
    form = _form(quantity) if len(quantity.dates) > 1 else None
    if form is None or form not in orders:
        return quantity
    day_first, month_first = quantity.dates
    return replace(quantity, dates=(day_first if orders[form] == "day" else month_first,))


def _form(quantity: Quantity) -> Form | None:
    """The form of a date in digits, None of anything else."""
    written = _NUMERIC.fullmatch(quantity.text) if quantity.kind == "date" else None
    return (written["mark"], len(written["year"])) if written else None


def _told(found: Sequence[Quantity]) -> Iterator[tuple[Form, Order]]:
    """What the dates tell that can be read in one order only."""
    for each in found:
        written = _NUMERIC.fullmatch(each.text) if each.kind == "date" else None
        if written and max(int(written["one"]), int(written["two"])) > _MONTHS:
            order: Order = "day" if int(written["one"]) > _MONTHS else "month"
            yield (written["mark"], len(written["year"])), order


def _declared(text: str) -> Iterator[tuple[Form, Order]]:
    """What the text says of its dates; one in words is of every form."""
    for order, letters in _LETTERS.items():
        yield from (((each["mark"], 0), order) for each in letters.finditer(text))
    for order, said in _WORDS.items():
        if said.search(text):
            yield (_ANY, 0), order
