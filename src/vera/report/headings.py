"""The headings of a report among its text: they are shown there, and are no part of what was answered."""

from bisect import bisect_right
from collections.abc import Sequence

from vera.events import Heading

MIN_LEVEL, MAX_LEVEL = 2, 6


class Headed:
    """A text with its headings in it. One that lies outside of the text, or has no text, is left out: a log
    may come from anyone."""

    def __init__(self, text: str, headings: Sequence[Heading]) -> None:
        parts, last = [], 0
        self._places: list[int] = []
        self._lengths: list[int] = []
        added = 0
        for heading in headings:
            line = " ".join(heading.text.split())
            if not line or not last <= heading.at <= len(text):
                continue
            block = f"{'#' * min(MAX_LEVEL, max(MIN_LEVEL, heading.level))} {line}\n\n"
            parts += [text[last : heading.at], block]
            last, added = heading.at, added + len(block)
            self._places.append(heading.at)
            self._lengths.append(added)
        self.text = "".join([*parts, text[last:]])

    def place(self, at: int) -> int:
        """Where character `at` of the text stands among the headings; behind one that stands at it."""
        before = bisect_right(self._places, at)
        return at + (self._lengths[before - 1] if before else 0)
