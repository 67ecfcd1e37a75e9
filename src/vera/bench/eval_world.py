"""The made-up world of `vera eval --generate`: its tables, and values drawn from them.

The tables are `eval-world.yaml`, or a file of the same form. Nothing in them is true.
"""

import random
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from vera.bench.eval_data import DataError
from vera.decode_errors import DECODE_ERRORS

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
    "November", "December",
)  # fmt: skip
_FEW_MONTHS = (1, 2, 3, 4, 6, 9, 12, 18, 24, 36)
_SPELLED = {1: "one", 2: "two", 3: "three", 4: "four", 6: "six", 9: "nine", 12: "twelve"}


PLACES = ("of", "for", "on", "at", "by")
"""What stands before the name of a thing in a sentence about it: `{of}` is " of NAME"."""
LARGEST_FILE = 4_000_000
"""Bytes of a file of tables."""

_Kind = Literal[
    "person", "place", "organisation", "room", "date", "year", "months", "money", "millions", "pieces",
    "passengers", "visitors", "area", "kilograms", "celsius", "hours", "volts", "metres", "knots",
    "centimetres", "percent", "count", "litres", "work_hours",
]  # fmt: skip
_Texts = Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=500)], ...], Meta(min_length=1)]


class ValueKind(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a value is, and between which numbers it lies."""

    kind: _Kind
    low: int = 0
    high: int = 0
    step: int = 1


class Attribute(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Something that may be said of a thing: how it is said, and how one asks for it. A `yearly` one has a
    value for each year."""

    value: ValueKind
    label: str
    say: _Texts
    ask: _Texts
    reworded: _Texts
    yearly: bool = False


class Domain(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A kind of things. `names` are pairs that are easily mistaken for each other."""

    name: str
    noun: str
    title: str
    names: Annotated[tuple[tuple[str, str], ...], Meta(min_length=1)]
    attributes: Annotated[Mapping[str, Attribute], Meta(min_length=1)]


class World(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All tables."""

    first_names: _Texts
    surnames: _Texts
    places: _Texts
    organisations: _Texts
    fillers: _Texts
    domains: Annotated[tuple[Domain, ...], Meta(min_length=1)]


class Value(msgspec.Struct, frozen=True):
    """A value as documents write it, and other ways in which an answer may give it."""

    text: str
    accepted: tuple[str, ...] = ()


@cache
def world() -> World:
    """VERA's own tables, read once."""
    data = (files("vera.bench") / "eval-world.yaml").read_bytes()
    return msgspec.yaml.decode(data, type=World)


def read_world(path: Path) -> World:
    """The tables of a file. Raises DataError that says what is wrong in it."""
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_FILE + 1)
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror or error}.") from None
    if len(data) > LARGEST_FILE:
        raise DataError(f"{path} is longer than {LARGEST_FILE} bytes.")
    try:
        read = msgspec.yaml.decode(data, type=World)
    except DECODE_ERRORS as error:
        raise DataError(f"{path} holds no tables of a world ({error}).") from None
    filled = dict.fromkeys(("S", "s", "v", "y", "e", *PLACES), "x")
    for sentence in _sentences(read):
        try:
            sentence.format_map(filled)
        except (LookupError, ValueError, AttributeError) as error:
            raise DataError(f"{path}: {sentence!r} cannot be filled in ({error}).") from None
    return read


def _sentences(read: World) -> Iterator[str]:
    for domain in read.domains:
        yield domain.title
        for attribute in domain.attributes.values():
            yield from (*attribute.say, *attribute.ask, *attribute.reworded)


def draw(kind: ValueKind, dice: random.Random, tables: World) -> Value:
    """A value by lot."""
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
