"""The terminal that a command prints to: how wide it is, and lines that fit it."""

import os
import re
import shutil
import sys
from collections.abc import Iterator

_BEGINS = re.compile(r"\s*(?:>\s*|\d{1,9}[ :|]\s*)?")
"""What a line begins with that its continuation is set under: blanks, the mark of a quote, a line number."""

_MIN_TEXT = 20


def columns() -> int | None:
    """The width of the terminal, None where the output is no terminal and COLUMNS is not set."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() or os.environ.get("COLUMNS") else None


def fitted(text: str, width: int | None) -> str:
    """`text` with its lines broken between words, so that none is wider than `width`; a word that is wider by
    itself stays whole. None leaves it as it is."""
    if width is None:
        return text
    return "\n".join(piece for line in text.split("\n") for piece in _broken(line, width))


def _broken(line: str, width: int) -> Iterator[str]:
    from rich.cells import cell_len

    if cell_len(line) <= width:
        yield line
        return
    found = _BEGINS.match(line)
    begins = found[0] if found else ""
    under = "".join(">" if each == ">" else " " for each in begins)
    if width - cell_len(begins) < _MIN_TEXT:
        under = ""
    piece, empty = begins, True
    for word in re.findall(r"\S+\s*", line[len(begins) :]):
        if not empty and cell_len((piece + word).rstrip()) > width:
            yield piece.rstrip()
            piece = under
        piece, empty = piece + word, False
    yield piece.rstrip()
