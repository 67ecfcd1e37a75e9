"""A page of a PDF as a picture: the cited words in a frame, and an end to whatever a document asks for."""

import struct
import subprocess
import sys
import zlib
from collections.abc import Callable

import msgspec
import pytest

from support.documents import ENCRYPTED, make_pdf
from vera.extraction import child as child_process
from vera.extraction import page_picture_client
from vera.extraction.page_picture import HEIGHT, WIDTH, PageReply, PageRequest, draw
from vera.extraction.page_picture_client import page_picture, png
from vera.extraction.source import Unreadable

WARRANTY = make_pdf(
    ["Contents"],
    [
        "The warranty lasts three years",
        "from the day of the declara-",
        "tions; see section 5.",
        "",
        "The warranty lasts three years",
    ],
)
PAPER = b"[0 0 612 792]"


def yellow(reply: PageReply) -> list[tuple[int, int]]:
    """Where the picture is marked: each row with its first marked column."""
    found = []
    for y in range(reply.height):
        row = reply.pixels[3 * y * reply.width : 3 * (y + 1) * reply.width]
        for x, (red, green, blue) in enumerate(zip(row[::3], row[1::3], row[2::3], strict=True)):
            if red == green == 255 and blue < 200:
                found.append((y, x))
                break
    return found


def yellow_rows(reply: PageReply) -> list[int]:
    """The rows of the picture in which something is marked."""
    return [y for y, _ in yellow(reply)]


def test_the_words_are_marked_and_nothing_else() -> None:
    reply = draw(PageRequest(WARRANTY, 2, "The warranty lasts three years", 0))
    rows = yellow_rows(reply)
    assert reply.is_framed and (reply.width, reply.height) == (WIDTH, 1294)
    assert 90 < rows[0] < rows[-1] < 130  # the first line: 72 points from the top of 792


def test_of_two_places_the_one_that_was_cited_is_marked() -> None:
    before = len("thewarrantylaststhreeyearsfromthedayofthedeclarationsseesection5")
    rows = yellow_rows(draw(PageRequest(WARRANTY, 2, "The warranty lasts three years", before)))
    assert 180 < rows[0] < rows[-1] < 230


def test_words_over_lines_and_hyphens_are_found_as_the_text_has_them() -> None:
    reply = draw(PageRequest(WARRANTY, 2, "from the day of the declarations; see section 5.", 26))
    assert reply.is_framed and yellow_rows(reply)[-1] - yellow_rows(reply)[0] > 30


def test_a_page_that_does_not_hold_the_words_is_drawn_without_a_frame() -> None:
    reply = draw(PageRequest(WARRANTY, 2, "The warranty lasts seven years"))
    assert reply.pixels and not reply.is_framed and yellow_rows(reply) == []


def test_the_frame_is_where_the_words_are_on_a_page_that_is_turned_and_cropped() -> None:
    turned = WARRANTY.replace(PAPER, b"[0 0 612 792] /Rotate 90 /CropBox [50 400 612 792]")
    reply = draw(PageRequest(turned, 2, "The warranty lasts three years"))
    columns = [x for _, x in yellow(reply)]
    assert reply.is_framed and 0 < min(columns) < reply.width
    assert max(columns) - min(columns) < 40 < len(columns)  # the line runs from top to bottom


@pytest.mark.parametrize(
    ("data", "number", "reason"),
    [
        (b"%PDF-1.7\n", 1, "damaged"),
        (make_pdf(["secret"], trailer=ENCRYPTED), 1, "needs a password"),
        (WARRANTY, 3, "no page 3"),
        (WARRANTY, 0, "no page 0"),
        (WARRANTY.replace(PAPER, b"[0 0 32000 32000]"), 1, "no size"),
        (WARRANTY.replace(PAPER, b"[0 0 14000 2]"), 1, "too narrow"),
    ],
)
def test_what_cannot_be_drawn_is_said(data: bytes, number: int, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        draw(PageRequest(data, number))


@pytest.mark.parametrize("box", [b"[612 792 0 0]", b"[-612 -792 0 0]", b"[0 0 0 0]", b"[nan 1e9 -1e9 3]"])
def test_a_page_with_sides_that_no_page_has_is_bounded(box: bytes) -> None:
    try:
        reply = draw(PageRequest(WARRANTY.replace(PAPER, box), 2, "The warranty lasts three years"))
    except Unreadable:
        return
    assert len(reply.pixels) == 3 * reply.width * reply.height <= 3 * WIDTH * HEIGHT


def bomb() -> bytes:
    """A small page whose content is 500 MB of drawing."""
    packer = zlib.compressobj(9)
    lines = b"0 0 m 600 700 l 3 9 c S\n" * 40_000
    content, again = (packer.compress(lines) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    content += again * 500
    plain = make_pdf(["x"])
    begin, end = plain.index(b"<< /Length"), plain.index(b"endstream")
    stream = b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\n" % (len(content), content)
    return plain[:begin] + stream + plain[end:]


def test_a_document_that_asks_for_too_much_ends_in_a_sentence() -> None:
    with pytest.raises(Unreadable, match=r"could not be drawn|more than"):
        page_picture(PageRequest(bomb(), 1, "x"), seconds=1.0)


def test_the_picture_comes_as_a_png_from_another_process() -> None:
    made = page_picture(PageRequest(WARRANTY, 2, "The warranty lasts three years"))
    assert made.is_framed and made.png[12:24] == b"IHDR" + struct.pack(">II", WIDTH, 1294)
    assert len(made.png) < 100_000


def test_a_png_holds_the_pixels() -> None:
    made = png(2, 1, b"\1\2\3\4\5\6")
    at = made.index(b"IDAT") + 4
    assert zlib.decompress(made[at:-16]) == b"\0\1\2\3\4\5\6"


@pytest.mark.parametrize(
    "said",
    [
        b"",
        b"\xff\xd8\xff",
        msgspec.msgpack.encode(PageReply(WIDTH, HEIGHT, b"too few")),
        msgspec.msgpack.encode(PageReply(1 << 20, 1, bytes(3 << 20))),
        msgspec.msgpack.encode(PageReply(-1, -1, b"abc")),
        msgspec.msgpack.encode(PageReply()),
    ],
)
def test_a_process_that_a_document_took_over_says_nothing_that_is_shown(
    monkeypatch: pytest.MonkeyPatch, said: bytes
) -> None:
    monkeypatch.setattr(page_picture_client, "ask_child", lambda *_, **__: (0, said))
    with pytest.raises(Unreadable, match="could not be drawn"):
        page_picture(PageRequest(WARRANTY, 1))


@pytest.mark.parametrize(
    "program",
    [
        "import time; time.sleep(60)",
        "import os\nwhile True: os.write(1, bytes(1 << 20))",
        "raise SystemExit(3)",
    ],
)
def test_a_process_that_hangs_floods_or_fails_is_ended(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    start: Callable[..., object] = subprocess.Popen
    started = []

    def other(arguments: list[str], **options: object) -> object:
        started.append(start([sys.executable, "-S", "-c", program], **options))
        return started[-1]

    monkeypatch.setattr(child_process.subprocess, "Popen", other)
    with pytest.raises(Unreadable, match="could not be drawn"):
        page_picture(PageRequest(WARRANTY, 1), seconds=0.5)
    assert [child.poll() is not None for child in started] == [True]  # type: ignore[attr-defined] # a Popen
