"""What a quantity is: a value with its kind, its unit and all of its readings."""

from decimal import Decimal
from typing import Literal, NamedTuple

import msgspec

from vera.text.units import ARITHMETIC, Unit

Kind = Literal[
    "number",
    "ordinal",
    "fraction",
    "percent",
    "money",
    "amount",
    "date",
    "decade",
    "century",
    "time",
    "identifier",
    "relative",
]
"""What a quantity says. A `date` has a year, a month or a day, or several of them; an `amount` has a unit; an
`identifier` (3.11.7, 978-0-13-468599-1, 5(b), FY2018) is compared as text; a `relative` date ("yesterday",
"last year", "Wednesday") is counted from the day on which the text was written."""

Hedge = Literal["", "about", "above", "below"]
"""How a number is loosened by the words before it: not, "about", "more than", "nearly"."""


class CalendarDate(NamedTuple):
    """A date of the Gregorian calendar; 0 for the parts that are not said."""

    year: int = 0
    month: int = 0
    day: int = 0


class Quantity(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A quantity as written (`text`, at characters `start` to `end`).

    `value` is exact and includes the scale word ("160 million" is 160000000); `step` is what one more in its
    last written digit adds (1000000 there), `scale` the factor of the scale word. A decade has its first
    year (80 for "the '80s"), a century its number, a time of day its minutes after midnight.

    `units` holds the readings of its unit; a relative date counts days, months or years, and a weekday (from
    0, Monday) has the week. `dates` holds the readings of a date. `parts` are the numbers of
    another reading: of "1 234" they are 1 and 234, of an identifier its runs of digits. `counts` says that it
    counts what the next word names, as in "three sons"; `spelled` that it is written in words; `numbering`
    that it numbers a heading or an item of a list ("7. Term").
    """

    text: str
    start: int
    end: int
    kind: Kind
    value: Decimal = Decimal(0)
    step: Decimal = Decimal(1)
    scale: int = 1
    units: tuple[Unit, ...] = ()
    dates: tuple[CalendarDate, ...] = ()
    parts: tuple[Decimal, ...] = ()
    hedge: Hedge = ""
    spelled: bool = False
    counts: bool = False
    numbering: bool = False

    @property
    def unscaled(self) -> Decimal:
        """The value before its scale word: 1.3 of "1.3 million"."""
        return ARITHMETIC.divide(self.value, Decimal(self.scale))
