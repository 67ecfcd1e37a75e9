"""Plain text: the bytes are kept whenever that is possible."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.extraction.canonical import LINE_LIMIT, extract
from vera.extraction.canonical.encoding import text_codec
from vera.extraction.canonical.text import canonical
from vera.extraction.source import Unreadable


def text_of(data: bytes, name: str = "a.txt") -> bytes:
    return extract(data, name).text


def test_text_with_newlines_is_kept_byte_for_byte() -> None:
    data = "Ein Satz.\n\n\tNoch einer, é combining: e\u0301, אבג.\n\n".encode()
    assert text_of(data) == data


def test_a_missing_last_newline_is_added() -> None:
    assert text_of(b"one\ntwo") == b"one\ntwo\n"


def test_windows_and_old_mac_line_ends_become_newlines() -> None:
    assert text_of(b"one\r\ntwo\rthree\n") == b"one\ntwo\nthree\n"


def test_byte_order_marks_are_dropped() -> None:
    assert text_of(codecs.BOM_UTF8 * 2 + b"one\n") == b"one\n"


def test_a_control_character_becomes_a_space_in_its_place() -> None:
    assert (
        text_of(b"a page\x0cand a NUL\x00 in " + b"a long text " * 20)
        == b"a page and a NUL  in " + b"a long text " * 20 + b"\n"
    )


def test_unicode_line_separators_end_no_line_and_move_no_byte() -> None:
    data = "a\u2028b\u2029c\u0085d\n".encode()
    text = text_of(data)
    assert len(text) == len(data)
    assert len(text.decode().splitlines()) == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be", "utf-16-le", "utf-32"])
def test_utf16_and_utf32_are_read_by_their_mark(encoding: str) -> None:
    mark = {"utf-16-be": codecs.BOM_UTF16_BE, "utf-16-le": codecs.BOM_UTF16_LE}.get(encoding, b"")
    found = extract(mark + "größer als 3 €\r\n".encode(encoding), "a.txt")
    assert found.text == "größer als 3 €\n".encode()
    assert found.extractor == f"txt/{encoding[:6]}/rules-2"


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Die Größe der Maße genügt für spätere Überprüfungen natürlich völlig.\n"),
        ("cp1251", "Быстрая коричневая лиса прыгает через ленивую собаку у реки.\n"),
        ("gb18030", "研究即验证，任何人都可以检查每一个字节，模型只选择而不输入引文。\n"),
        ("shift_jis", "これは日本語で書かれた文章であり、文字コードを判定するためのものです。\n"),
    ],
)
def test_other_encodings_are_detected(encoding: str, text: str) -> None:
    found = extract((text * 5).encode(encoding), "a.txt")
    assert found.text.decode() == text * 5
    assert found.extractor.startswith("txt/charset-normalizer-")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text", ["The walrus gadget costs 501 euros.\n", "Größer als „drei“ Kilo, für 9 €.\n" * 9]
)
def test_utf16_without_a_mark_is_read(encoding: str, text: str) -> None:
    found = extract(text.encode(encoding), "a.txt")
    assert (found.text.decode(), found.extractor) == (text, f"txt/{encoding}/rules-2")


@pytest.mark.parametrize(
    "data",
    [
        b"\x00\x01" * 400,
        b"\x01\x00\x02\x00" * 400,
        b"a\x00" * 200 + b"\x00\xd8",
        b"a\x00" * 200 + b"a",
        b"a\x00\x00\x00" * 200,
    ],
)
def test_bytes_that_only_look_like_utf16_are_no_text(data: bytes) -> None:
    with pytest.raises(Unreadable, match="binary data"):
        extract(data, "a.txt")


def test_utf8_with_one_damaged_byte_stays_utf8() -> None:
    assert (
        text_of("größer und größer, schöner\n".encode() * 3 + b"\xff\n")
        .decode()
        .endswith("schöner\n\ufffd\n")
    )


@pytest.mark.parametrize(
    "label", ["zlib", "rot13", "idna", "unicode_escape", "utf-7", "utf-16", "no-such", "x" * 99, "a\0b", ""]
)
def test_a_declared_charset_that_is_no_text_encoding_is_ignored(label: str) -> None:
    assert text_codec(label) is None


def test_the_title_is_the_first_line_with_a_word() -> None:
    assert extract(b"\n=====\n\n  Annual   report 2024\n\nText", "dir/a.txt").title == "Annual report 2024"
    assert extract(b"=====\n", "dir/a.txt").title == "a.txt"
    assert len(extract(b"word " * 100, "a.txt").title) <= 120


def test_the_title_of_a_file_whose_name_is_no_unicode_can_be_printed() -> None:
    extract(b"---\n", "dir/\udcff\ud800.txt").title.encode()


TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=1200)


@given(TEXT)
def test_canonical_text_is_canonical(text: str) -> None:
    once = canonical(text.encode())
    assert canonical(once) == once


@given(st.binary(max_size=400) | TEXT.map(str.encode))
def test_the_canonical_text_of_a_canonical_text_is_itself(data: bytes) -> None:
    try:
        once = extract(data, "a.txt").text
    except Unreadable:
        return
    assert extract(once, "a.txt").text == once


@given(TEXT)
def test_canonical_lines_hold_no_control_characters_and_end_where_every_program_ends_them(text: str) -> None:
    found = canonical(text.encode()).decode()
    assert found.splitlines(keepends=True) == [line + "\n" for line in found.split("\n")[:-1]]
    assert all(len(line) <= LINE_LIMIT for line in found.split("\n"))


@given(st.text(st.sampled_from("ab. \n"), min_size=1, max_size=2000))
def test_ordinary_text_keeps_every_offset(text: str) -> None:
    # Every line has a space in reach of the limit.
    text = " ".join(text[i : i + 90] for i in range(0, len(text), 90))
    assert canonical(text.encode()).decode().removesuffix("\n").replace("\n", " ") == text.removesuffix(
        "\n"
    ).replace("\n", " ")
