"""Spans: a place in a canonical text, by bytes, and the lines that people cite.

A selector by position in the sense of the W3C Web Annotation model (TextPositionSelector), over bytes
instead of characters, with the hash of what was there.
"""

import hashlib
from bisect import bisect_right

import msgspec


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """Bytes `start` to `end` (exclusive) of the canonical text whose sha256 is `source`.

    `first` and `last` are the line numbers (from 1) that the span covers; `sha256` is that of the bytes.
    """

    source: str
    start: int
    end: int
    first: int
    last: int
    sha256: str


class Lines:
    """The lines of one canonical text, found once: line n (from 1) is `text[starts[n-1]:ends[n-1]]`."""

    def __init__(self, text: bytes) -> None:
        self.text = text
        self._starts = [0]
        position = text.find(b"\n")
        while position != -1:
            self._starts.append(position + 1)
            position = text.find(b"\n", position + 1)
        if self._starts[-1] == len(text):
            self._starts.pop()

    def __len__(self) -> int:
        return len(self._starts)

    def bounds(self, first: int, last: int) -> tuple[int, int]:
        """The byte range of lines `first` to `last`, without the last line's newline.

        Raises IndexError when the lines do not exist.
        """
        if not 1 <= first <= last <= len(self._starts):
            raise IndexError(f"lines {first}-{last} of a text with {len(self._starts)} lines")
        end = self._starts[last] - 1 if last < len(self._starts) else len(self.text.removesuffix(b"\n"))
        return self._starts[first - 1], end

    def cut(self, first: int, last: int) -> bytes:
        """The bytes of lines `first` to `last`. Raises IndexError as `bounds` does."""
        start, end = self.bounds(first, last)
        return self.text[start:end]

    def span(self, source: str, first: int, last: int) -> Span:
        """The span of lines `first` to `last` of the text whose sha256 is `source`."""
        start, end = self.bounds(first, last)
        digest = hashlib.sha256(self.text[start:end]).hexdigest()
        return Span(source=source, start=start, end=end, first=first, last=last, sha256=digest)

    def number_at(self, offset: int) -> int:
        """The number of the line that holds the byte at `offset`."""
        return bisect_right(self._starts, offset)
