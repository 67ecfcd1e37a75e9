"""How much each word of a question weighs, and how nearly the words of a text are those words."""

import math
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache

import msgspec

from vera.builtin.conversation import Excerpt
from vera.builtin.layout import Piece, pieces
from vera.builtin.question import Question, Term
from vera.builtin.units import is_symbol_of
from vera.builtin.words import Word, affinity, inflects, is_cjk

SYNONYM = 0.6
"""The affinity of a word that the table of synonyms gives for a term."""
SAME_ROOT = 0.75
"""The affinity of another word of the same root, or of another form of a word that is not English."""
COMMON = 0.25
"""The inverse frequency of a word that a large part of the paragraphs seen has: 0 in all, 1 in none."""
_BASE = 0.4
"""What the most common word still weighs."""

_TABULAR = (".csv", ".tsv")


class Lexis(msgspec.Struct, frozen=True):
    """The question's terms with their weights in the texts seen: rare words weigh more. `nowhere` are those
    that no text seen has."""

    terms: tuple[Term, ...]
    weights: tuple[float, ...]
    nowhere: frozenset[int] = frozenset()

    @property
    def total(self) -> float:
        return sum(self.weights) or 1.0

    def is_common(self, index: int) -> bool:
        """Whether so many paragraphs have a term that it tells none from another."""
        return self.weights[index] <= self.terms[index].weight * (_BASE + COMMON)


def weigh(question: Question, excerpts: Iterable[Excerpt]) -> Lexis:
    """Weights by inverse frequency over the paragraphs of all excerpts seen (Spärck Jones 1972).

    The excerpts were found by the question's own words, so the frequencies are of use only among them.
    """
    counts = [0] * len(question.terms)
    total = 0
    matcher = matcher_of(question.terms)
    for excerpt in excerpts:
        blocks: dict[int, set[int]] = {}
        for piece in layout_of(excerpt):
            blocks.setdefault(piece.block, set()).update(matcher.found(piece.words))
        total += len(blocks)
        for found in blocks.values():
            for index in found:
                counts[index] += 1
    weights = tuple(
        # A pair of characters that is nowhere is most likely no word but the border of two.
        0.3
        if not count and is_cjk(term.word.form)
        else term.weight * (_BASE + math.log((total + 1) / (count + 0.5)) / math.log(total + 2))
        for term, count in zip(question.terms, counts, strict=True)
    )
    return Lexis(question.terms, weights, frozenset(index for index, count in enumerate(counts) if not count))


def layout_of(excerpt: Excerpt) -> tuple[Piece, ...]:
    """The pieces of an excerpt's lines."""
    return _layout(tuple(sorted(excerpt.lines.items())), excerpt.path.lower().endswith(_TABULAR))


@lru_cache(maxsize=128)
def _layout(lines: tuple[tuple[int, str], ...], tabular: bool) -> tuple[Piece, ...]:
    """Remembered: every turn of a run sees the excerpts of all turns before it."""
    return tuple(pieces(dict(lines), tabular=tabular))


@lru_cache(maxsize=8)
def matcher_of(terms: tuple[Term, ...]) -> "Matcher":
    """The matcher of a question's terms, with what it found out before."""
    return Matcher(terms)


class Matcher:
    """Finds question terms among words; remembers the affinities, as texts repeat their words.

    Terms go by their index in the question.
    """

    def __init__(self, terms: Sequence[Term]) -> None:
        self._terms = terms
        self._known: dict[str, tuple[tuple[int, float], ...]] = {}

    def matches(self, word: Word) -> tuple[tuple[int, float], ...]:
        """The terms that a word may stand for, each with the affinity."""
        known = self._known.get(word.form)
        if known is None:
            known = tuple(self._compare(word))
            self._known[word.form] = known
        return known

    def found(self, tokens: Iterable[Word]) -> set[int]:
        """The terms that surely stand among the words."""
        return {index for word in tokens for index, value in self.matches(word) if value >= SAME_ROOT}

    def vector(self, tokens: Iterable[Word]) -> list[float]:
        """The best affinity of each term with any of the words."""
        best = [0.0] * len(self._terms)
        for word in tokens:
            for index, value in self.matches(word):
                best[index] = max(best[index], value)
        return best

    def _compare(self, word: Word) -> Iterator[tuple[int, float]]:
        for index, term in enumerate(self._terms):
            value = affinity(term.word, word)
            if value < SYNONYM and any(affinity(other, word) >= 0.95 for other in term.alternatives):
                value = SYNONYM
            if value < SAME_ROOT and (
                is_symbol_of(term.word.form, word.form)
                or (term.foreign and inflects(term.word.form, word.form))
            ):
                value = SAME_ROOT
            if value > 0:
                yield index, value


def longest_run(asked: Sequence[str], seen: Sequence[Word]) -> float:
    """The longest run of the question's words, stop words too, that stands here: 0 to 1 (five words)."""
    best = 0
    before = [0] * (len(asked) + 1)
    for word in seen:
        now = [0] * (len(asked) + 1)
        for index, form in enumerate(asked, 1):
            if form == word.stem:
                now[index] = before[index - 1] + 1
                best = max(best, now[index])
        before = now
    return min(1.0, max(0, best - 1) / 4)


def closeness(left: Sequence[int], right: Sequence[int]) -> float:
    """1 for neighbours in order, less with distance and in the other order; looks at 20 places each."""
    best = 0.0
    for one in left[:20]:
        for other in right[:20]:
            gap = other - one
            if gap:
                best = max(best, 1.0 / (1 + 0.25 * (abs(gap) - 1)) * (1.0 if gap > 0 else 0.8))
    return best if best >= 0.3 else 0.0
