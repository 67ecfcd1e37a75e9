"""Scans and pictures: read by an installed tesseract under limits, or named with what to install."""

import socket
import struct
import sys
import zlib
from pathlib import Path

import pytest

from support.documents import make_pdf, make_picture, make_scan
from vera.extraction import ocr
from vera.extraction.canonical import extract
from vera.extraction.canonical.picture import kind_of
from vera.extraction.extractor import Extractor
from vera.extraction.ocr import Ocr, installed
from vera.extraction.source import Extracted, Unreadable, is_read_by_ocr

LINE = "The lease of Elm Street ends on 31 May 2027."


def read(data: bytes, name: str) -> Extracted:
    with Extractor(ocr=installed()) as extractor:
        return extractor.extract(data, name)


@pytest.mark.needs("tesseract")
def test_a_scanned_pdf_is_read_page_by_page() -> None:
    found = read(make_scan([LINE], ["Signed by Maria Lopez"]), "lease.pdf")
    assert found.text.decode().splitlines() == [LINE, "Signed by Maria Lopez"]
    assert (found.pages, found.media_type, found.title) == ((1, 2), "application/pdf", LINE)
    assert is_read_by_ocr(found.extractor)
    assert found.extractor.startswith("ocr/tesseract-") and found.extractor.endswith("/rules-1")


@pytest.mark.needs("tesseract")
def test_a_picture_is_read_and_a_pdf_with_text_is_not_read_twice() -> None:
    found = read(make_picture(LINE), "photo.png")
    assert (found.text.decode().strip(), found.media_type, found.pages) == (LINE, "image/png", ())
    assert not is_read_by_ocr(read(make_pdf([LINE]), "lease.pdf").extractor)
    with pytest.raises(Unreadable, match="OCR"):
        read(make_picture(), "blank.png")


@pytest.mark.needs("tesseract")
def test_a_folder_of_scans_and_texts_comes_in_its_order() -> None:
    items = [("b", make_picture(LINE), "b.png"), ("a", b"plain\n", "a.txt"), ("c", b"\x89PNG\r\nx", "c.png")]
    with Extractor(ocr=installed()) as extractor:
        found = list(extractor.extract_all(items))
    assert [key for key, _ in found] == ["b", "a", "c"]
    assert isinstance(found[0][1], Extracted) and isinstance(found[2][1], Unreadable)


def test_without_tesseract_the_reason_says_what_to_type() -> None:
    scan = make_scan([LINE])
    with Extractor() as extractor:
        for data, name in ((scan, "a.pdf"), (make_picture(LINE), "a.png"), (b"MM\x00*rest", "a.tif")):
            with pytest.raises(Unreadable, match="sudo apt install tesseract-ocr"):
                extractor.extract(data, name)
    with pytest.raises(Unreadable, match="a JPEG picture"):
        extract(b"\xff\xd8\xff\xe0", "a.jpg")
    assert [kind_of(each) for each in (b"II*\x00", b"GIF89a", b"%PDF-")] == ["image/tiff", "", ""]


def program(folder: Path, body: str) -> str:
    """A program in the place of tesseract, which does something else."""
    path = folder / "tesseract"
    path.write_text(f"#!{sys.executable}\nimport os, socket, sys, time\n{body}\n")
    path.chmod(0o755)
    return str(path)


def test_one_on_the_path_is_found_by_its_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert installed() is None
    answers = {"--version": "tesseract 5.9.1\nleptonica", "--list-langs": "fra\neng\nosd"}
    program(tmp_path, f"print({answers}[sys.argv[1]])")
    assert installed() == Ocr(str(tmp_path / "tesseract"), "5.9.1", ("eng", "fra"))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", ".")
    assert installed() is None, "none of the working folder"


@pytest.mark.parametrize("body", ["sys.exit(1)", "os.abort()", "x = 'a' * (3 << 30)", "time.sleep(600)"])
def test_one_that_fails_hangs_or_takes_too_much_ends_in_a_reason(
    body: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ocr, "PAGE_SECONDS", 2)
    asked = Ocr(program(tmp_path, body), "0", ("eng",))
    with pytest.raises(Unreadable, match="too much time or memory, or the picture is damaged"):
        asked.read(make_picture(LINE), "a.png")


def test_one_that_writes_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ocr, "LARGEST", 1 << 16)
    asked = Ocr(program(tmp_path, "while True: os.write(1, b'word ' * 1000)"), "0", ("eng",))
    with pytest.raises(Unreadable, match="more than"):
        asked.read(make_picture(LINE), "a.png")


def test_it_may_write_no_file_and_sees_nothing_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    body = (
        "try:\n    file = os.open(sys.argv[0] + '.out', os.O_WRONLY | os.O_CREAT)\n"
        "    os.write(file, b'x')\n    print('wrote')\nexcept OSError:\n    print('no file')\n"
        "print(sorted(os.environ)); print(' '.join(sys.argv[1:]))"
    )
    found = Ocr(program(tmp_path, body), "0", ("eng", "deu")).read(make_picture(LINE), "a.png")
    assert found.text.decode().splitlines() == [
        "no file",
        "['LC_ALL', 'OMP_THREAD_LIMIT']",
        "stdin stdout -l eng+deu --dpi 300",
    ]


@pytest.mark.needs("bubblewrap")  # a kernel on which a program can leave its network
def test_it_reaches_no_server_of_this_machine(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        body = (
            f"try:\n    socket.create_connection(('127.0.0.1', {port}), 2)\n    print('reached')\n"
            "except OSError:\n    print('not reached')"
        )
        found = Ocr(program(tmp_path, body), "0", ("eng",)).read(make_picture(LINE), "a.png")
    assert found.text == b"not reached\n"


def test_what_was_read_is_kept_for_the_same_program_and_bytes_alone(tmp_path: Path) -> None:
    counted = "print(len(os.listdir('/proc/self/fd')), time.time_ns())"
    asked, picture = Ocr(program(tmp_path, counted), "0", ("eng",)), make_picture("kept")
    first = asked.read(picture, "a.png")
    assert asked.read(picture, "a.png") == first
    assert asked._replace(version="1").read(picture, "a.png").text != first.text
    assert asked.read(make_picture("other"), "a.png").text != first.text


def test_too_many_pages_and_too_much_time_end_in_a_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = Ocr(program(tmp_path, "print('page')"), "0", ("eng",))
    assert asked.read(make_scan(["a"], ["b"]), "a.pdf").pages == (1, 2)
    monkeypatch.setattr(ocr, "PAGES", 2)
    with pytest.raises(Unreadable, match="it has 3 scanned pages; at most 2 are read by OCR"):
        asked.read(make_scan(["a"], ["b"], ["c"]), "a.pdf")
    monkeypatch.setattr(ocr, "SECONDS", 0.0)
    with pytest.raises(Unreadable, match="takes more than 0 s"):
        asked.read(make_scan(["other"]), "a.pdf")


@pytest.mark.needs("tesseract")
def test_a_picture_that_unfolds_to_gigabytes_ends_in_a_reason() -> None:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    side = 60_000
    row = zlib.compress(b"\0" * (side + 1) * 2000, 9)
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0))
    bomb += chunk(b"IDAT", row) + chunk(b"IEND", b"")
    with pytest.raises(Unreadable, match="OCR"):
        read(bomb, "bomb.png")
