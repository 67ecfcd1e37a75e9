"""Documents of other formats: their links and notes name the sources of their statements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.linked_documents import CLICK, FIELD, LINK, NOTE, epub, odt, pptx, rtf
from vera.document_check import package as document_package
from vera.document_check import rtf as document_rtf
from vera.document_check.docx import Marked
from vera.document_check.links import WORDS_BEGIN, WORDS_CLOSE, WORDS_END
from vera.extraction.canonical import extract

MADE = {
    "odt link": (odt(f"<text:p>Sales grew ({LINK.format('http://x.org/s')}).</text:p>"), "http://x.org/s"),
    "odt file beside it": (odt(f"<text:p>Sales grew ({LINK.format('../s.txt')}).</text:p>"), "s.txt"),
    "odt note": (
        odt(f"<text:p>Sales grew{NOTE.format('Nordwind, s.txt')}.</text:p>"),
        "note:Nordwind, s.txt",
    ),
    "odt note with an address": (
        odt(f"<text:p>Sales grew{NOTE.format(LINK.format('http://x.org/s'))}.</text:p>"),
        "http://x.org/s",
    ),
    "pptx link": (
        pptx(
            f"<a:r><a:t>Sales grew (</a:t></a:r>{CLICK}<a:r><a:t>).</a:t></a:r>",
            '<Relationship Id="rId2" Target="http://x.org/s" TargetMode="External"/>',
        ),
        "http://x.org/s",
    ),
    "epub link": (epub('<p>Sales grew (<a href="http://x.org/s">report</a>).</p>'), "http://x.org/s"),
    "rtf link": (rtf(f"Sales grew ({FIELD.format('http://x.org/s')})."), "http://x.org/s"),
    "rtf note": (rtf("Sales grew{\\footnote \\pard\\plain Nordwind, s.txt}."), "note:Nordwind, s.txt"),
    "rtf note with an address": (rtf("Sales grew{\\footnote http://x.org/s}."), "http://x.org/s"),
}


def marked(data: bytes, kind: str) -> Marked | None:
    return document_rtf.marked(data) if kind == "rtf" else document_package.marked(data, kind)


@pytest.mark.parametrize("name", MADE)
def test_a_link_or_a_note_is_marked_with_what_it_leads_to(name: str) -> None:
    data, target = MADE[name]
    kind = name.split()[0]
    found = marked(data, kind)
    assert found is not None and found.targets == ((target,),)
    text = extract(found.data, f"a.{kind}").text.decode().strip()
    words = "" if "note" in name else "report"
    link = f"{WORDS_BEGIN}{words}{WORDS_END}0{WORDS_CLOSE}"
    assert text == (f"Sales grew{link}." if "note" in name else f"Sales grew ({link}).")


def test_what_leads_into_the_document_is_no_source() -> None:
    for data, kind in (
        (epub('<p>See <a href="b.xhtml#n">there</a> and <a href="#n">here</a>.</p>'), "epub"),
        (odt(f"<text:p>See {LINK.format('#n')}.</text:p>"), "odt"),
    ):
        found = marked(data, kind)
        assert found is not None and found.targets == ()
        assert extract(found.data, f"a.{kind}").text.startswith(b"See ")


def test_several_links_keep_their_order_and_a_field_without_an_end_stays() -> None:
    body = FIELD.format("http://x.org/1") + " and " + FIELD.format("http://x.org/2")
    assert [each for (each,) in document_rtf.marked(rtf(body)).targets] == [
        "http://x.org/1",
        "http://x.org/2",
    ]
    assert document_rtf.marked(b"{\\rtf1 {\\field{\\*\\fldinst HYPERLINK").targets == ()
    assert document_rtf.marked(b"{\\rtf1 {\\footnote never ended").data == b"{\\rtf1 {\\footnote never ended"


def test_what_cannot_be_taken_apart_is_left_to_the_extractor() -> None:
    assert document_package.marked(b"PK\x03\x04broken", "odt") is None


TOKENS = (
    b"{",
    b"}",
    b"\\",
    b"{\\footnote ",
    b"{\\field",
    b'{\\*\\fldinst HYPERLINK "x"}',
    b"{\\fldrslt ",
    b"a",
)


@given(st.lists(st.sampled_from(TOKENS), max_size=40))
def test_any_groups_of_rich_text_are_marked_or_left(tokens: list[bytes]) -> None:
    found = document_rtf.marked(b"{\\rtf1 " + b"".join(tokens))
    assert found.data.startswith(b"{\\rtf1 ")
