"""Presentations, OpenDocument texts and EPUB books: their text, pages and marks, and hostile packages."""

import io
import zipfile

import pytest

from vera.extraction.canonical import extract
from vera.extraction.extractor import Extractor
from vera.extraction.source import Extracted, Unreadable

A = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
P = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
R = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
ODF = " ".join(
    f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
    for name in ("office", "text", "table", "style", "meta")
)
BOMB = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;">]>'


def packed(parts: dict[str, str], mime: str = "") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        if mime:
            archive.writestr("mimetype", mime, zipfile.ZIP_STORED)
        for name, content in parts.items():
            archive.writestr(name, content)
    return file.getvalue()


def words(found: Extracted) -> list[tuple[str, str]]:
    """Each mark with the text that it is on."""
    return [(mark.kind, found.text[mark.start : mark.end].decode()) for mark in found.marks]


def slide(body: str, show: str = "1") -> str:
    return f'<p:sld {P} {A} show="{show}"><p:cSld><p:spTree>{body}</p:spTree></p:cSld></p:sld>'


def shape(*paragraphs: str, hidden: str = "0") -> str:
    runs = "".join(f"<a:p><a:r><a:t>{each}</a:t></a:r></a:p>" for each in paragraphs)
    named = f'<p:nvSpPr><p:cNvPr id="2" name="x" hidden="{hidden}"/></p:nvSpPr>'
    return f"<p:sp>{named}<p:txBody>{runs}</p:txBody></p:sp>"


def presentation(*slides: str, target: str = "slides/slide{}.xml", **more: str) -> bytes:
    """Slides whose files are numbered backwards: the presentation's own order counts."""
    ids = range(len(slides), 0, -1)
    order = "".join(f'<p:sldId id="{256 + number}" r:id="rId{number}"/>' for number in ids)
    parts = {
        "[Content_Types].xml": "<Types/>",
        "ppt/_rels/presentation.xml.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/'
        '2006/relationships">'
        + "".join(f'<Relationship Id="rId{each}" Target="{target.format(each)}"/>' for each in ids)
        + "</Relationships>",
        **{f"ppt/slides/slide{number}.xml": text for number, text in zip(ids, slides, strict=True)},
        **more,
        "ppt/presentation.xml": f"<p:presentation {P} {R}><p:sldIdLst>{order}</p:sldIdLst></p:presentation>",
    }
    return packed(parts)


def test_the_slides_of_a_presentation_are_its_pages_in_the_order_of_the_show() -> None:
    found = extract(presentation(slide(shape("One", "more")), slide(""), slide(shape("Three"))), "a.pptx")
    assert found.text == b"One\nmore\nThree\n"
    assert found.pages == (1, 3, 3)
    assert (found.page_of(2), found.page_of(3)) == (1, 3)
    assert found.extractor.startswith("pptx/expat-")


def test_a_hidden_slide_or_shape_and_struck_text_are_marked_and_a_slide_number_is_left_out() -> None:
    struck = '<a:p><a:r><a:rPr strike="sngStrike"/><a:t>12 %</a:t></a:r><a:r><a:t> now 14 %</a:t></a:r></a:p>'
    number = '<a:p><a:fld type="slidenum"><a:t>77</a:t></a:fld></a:p>'
    body = f"<p:sp><p:txBody>{struck}{number}</p:txBody></p:sp>" + shape("aside", hidden="1")
    found = extract(presentation(slide(body), slide(shape("unseen"), show="0")), "a.pptx")
    assert found.text == b"12 % now 14 %\naside\nunseen\n"
    assert words(found) == [("struck", "12 %"), ("hidden", "aside\nunseen")]


def test_the_cells_of_a_slides_table_are_between_tabs() -> None:
    cells = "".join(f"<a:tc><a:txBody><a:p><a:r><a:t>{x}</a:t></a:r></a:p></a:txBody></a:tc>" for x in "ab")
    table = f"<p:graphicFrame><a:tbl><a:tr>{cells}</a:tr></a:tbl></p:graphicFrame>"
    assert extract(presentation(slide(table)), "a.pptx").text == b"a\tb\n"


def odt(body: str, styles: str = "", **parts: str) -> bytes:
    content = (
        f"<office:document-content {ODF}><office:automatic-styles>{styles}</office:automatic-styles>"
        f"<office:body><office:text>{body}</office:text></office:body></office:document-content>"
    )
    named = {f"{name}.xml": text for name, text in parts.items()}
    return packed({"content.xml": content, **named}, "application/vnd.oasis.opendocument.text")


def test_an_opendocument_text_gives_paragraphs_tables_and_its_notes_at_the_end() -> None:
    body = (
        "<text:h>Title of it</text:h><text:p>One<text:s text:c='2'/>two<text:note><text:note-citation>1"
        "</text:note-citation><text:note-body><text:p>A note.</text:p></text:note-body></text:note> end"
        "<office:annotation><text:p>a comment</text:p></office:annotation>.</text:p>"
        "<table:table><table:table-row><table:table-cell><text:p>a</text:p></table:table-cell>"
        "<table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
    )
    meta = (
        f'<office:document-meta {ODF} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:meta>'
        "<meta:creation-date>2020-01-02T03:04:05</meta:creation-date><dc:date>2021-05-06</dc:date>"
        "<dc:title>Its title</dc:title></office:meta></office:document-meta>"
    )
    found = extract(odt(body, meta=meta), "a.odt")
    assert found.text == b"Title of it\nOne  two end.\na\tb\nA note.\n"
    assert (found.title, found.dated, found.pages) == ("Its title", "2020-01-02/2021-05-06", ())


def test_struck_text_of_opendocument_is_marked_and_hidden_and_deleted_text_is_left_out() -> None:
    styles = (
        '<style:style style:name="S"><style:text-properties style:text-line-through-style="solid"/>'
        "</style:style>"
        '<style:style style:name="Loop" style:parent-style-name="Loop"/>'
        '<style:style style:name="H"><style:text-properties text:display="none"/></style:style>'
    )
    body = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        '<text:p>Pay <text:span text:style-name="S">12</text:span> 14'
        '<text:span text:style-name="H"> hidden</text:span>'
        '<text:span text:style-name="Loop">.</text:span></text:p>'
    )
    found = extract(odt(body, styles), "a.odt")
    assert found.text == b"Pay 12 14.\n"
    assert words(found) == [("struck", "12")]


def epub(*chapters: str, encrypted: str = "", hrefs: str = "text/c{}.xhtml") -> bytes:
    items = "".join(
        f'<item id="c{number}" href="{hrefs.format(number)}" media-type="application/xhtml+xml"/>'
        for number in range(len(chapters))
    )
    spine = "".join(f'<itemref idref="c{number}"/>' for number in range(len(chapters)))
    parts = {
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container">'
        '<rootfiles><rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        "OPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/'
        f'1.1/"><metadata><dc:title>The Book</dc:title><dc:date>2019-04</dc:date></metadata><manifest>{items}'
        f"</manifest><spine>{spine}</spine></package>",
        **{f"OPS/text/c{number}.xhtml": each for number, each in enumerate(chapters)},
    }
    if encrypted:
        parts["META-INF/encryption.xml"] = (
            '<encryption xmlns:e="http://www.w3.org/2001/04/xmlenc#">'
            f'<e:CipherReference URI="{encrypted}"/></encryption>'
        )
    return packed(parts, "application/epub+zip")


def chapter(body: str) -> str:
    return f'<!DOCTYPE html><html xmlns="http://www.w3.org/1999/xhtml"><body>{body}</body></html>'


def test_the_chapters_of_a_book_are_its_pages_and_html_is_read_as_html_is() -> None:
    found = extract(
        epub(
            chapter("<h1>One</h1><p>First&#160;text &amp; <del>gone</del> more.</p>"),
            chapter("<p>Second.</p><p style='display:none'>unseen</p>"),
        ),
        "a.epub",
    )
    assert found.text.decode().replace("\xa0", " ") == "One\nFirst text & gone more.\nSecond.\n"
    assert (found.pages, found.title, found.dated) == ((1, 3), "The Book", "2019-04")
    assert words(found) == [("struck", "gone")]


def test_a_book_with_encrypted_parts_is_refused_and_one_with_encrypted_fonts_is_read() -> None:
    with pytest.raises(Unreadable, match="encrypted"):
        extract(epub(chapter("x y z"), encrypted="OPS/text/c0.xhtml"), "a.epub")
    assert extract(epub(chapter("x y z"), encrypted="OPS/font.otf"), "a.epub").text == b"x y z\n"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (presentation(slide(shape("x")).replace("<p:sld ", BOMB + "<p:sld ")), "document type"),
        (presentation(slide(shape("x")) + "<"), "no valid XML"),
        (presentation(slide("")), "no text"),
        (presentation(slide(shape("x")), target="../../etc/passwd"), "no text"),
        (odt("<text:p>x</text:p></text:h>"), "no valid XML"),
        (odt("<text:table-cell/>"), "no text"),
        (packed({"other.xml": ""}, "application/vnd.oasis.opendocument.text"), "no text"),
        (epub(chapter("")), "no text"),
        (epub(chapter("x"), hrefs="../../../../etc/passwd"), "no text"),
        (packed({"x": ""}, "application/epub+zip"), "no description"),
    ],
)
def test_a_package_that_is_broken_or_means_harm_is_refused_in_words(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        extract(data, "a.zip")


@pytest.mark.parametrize("cut", range(0, 100, 9))
def test_a_damaged_package_is_text_or_unreadable_and_never_another_error(cut: int) -> None:
    for whole in (presentation(slide(shape("x y"))), odt("<text:p>x</text:p>"), epub(chapter("x"))):
        data = bytearray(whole)
        place = 60 + (len(data) - 60) * cut // 100
        for damaged in (bytes(data[:place]), bytes(data[:place]) + b"\xff\x00" + bytes(data[place + 2 :])):
            try:
                extract(damaged, "a.zip")
            except Unreadable:
                continue


def test_the_formats_are_read_in_the_confined_process() -> None:
    with Extractor() as extractor:
        assert extractor.extract(presentation(slide(shape("One"))), "a.pptx").text == b"One\n"
        assert extractor.extract(odt("<text:p>Two</text:p>"), "a.odt").text == b"Two\n"
        assert extractor.extract(epub(chapter("Three")), "a.epub").text == b"Three\n"
