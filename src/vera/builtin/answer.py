"""The text of the answer: where the extracts stand, and honestly what they are."""

import re
from collections.abc import Sequence
from unicodedata import category

from vera.builtin.scoring import Window
from vera.disclosure import (
    CLOSEST,
    EXTRACTS,
    NEAREST,
    NO_DOCUMENTS,
    NO_MODEL_ANSWER,
    NO_SEARCH,
    NO_SYNTHESIS,
    NOTHING,
    UNSURE,
)

_QUERIES_NAMED = 4
_HARMLESS = re.compile(r"(\[(?!(?i:ev_))[^\W\d_][\w .,-]{0,100}\](?![(\[:]))")
"""A word in brackets that is neither a citation nor a link."""

_NO_BRACKETS = str.maketrans("[]【】", "    ")


def answer_text(
    chosen: Sequence[Window], searches: Sequence[str], documents: bool = True, *, instead: bool = False
) -> str:
    """The final answer: one line a citation, best first; what was searched when there is none. It says why
    there are only extracts: no model, or with `instead` one without a usable answer.

    A citation may begin with the phrase of its lines that answers ("at least three years"). Nothing else is
    quoted here: the harness cuts the quotes from the stored bytes.
    """
    extracts, no_synthesis = (CLOSEST, NO_MODEL_ANSWER) if instead else (EXTRACTS, NO_SYNTHESIS)
    if chosen and chosen[0].sure:
        return "\n".join([extracts, *(f"{rank}. {_cited(window)}" for rank, window in enumerate(chosen, 1))])
    if chosen:
        return "\n".join(
            [
                f"{UNSURE} {no_synthesis}",
                *(f"{rank}. {_near(window)}" for rank, window in enumerate(chosen, 1)),
            ]
        )
    rest = _searched(searches) if documents else [NO_DOCUMENTS]
    return "\n".join([f"{NOTHING} {no_synthesis}", *rest])


def _near(window: Window) -> str:
    """A label that states nothing, so that nothing is verified by it."""
    return f"{NEAREST} [{window.evidence}:{window.first}-{window.last}]"


def _cited(window: Window) -> str:
    lead = f"“{window.phrase}”: " if window.phrase else ""
    return f"{lead}{_plain(window.path)} [{window.evidence}:{window.first}-{window.last}]"


def _searched(searches: Sequence[str]) -> list[str]:
    if not searches:
        return [NO_SEARCH]
    named = "; ".join(f"“{_plain(query)}”" for query in searches[:_QUERIES_NAMED])
    return [f"Searched the input files for: {named}."]


def _plain(text: str) -> str:
    """A name that cannot be taken for a citation, a link or a second line."""
    parts = _HARMLESS.split(text)
    bare = [part if number % 2 else part.translate(_NO_BRACKETS) for number, part in enumerate(parts)]
    shown = (char if char.isprintable() else " " for char in "".join(bare) if category(char) != "Cf")
    return " ".join("".join(shown).split())
