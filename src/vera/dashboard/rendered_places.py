"""Where cited lines were on a page that a browser rendered: a cut of its picture, with the lines in a frame.

The picture and the places of its text were kept when the page was captured (`events.Shown`); they are the
browser's word. Each cited line is looked for by its letters, at first behind the line before.
"""

import base64
from collections.abc import Iterator, Sequence

import msgspec

from vera.decode_errors import DECODE_ERRORS
from vera.extraction.page_picture import letters
from vera.report.view.model import CardView, ShownPlace
from vera.sandbox.render.rendered import Piece
from vera.store import Store, StoreError
from vera.text.span import Lines

MAX_TEXT = 32 << 20
"""Bytes of the page's text that is opened for its cited lines."""

MAX_PICTURE, MAX_LAYOUT = 2 << 20, 4 << 20
"""Bytes that are opened, as `vera.sandbox.render` bounds what it keeps; other sessions may hold more."""

MAX_WORDS = 20_000
"""Characters of cited lines that are looked for."""

SHORTEST = 4
"""Letters of a line that is looked for: fewer are everywhere."""

GAP = 12
"""Pixels between pieces of a line that are in one frame."""

AROUND = 90
TALLEST = 1400
"""Pixels above and below the lines that are shown, and of the whole cut."""

GONE = "the picture of the page is missing or was altered"
TOO_LARGE = "the text or the picture of the page is too large"
NOT_FOUND = "the cited lines were not found on the picture of the page"

_FRAME = (
    '<rect x="{}" y="{}" width="{}" height="{}" fill="#ffd84d" fill-opacity=".28" stroke="#b45309" '
    'stroke-width="2" rx="2"/>'
)


def place_svg(store: Store, card: CardView, shown: ShownPlace) -> bytes | str:
    """The cut as an SVG, or the reason for none."""
    try:
        bounds = {card.source_id: MAX_TEXT, shown.layout: MAX_LAYOUT, shown.picture: MAX_PICTURE}
        if any(store.path(blob).stat().st_size > most for blob, most in bounds.items()):
            return TOO_LARGE
        cited = Lines(store.get(card.source_id)).cut(*card.extent).decode("utf-8", "replace")
        pieces = msgspec.json.decode(store.get(shown.layout), type=list[Piece])
        picture = store.get(shown.picture)
    except (StoreError, OSError, IndexError, *DECODE_ERRORS):
        return GONE
    boxes = found_boxes(pieces, cited[:MAX_WORDS].splitlines())
    if not boxes:
        return NOT_FOUND
    return _svg(picture, boxes, shown).encode()


def found_boxes(pieces: Sequence[Piece], lines: Sequence[str]) -> list[Piece]:
    """The pieces of a page's text that the lines are in, in order; a line that is not found is left out."""
    at_letter = [number for number, piece in enumerate(pieces) for _ in letters(piece.text)]
    whole = "".join(letters(piece.text) for piece in pieces)
    found: dict[int, None] = {}
    behind = 0
    for wanted in filter(lambda text: len(text) >= SHORTEST, map(letters, lines)):
        start = whole.find(wanted, behind)
        if start < 0 and (start := whole.find(wanted)) < 0:
            continue
        behind = start + len(wanted)
        found.update(dict.fromkeys(at_letter[start:behind]))
    return [pieces[number] for number in sorted(found)]


def _svg(picture: bytes, boxes: Sequence[Piece], shown: ShownPlace) -> str:
    """The picture cut to the lines, with a frame around each piece of them."""
    top = max(0, min(box.y for box in boxes) - AROUND)
    bottom = min(shown.height, max(box.y + box.height for box in boxes) + AROUND, top + TALLEST)
    height, width = max(1, bottom - top), max(1, shown.width)
    data = base64.b64encode(picture).decode()
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 {top} {width} {height}" '
        f'width="{width}" height="{height}">'
        f'<image href="data:image/webp;base64,{data}" width="{width}" height="{shown.height}"/>'
        f"{''.join(_frames(boxes))}</svg>"
    )


def _frames(boxes: Sequence[Piece]) -> Iterator[str]:
    """A frame for each line of the page: the pieces of one that are beside each other are in one."""
    rows: list[tuple[int, int, int, int]] = []
    for box in boxes:
        left, top, right, bottom = box.x, box.y, box.x + box.width, box.y + box.height
        if rows and abs(left - rows[-1][2]) <= GAP and top < rows[-1][3] and bottom > rows[-1][1]:
            before = rows.pop()
            left, top, right, bottom = before[0], min(top, before[1]), right, max(bottom, before[3])
        rows.append((left, top, right, bottom))
    for left, top, right, bottom in rows:
        yield _FRAME.format(left - 3, top - 2, max(0, right - left) + 6, max(0, bottom - top) + 4)
