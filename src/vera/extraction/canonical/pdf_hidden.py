"""What is on a page of a PDF and not to be seen: off the page, tiny, white on nothing, under a painted box.

The invisible letters behind a scan (text render mode 3, ISO 32000-1, 9.3.6) are what its reader sees in the
picture, so they stay. A page is looked at letter by letter only where one of its text objects gives cause.
"""

import ctypes
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from vera.extraction.canonical.pdf_strikes import MAX_OBJECTS, joined

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

MAX_CHARACTERS = 100_000
SMALLEST = 1.5
"""Points: letters below that height are dots."""

_WHITE = 250
_OPAQUE = 255


class _Box(NamedTuple):
    left: float
    bottom: float
    right: float
    top: float

    def has(self, x: float, y: float) -> bool:
        return self.left <= x <= self.right and self.bottom <= y <= self.top

    def meets(self, other: "_Box") -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.bottom < other.top and other.bottom < self.top


class _Page:
    """The objects of a page in the order in which they are painted."""

    def __init__(self, page: "PdfPage") -> None:
        import pypdfium2.raw as pdfium

        self._paper = _Box(*page.get_cropbox())
        self.unseen: set[int] = set()
        """The text objects (by address) that no one sees."""
        self.covered: dict[int, list[_Box]] = {}
        """The boxes that are painted over each of the others, where there are any."""
        texts: list[tuple[int, _Box]] = []
        grounds: list[_Box] = []
        for index in range(min(pdfium.FPDFPage_CountObjects(page), MAX_OBJECTS)):
            drawn = pdfium.FPDFPage_GetObject(page, index)
            bounds = _bounds(drawn)
            if bounds is None:
                continue
            if pdfium.FPDFPageObj_GetType(drawn) != pdfium.FPDF_PAGEOBJ_TEXT:
                grounds.append(bounds)
                if _is_painted_box(drawn):
                    for address, text in texts:
                        if text.meets(bounds):
                            self.covered.setdefault(address, []).append(bounds)
                continue
            texts.append((_address(drawn), bounds))
            if not bounds.meets(self._paper) or _is_tiny(drawn) or self._is_white(drawn, bounds, grounds):
                self.unseen.add(_address(drawn))

    @staticmethod
    def _is_white(text: Any, bounds: _Box, grounds: Sequence[_Box]) -> bool:
        """Whether its letters are white, or transparent, and nothing was painted before where they are."""
        import pypdfium2.raw as pdfium

        if pdfium.FPDFTextObj_GetTextRenderMode(text) != pdfium.FPDF_TEXTRENDERMODE_FILL:
            return False
        colour = _colour(text)
        if colour is None or (colour[3] and min(colour[:3]) < _WHITE):
            return False
        return not colour[3] or not any(bounds.meets(ground) for ground in grounds)


def hidden_units(page: "PdfPage", text: "PdfTextPage") -> list[tuple[int, int]]:
    """The ranges of UTF-16 code units, in the text that PDFium gives of the page, that no reader sees."""
    objects = _Page(page)
    if not objects.unseen and not objects.covered:
        return []
    return joined(_hidden_characters(text, objects))


def _hidden_characters(text: "PdfTextPage", objects: _Page) -> Iterator[int]:
    import pypdfium2.raw as pdfium

    box = pdfium.FS_RECTF()
    for number in range(min(text.count_chars(), MAX_CHARACTERS)):
        address = _address(pdfium.FPDFText_GetTextObject(text, number))
        hidden = address in objects.unseen
        if not hidden and (over := objects.covered.get(address)):
            known = pdfium.FPDFText_GetLooseCharBox(text, number, ctypes.byref(box))
            x, y = (box.left + box.right) / 2, (box.bottom + box.top) / 2
            hidden = bool(known) and any(each.has(x, y) for each in over)
        if hidden and (unit := pdfium.FPDFText_GetTextIndexFromCharIndex(text, number)) >= 0:
            yield unit


def _address(drawn: Any) -> int:
    return ctypes.cast(drawn, ctypes.c_void_p).value or 0


def _bounds(drawn: Any) -> _Box | None:
    import pypdfium2.raw as pdfium

    sides = [ctypes.c_float() for _ in range(4)]
    known = pdfium.FPDFPageObj_GetBounds(drawn, *map(ctypes.byref, sides))
    return _Box(*(side.value for side in sides)) if known else None


def _is_tiny(text: Any) -> bool:
    import pypdfium2.raw as pdfium

    size, matrix = ctypes.c_float(), pdfium.FS_MATRIX()
    if not pdfium.FPDFTextObj_GetFontSize(text, ctypes.byref(size)):
        return False
    if not pdfium.FPDFPageObj_GetMatrix(text, ctypes.byref(matrix)):
        return False
    height = size.value * float((matrix.c**2 + matrix.d**2) ** 0.5)
    return 0 < height < SMALLEST


def _is_painted_box(drawn: Any) -> bool:
    """Whether a path is a rectangle that is filled and lets nothing through."""
    import pypdfium2.raw as pdfium

    if pdfium.FPDFPageObj_GetType(drawn) != pdfium.FPDF_PAGEOBJ_PATH:
        return False
    mode, stroked = ctypes.c_int(), ctypes.c_int()
    known = pdfium.FPDFPath_GetDrawMode(drawn, ctypes.byref(mode), ctypes.byref(stroked))
    if not known or mode.value == pdfium.FPDF_FILLMODE_NONE or pdfium.FPDFPath_CountSegments(drawn) > 5:
        return False
    colour = _colour(drawn)
    return colour is not None and colour[3] == _OPAQUE and not pdfium.FPDFPageObj_HasTransparency(drawn)


def _colour(drawn: Any) -> tuple[int, int, int, int] | None:
    """Red, green, blue and alpha of what fills it, each up to 255."""
    import pypdfium2.raw as pdfium

    parts = [ctypes.c_uint() for _ in range(4)]
    known = pdfium.FPDFPageObj_GetFillColor(drawn, *map(ctypes.byref, parts))
    red, green, blue, alpha = (part.value for part in parts)
    return (red, green, blue, alpha) if known else None
