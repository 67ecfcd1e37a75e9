"""Numbers of a claim that are of another row or column of a table than the claim names.

Where cited lines are a table, whoever names a row means its numbers. A number is of another row when the
claim names one row by its words, and the number stands only in rows of which the claim says less; of another
column when that is so of the heads. What the claim says of both, or of neither, is left to a judge. A unit
in the head of a column belongs to its cells.
"""

import re
from collections.abc import Collection, Iterator, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import NamedTuple

from vera.audit.case import Case, CitedLines, language_of, statements
from vera.audit.derivable import is_difference, is_idle
from vera.evidence.finding import Finding
from vera.text.late_regex import late_regex
from vera.text.quantity import Quantity, quantities
from vera.text.tables import Row, Table, table_at
from vera.text.units import Unit, units_in
from vera.text.whole_sentences import line
from vera.text.words import stems, words

MAX_ROWS = 200
"""Rows of a table that are compared."""

_LARGEST_COUNT = 12
"""Of a claim "three players are from Lyon" the number is counted in the table, not read there. One in digits
before the head of a column of numbers is read, where the claim names its row: "Harrow has 12 sheep"."""

_MIN_DIGITS = 3
_NUMBER = r"[0-9]{1,3}(?:[ ,.'’\u00a0\u202f][0-9]{3}){1,4}(?:[.,][0-9]{1,9})?|[0-9]{1,15}(?:[.,][0-9]{1,9})?"
_AVERAGE = late_regex(
    r"\b(?:average|mean|median|combined|altogether|sum|durchschnitt\w{0,8}|mittel|zusammen|insgesamt|moyenne|somme"
    r"|promedio|media|suma|média|soma|somma|difference|unterschied|différence|diferencia|diferença|differenza)\b|平均|合计|总共",
    re.IGNORECASE,
)
"""Of such a claim the numbers may be worked out."""

_DIGIT = late_regex(r"[0-9.,]")
_MORE = late_regex(r"\s(?:more|fewer|less|mehr|weniger|plus|moins|más|menos|mais|più|meno)\b", re.IGNORECASE)
"""Behind a number that is a difference."""
_NEAR = 24
_BOUND = late_regex(
    r"(?:\b(?:than|after|before|until|since|out of|als|nach|vor|bis|seit|après|avant|depuis|plus de|moins de"
    r"|más de|menos de|mais de|più di|meno di|después de|antes de|desde|depois de|dopo|prima di)\s"
    r"|超过|不到|低于|高于)\Z",
    re.IGNORECASE,
)
"""Before a number that bounds others, and need not be in the source."""

_VALUE = late_regex(
    rf"[<>~≈±+−-]?\s?(?:[$€£¥₹]|[A-Z]{{3}})?\s?(?:{_NUMBER})\s?(?:[^\W\d]|[%‰°º/²³€$£¥₹.]){{0,16}}(?:\s[^\W\d]{{1,16}})?"
)
"""A cell that is a number, with or without its unit."""
_IN_CHINESE = late_regex(
    r"(?<=[\u3400-\u9fff])[0-9]{1,3}(?:(?:,[0-9]{3}){1,4}|[0-9]{0,12})(?:\.[0-9]{1,9})?(?=[%\u3400-\u9fff])"
)
_READ = frozenset(("number", "amount", "money", "percent", "date"))
_FIRST_YEAR, _LAST_YEAR = 1500, 2100


def cells(case: Case) -> Iterator[Finding]:
    """`cell_of_another` for each number of a claim whose rows or columns are not those that it names."""
    for claim, cited in statements(case):
        if not cited or any(place.evidence.tier == "observed" for place in cited):
            continue
        found = [(place, _table(place)) for place in cited]
        tables = [table for _, table in found if table is not None]
        if not tables:
            continue
        outside = frozenset[Decimal]().union(*(_beside(place, table) for place, table in found))
        place = cited[0]
        for number, named in wrong(claim.text, tables, outside, language_of(cited)):
            yield Finding(
                code="cell_of_another",
                label="misinterpretation",
                severity="hard",
                claim=claim.key,
                evidence=place.evidence.id,
                first=place.first,
                last=place.last,
                message=f"“{number}” is in the table, but not for “{named}”: give the value that is there.",
                detail=number,
            )


def wrong(
    claim: str, tables: Sequence[Table], outside: frozenset[Decimal], spoken: str = ""
) -> Iterator[tuple[str, str]]:
    """Each number of a claim that is of another row or column, and what the claim names."""
    if _AVERAGE.search(claim):
        return
    ours = numbers_in(claim) | {each.unscaled for each in quantities(claim, spoken)}
    for asked in _asked(claim, spoken):
        if asked.value in outside:
            continue
        if asked.counted and not all(_is_of_column(asked.counted, table) for table in tables):
            continue
        unit = _DIGIT.sub(" ", asked.text)
        said = frozenset(stems(f"{claim[: asked.start]} {unit} {claim[asked.end :]}"))
        named = [_another(asked, said, ours, table) for table in tables]
        found = [each for each in named if each is not None]
        if found and all(found):
            yield asked.text, found[0]


def _another(asked: "_Asked", said: frozenset[str], ours: frozenset[Decimal], table: Table) -> str | None:
    """What the claim names instead of the cells that have this value: '' where one of them fits, None where
    the table has no such cell, or has it in a head or a label."""
    values = {asked.value, asked.unscaled}
    if any(values & numbers_in(cell) for cell in (*table.head, *(row.cells[0] for row in table.rows))):
        return ""
    places = _places(values, table)
    if not places:
        return None
    if asked.counted and not all(_hits(row, column, said) for row, column in places):
        return ""
    named = [
        _other_unit(column, asked, table)
        or _other_row(row, column, said, ours, table)
        or _other_column(row, column, said, ours, asked, table)
        for row, column in places
    ]
    return named[0] if all(named) else ""


def _places(values: Collection[Decimal], table: Table) -> list[tuple[Row, int]]:
    """The cells that have one of these values, each as its row and the number of its column."""
    return [
        (row, column)
        for row in table.rows
        for column, cell in enumerate(row.cells)
        if column and _is_value(cell) and not numbers_in(cell).isdisjoint(values)
    ]


def _other_unit(column: int, asked: "_Asked", table: Table) -> str:
    """The head of a column whose cells have another unit than the claim gives them."""
    head = table.head[column]
    own = [unit for unit in units_in(head) for ours in asked.units if unit.dimension == ours.dimension]
    return head if own and not set(own) & set(asked.units) else ""


def _other_row(row: Row, column: int, said: frozenset[str], ours: frozenset[Decimal], table: Table) -> str:
    """The label of a row that the claim names, and says more of than of this one."""
    here = _hits(row, column, said)
    for other in (*table.rows, *table.others):
        if other is row or not _differs(row.cells[column], other.cells[column], ours):
            continue
        label = next(
            (
                cell
                for each, cell in enumerate(other.cells)
                if each != column and _is_key(cell) and _is_named(cell, said) and not _of(cell) <= here
            ),
            "",
        )
        if label and here < _hits(other, column, said):
            return label
    return ""


def _other_column(
    row: Row, column: int, said: frozenset[str], ours: frozenset[Decimal], asked: "_Asked", table: Table
) -> str:
    """The head of a column that the claim names, and says more of than of this one."""
    here = _of(table.head[column]) & said
    share = any(unit.dimension == "percent" for unit in asked.units)
    for other, head in enumerate(table.head):
        if not other or other == column or not _may_be_meant(row, column, other, ours, table):
            continue
        if share and not {"%", "‰"} & set(head + row.cells[other]):
            continue
        if _is_named(head, said) and here < _of(head) & said:
            return head
    return ""


def _may_be_meant(row: Row, column: int, other: int, ours: frozenset[Decimal], table: Table) -> bool:
    """Whether another column of a row may be that of a claim: it has its value, or no value at all
    where it and the column of the number measure the same, as debit and credit do."""
    if row.cells[other].strip("-–— "):
        return _is_rival(row.cells[column], row.cells[other], ours)
    return bool(set(units_in(table.head[column])) & set(units_in(table.head[other])))


def _differs(cell: str, other: str, ours: frozenset[Decimal]) -> bool:
    """Whether another cell has a value that the claim does not give."""
    two = numbers_in(other)
    return _is_value(other) and not two & ours and not numbers_in(cell) & two


def _is_rival(cell: str, other: str, ours: frozenset[Decimal]) -> bool:
    """The same of a cell in another column, whose value is of the same kind."""
    return _differs(cell, other, ours) and _are_years(numbers_in(cell)) == _are_years(numbers_in(other))


def _hits(row: Row, column: int, said: frozenset[str]) -> frozenset[str]:
    """What a claim says of a row, but for the cell of its number."""
    return frozenset[str]().union(
        *(_of(cell) & said for each, cell in enumerate(row.cells) if each != column and _is_key(cell))
    )


def _is_named(cell: str, said: frozenset[str]) -> bool:
    return bool(_of(cell)) and _of(cell) <= said


def _is_key(cell: str) -> bool:
    """Whether a cell may tell its row from others: words, or a year."""
    found = numbers_in(cell)
    return not found or _are_years(found) or not _is_value(cell)


@lru_cache(maxsize=4096)
def _is_value(cell: str) -> bool:
    return _VALUE.fullmatch(cell) is not None


def _are_years(found: frozenset[Decimal]) -> bool:
    return all(_FIRST_YEAR <= value <= _LAST_YEAR for value in found)


@lru_cache(maxsize=4096)
def _of(cell: str) -> frozenset[str]:
    return frozenset(stems(cell))


@lru_cache(maxsize=4096)
def numbers_in(text: str) -> frozenset[Decimal]:
    """The values of the numbers of a text."""
    read = {quantity.value for quantity in quantities(text) if quantity.kind in _READ}
    return frozenset(read | {_decimal(found[0]) for found in _IN_CHINESE.finditer(f"一{text}一")})


class _Asked(NamedTuple):
    """A number of a claim that it must have read somewhere."""

    value: Decimal
    unscaled: Decimal
    """The same before its scale word, as a table in thousands has it."""

    text: str
    start: int
    end: int
    units: tuple[Unit, ...] = ()
    counted: str = ""
    """The word behind a small number, which may be counted in the table."""


def _asked(claim: str, spoken: str) -> Iterator[_Asked]:
    for quantity in quantities(claim, spoken):
        if _must_be_read(quantity, claim):
            counted = _counted(quantity, claim)
            if quantity.value > _LARGEST_COUNT or quantity.units or counted:
                yield _Asked(
                    quantity.value,
                    _as_in_table(quantity),
                    quantity.text,
                    quantity.start,
                    quantity.end,
                    quantity.units,
                    counted,
                )
    for found in _IN_CHINESE.finditer(claim):
        value = _decimal(found[0])
        yield _Asked(value, value, found[0], found.start(), found.end())


def _as_in_table(quantity: Quantity) -> Decimal:
    """The number before its scale word, where it has digits enough to be no other one."""
    long = len(quantity.unscaled.as_tuple().digits) >= _MIN_DIGITS
    return quantity.unscaled if long else quantity.value


def _must_be_read(quantity: Quantity, claim: str) -> bool:
    """Whether a claim must have read a number: no bound, difference, or date within a year."""
    return quantity.kind in _READ and not (
        quantity.hedge
        or is_idle(quantity, claim)
        or is_difference(quantity, claim)
        or _MORE.match(claim, quantity.end)
        or any(reading.month for reading in quantity.dates)
        or _BOUND.search(claim, max(0, quantity.start - _NEAR), quantity.start)
    )


def _counted(quantity: Quantity, claim: str) -> str:
    """The word behind a small number in digits, '' for none and for a number that is not small."""
    if quantity.value > _LARGEST_COUNT or quantity.units or quantity.spelled:
        return ""
    return next((word.form for word in words(claim[quantity.end : quantity.end + _NEAR])), "")


def _is_of_column(counted: str, table: Table) -> bool:
    """Whether a word is all of the head of a column of numbers, whose rows are not counted."""
    said = frozenset(stems(counted))
    return any(
        column and said and _of(head) == said and all(_is_value(row.cells[column]) for row in table.rows)
        for column, head in enumerate(table.head)
    )


def _decimal(digits: str) -> Decimal:
    """A number of a Chinese text, where commas part thousands."""
    return Decimal(digits.replace(",", ""))


def _table(place: CitedLines) -> Table | None:
    if place.last - place.first >= MAX_ROWS:
        return None
    lines = place.source.lines
    return table_at(
        lambda number: line(lines, number), place.first, place.last, place.evidence.media_type, len(lines)
    )


def _beside(place: CitedLines, table: Table | None) -> frozenset[Decimal]:
    """The numbers of the cited lines that are no row of its table, and of what names their source."""
    rows = {row.line for row in table.rows} if table else set()
    cited = range(place.first, min(place.last, place.first + MAX_ROWS) + 1)
    said = [line(place.source.lines, number) for number in cited if number not in rows]
    return frozenset[Decimal]().union(*map(numbers_in, (*said, *place.headings)))
