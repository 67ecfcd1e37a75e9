"""Windows: which few lines of a chunk answer a query, and how well. Pure.

A window scores by the weight of the distinct query terms in it (coverage), by neighbours of the query
that are neighbours in the text too, and a little by what is in the rest of the chunk and in the
file's name. Figures were chosen on the development data named in docs/performance.md.
"""

from collections.abc import Mapping, Sequence

import msgspec

from vera.corpus.analyzer import TokenPosition
from vera.corpus.query import Query, Term

MAX_LINES = 8
_REPEATED = 0.1  # a term's second and third occurrence in the window
_NEIGHBOURS = 0.35  # two terms that follow each other in the query and in the text
_NEIGHBOUR_DISTANCE = 3
_REST_OF_CHUNK = 0.3  # a term that stands elsewhere in the chunk
_NAME = 0.8  # a term in the file's name
_SAID_BY_NAME = 0.35  # what such a term still counts in the window: under "GPL-3" any line speaks of the GPL
_COVERED = 0.3  # a term in the window or in the name, once more
_EQUAL = 1e-9
_A_LINE = 0.01  # each further line of the window


Places = Mapping[str, Sequence[TokenPosition]]
"""Where each stem is in one text."""


class Window(msgspec.Struct, frozen=True):
    """Lines `first` to `last` (indices from 0) of a text with its score and the words it holds."""

    first: int
    last: int
    score: float
    matched: tuple[str, ...]


class InName(msgspec.Struct, frozen=True):
    """What of a query a file's name says: which terms (by index), and how much that counts."""

    terms: frozenset[int]
    score: float


def occurrences(term: Term, places: Places) -> Sequence[TokenPosition]:
    """Where a term stands: where the stems of one of its forms follow each other, in order."""
    if len(term.stems) == 1 and len(term.stems[0]) == 1:
        return places.get(term.stems[0][0], ())
    found: set[TokenPosition] = set()
    for first, *rest in term.stems:
        following = [{place.position for place in places.get(stem, ())} for stem in rest]
        found.update(
            place
            for place in places.get(first, ())
            if all(place.position + step in where for step, where in enumerate(following, start=1))
        )
    return sorted(found)


def in_name(query: Query, places: Places) -> InName:
    """How a file's name, with its words at `places`, speaks of a query."""
    terms = query.phrases + query.terms
    where = [occurrences(term, places) for term in terms]
    score = 0.0
    for index, (term, some) in enumerate(zip(terms, where, strict=True)):
        if some:
            score += term.name_weight
        if some and index and _follow(where[index - 1], some):
            score += _NEIGHBOURS * min(term.name_weight, terms[index - 1].name_weight)
    return InName(frozenset(index for index, some in enumerate(where) if some), _NAME * score)


def best_window(query: Query, places: Places, name: InName) -> Window | None:
    """The best window of a chunk whose words stand at `places`, in a file with such a name.

    A file whose name alone speaks of the query is shown by its first line. None when no term of the query
    is in the chunk or in the name.
    """
    terms = query.phrases + query.terms
    where = [occurrences(term, places) for term in terms]
    events = sorted((place.line, place.position, index) for index, some in enumerate(where) for place in some)
    total = (1 + _COVERED) * sum(term.weight for term in terms)
    if not events:
        by_name = name.score + _COVERED * sum(terms[index].weight for index in name.terms)
        return Window(0, 0, by_name / total, ()) if name.terms else None
    weights = [term.weight * (_SAID_BY_NAME if at in name.terms else 1.0) for at, term in enumerate(terms)]
    in_chunk = sum(weight for weight, some in zip(weights, where, strict=True) if some)
    best: Window | None = None
    for at, (first, _, _) in enumerate(events):
        if at and events[at - 1][0] == first:
            continue
        score, last, held = _grow(weights, events, at)
        elsewhere = in_chunk - sum(weights[index] for index in held)
        covered = sum(terms[index].weight for index in held | name.terms)
        whole = (score + _REST_OF_CHUNK * elsewhere + _COVERED * covered + name.score) / total
        if best is None or whole > best.score + _EQUAL:
            best = Window(first, last, whole, tuple(term.word for i, term in enumerate(terms) if i in held))
    return best


def _grow(
    weights: Sequence[float], events: Sequence[tuple[int, int, int]], start: int
) -> tuple[float, int, frozenset[int]]:
    """The best window that begins with the line of events[start]: its score, last line and terms."""
    first = events[start][0]
    counts: dict[int, int] = {}
    latest: dict[int, int] = {}
    paired: set[int] = set()
    score = best = 0.0
    last, held = first, frozenset[int]()
    for at in range(start, len(events)):
        line, position, index = events[at]
        if line - first >= MAX_LINES:
            break
        seen = counts.get(index, 0)
        counts[index] = seen + 1
        score += weights[index] * (1.0 if not seen else _REPEATED if seen < 3 else 0.0)
        distance = position - latest.get(index - 1, position)
        if 0 < distance <= _NEIGHBOUR_DISTANCE and index not in paired:
            paired.add(index)
            score += _NEIGHBOURS * min(weights[index], weights[index - 1])
        latest[index] = position
        if at + 1 < len(events) and events[at + 1][0] == line:
            continue
        compact = score * (1 - _A_LINE * (line - first))
        if compact > best + _EQUAL:
            best, last, held = compact, line, frozenset(counts)
    return best, last, held


def _follow(some: Sequence[TokenPosition], others: Sequence[TokenPosition]) -> bool:
    return any(0 < other.position - one.position <= _NEIGHBOUR_DISTANCE for one in some for other in others)


_SENTENCE_ENDS = tuple(
    mark.encode() for mark in (".", "!", "?", ":", ";", '."', ".)", ".”", "。", "！", "？")
)
_ROUNDING = 3


def rounded_out(window: Window, lines: Sequence[bytes]) -> Window:
    """The window with the lines before and after it to the ends of its sentences, if those are near."""
    first, last = window.first, window.last
    room = MAX_LINES - (last - first + 1)
    before = next((n for n in range(min(_ROUNDING, first) + 1) if _begins(lines, first - n)), 0)
    before = before if before <= room else 0
    after = next((n for n in range(min(_ROUNDING, len(lines) - 1 - last) + 1) if _ends(lines, last + n)), 0)
    after = after if before + after <= room else 0
    return msgspec.structs.replace(window, first=first - before, last=last + after)


def _begins(lines: Sequence[bytes], index: int) -> bool:
    return index == 0 or not lines[index - 1].strip() or lines[index - 1].rstrip().endswith(_SENTENCE_ENDS)


def _ends(lines: Sequence[bytes], index: int) -> bool:
    if lines[index].rstrip().endswith(_SENTENCE_ENDS) or index + 1 == len(lines):
        return True
    return not lines[index + 1].strip()
