"""PDF: the text of each page in the order in which PDFium reads it."""

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from vera.extraction.canonical import dates
from vera.extraction.canonical.naming import bounded, extractor_name, first_line_title
from vera.extraction.canonical.pdf_hidden import hidden_units
from vera.extraction.canonical.pdf_strikes import struck_units, with_markers
from vera.extraction.canonical.rendered import TEXT_LIMIT, canonical_lines
from vera.extraction.marks import HIDDEN, STRUCK, lifted, unmarked
from vera.extraction.source import NEEDS_TESSERACT, Extracted, Unreadable

if TYPE_CHECKING:
    from pypdfium2 import PdfDocument

RULES = 3
PAGE_LIMIT = 5000
NO_TEXT = f"the PDF holds no text, probably pictures of pages: {NEEDS_TESSERACT}"

_PASSWORD_ERROR = 4  # FPDF_ERR_PASSWORD of PDFium's public/fpdfview.h
# PDFium joins a word that is hyphenated at a line's end and leaves this mark in place of the hyphen.
_HYPHEN_MARK = re.compile("[\x02\ufffe]")
_LIGATURES = str.maketrans({"ﬀ": "ff", "ﬁ": "fi", "ﬂ": "fl", "ﬃ": "ffi", "ﬄ": "ffl", "ﬅ": "st", "ﬆ": "st"})
_TELLING_TITLE = re.compile(r"\w\S* +\S*\w")


def extract(data: bytes, name: str) -> Extracted:
    """The text of all pages; `pages` holds the line on which each begins.

    Raises Unreadable when the file is damaged, needs a password, has more than PAGE_LIMIT pages, or holds
    pictures of text only.
    """
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        if getattr(error, "err_code", None) == _PASSWORD_ERROR:
            raise Unreadable("the PDF is encrypted and needs a password") from None
        raise Unreadable("the PDF is damaged") from None
    try:
        if len(document) > PAGE_LIMIT:
            raise Unreadable(f"the PDF has {len(document)} pages; at most {PAGE_LIMIT} are read")
        lines: list[bytes] = []
        firsts: list[int] = []
        size = 0
        for page in _page_texts(document):
            firsts.append(len(lines) + 1)
            added = canonical_lines(page.split("\n"))
            lines += added
            size += sum(map(len, added)) + len(added)
            if size > TEXT_LIMIT:
                raise Unreadable(f"its text is larger than {TEXT_LIMIT >> 20} MB")
        title = bounded(document.get_metadata_value("Title"))
        made, changed = (
            dates.day(document.get_metadata_value(f"{which}Date")) for which in ("Creation", "Mod")
        )
    finally:
        document.close()
    if not lines:
        raise Unreadable(NO_TEXT)
    text, marks = lifted(b"".join(line + b"\n" for line in lines))
    return Extracted(
        text=text,
        title=title if _TELLING_TITLE.search(title) else first_line_title(text, name),
        media_type="application/pdf",
        extractor=extractor_name("pdf", f"pdfium-{pypdfium2.PDFIUM_INFO.version}", RULES),
        pages=tuple(firsts),
        marks=marks,
        dated=dates.between(made, changed),
    )


def _page_texts(document: "PdfDocument") -> Iterator[str]:
    import pypdfium2

    for index in range(len(document)):
        try:
            page = document[index]
        except pypdfium2.PdfiumError:
            yield ""  # one damaged page does not take the others with it, nor their numbers
            continue
        try:
            textpage = page.get_textpage()
            try:
                text = unmarked(textpage.get_text_range())
                ranges = {STRUCK: struck_units(page, textpage), HIDDEN: hidden_units(page, textpage)}
                if any(ranges.values()):
                    text = with_markers(text, ranges)
            finally:
                textpage.close()
        except pypdfium2.PdfiumError:
            text = ""
        finally:
            page.close()
        yield _HYPHEN_MARK.sub("", text).replace("\r\n", "\n").replace("\r", "\n").translate(_LIGATURES)
