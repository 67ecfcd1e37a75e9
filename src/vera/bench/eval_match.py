"""Whether a text states the answer that is known: the matching rule of `vera eval`. No model applies it."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from vera.text.quantity import Quantity, quantities
from vera.text.quantity_index import QuantityIndex, backed
from vera.text.quantity_kinds import Kind
from vera.text.units import Unit

RULE = (
    "An answer is right when its text states one of the accepted answers: a number, amount or date by value, "
    "also when it is written otherwise, converted or rounded to the digits of the accepted one; anything "
    "else word for word, case, accents and punctuation aside. Of an answer that only points at lines (the "
    "built-in model's) the lines that it cites first are its text."
)
MAX_TEXT_LENGTH = 200_000
"""Characters of an answer that are read."""

_TOKEN = re.compile(r"\d+(?:[.,]\d+)*|[^\W\d_]+|[%‰°€$£¥]")
_ARTICLES = frozenset(("the", "a", "an"))
_HEDGES = frozenset(("about", "approximately", "roughly", "exactly", "some", "of"))


def states(text: str, accepted: Iterable[str]) -> bool:
    """Whether `text` states one of the accepted answers, by `RULE`."""
    text = text[:MAX_TEXT_LENGTH]
    index: QuantityIndex | None = None
    tokens: str | None = None
    for answer in accepted:
        wanted = values_of(answer)
        if wanted:
            index = index or QuantityIndex(quantities(text))
            if all(backed(each, index) for each in wanted):
                return True
        else:
            tokens = tokens or _spaced(_tokens(text))
            if _spaced(_bare(answer)) in tokens:
                return True
    return False


def values_of(answer: str) -> tuple[Quantity, ...]:
    """The quantities of an answer that says nothing else; none of any other ("room 6")."""
    found = tuple(quantities(answer))
    rest, start = "", 0
    for quantity in found:
        rest += f"{answer[start : quantity.start]} "
        start = quantity.end
    rest += answer[start:]
    return found if not [token for token in _bare(rest) if token not in _HEDGES | _ARTICLES] else ()


def others(text: str, accepted: Iterable[str]) -> bool | None:
    """Whether `text` holds another value of the kind and unit of an accepted one; None where none is a value.

    A reader of such a text has to choose.
    """
    wanted = [each for answer in accepted for each in values_of(answer)]
    if not wanted:
        return None
    index = QuantityIndex(wanted)
    kinds = {kind for each in wanted for kind in _kinds(each)}
    return any(
        not kinds.isdisjoint(_kinds(each)) and not backed(each, index)
        for each in quantities(text[:MAX_TEXT_LENGTH])
    )


def _kinds(quantity: Quantity) -> list[tuple[Kind, Unit | None]]:
    """The kind of a quantity with each unit that it may have."""
    return [(quantity.kind, unit) for unit in quantity.units or (None,)]


def lines_of(quotation: str, text: str) -> range | None:
    """The lines, from 1, in which a quotation is in a text, None for nowhere."""
    wanted = _tokens(quotation)
    seen = [(token, number) for number, line in enumerate(text.split("\n"), 1) for token in _tokens(line)]
    if not wanted:
        return None
    start = _spaced([token for token, _ in seen]).find(_spaced(wanted))
    if start < 0:
        return None
    first = _spaced([token for token, _ in seen])[:start].count(" ")
    return range(seen[first][1], seen[first + len(wanted) - 1][1] + 1)


def _bare(text: str) -> list[str]:
    """The tokens of a text without an article before them."""
    tokens = _tokens(text)
    return tokens[1:] if len(tokens) > 1 and tokens[0] in _ARTICLES else tokens


def _tokens(text: str) -> list[str]:
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return _TOKEN.findall("".join(char for char in decomposed if not unicodedata.combining(char)))


def _spaced(tokens: Sequence[str]) -> str:
    return f" {' '.join(tokens)} "
