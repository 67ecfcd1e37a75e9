"""The made-up world of `vera eval --generate`: its tables, and values drawn from them.

The tables are `fixtures/eval-world.yaml`. Nothing in them is true.
"""

import random
from collections.abc import Mapping
from functools import cache
from importlib.resources import files

import msgspec

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_FEW_MONTHS = (1, 2, 3, 4, 6, 9, 12, 18, 24, 36)
_SPELLED = {1: "one", 2: "two", 3: "three", 4: "four", 6: "six", 9: "nine", 12: "twelve"}


class ValueKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a value is, and between which numbers it lies."""

    kind: str
    low: int = 0
    high: int = 0
    step: int = 1


class Attribute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that may be said of a thing: how it is said, and how one asks for it. A `yearly` one has a
    value for each year."""

    value: ValueKind
    label: str
    say: tuple[str, ...]
    ask: tuple[str, ...]
    reworded: tuple[str, ...]
    yearly: bool = False


class Domain(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of things. `names` are pairs that are easily mistaken for each other."""

    name: str
    noun: str
    title: str
    names: tuple[tuple[str, str], ...]
    attributes: Mapping[str, Attribute]


class World(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All tables."""

    first_names: tuple[str, ...]
    surnames: tuple[str, ...]
    places: tuple[str, ...]
    organisations: tuple[str, ...]
    fillers: tuple[str, ...]
    domains: tuple[Domain, ...]


class Value(msgspec.Struct, frozen=True):
    """A value as documents write it, and other ways in which an answer may give it."""

    text: str
    accepted: tuple[str, ...] = ()


@cache
def world() -> World:
    """The tables, read once."""
    data = (files("vera.bench") / "fixtures" / "eval-world.yaml").read_bytes()
    return msgspec.yaml.decode(data, type=World)


def draw(kind: ValueKind, dice: random.Random) -> Value:
    """A value by lot."""
    tables = world()
    number = dice.randrange(kind.low, kind.high + 1, kind.step) if kind.high else 0
    match kind.kind:
        case "person":
            return Value(f"{dice.choice(tables.first_names)} {dice.choice(tables.surnames)}")
        case "place":
            return Value(dice.choice(tables.places))
        case "organisation":
            return Value(dice.choice(tables.organisations))
        case "room":
            return Value(f"room {dice.randint(2, 48)}")
        case "date":
            return _date(dice)
        case "year":
            return Value(str(number))
        case "months":
            return _months(dice)
        case "money":
            return Value(dice.choice((f"{number:,} euros", f"EUR {number:,}", f"€{number:,}")))
        case "millions":
            return Value(f"{number}.{dice.randint(1, 9)} million euros")
        case "pieces" | "passengers" | "visitors":
            return Value(_measured(kind.kind, number), (f"{number:,}",))
        case _:
            return Value(_measured(kind.kind, number))


def _measured(kind: str, number: int) -> str:
    tenths = f"{number / 10:.1f}"
    return {
        "area": f"{number} square metres",
        "kilograms": f"{tenths} kg",
        "celsius": f"{number} °C",
        "hours": f"{number} hours",
        "volts": f"{number} volts",
        "metres": f"{tenths} metres",
        "knots": f"{number} knots",
        "centimetres": f"{tenths} cm",
        "percent": f"{number} %",
        "count": f"{number:,}",
        "litres": f"{number:,} litres",
        "pieces": f"{number:,} pieces",
        "passengers": f"{number:,} passengers",
        "visitors": f"{number:,} visitors",
        "work_hours": f"{number:,} hours",
    }[kind]


def _date(dice: random.Random) -> Value:
    day, month, year = dice.randint(1, 28), dice.randint(1, 12), dice.randint(1996, 2025)
    name = MONTHS[month - 1]
    written = (f"{day} {name} {year}", f"{name} {day}, {year}", f"{year}-{month:02}-{day:02}")
    return Value(dice.choice(written), (f"{year}-{month:02}-{day:02}",))


def _months(dice: random.Random) -> Value:
    count = dice.choice(_FEW_MONTHS)
    noun = "month" if count == 1 else "months"
    return Value(f"{dice.choice((_SPELLED.get(count, str(count)), str(count)))} {noun}", (f"{count} {noun}",))
