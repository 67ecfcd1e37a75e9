"""PDF: page by page, clean, and honest about what cannot be read."""

import pytest

from support.documents import ENCRYPTED, make_pdf
from vera.extraction.canonical import extract, pdf
from vera.extraction.source import Unreadable


def test_pages_begin_on_the_lines_that_are_recorded() -> None:
    found = extract(make_pdf(["First page", "second line"], ["Page two"]), "a.pdf")
    assert found.text == b"First page\nsecond line\nPage two\n"
    assert found.pages == (1, 3)
    assert [found.page_of(line) for line in (1, 2, 3)] == [1, 1, 2]


def test_a_page_without_text_keeps_its_number() -> None:
    found = extract(make_pdf(["one"], [], ["three"]), "a.pdf")
    assert found.page_of(2) == 3


def test_a_word_hyphenated_at_a_lines_end_holds_no_control_character() -> None:
    found = extract(make_pdf(["the declara-", "tions of the (first) part"]), "a.pdf")
    assert found.text == b"the declarations of the (first) part\n"


def test_the_title_is_the_documents_own_when_it_says_something() -> None:
    assert extract(make_pdf(["Line one"], title="Annual report"), "a.pdf").title == "Annual report"
    assert extract(make_pdf(["Line one"], title="doc1.doc"), "a.pdf").title == "Line one"


def test_the_extractor_names_the_build_of_pdfium() -> None:
    assert extract(make_pdf(["x y"]), "a.pdf").extractor.startswith("pdf/pdfium-")


def test_a_pdf_is_known_by_its_bytes() -> None:
    assert extract(make_pdf(["x y"]), "download.txt").media_type == "application/pdf"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (make_pdf(["secret"], trailer=ENCRYPTED), "encrypted"),
        (make_pdf([], []), "no text"),
        (make_pdf(["x"])[:200], "damaged"),
        (b"%PDF-1.7\n", "damaged"),
    ],
)
def test_what_cannot_be_read_is_said(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        extract(data, "a.pdf")


def test_a_pdf_of_too_many_pages_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "PAGE_LIMIT", 2)
    with pytest.raises(Unreadable, match="3 pages"):
        extract(make_pdf(["a"], ["b"], ["c"]), "a.pdf")


def test_a_text_that_only_bears_the_suffix_is_read_as_text() -> None:
    assert extract(b"Not found\n", "report.pdf").text == b"Not found\n"
