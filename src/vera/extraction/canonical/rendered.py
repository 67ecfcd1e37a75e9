"""Text that was taken out of a format with markup: made clean, normalised, folded."""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from vera.extraction.canonical.lines import LINE_LIMIT, fold
from vera.extraction.source import Unreadable

TEXT_LIMIT = 64 << 20
"""Bytes of text that one document may give; small files that unfold to more are attacks or data sets."""

_RAISED = str.maketrans("0123456789+-−", "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁻")
_RAISED_NUMBER = re.compile("[\ufdd0-\ufdd3]?[+\\-−]?[0-9]{1,8}[\ufdd0-\ufdd3]?")
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufffe\uffff\ud800-\udfff]")
# Zero-width characters, and the invisible tag characters that carry hidden instructions.
_INVISIBLE = re.compile("[\u200b\u2060\ufeff\U000e0000-\U000e007f]")


def raised_number(text: str) -> str:
    """A number that the page raises, in raised digits: 10⁶ must not read as 106, nor 1990³ as 19903. Any
    other text stays."""
    return text.translate(_RAISED) if _RAISED_NUMBER.fullmatch(text) else text


def canonical(lines: Iterable[str]) -> bytes:
    """UTF-8 in Unicode normalisation form C, without control and invisible characters, lines folded.

    Blank lines at the ends are dropped and several between lines become one. Raises Unreadable when the
    text is larger than TEXT_LIMIT.
    """
    return b"".join(line + b"\n" for line in canonical_lines(lines))


def canonical_lines(lines: Iterable[str]) -> list[bytes]:
    """The lines of `canonical`, without their newlines."""
    kept: list[bytes] = []
    size = 0
    for line in lines:
        for clean in _clean(line):
            if not clean and (not kept or not kept[-1]):
                continue
            kept.append(clean)
            size += len(clean) + 1
        if size > TEXT_LIMIT:
            raise Unreadable(f"its text is larger than {TEXT_LIMIT >> 20} MB")
    while kept and not kept[-1]:
        kept.pop()
    return kept


def table_row(cells: Sequence[Sequence[str]], *, fixed: bool = False) -> list[str]:
    """The lines of a table row, given the lines of each cell.

    It is one line with tabs between the cells, unless a cell has several lines and the row would not fit
    in one (a table that only arranges a page), or the lines are `fixed` (code, a table in a cell).
    """
    tall = any(len(cell) > 1 for cell in cells)
    if not (tall and fixed):
        joined = "\t".join(" ".join(cell) for cell in cells).rstrip("\t")
        if not tall or len(joined) <= LINE_LIMIT:
            return [joined] if joined else []
    return [line for cell in cells for line in cell]


def _clean(line: str) -> list[bytes]:
    if len(line) <= LINE_LIMIT and line.isascii() and line.isprintable():
        return [line.rstrip().encode()]  # nearly every line
    if not line.isascii():
        line = _INVISIBLE.sub("", line)
    line = _CONTROL.sub(" ", line).rstrip()
    if line.isascii():
        return fold(line.encode()).split(b"\n")
    # Folded first: normalising a run of thousands of combining marks takes quadratic time.
    pieces = fold(line.encode()).decode().split("\n")
    normal = "\n".join(unicodedata.normalize("NFC", piece) for piece in pieces)
    return fold(normal.encode()).split(b"\n")
