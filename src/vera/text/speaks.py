"""Whether lines speak of a question at all: no judgement of what they say."""

from collections.abc import Iterable

from vera.text.words import stems

SHARE = (2, 3)
"""Of the question's content words, how many a line holds that speaks of it."""

QUESTION_LIMIT = 4000


def speaks_of(question: str, texts: Iterable[str]) -> bool:
    """Whether a line of the texts holds two thirds of the question's content words, and each of its numbers.

    A question without content words is spoken of by any line.
    """
    asked = frozenset(stems(question[:QUESTION_LIMIT]))
    numbers = frozenset(stem for stem in asked if any(map(str.isdigit, stem)))
    part, whole = SHARE
    return any(
        numbers <= held and whole * len(held) >= part * len(asked)
        for text in texts
        for line in text.split("\n")
        for held in (asked & frozenset(stems(line)),)
        if line.strip()
    )
