"""The process that draws one page of a PDF: `python -m vera.extraction.page_picture`.

It reads a request from its standard input, writes one reply to its standard output and ends. It may not write
files, start processes or leave core dumps. The reply is pixels and no file format, so that a document that
takes this process over gives a browser nothing to parse.
"""

import contextlib
import ctypes
import math
import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from vera.extraction.source import Unreadable
from vera.extraction.worker import confine, cpu_limit, write_whole

if TYPE_CHECKING:
    from pypdfium2 import PdfPage, PdfTextPage

WIDTH = 1000
HEIGHT = 1600
"""Pixels of a picture at most; a page is drawn as large as both allow."""

LARGEST_SCALE = 3.0
"""Pixels for a point: of a very small page a larger picture shows no more."""

MAX_POINTS = 14_400.0
"""The longest side of a page, in points (ISO 32000-1, annex C)."""

MEMORY = 1 << 30
"""Bytes of address space, Python and the document included."""

CPU_SECONDS = 10
MAX_CHARACTERS = 100_000
"""Characters of a page among which words are looked for."""

MAX_BOXES = 200
MAX_BYTES = 64 << 20
"""Of a document that is drawn."""

_FRAME = 2
_RED, _GREEN, _BLUE = 0xB4, 0x53, 0x09
_TINT = bytes(value * 5 // 8 for value in range(256))
"""Of the blue of each pixel within a frame: white becomes yellow, black stays black."""


class PageRequest(msgspec.Struct, frozen=True, array_like=True):
    """The page `number` (from 1) of a PDF with the `words` in a frame: of several places that hold them the
    one nearest to `before` letters from the beginning of the page. It is drawn `larger` times as large as one
    that is shown. With `around`, it is cut to the frames and so many pixels on each side of them."""

    data: bytes
    number: int
    words: str = ""
    before: int = 0
    larger: float = 1.0
    around: int = 0


class PageReply(msgspec.Struct, frozen=True, array_like=True):
    """The rows of pixels from the top, three bytes each (red, green, blue), or the `reason` for none.
    `is_framed`: the words were found. `pages` is how many the document has."""

    width: int = 0
    height: int = 0
    pixels: bytes = b""
    is_framed: bool = False
    reason: str = ""
    pages: int = 0


class _Box(NamedTuple):
    """Pixels of the picture, the last ones not included."""

    left: int
    top: int
    right: int
    bottom: int


def main() -> None:
    """Serve one request."""
    confine(MEMORY)
    cpu_limit(CPU_SECONDS)
    with open(0, "rb", closefd=False) as requests, open(1, "wb", buffering=0, closefd=False) as replies:
        try:
            reply = draw(msgspec.msgpack.decode(requests.read(2 * MAX_BYTES), type=PageRequest))
        except Unreadable as error:
            reply = PageReply(reason=str(error))
        except MemoryError:
            reply = PageReply(reason=f"drawing it needs more than {MEMORY >> 20} MB of memory")
        write_whole(replies, msgspec.msgpack.encode(reply))


def draw(request: PageRequest) -> PageReply:
    """The picture. Raises Unreadable for a damaged or locked document and a page that cannot be drawn."""
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(request.data)
    except pypdfium2.PdfiumError:
        raise Unreadable("the PDF is damaged or needs a password") from None
    try:
        if not 1 <= request.number <= len(document):
            raise Unreadable(f"the PDF has no page {request.number}")
        page = document[request.number - 1]
        try:
            width, height = _size(page, request.larger)
            boxes = _boxes(page, width, height, request.words, request.before) if request.words else []
            pixels = _pixels(page, width, height, boxes)
            if boxes and request.around:
                width, height, pixels = _cut(width, height, pixels, boxes, request.around)
            return PageReply(width, height, pixels, bool(boxes), pages=len(document))
        finally:
            page.close()
    except pypdfium2.PdfiumError:
        raise Unreadable("the page is damaged") from None
    finally:
        document.close()


def letters(text: str) -> str:
    """What of a text is compared: its letters and digits, compatible forms and both cases alike."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(each for each in folded if each.isalnum() and each <= "\uffff")


def _size(page: "PdfPage", larger: float) -> tuple[int, int]:
    """Pixels of the picture. Raises Unreadable for a page of no size that paper has."""
    across, down = page.get_size()
    if not all(math.isfinite(side) and 1 <= side <= MAX_POINTS for side in (across, down)):
        raise Unreadable("the page has no size that can be drawn")
    scale = larger * min(WIDTH / across, HEIGHT / down, LARGEST_SCALE)
    width, height = int(across * scale), int(down * scale)
    if not (1 <= width <= larger * WIDTH and 1 <= height <= larger * HEIGHT):
        raise Unreadable("the page is too narrow to be drawn")
    return width, height


def _pixels(page: "PdfPage", width: int, height: int, boxes: list[_Box]) -> bytes:
    import pypdfium2.raw as pdfium

    bitmap = pdfium.FPDFBitmap_CreateEx(width, height, pdfium.FPDFBitmap_BGR, None, 0)
    if not bitmap:
        raise MemoryError
    try:
        pdfium.FPDFBitmap_FillRect(bitmap, 0, 0, width, height, 0xFFFFFFFF)
        flags = pdfium.FPDF_ANNOT | pdfium.FPDF_REVERSE_BYTE_ORDER
        pdfium.FPDF_RenderPageBitmap(bitmap, page, 0, 0, width, height, 0, flags)
        stride = pdfium.FPDFBitmap_GetStride(bitmap)
        rows = ctypes.string_at(pdfium.FPDFBitmap_GetBuffer(bitmap), stride * height)
    finally:
        pdfium.FPDFBitmap_Destroy(bitmap)
    row = 3 * width
    pixels = bytearray().join(rows[at : at + row] for at in range(0, stride * height, stride))
    for box in boxes:
        _tint(pixels, row, box)
    for box in boxes:
        _frame(pixels, row, box)
    return bytes(pixels)


def _cut(width: int, height: int, pixels: bytes, boxes: list[_Box], around: int) -> tuple[int, int, bytes]:
    """The part of the picture with the frames in it, `around` pixels wider on each side."""
    left = max(0, min(box.left for box in boxes) - around)
    right = min(width, max(box.right for box in boxes) + around)
    top = max(0, min(box.top for box in boxes) - around)
    bottom = min(height, max(box.bottom for box in boxes) + around)
    rows = range(3 * width * top, 3 * width * bottom, 3 * width)
    cut = b"".join(pixels[row + 3 * left : row + 3 * right] for row in rows)
    return right - left, bottom - top, cut


def _tint(pixels: bytearray, row: int, box: _Box) -> None:
    for at in range(box.top * row, box.bottom * row, row):
        blue = slice(at + 3 * box.left + 2, at + 3 * box.right, 3)
        pixels[blue] = pixels[blue].translate(_TINT)


def _frame(pixels: bytearray, row: int, box: _Box) -> None:
    line = bytes((_RED, _GREEN, _BLUE))
    side = min(_FRAME, box.right - box.left)
    for y in range(box.top, box.bottom):
        at = y * row
        if y < box.top + _FRAME or y >= box.bottom - _FRAME:
            pixels[at + 3 * box.left : at + 3 * box.right] = line * (box.right - box.left)
        else:
            for x in (box.left, box.right - side):
                pixels[at + 3 * x : at + 3 * (x + side)] = line * side


def _boxes(page: "PdfPage", width: int, height: int, words: str, before: int) -> list[_Box]:
    """Where the words are on the picture, a box a line; none when they are not found."""
    import pypdfium2.raw as pdfium

    text = page.get_textpage()
    try:
        found = _place(text, letters(words), before)
        if found is None:
            return []
        first, last = found
        count = min(pdfium.FPDFText_CountRects(text, first, last - first + 1), MAX_BOXES)
        boxes: list[_Box] = []
        for box in _rectangles(page, text, count, width, height):
            if boxes and _is_beside(boxes[-1], box):
                boxes[-1] = _Box(*map(min, boxes[-1][:2], box[:2]), *map(max, boxes[-1][2:], box[2:]))
            else:
                boxes.append(box)
        return boxes
    finally:
        text.close()


def _place(text: "PdfTextPage", wanted: str, before: int) -> tuple[int, int] | None:
    """The first and the last character of the page's text that hold these letters."""
    import pypdfium2.raw as pdfium

    said: list[str] = []
    at: list[int] = []
    for number in range(min(text.count_chars(), MAX_CHARACTERS)):
        unit = pdfium.FPDFText_GetUnicode(text, number)
        for letter in letters(chr(unit)) if 0 < unit <= 0xFFFF else "":
            said.append(letter)
            at.append(number)
    whole = "".join(said)
    places = list(_occurrences(whole, wanted)) if wanted else []
    if not places:
        return None
    begin = min(places, key=lambda place: abs(place - before))
    return at[begin], at[begin + len(wanted) - 1]


def _occurrences(whole: str, wanted: str) -> Iterator[int]:
    place = whole.find(wanted)
    while place >= 0:
        yield place
        place = whole.find(wanted, place + len(wanted))


def _rectangles(page: "PdfPage", text: "PdfTextPage", count: int, width: int, height: int) -> Iterator[_Box]:
    """The rectangles of the characters that were counted last, a little larger, within the picture."""
    import pypdfium2.raw as pdfium

    sides = [ctypes.c_double() for _ in range(4)]
    for index in range(count):
        if not pdfium.FPDFText_GetRect(text, index, *map(ctypes.byref, sides)):
            continue
        left, top, right, bottom = (side.value for side in sides)
        one = _on_picture(page, width, height, left, top)
        other = _on_picture(page, width, height, right, bottom)
        if one is None or other is None:
            continue
        (x1, x2), (y1, y2) = (sorted(pair) for pair in zip(one, other, strict=True))
        margin = _FRAME + 1
        box = _Box(
            max(0, x1 - margin), max(0, y1 - margin), min(width, x2 + margin), min(height, y2 + margin)
        )
        if box.left < box.right and box.top < box.bottom:
            yield box


def _on_picture(
    page: "PdfPage", width: int, height: int, across: float, down: float
) -> tuple[int, int] | None:
    """Where a point of the page is on its picture; None where that cannot be told."""
    import pypdfium2.raw as pdfium

    if not (math.isfinite(across) and math.isfinite(down)):
        return None
    x, y = ctypes.c_int(), ctypes.c_int()
    told = pdfium.FPDF_PageToDevice(
        page, 0, 0, width, height, 0, across, down, ctypes.byref(x), ctypes.byref(y)
    )
    return (x.value, y.value) if told else None


def _is_beside(one: _Box, other: _Box) -> bool:
    """Whether two boxes are pieces of one line of the page."""
    low = min(one.bottom - one.top, other.bottom - other.top)
    shared = min(one.bottom, other.bottom) - max(one.top, other.top)
    gap = max(one.left, other.left) - min(one.right, other.right)
    return 2 * shared > low and gap < 2 * low


if __name__ == "__main__":
    with contextlib.suppress(BrokenPipeError):
        main()
