"""Passages: a chunk cut into runs of whole lines short enough to be one vector and one hit. Pure."""

from collections.abc import Iterator
from typing import NamedTuple

from vera.corpus.windows import MAX_LINES

WORDS = 100


class Piece(NamedTuple):
    """Lines `first` to `last` (indices from 0) of a chunk."""

    first: int
    last: int


def pieces(text: bytes) -> Iterator[Piece]:
    """The passages of a chunk, in order: each ends with the line that makes it 100 words or 8 lines.

    What holds no letter and no figure is no passage. A script without spaces counts its bytes, six to a word.
    """
    lines = text.removesuffix(b"\n").split(b"\n")
    first, words, telling = 0, 0, False
    for at, line in enumerate(lines):
        words += max(len(line.split()), len(line) // 12)
        telling = telling or any(map(str.isalnum, line.decode(errors="replace")))
        if words >= WORDS or at - first + 1 == MAX_LINES or at + 1 == len(lines):
            if telling:
                yield Piece(first, at)
            first, words, telling = at + 1, 0, False
