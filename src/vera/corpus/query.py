"""A query: any string, read into words and phrases of which each has its weight in this collection."""

import math
import re
from collections.abc import Callable, Iterable
from itertools import islice

import msgspec

from vera.corpus.analyzer import Analyzer
from vera.corpus.tokens import forms, parts, spaced, words
from vera.text.stopwords import stop_words

MAX_CHARACTERS = 4000
MAX_WORDS = 40
MAX_PHRASES = 8
_MAX_WORD_LENGTH = 64
_QUOTED = re.compile(r'"([^"]*)"|“([^”]*)”|«([^»]*)»')


class Term(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that is looked for: a word, or a phrase that was quoted.

    `match` is the FTS5 expression for it and `stems` the sequences of stems of which one must be in a
    text. `frequency` counts the chunks and `name_frequency` the file names that hold it; `weight` and
    `name_weight` say how much of the query's sense it carries there (the inverse document frequency of
    Robertson and Spärck Jones).
    """

    word: str
    match: str
    stems: tuple[tuple[str, ...], ...]
    frequency: int
    name_frequency: int
    weight: float
    name_weight: float


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """The terms of a query in the order in which they were written; `phrases` are those in quotes."""

    terms: tuple[Term, ...]
    phrases: tuple[Term, ...] = ()


class Counts(msgspec.Struct, frozen=True, kw_only=True):
    """What the index knows of frequencies: totals, and how many chunks and names match an expression."""

    chunks: int
    names: int
    of_chunks: Callable[[str], int]
    of_names: Callable[[str], int]


def read(text: str, counts: Counts, analyzer: Analyzer) -> Query:
    """The query that a person or a model typed. Never raises: what cannot be searched is left out."""
    clean = text[:MAX_CHARACTERS].encode(errors="replace").decode().replace("\0", " ")
    quoted = ["".join(match.groups("")).strip() for match in _QUOTED.finditer(clean)][:MAX_PHRASES]
    phrases = [_term(phrase, (phrase,), counts, analyzer) for phrase in quoted if phrase]
    said = list(dict.fromkeys(word[:_MAX_WORD_LENGTH] for word in words(clean)))
    stopped = stop_words([word.lower() for word in said])
    telling = [word for word in said if word.lower() not in stopped] or said
    terms = (term for word in telling for term in _terms_of(word, counts, analyzer))
    return Query(terms=_distinct(islice(terms, MAX_WORDS)), phrases=_distinct(phrases))


def _terms_of(word: str, counts: Counts, analyzer: Analyzer) -> list[Term | None]:
    whole = _term(word, forms(word), counts, analyzer)
    pieces = parts(word)
    if whole and (whole.frequency or whole.name_frequency or len(pieces) < 2):
        return [whole]
    return [_term(piece, (piece,), counts, analyzer) for piece in pieces]


def _term(word: str, written: tuple[str, ...], counts: Counts, analyzer: Analyzer) -> Term | None:
    stems = tuple(dict.fromkeys(sequence for sequence in analyzer.stems(written) if sequence))
    if not stems:
        return None
    match = "(" + " OR ".join('"' + spaced(form).replace('"', " ") + '"' for form in written) + ")"
    frequency, name_frequency = counts.of_chunks(match), counts.of_names(match)
    return Term(
        word=word,
        match=match,
        stems=stems,
        frequency=frequency,
        name_frequency=name_frequency,
        weight=_weight(counts.chunks, frequency),
        name_weight=_weight(counts.names, name_frequency),
    )


def _weight(total: int, having: int) -> float:
    return math.log1p((max(total - having, 0) + 0.5) / (having + 0.5))


def _distinct(terms: Iterable[Term | None]) -> tuple[Term, ...]:
    found: dict[tuple[tuple[str, ...], ...], Term] = {}
    for term in terms:
        if term is not None:
            found.setdefault(term.stems, term)
    return tuple(found.values())
