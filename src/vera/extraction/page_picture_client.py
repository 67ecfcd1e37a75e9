"""A page of a PDF as a picture: drawn by a child process that is bounded and ended, encoded as PNG here."""

import struct
import zlib

import msgspec

from vera.decode_errors import DECODE_ERRORS
from vera.extraction.child import ask_child
from vera.extraction.page_picture import HEIGHT, MAX_BYTES, WIDTH, PageReply, PageRequest
from vera.extraction.source import Unreadable

SECONDS = 20.0
"""Wall time of a picture, the start of the process included."""

_NO_ANSWER = "the page could not be drawn: it took too much time or memory, or crashed the program that draws"


class PagePicture(msgspec.Struct, frozen=True):
    """A PNG, and whether the words that were asked for are in a frame on it."""

    png: bytes
    is_framed: bool


def page_picture(request: PageRequest, seconds: float = SECONDS) -> PagePicture:
    """Draw a page in a process that is used once. Raises Unreadable with the reason."""
    reply = page_pixels(request, seconds)
    return PagePicture(png(reply.width, reply.height, reply.pixels), reply.is_framed)


def page_pixels(request: PageRequest, seconds: float = SECONDS) -> PageReply:
    """The pixels of a page, drawn in a process that is used once. Raises Unreadable with the reason."""
    if len(request.data) > MAX_BYTES:
        raise Unreadable(f"the PDF is larger than {MAX_BYTES >> 20} MB")
    width, height = int(request.larger * WIDTH), int(request.larger * HEIGHT)
    largest = 3 * width * height + 4096
    question = msgspec.msgpack.encode(request)
    code, said = ask_child(
        "vera.extraction.page_picture", question, seconds=min(seconds, SECONDS), largest=largest
    )
    reply = _plausible(said if code == 0 else b"", width, height)
    if not reply.pixels:
        raise Unreadable(reply.reason[:200] or _NO_ANSWER)
    return reply


def png(width: int, height: int, pixels: bytes) -> bytes:
    """Rows of red, green and blue as a PNG (ISO/IEC 15948)."""
    row = 3 * width
    rows = b"".join(b"\0" + pixels[at : at + row] for at in range(0, row * height, row))
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    chunks = ((b"IHDR", header), (b"IDAT", zlib.compress(rows, 6)), (b"IEND", b""))
    made = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(made)


def _plausible(said: bytes, width: int, height: int) -> PageReply:
    """The reply, a picture of at most that size. Raises Unreadable for what no such process says."""
    try:
        reply = msgspec.msgpack.decode(said, type=PageReply)
    except DECODE_ERRORS:
        raise Unreadable(_NO_ANSWER) from None
    is_size = 0 <= reply.width <= width and 0 <= reply.height <= height
    if not is_size or len(reply.pixels) != 3 * reply.width * reply.height:
        raise Unreadable(_NO_ANSWER)
    return reply
