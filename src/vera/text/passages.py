"""Passages: the places of one text that are most about something, by BM25 (Robertson and Zaragoza 2009).

A passage is a line of the canonical text; a very long line is cut into windows. A passage also has a share
of its neighbours' scores: what speaks of "he" or "the company" is beside the line with the name. Built
once for a text; a query then costs no more than the places where its words stand.
"""

import heapq
import math
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import msgspec

from vera.text.words import stems

WINDOW = 1000
"""Characters of the longest passage."""

_K1 = 0.9
_B = 0.4
_NEIGHBOURS = ((-2, 0.1), (-1, 0.2), (1, 0.2), (2, 0.1))


class Passage(msgspec.Struct, frozen=True):
    """Lines `first` to `last` (from 1) and, of the first of them, the characters `start` to `end`."""

    first: int
    last: int
    start: int
    end: int
    text: str
    score: float


class Cover(msgspec.Struct, frozen=True):
    """Where most of a set of weighted stems stands together: lines `first` to `last`, the stems `held`."""

    first: int
    last: int
    held: frozenset[str]


class Passages:
    """The passages of one text, indexed by stem. Blank lines are none."""

    def __init__(self, lines: Sequence[str] | str) -> None:
        self._lines = lines.split("\n") if isinstance(lines, str) else lines
        self._places: list[tuple[int, ...]] = []
        self._lengths: list[int] = []
        self._postings: dict[str, list[tuple[int, ...]]] = defaultdict(list)
        for place in _places(self._lines):
            self._add(place)
        self._mean = sum(self._lengths) / len(self._lengths) if self._lengths else 1.0

    def __len__(self) -> int:
        return len(self._places)

    @property
    def stems(self) -> frozenset[str]:
        """The stems of the content words of the whole text."""
        return frozenset(self._postings)

    def best(self, query: str, k: int) -> tuple[Passage, ...]:
        """The `k` passages with the highest scores, best first, the earlier one of equals first.

        Where fewer have a score, the head of the text fills up: it says what the text is about.
        """
        scores: dict[int, float] = defaultdict(float)
        for index, score in self._scores(query).items():
            scores[index] += score
            for distance, share in _NEIGHBOURS:
                if 0 <= index + distance < len(self):
                    scores[index + distance] += share * score
        for index in range(min(k, len(self))):
            scores.setdefault(index, 0.0)
        chosen = heapq.nsmallest(k, ((-score, index) for index, score in scores.items()))
        return tuple(self._passage(index, -score) for score, index in chosen)

    def cover(self, weights: Mapping[str, int], width: int, first: int, last: int) -> Cover:
        """The `width` consecutive passages within lines `first` to `last` that hold the most of `weights`."""
        where = {stem: self._within(stem, first, last) for stem in sorted(weights)}
        gains: dict[int, int] = defaultdict(int)
        for stem, indices in where.items():
            for start in {start for index in indices for start in range(index - width + 1, index + 1)}:
                if start >= 0:
                    gains[start] += weights[stem]
        if not gains:
            return Cover(first, last, frozenset())
        start = min(gains, key=lambda index: (-gains[index], index))
        end = min(start + width, len(self)) - 1
        held = frozenset(
            stem for stem, indices in where.items() if any(start <= index <= end for index in indices)
        )
        inside = max(self._places[start][0], first), min(self._places[end][0], last)
        return Cover(*inside, held)

    def _within(self, stem: str, first: int, last: int) -> list[int]:
        """The passages within lines `first` to `last` that have the stem."""
        low, high = bisect_left(self._places, (first,)), bisect_left(self._places, (last + 1,))
        found = self._postings.get(stem, [])
        return [index for index, _ in found[bisect_left(found, (low,)) : bisect_left(found, (high,))]]

    def _scores(self, query: str) -> dict[int, float]:
        scores: dict[int, float] = defaultdict(float)
        for stem in sorted(set(stems(query))):
            found = self._postings.get(stem, ())
            rarity = math.log(1 + (len(self) - len(found) + 0.5) / (len(found) + 0.5))
            for index, count in found:
                norm = _K1 * (1 - _B + _B * self._lengths[index] / self._mean)
                scores[index] += rarity * count * (_K1 + 1) / (count + norm)
        return scores

    def _add(self, place: tuple[int, int, int]) -> None:
        line, start, end = place
        counts = Counter(stems(self._lines[line - 1][start:end]))
        index = len(self._places)
        self._places.append(place)
        self._lengths.append(counts.total())
        for stem, count in counts.items():
            self._postings[stem].append((index, count))

    def _passage(self, index: int, score: float) -> Passage:
        line, start, end = self._places[index]
        return Passage(line, line, start, end, self._lines[line - 1][start:end], score)


def _places(lines: Sequence[str]) -> Iterator[tuple[int, int, int]]:
    """Line number, start and end of each passage; windows end at a space where there is one near."""
    for number, line in enumerate(lines, 1):
        if not line or line.isspace():
            continue
        start = 0
        while len(line) - start > WINDOW:
            space = line.rfind(" ", start + WINDOW // 2, start + WINDOW)
            end = space if space != -1 else start + WINDOW
            yield number, start, end
            start = end
        yield number, start, len(line)
