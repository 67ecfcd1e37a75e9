"""What is struck out on a page of a PDF.

By a StrikeOut annotation (ISO 32000-1, 12.5.6.10), or by a line that is drawn through the middle of the
letters, as word processors and browsers print struck text.
"""

import ctypes
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from vera.extraction.marks import HIDDEN, STRUCK, marked

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

MAX_OBJECTS = 5000
"""Objects of one page that are looked at."""

_MAX_CHARACTERS = 100_000
_MAX_ANNOTATIONS = 1000
_THICKEST = 3.0
_SHORTEST = 2.0
_MIDDLE = (0.28, 0.68)
_BUCKET = 16.0
"""Points."""


class _Strike(NamedTuple):
    """An area: struck out are the characters whose middle lies in it, or that a `line` crosses."""

    left: float
    bottom: float
    right: float
    top: float
    line: bool


def struck_units(page: "PdfPage", text: "PdfTextPage") -> list[tuple[int, int]]:
    """The ranges of UTF-16 code units, in the text that PDFium gives of the page, that are struck out."""
    strikes = [*_annotated(page), *_drawn(page)]
    if not strikes:
        return []
    rows: defaultdict[int, list[_Strike]] = defaultdict(list)
    for strike in strikes:
        for row in range(int(strike.bottom // _BUCKET), int(strike.top // _BUCKET) + 1):
            rows[row].append(strike)
    return joined(_struck_characters(text, rows))


def joined(units: Iterable[int]) -> list[tuple[int, int]]:
    """The ranges of code units that come one after the other."""
    found: list[tuple[int, int]] = []
    for index in units:
        if found and found[-1][1] == index:
            found[-1] = found[-1][0], index + 1
        elif not found or found[-1][1] < index:
            found.append((index, index + 1))
    return found


def _struck_characters(text: "PdfTextPage", rows: dict[int, list[_Strike]]) -> Iterator[int]:
    import pypdfium2.raw as pdfium

    box = pdfium.FS_RECTF()
    for number in range(min(text.count_chars(), _MAX_CHARACTERS)):
        if not pdfium.FPDFText_GetLooseCharBox(text, number, ctypes.byref(box)):
            continue
        x, y = (box.left + box.right) / 2, (box.bottom + box.top) / 2
        near = [strike for row in (-1, 0, 1) for strike in rows.get(int(y // _BUCKET) + row, ())]
        if any(_strikes(strike, x, box.bottom, box.top) for strike in near):
            unit = pdfium.FPDFText_GetTextIndexFromCharIndex(text, number)
            if unit >= 0:
                yield unit


def _strikes(strike: _Strike, x: float, bottom: float, top: float) -> bool:
    if not strike.left <= x <= strike.right or top <= bottom:
        return False
    if not strike.line:
        return strike.bottom <= (bottom + top) / 2 <= strike.top
    height = ((strike.bottom + strike.top) / 2 - bottom) / (top - bottom)
    return _MIDDLE[0] <= height <= _MIDDLE[1] and strike.top - strike.bottom < (top - bottom) / 4


def _drawn(page: "PdfPage") -> Iterator[_Strike]:
    import pypdfium2.raw as pdfium

    left, bottom, right, top = (ctypes.c_float() for _ in range(4))
    for index in range(min(pdfium.FPDFPage_CountObjects(page), MAX_OBJECTS)):
        drawn = pdfium.FPDFPage_GetObject(page, index)
        if pdfium.FPDFPageObj_GetType(drawn) != pdfium.FPDF_PAGEOBJ_PATH:
            continue
        sides = (left, bottom, right, top)
        if not pdfium.FPDFPageObj_GetBounds(drawn, *map(ctypes.byref, sides)):
            continue
        strike = _Strike(left.value, bottom.value, right.value, top.value, line=True)
        if 0 <= strike.top - strike.bottom <= _THICKEST and strike.right - strike.left >= _SHORTEST:
            yield strike


def _annotated(page: "PdfPage") -> Iterator[_Strike]:
    import pypdfium2.raw as pdfium

    for index in range(min(pdfium.FPDFPage_GetAnnotCount(page), _MAX_ANNOTATIONS)):
        annotation = pdfium.FPDFPage_GetAnnot(page, index)
        if not annotation:
            continue
        try:
            if pdfium.FPDFAnnot_GetSubtype(annotation) == pdfium.FPDF_ANNOT_STRIKEOUT:
                yield from _quads(annotation)
        finally:
            pdfium.FPDFPage_CloseAnnot(annotation)


def _quads(annotation: object) -> Iterator[_Strike]:
    import pypdfium2.raw as pdfium

    points = pdfium.FS_QUADPOINTSF()
    for index in range(min(pdfium.FPDFAnnot_CountAttachmentPoints(annotation), _MAX_ANNOTATIONS)):
        if pdfium.FPDFAnnot_GetAttachmentPoints(annotation, index, ctypes.byref(points)):
            xs = (points.x1, points.x2, points.x3, points.x4)
            ys = (points.y1, points.y2, points.y3, points.y4)
            yield _Strike(min(xs), min(ys), max(xs), max(ys), line=False)


def with_markers(text: str, ranges: Mapping[str, Sequence[tuple[int, int]]]) -> str:
    """The text with markers of `evidence.marks` around these ranges of its UTF-16 code units, by their kind.
    What is both is hidden."""
    units = text.encode("utf-16-le", "surrogatepass")
    kinds = {
        unit: kind for kind in (STRUCK, HIDDEN) for pair in ranges.get(kind, ()) for unit in range(*pair)
    }
    pieces: list[str] = []
    done = 0
    for start, end in sorted(joined_by(kinds)):
        inside = _decoded(units[2 * start : 2 * end])
        pieces += (_decoded(units[done : 2 * start]), marked(inside, kinds[start]))
        done = 2 * end
    pieces.append(_decoded(units[done:]))
    return "".join(pieces)


def joined_by(kinds: Mapping[int, str]) -> Iterator[tuple[int, int]]:
    """The ranges of code units of one kind that come one after the other."""
    for kind in sorted(set(kinds.values())):
        yield from joined(unit for unit in sorted(kinds) if kinds[unit] == kind)


def _decoded(units: bytes) -> str:
    return units.decode("utf-16-le", "surrogatepass")
