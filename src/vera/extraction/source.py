"""A source: raw bytes, the canonical text made from them, and how."""

import msgspec

from vera.extraction.marks import Mark

OCR = "ocr"
"""How the name of an extractor begins whose text was read from a picture."""

NEEDS_TESSERACT = "reading it needs tesseract (sudo apt install tesseract-ocr; macOS: brew install tesseract)"


def is_read_by_ocr(extractor: str) -> bool:
    """Whether a text was read from a picture, by the name of what made it: any letter may be wrong."""
    return extractor.startswith(f"{OCR}/")


class Extracted(msgspec.Struct, frozen=True, kw_only=True):
    """The canonical text of one document.

    `text` is UTF-8 with lines ended by one newline each (empty for an empty document): line n is what
    `sed -n np` prints of the stored file. `pages` holds the first line number of each page where the
    format has pages. `extractor` names program, version and rule version: the same raw bytes under the
    same extractor give the same text.

    `marks` are the spans of `text` that are struck out or hidden, in order, none over another. `dated` says
    when the document was published by its own metadata: a day, or `FIRST/LAST` for days between which that
    was, with `..` for an open end (ISO 8601-2); '' when it says nothing.
    """

    text: bytes
    title: str
    media_type: str
    extractor: str
    pages: tuple[int, ...] = ()
    marks: tuple[Mark, ...] = ()
    dated: str = ""

    def page_of(self, line: int) -> int | None:
        """The page (from 1) on which a line stands, None for a format without pages."""
        return sum(1 for first in self.pages if first <= line) or None


class Unreadable(Exception):
    """A file from which no text can be had; the message says why in a few words."""
