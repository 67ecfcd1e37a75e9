"""Entries that explain a term without repeating it: of a glossary, the name line of a manual page.

In a glossary each term has a line alone, with its explanation on the next one. Such a line is a heading, and
a heading proves nothing; so there have to be several, and what follows has to name a thing and state nothing.
"""

import re
from collections.abc import Sequence
from itertools import pairwise, starmap, takewhile

from vera.builtin import patterns
from vera.builtin.defining import LEAST_SAID, SAME, subjects_of, thing_of
from vera.builtin.layout import Piece, asks
from vera.builtin.lexicon import ARTICLES, CLASS_NOUNS, DOING, NO_ENTRY, NO_LONGER, STATING, WHICH
from vera.builtin.question import Kind, Question
from vera.builtin.words import affinity, words

LEAST_ENTRIES = 3
"""Terms with their explanations that make a glossary."""
MAX_TERM_WORDS = 4

_ASKS_WHAT_IT_DOES = re.compile(r"^\W*(?:what (?:do|does|did|will)\b.{1,200}\bdo\b|(?:was|que) (\w{2,30})\b)")
"""Groups the verb of a German or a French question."""
_OF_NAMES = frozenset(("name", "nom", "bezeichnung"))
"""Headings of the name line of a manual page."""


class Entries:
    """The entries among the pieces of an excerpt."""

    def __init__(self, question: Question, pieces: Sequence[Piece]) -> None:
        self._question = question
        self._pieces = pieces
        self._is_glossary = sum(starmap(_is_entry, pairwise(pieces))) >= LEAST_ENTRIES

    def term(self, first: int, text: str) -> str:
        """The term that a sentence, which begins with the piece `first`, explains, if it is the whole thing
        whose meaning or work the question asks for, else ''."""
        piece = self._pieces[first]
        title = piece.context[-1] if piece.context else ""
        found = ""
        if piece.first == 1 or not _OF_NAMES.isdisjoint(each.lower() for each in piece.context):
            found = _named(text)
        elif first and self._is_explained(self._pieces[first - 1], piece, text):
            found = title
        return found if found and _is_asked(self._question, found) else ""

    def _is_explained(self, term: Piece, piece: Piece, text: str) -> bool:
        """Whether a text that begins with a piece explains the term before it, as a glossary does."""
        return self._is_glossary and _is_entry(term, piece) and _explains(text)


def is_left_out(form: str) -> bool:
    """Whether an entry leaves a word of its question out: the sort of thing that its term is ("program"), and
    that it does something."""
    return form in CLASS_NOUNS or form in DOING


def _is_entry(term: Piece, text: Piece) -> bool:
    """Whether a short line, no question, has a paragraph on the very next line."""
    beside = term.heading and not text.heading and text.first == term.last + 1
    return beside and len(term.words) <= MAX_TERM_WORDS and not asks(term.text)


def _is_asked(question: Question, term: str) -> bool:
    telling = [word for word in words(term) if word.form not in ARTICLES]
    if question.kind is Kind.DEFINITION:
        subjects = subjects_of(question)
        return len(telling) == len(subjects) > 0 and all(
            affinity(one, other) >= SAME for one, other in zip(subjects, telling, strict=True)
        )
    thing = thing_of(question.text) if _asks_what_it_does(question) else ()
    return bool(thing) and tuple(word.stem for word in telling) == thing


def _asks_what_it_does(question: Question) -> bool:
    asked = _ASKS_WHAT_IT_DOES.match(question.text.lower()) if question.kind is Kind.ANY else None
    return asked is not None and (asked.group(1) or "do") in DOING


def _named(text: str) -> str:
    """The name that the name line of a manual page explains, '' of others: "ntpd(8) - time daemon"."""
    match = patterns.NAME_LINE.match(text)
    begins = next(words(match.group(2)), None) if match else None
    return match.group(1) if match and begins and begins.form not in NO_ENTRY else ""


def _explains(text: str) -> bool:
    """Whether a sentence names what a term is, "Jargon for a server that …", and states nothing of it."""
    head = list(takewhile(lambda word: word.form not in WHICH, words(text)))
    return (
        len(head) >= LEAST_SAID
        and head[0].form not in NO_ENTRY
        and STATING.isdisjoint(word.form for word in head)
        and NO_LONGER.isdisjoint(word.form for word in head)
        and patterns.DENIES.search(text[: head[-1].end]) is None
    )
