"""Rich Text Format: its text, its marks, its dates, and files that mean harm."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.extraction.canonical import extract
from vera.extraction.canonical.rtf import DEEPEST
from vera.extraction.extractor import ExtractionLimits, Extractor
from vera.extraction.marks import told
from vera.extraction.source import Extracted, Unreadable

FONTS = rb"{\fonttbl{\f0\fnil\fcharset0 Times;}{\f1\fnil\fcharset204 Arial;}{\f2\fnil\fcharset128 M;}}"


def rtf(body: bytes, head: bytes = b"") -> bytes:
    return rb"{\rtf1\ansi\ansicpg1252\deff0" + FONTS + head + b"\n" + body + b"}"


def read(body: bytes, head: bytes = b"") -> Extracted:
    return extract(rtf(body, head), "lease.rtf")


def seen(body: bytes) -> str:
    """The text as a model sees it, with the marks in words."""
    found = read(body)
    return told(found.text, found.marks).decode()


def test_a_paragraph_is_a_line_and_cells_of_a_row_stand_between_tabs() -> None:
    found = read(
        rb"\pard The term is {\b seven} years.\par\trowd\cellx1 A\cell B\cell\row\pard End\line of it\par"
    )
    assert found.text == b"The term is seven years.\nA\tB\nEnd\nof it\n"
    assert (found.title, found.media_type, found.marks) == (
        "The term is seven years.",
        "application/rtf",
        (),
    )
    assert found.extractor.startswith("rtf/striprtf-") and found.extractor.endswith("/rules-1")


def test_letters_of_any_character_set_are_read() -> None:
    body = (
        rb"caf\'e9 \u8364?5 \f1\'cf\'f0\'e8\f0  \f2\'93\'fa\f0  \u-10179?\u-8704? "
        + "Übung".encode("cp1252")
        + rb" co\-op {\uc2\u8364 ab}!\par"
    )
    assert read(body).text.decode() == "café €5 При 日 😀 Übung coop €!\n"


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (rb"The term is {\strike five} seven years.", "The term is [struck out: five] seven years."),
        (rb"\striked1 five\striked0  seven", "[struck out: five] seven"),
        (rb"{\deleted\revdttmdel5 five }{\revised seven}", "[struck out: five] seven"),
        (rb"{\mvf moved }stays", "[struck out: moved] stays"),
        (rb"open {\v secret} open", "open [hidden: secret] open"),
        (rb"\v a\v0 b", "[hidden: a]b"),
        (rb"\strike a\plain b", "[struck out: a]b"),
        (rb"{\strike\v both} none", "[hidden: both] none"),
        (rb"{\strike a {\strike0 b} c} d", "[struck out: a] b [struck out: c] d"),
        (rb"\strike one\par two\strike0  three", "[struck out: one]\n[struck out: two] three"),
        (rb"{\strike {\*\unknown\strike0 x}a} b", "[struck out: a] b"),
        (rb"{\deleted{\strike a\strike0 b}} c", "[struck out: ab] c"),
        (rb"\strike\'e9\u8364?\strike0 x", "[struck out: é€]x"),
    ],
)
def test_what_is_struck_deleted_moved_away_or_hidden_is_marked(body: bytes, shown: str) -> None:
    assert seen(body + rb"\par") == shown + "\n"


def test_the_style_sheet_and_fields_and_pictures_and_headers_say_nothing() -> None:
    head = rb"{\stylesheet{\s1\strike Struck;}}{\info{\title Not shown}}{\header H}{\*\generator G;}"
    body = (
        rb'{\field{\*\fldinst{HYPERLINK "http://x/"}}{\fldrslt{the link}}} {\pict\wmetafile8 0102\bin3 }{{}'
        rb"{\object{\*\objdata 0102}} {\*\annotation a note} stays"
    )
    assert " ".join(read(body, head).text.decode().split()) == "the link stays"


def test_notes_follow_the_text_with_their_marks() -> None:
    body = (
        rb"Rent is due.{\footnote\pard\plain {\up6\chftn} See {\strike 8} 9.} It is paid monthly.\par Last."
        rb"{\footnote\ftnalt An end note.}"
    )
    assert seen(body) == "Rent is due. It is paid monthly.\nLast.\n See [struck out: 8] 9.\nAn end note.\n"
    assert seen(rb"{\strike Rent{\footnote\plain note} is} due") == "[struck out: Rent is] due\nnote\n"


def test_the_days_of_making_and_changing_date_the_document() -> None:
    made = rb"{\info{\creatim\yr2020\mo5\dy3\hr1\min2}{\revtim\yr2021\mo12\dy1}}"
    assert read(b"x", made).dated == "2020-05-03/2021-12-01"
    assert read(b"x", rb"{\info{\creatim\yr2020\mo15\dy3}}").dated == ""


@pytest.mark.parametrize(
    "body",
    [
        rb"\u99999999 x",
        rb"\u-99999999 x",
        rb"\fcharset99999999999 x",
        rb"{\fonttbl{\f7\fcharset78 Osaka;}}\f7\'82\'a0",
        rb"\uc-5 x\u5 y",
        b"{" * 5000,
        b"}" * 50 + b"x",
        rb"\bin9999999999 x",
        b"\\",
    ],
)
def test_a_broken_document_is_text_or_a_reason(body: bytes) -> None:
    for data in (rtf(body), b"{\\rtf1 " + body):
        try:
            assert extract(data, "a.rtf").text.endswith(b"\n")
        except Unreadable as why:
            assert str(why)


def test_groups_without_end_and_a_font_table_of_traps_end_in_a_reason() -> None:
    with pytest.raises(Unreadable, match="deep"):
        extract(rtf(b"{" * (DEEPEST + 1)), "a.rtf")
    trap = rb"{\rtf1{\fonttbl" + rb"\f1" * 300_000 + rb"}x}"
    with Extractor(ExtractionLimits(seconds=2.0)) as extractor:
        with pytest.raises(Unreadable, match="too long"):
            extractor.extract(trap, "a.rtf")
        assert extractor.extract(rtf(b"fine"), "a.rtf").text == b"fine\n"


@given(
    st.lists(
        st.sampled_from(
            [
                b"{",
                b"}",
                rb"\strike ",
                rb"\v0 ",
                rb"\footnote ",
                rb"\'e9",
                rb"\u233 ",
                b"a ",
                rb"\par ",
                rb"\*",
            ]
        ),
        max_size=40,
    )
)
def test_any_order_of_groups_gives_whole_marks(tokens: list[bytes]) -> None:
    try:
        found = read(b"x" + b"".join(tokens))
    except Unreadable:
        return
    assert all(0 <= mark.start < mark.end <= len(found.text) for mark in found.marks)
    assert "\ufdd4" not in found.text.decode() and found == read(b"x" + b"".join(tokens))
