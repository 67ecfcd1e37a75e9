"""The text of the answer: where the extracts stand, and honestly what they are."""

from collections.abc import Sequence

from vera.model.extractive.scoring import Window

_EXTRACTS = (
    "These are extracts chosen by word match, not a synthesis: no language model was configured or found."
)
_NOTHING = (
    "No lines were found that answer this question. Extracts are chosen by word match, without a synthesis: "
    "no language model was configured or found."
)
_UNSURE = (
    "No lines were found that answer this question for sure: something of it is missing in those below, the "
    "nearest. Extracts are chosen by word match, without a synthesis: no language model was configured or "
    "found."
)
_NEAREST = "Nearest lines found"
_NO_DOCUMENTS = (
    "No documents were given to look in: name a folder with --input-dir, or start a model server "
    "(vera doctor says what this machine has)."
)
_QUERIES_NAMED = 4


def answer_text(chosen: Sequence[Window], searches: Sequence[str], documents: bool = True) -> str:
    """The final answer: one line a citation, best first; what was searched when there is none.

    Nothing is quoted here: the harness cuts the quotes from the stored bytes.
    """
    if chosen and chosen[0].sure:
        return "\n".join([_EXTRACTS, *(f"{rank}. {_cited(window)}" for rank, window in enumerate(chosen, 1))])
    if chosen:
        return "\n".join([_UNSURE, *(f"{rank}. {_near(window)}" for rank, window in enumerate(chosen, 1))])
    return "\n".join([_NOTHING, *(_searched(searches) if documents else [_NO_DOCUMENTS])])


def _near(window: Window) -> str:
    """A statement that no lines support, so that nothing is verified by it."""
    return f"{_NEAREST} [{window.evidence}:{window.first}-{window.last}]"


def _cited(window: Window) -> str:
    return f"{_plain(window.path)} [{window.evidence}:{window.first}-{window.last}]"


def _searched(searches: Sequence[str]) -> list[str]:
    if not searches:
        return ["No search could be made: the question holds no word to search for, or every search failed."]
    named = "; ".join(f"“{_plain(query)}”" for query in searches[:_QUERIES_NAMED])
    return [f"Searched the input files for: {named}."]


def _plain(text: str) -> str:
    """A name that cannot be taken for a citation or a second line."""
    shown = (char if char.isprintable() and char not in "[]【】" else " " for char in text)
    return " ".join("".join(shown).split())
