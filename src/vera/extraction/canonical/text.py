"""Plain text, and the rule by which bytes become canonical: keep them whenever that is possible."""

import re

from vera.extraction.canonical.deletions import taken_out
from vera.extraction.canonical.encoding import to_utf8
from vera.extraction.canonical.lines import fold
from vera.extraction.canonical.naming import extractor_name, first_line_title, suffix_of
from vera.extraction.source import Extracted

RULES = 2

# One byte for one byte: offsets stay. Only a newline ends a line, so every other character that some
# program takes for a line end (form feed, U+0085, U+2028 …) becomes a blank of as many bytes.
_CONTROLS_TO_SPACE = bytes(
    0x20 if (byte < 0x20 and byte not in b"\t\n") or byte == 0x7F else byte for byte in range(256)
)
_C1_CONTROL = re.compile(rb"\xc2[\x80-\x9f]")
_NO_BREAK_SPACE = "\u00a0".encode()
_EM_SPACE = "\u2003".encode()
_LINE_SEPARATOR = "\u2028".encode()
_PARAGRAPH_SEPARATOR = "\u2029".encode()


def extract(data: bytes, name: str) -> Extracted:
    """The text as it is, with marks on what it keeps and takes back. The title is its first line with a
    letter or digit."""
    utf8, program = to_utf8(data)
    text = canonical(utf8)
    return Extracted(
        text=text,
        title=first_line_title(text, name),
        media_type="text/plain",
        extractor=extractor_name("txt", program, RULES),
        marks=taken_out(text, suffix_of(name)),
    )


def canonical(utf8: bytes) -> bytes:
    """The canonical form of valid UTF-8: line ends are newlines, no control characters but tab, no long line.

    Text that is so already comes back byte for byte. No Unicode normalisation: the bytes are kept.
    """
    if b"\r" in utf8:
        utf8 = utf8.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    utf8 = utf8.translate(_CONTROLS_TO_SPACE)
    if not utf8.isascii():
        utf8 = _C1_CONTROL.sub(_NO_BREAK_SPACE, utf8)
        utf8 = utf8.replace(_LINE_SEPARATOR, _EM_SPACE).replace(_PARAGRAPH_SEPARATOR, _EM_SPACE)
    if utf8 and not utf8.endswith(b"\n"):
        utf8 += b"\n"
    return fold(utf8)
