"""Word documents and workbooks: zip and XML opened as if they meant harm."""

import pytest

from support.documents import S, W, make_docx, make_xlsx, make_zip, paragraph
from vera.extraction.canonical import extract, package
from vera.extraction.source import Extracted, Unreadable

CELL = "<w:tc>{}</w:tc>"


def docx_text(body: str, **other: str) -> str:
    return extract(make_docx(body, **other), "a.docx").text.decode()


def row(*cells: str, attributes: str = "") -> str:
    return f"<row{attributes}>{''.join(cells)}</row>"


def cell(reference: str, value: str, kind: str = "n", style: str = "0") -> str:
    return f'<c r="{reference}" t="{kind}" s="{style}"><v>{value}</v></c>'


def xlsx(*sheets: str, **options: object) -> Extracted:
    return extract(make_xlsx(*sheets, **options), "dir/a.xlsx")  # type: ignore[arg-type]  # passed on as given


def test_a_paragraph_is_a_line_and_the_first_one_the_title() -> None:
    found = extract(make_docx(paragraph("Annual report") + paragraph("Text & more")), "a.docx")
    assert found.text == b"Annual report\nText & more\n"
    assert found.title == "Annual report"
    assert found.extractor.startswith("docx/expat-")


def test_tabs_and_breaks_in_a_paragraph() -> None:
    assert (
        docx_text("<w:p><w:r><w:t>a</w:t><w:tab/><w:t>b</w:t><w:br/><w:t>c</w:t></w:r></w:p>") == "a\tb\nc\n"
    )


def test_a_table_row_is_a_line() -> None:
    cells = "".join(CELL.format(paragraph(text)) for text in ("1990", "", "5 kt"))
    assert docx_text(f"<w:tbl><w:tr>{cells}</w:tr></w:tbl>") == "1990\t\t5 kt\n"


def test_notes_follow_the_text() -> None:
    notes = f"<w:footnotes {W}><w:footnote>{paragraph('A note')}</w:footnote></w:footnotes>"
    assert docx_text(paragraph("Text"), footnotes=notes) == "Text\nA note\n"


def test_hidden_text_and_fallbacks_are_left_out() -> None:
    fallback = (
        '<mc:AlternateContent xmlns:mc="http://schemas.openxmlformats.org/markup-compatibility/2006">'
        f"<mc:Choice>{paragraph('box')}</mc:Choice><mc:Fallback>{paragraph('box')}</mc:Fallback>"
        "</mc:AlternateContent>"
    )
    shown = paragraph("shown", '<w:vanish w:val="0"/>')
    assert docx_text(paragraph("hidden", "<w:vanish/>") + shown + fallback) == "shown\nbox\n"


def test_sheets_rows_and_empty_cells() -> None:
    strings = "<si><t>Year</t></si><si><r><t>k</t></r><r><t>t</t></r><rPh><t>x</t></rPh></si>"
    rows = (
        row(cell("A1", "0", "s"), cell("C1", "1", "s")) + row() + row(cell("A3", "1990"), cell("C3", "5.50"))
    )
    found = xlsx(rows, strings=strings)
    assert found.text == b"Year\t\tkt\n1990\t\t5.50\n"
    assert found.title == "a.xlsx"


def test_several_sheets_are_headed_by_their_names_and_hidden_ones_left_out() -> None:
    sheets = [row(cell("A1", str(number))) for number in (1, 2, 3)]
    found = xlsx(*sheets, names=("First & last", "Secret", "Third"), hidden="Secret")
    assert found.text == b"First & last\n1\nThird\n3\n"


def test_dates_are_iso_dates() -> None:
    styles = (
        '<numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy\\ hh:mm"/>'
        '<numFmt numFmtId="165" formatCode="0.0&quot; days&quot;"/></numFmts>'
        '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/></cellXfs>'
    )
    values = [cell("A1", "45292", style="1"), cell("B1", "45292.5", style="2"), cell("C1", "0.25", style="1")]
    rows = row(
        *values,
        cell("D1", "45292", style="3"),
        cell("E1", "1e9", style="1"),
        cell("F1", "9999999", style="1"),
    )
    assert (
        xlsx(rows, styles=styles).text
        == b"2024-01-01\t2024-01-01 12:00:00\t06:00:00\t45292\t1e9\t9999999.0\n"
    )
    old = xlsx(
        row(cell("A1", "0", style="1"), cell("B1", "366", style="1")),
        styles=styles,
        book='<workbookPr date1904="1"/>',
    )
    assert old.text == b"00:00:00\t1905-01-01\n"


def test_booleans_inline_strings_and_broken_references() -> None:
    inline = '<c r="B1" t="inlineStr"><is><t>in line</t></is></c>'
    rows = row(
        cell("A1", "1", "b"), inline, cell("C1", "99", "s"), cell("D1", "-1", "s"), cell("??", "x", "str")
    )
    assert xlsx(rows).text == b"TRUE\tin line\t\t\tx\n"


def test_a_cell_far_to_the_right_costs_no_million_tabs() -> None:
    assert len(xlsx("".join(row(cell("XFD1", "1")) for _ in range(100))).text) < 100 * 60


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (make_docx(paragraph("x"))[:-30], "broken"),
        (make_docx("<w:p>"), "no valid XML"),
        (make_docx(""), "no text"),
        (make_zip(a="x"), "zip archive"),
        (make_zip(**{"[Content_Types].xml": "x", "a.xml": "y" * 99})[:200], "damaged Office document"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"), "encrypted"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "old binary format"),
    ],
)
def test_what_cannot_be_read_is_said(data: bytes, reason: str) -> None:
    with pytest.raises(Unreadable, match=reason):
        extract(data, "a.docx")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_a_document_type_is_refused(encoding: str) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]>'
    part = f'<?xml version="1.0" encoding="{encoding}"?>{bomb}<w:document {W}>&b;</w:document>'
    data = make_zip(**{"word__document.xml": part.encode(encoding)})
    with pytest.raises(Unreadable, match="document type"):
        extract(data, "a.docx")


def test_what_unpacks_to_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(package, "PART_LIMIT", 1 << 20)
    with pytest.raises(Unreadable, match="unpacks to more than 1 MB"):
        extract(make_docx(paragraph("a " * 1_000_000)), "a.docx")


def test_one_string_in_very_many_cells_is_refused() -> None:
    strings = f"<si><t>{'x' * 1_000_000}</t></si>"
    with pytest.raises(Unreadable, match="text is larger"):
        xlsx(row(*(cell("A1", "0", "s") for _ in range(200))), strings=strings)


def test_xml_that_is_nested_too_deeply_is_refused() -> None:
    with pytest.raises(Unreadable, match="nested more than 1000 deep"):
        docx_text("<w:p>" * 1500 + "</w:p>" * 1500)


def test_parts_in_other_encodings_are_read_and_unknown_ones_are_a_reason() -> None:
    body = f"<w:document {W}><w:body>{paragraph('Café, 5 €')}</w:body></w:document>"

    def read(declared: str, encoding: str) -> bytes:
        part = f'<?xml version="1.0" encoding="{declared}"?>{body}'.encode(encoding)
        return extract(make_zip(**{"word__document.xml": part}), "a.docx").text

    for encoding in ("utf-8", "utf-16", "windows-1252"):
        assert read(encoding, encoding).decode() == "Café, 5 €\n"
    for unknown in ("x-none", "shift_jis", "rot13"):
        with pytest.raises(Unreadable, match="no valid XML"):
            read(unknown, "utf-8")


def test_an_entry_that_is_no_number_does_no_harm() -> None:
    styles = f'<cellXfs {S}><xf numFmtId="²"/></cellXfs>'
    assert xlsx(row(cell("A1", "²", "s"), cell("B1", "7", style="²")), styles=styles).text == b"\t7\n"
