"""Pages of stored PDFs as pictures, for the lines that a card cites. They are drawn by a child process
(`evidence.page_picture_client`), one at a time, and the last ones are kept.
"""

import asyncio
import hashlib
from collections import OrderedDict
from collections.abc import Callable, Sequence
from html import escape
from typing import NamedTuple

from starlette.responses import Response

from vera.extraction.page_picture import PageRequest
from vera.extraction.page_picture_client import PagePicture, page_picture
from vera.extraction.source import Unreadable
from vera.report.view.model import CardView, ClaimView, PdfPlace
from vera.store import Store, StoreError
from vera.text.span import Lines

MAX_PDF = 64 << 20
MAX_TEXT = 32 << 20
"""Bytes of a PDF that is drawn, and of its text that is opened to find the cited words."""

MAX_WORDS = 20_000
"""Characters of cited words that are looked for on a page."""

MAX_BEFORE = 400_000
"""Bytes of the page's text before the cited lines that are counted."""

AROUND = 70
"""Pixels around the cited words of a picture that is cut to them."""

KEPT_BYTES = 24 << 20
KEPT = 200
"""Pictures and refusals that are kept, by bytes and by number."""

WAITING = 8
"""Pictures that are asked for at the same time; another one is told to come again."""

_SVG = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 600 90" width="600" height="90">'
    '<rect width="600" height="90" fill="#f4f4f5"/><text x="16" y="38" font-family="sans-serif" '
    'font-size="16" fill="#27272a">{}</text><text x="16" y="66" font-family="sans-serif" font-size="16" '
    'fill="#27272a">{}</text></svg>'
)
SHOWN = 72
"""Characters of a line of that picture."""


GONE = "the stored PDF is missing or was altered"


class Busy(Exception):
    """Too many pictures are being drawn."""


class _Key(NamedTuple):
    """A picture by the stored PDF (its path, size, times and inode), the page, the words, and what is around
    them."""

    pdf: tuple[str, int, int, int, int]
    page: int
    words: str
    around: int


class PdfPages:
    """The pictures of one dashboard; `draw` raises Unreadable for a page without one."""

    def __init__(self, draw: Callable[[PageRequest], PagePicture] = page_picture) -> None:
        self._draw = draw
        self._kept: OrderedDict[_Key, bytes | str] = OrderedDict()
        self._bytes = 0
        self._waiting = 0
        self._one = asyncio.Semaphore(1)

    async def picture(
        self, store: Store, card: CardView, place: PdfPlace, *, whole: bool = True
    ) -> bytes | str:
        """The PNG of the page, the `whole` of it or the cited words with what is AROUND them, or the reason
        for none. Raises Busy."""
        if self._waiting >= WAITING:
            raise Busy
        self._waiting += 1
        try:
            words = await asyncio.to_thread(_words, store, card, place)
            if isinstance(words, str):
                return words
            key = _key(store, place, words, 0 if whole else AROUND)
            if key is None:
                return GONE
            async with self._one:
                if key in self._kept:
                    self._kept.move_to_end(key)
                    return self._kept[key]
                made = await asyncio.to_thread(self._drawn, store, place, *words, key.around)
            self._keep(key, made)
            return made
        finally:
            self._waiting -= 1

    def _drawn(self, store: Store, place: PdfPlace, words: str, before: int, around: int) -> bytes | str:
        try:
            if store.path(place.sha256).stat().st_size > MAX_PDF:
                return f"the PDF is larger than {MAX_PDF >> 20} MB"
            request = PageRequest(store.get(place.sha256), place.page, words, before, around=around)
            return self._draw(request).png
        except Unreadable as error:
            return str(error)
        except StoreError:
            return GONE
        except (OSError, OverflowError):
            return "the stored PDF cannot be read"

    def _keep(self, key: _Key, made: bytes | str) -> None:
        self._kept[key] = made
        self._bytes += len(made)
        while self._kept and (self._bytes > KEPT_BYTES or len(self._kept) > KEPT):
            self._bytes -= len(self._kept.popitem(last=False)[1])


def _key(store: Store, place: PdfPlace, words: tuple[str, int], around: int) -> _Key | None:
    """None where the store has no such PDF."""
    try:
        path = store.path(place.sha256)
        about = path.stat()
    except (StoreError, OSError):
        return None
    pdf = str(path), about.st_size, about.st_mtime_ns, about.st_ctime_ns, about.st_ino
    return _Key(pdf, place.page, hashlib.sha256(repr(words).encode()).hexdigest(), around)


def card_of(claims: Sequence[ClaimView], sha256: str, first: int, last: int) -> CardView | None:
    """The card whose cited lines, or all of whose lines, are just these, of those whose lines hold."""
    return next(
        (
            card
            for claim in claims
            for card in claim.cards
            if card.source_id == sha256
            and (first, last) in (card.extent, (card.first, card.last))
            and card.quotation
            and not card.problem
        ),
        None,
    )


def answer(made: bytes | str, media_type: str = "image/png") -> Response:
    """A picture, or one that says why there is none: an image is shown whatever its status is."""
    if isinstance(made, bytes):
        return Response(made, media_type=media_type, headers={"content-disposition": "inline"})
    reason = made[:1].upper() + made[1:]
    at = len(reason) if len(reason) <= SHOWN else reason.rfind(" ", 0, SHOWN)
    at = at if at > 0 else SHOWN
    said = f"{reason[:at]}".strip(), f"{reason[at:].strip()[:SHOWN]} The cited lines are in the text.".strip()
    return Response(_SVG.format(*map(escape, said)), 422, media_type="image/svg+xml")


def _words(store: Store, card: CardView, place: PdfPlace) -> tuple[str, int] | str:
    """The cited words on the page, and how many letters of the page are before them; a str says why not."""
    from vera.extraction.page_picture import letters

    try:
        if store.path(card.source_id).stat().st_size > MAX_TEXT:
            return f"the text of the PDF is larger than {MAX_TEXT >> 20} MB"
        lines = Lines(store.get(card.source_id))
        first, last = card.extent
        cited = lines.cut(first, min(last, place.last or last))[: 4 * MAX_WORDS]
        before = b""
        if 0 < place.first < first:
            before = lines.cut(place.first, first - 1)[:MAX_BEFORE]
    except (StoreError, OSError, IndexError):
        return "the cited lines cannot be read from the store"
    return cited.decode("utf-8", "replace")[:MAX_WORDS], len(letters(before.decode("utf-8", "replace")))
