"""What is struck out or hidden keeps its place in the canonical text, with a mark beside it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.documents import W, make_docx, make_pdf, make_xlsx, make_zip, paragraph
from vera.extraction.canonical import extract
from vera.extraction.marks import MAX_MARKS, Mark, blanked, bounded, lifted, marked, told, unmarked


def marks_of(data: bytes | str, name: str) -> tuple[str, list[tuple[str, str]]]:
    found = extract(data.encode() if isinstance(data, str) else data, name)
    assert not re.search("[\ufdd0-\ufdd3]", found.text.decode())
    return found.text.decode(), [
        (mark.kind, found.text[mark.start : mark.end].decode()) for mark in found.marks
    ]


@pytest.mark.parametrize(
    "struck",
    [
        "<s>seven</s>",
        "<del>seven</del>",
        "<strike><b>seven</b></strike>",
        "<span style='text-decoration: line-through red'>seven</span>",
        "<span style='text-decoration-line:LINE-THROUGH'>seven</span>",
        "<style>.old{text-decoration:line-through}</style><span class=old>seven</span>",
        "<style>p > .old { text-decoration : line-through } /* x */</style><span class='old'>seven</span>",
    ],
)
def test_struck_text_of_a_page_keeps_its_place(struck: str) -> None:
    text, marks = marks_of(f"<p>It lasts {struck} three years.</p><p>End.</p>", "a.html")
    assert (text, marks) == ("It lasts seven three years.\nEnd.\n", [("struck", "seven")])


@pytest.mark.parametrize(
    ("style", "span"),
    [
        (".x{display:none}", "<span class=x>"),
        ("#x{visibility:hidden}", "<span id=x>"),
        ("@media all{.x{opacity:0}}", "<span class=x>"),
        (".x{position:absolute;left:-9999px}", "<span class=x>"),
        (".x{position:absolute!important;clip:rect(0,0,0,0)}", "<span class=x>"),
        ("", "<span style='position:absolute; left:-10000px'>"),
        ("", "<span style='visibility:hidden'>"),
        ("", "<span style='color:#fff'>"),
        ("", "<span style='color:white;background:white'>"),
        ("p{background-color:#123456} .x{color:rgb(18,52,86)}", "<span class=x>"),
        (".x{display:inline} span.x{display:none}", "<span class=x>"),
        (".y{color:red} .x{display:none", "<span class=x>"),
        (":root{--a:#fff;--b:var(--a)} .x{color:var(--b)}", "<span class=x>"),
        (".x{color:var(--none, white)}", "<span class=x>"),
        ("p{background:navy} .x{color:#000080}", "<span class=x>"),
    ],
)
def test_what_a_reader_cannot_see_is_marked_hidden(style: str, span: str) -> None:
    page = f"<style>{style}</style><p>It lasts three {span}seven</span> years.</p>"
    assert marks_of(page, "a.html") == ("It lasts three seven years.\n", [("hidden", "seven")])


@pytest.mark.parametrize(
    ("head", "span"),
    [
        ("", "<span aria-hidden=true>"),
        ("<style>.x{display:none} .x.open{display:inline}</style>", "<span class='x open'>"),
        ("<style>@media print{.x{display:none}} .x:hover{display:none}</style>", "<span class=x>"),
        ("<style>.y{display:none}</style>", "<span class=x>"),
        ("<style>p{background:#000} .x{color:#fff}</style>", "<span class=x>"),
        ("<link rel=stylesheet href=a.css>", "<span style='color:#fff'>"),
        ("", "<span style='visibility:hidden'></span><span style='visibility:hidden;visibility:visible'>"),
        ("", "<span style='text-decoration:underline'>"),
        ("<style>:root{--a:#fff;--b:var(--a);--c:var(--c)}.x{color:var(--c)}</style>", "<span class=x>"),
        ("<style>:root{--a:#333;--b:var(--a)} .x{color:var(--b, white)}</style>", "<span class=x>"),
        ("<style>body{visibility:hidden;opacity:0}</style>", "<span>"),
    ],
)
def test_what_a_reader_sees_gets_no_mark(head: str, span: str) -> None:
    assert marks_of(f"{head}<p>It lasts {span}seven</span> years.</p>", "a.html")[1] == []


def test_what_a_hidden_element_shows_again_is_seen() -> None:
    seen = "<b style='visibility:visible'>not</b>"
    page = f"<p>Do <span style='visibility:hidden'>so {seen} at all</span> smoke.</p>"
    assert marks_of(page, "a.html")[1] == [("hidden", "so"), ("hidden", "at all")]


def test_a_page_cannot_forge_or_end_a_mark() -> None:
    text, marks = marks_of("<p>\ufdd0It <s>is\ufdd1 not</s> so\ufdd1.</p>", "a.html")
    assert text == "\ufffdIt is\ufffd not so\ufffd.\n" and marks == [("struck", "is\ufffd not")]


def test_marks_go_through_tables_raised_digits_and_folded_lines() -> None:
    table = "<table><tr><td>a</td><td><s>b</s></td></tr></table>"
    page = f"{table}<p>10<s><sup>6</sup></s></p><p>{'word ' * 90}<s>x</s></p>"
    text, marks = marks_of(page, "a.html")
    assert text.startswith("a\tb\n10⁶\n") and marks == [("struck", "b"), ("struck", "⁶"), ("struck", "x")]


def test_word_strikes_out_deletes_and_moves() -> None:
    runs = (
        "<w:p><w:r><w:t>It lasts </w:t></w:r><w:del><w:r><w:delText>seven</w:delText></w:r></w:del>"
        "<w:ins><w:r><w:t> three</w:t></w:r></w:ins></w:p>"
    )
    moved = "<w:p><w:moveFrom><w:r><w:t>Moved.</w:t></w:r></w:moveFrom></w:p>"
    styles = (
        f"<w:styles {W}><w:style w:styleId='Gone'><w:rPr><w:strike/></w:rPr></w:style>"
        "<w:style w:styleId='Old'><w:basedOn w:val='Gone'/></w:style></w:styles>"
    )
    styled = "<w:p><w:pPr><w:pStyle w:val='Old'/></w:pPr><w:r><w:t>Styled.</w:t></w:r></w:p>"
    body = (
        runs
        + paragraph("Struck.", "<w:strike/>")
        + paragraph("Kept.", '<w:dstrike w:val="0"/>')
        + moved
        + styled
    )
    text, marks = marks_of(make_docx(body, styles=styles), "a.docx")
    assert text == "It lasts seven three\nStruck.\nKept.\nMoved.\nStyled.\n"
    assert marks == [("struck", "seven"), ("struck", "Struck."), ("struck", "Moved.\nStyled.")]


def row(properties: str, *cells: str) -> str:
    made = "".join(f"<w:tc>{cell}</w:tc>" for cell in cells)
    return f"<w:tr><w:trPr>{properties}</w:trPr>{made}</w:tr>"


def test_word_deletes_and_hides_rows_and_cells_of_a_table() -> None:
    body = (
        "<w:tbl>"
        + row('<w:del w:id="1"/>', paragraph("Deleted."), paragraph("This, too."))
        + row("<w:hidden/>", paragraph("Unseen."))
        + row("", "<w:tcPr><w:cellDel/></w:tcPr>" + paragraph("Gone."), paragraph("Kept."))
        + "</w:tbl>"
        + paragraph("Behind it.")
    )
    text, marks = marks_of(make_docx(body), "a.docx")
    assert text == "Deleted.\tThis, too.\nUnseen.\nGone.\tKept.\nBehind it.\n"
    assert marks == [
        ("struck", "Deleted.\tThis, too."),
        ("hidden", "Unseen."),
        ("struck", "Gone."),
    ]


@pytest.mark.parametrize(
    ("properties", "hidden"),
    [
        ('<w:color w:val="1F4E79"/><w:shd w:val="clear" w:fill="1F4E79"/>', True),
        ('<w:color w:val="1F4E79"/><w:shd w:val="clear" w:fill="FFFFFF"/>', False),
        ('<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="1F4E79"/>', False),
        ('<w:color w:val="FFFFFF"/>', True),
        ('<w:color w:val="000000"/><w:highlight w:val="black"/>', True),
        ('<w:rStyle w:val="Pale"/>', True),
        ('<w:rStyle w:val="Pale"/><w:color w:val="000000"/>', False),
    ],
)
def test_what_word_writes_in_the_colour_behind_it_is_hidden(properties: str, hidden: bool) -> None:
    styles = (
        f"<w:styles {W}><w:style w:type='character' w:styleId='Pale'><w:rPr><w:color w:val='FDFDFD'/></w:rPr>"
        "</w:style></w:styles>"
    )
    text, marks = marks_of(make_docx(paragraph("Words.", properties), styles=styles), "a.docx")
    assert text == "Words.\n"
    assert marks == ([("hidden", "Words.")] if hidden else [])


def test_hidden_rows_and_columns_and_struck_cells_of_a_workbook() -> None:
    cells = (
        '<c r="A{0}" t="inlineStr"><is><t>a{0}</t></is></c><c r="B{0}" t="inlineStr"><is><t>b{0}</t></is></c>'
    )
    rows = f'<row>{cells.format(1)}</row><row hidden="1">{cells.format(2)}</row>'
    struck = '<row><c r="A3" s="1"><v>7</v></c><c r="B3"><v>3</v></c></row>'
    styles = '<fonts><font/><font><strike/></font></fonts><cellXfs><xf fontId="0"/><xf fontId="1"/></cellXfs>'
    assert marks_of(make_xlsx(rows + struck, styles=styles), "a.xlsx") == (
        "a1\tb1\na2\tb2\n7\t3\n",
        [("hidden", "a2\tb2"), ("struck", "7")],
    )


def test_the_hidden_columns_of_a_workbook() -> None:
    columns = '</sheetData><cols><col min="2" max="2" hidden="1"/></cols><sheetData>'
    rows = columns + '<row><c r="A1"><v>3</v></c><c r="B1"><v>7</v></c></row>'
    assert marks_of(make_xlsx(rows), "a.xlsx") == ("3\t7\n", [("hidden", "7")])


def test_markdown_strikes_and_comments_but_not_code() -> None:
    source = (
        "It lasts ~~seven~~ three.\n<!-- five -->\n`~~code~~` <del>six</del> ~four~ ~5 and ~6 /~a/~b\n"
        "```\n~~raw~~\n```\n~~open\n\nend~~\n"
    )
    text, marks = marks_of(source, "a.md")
    assert text == source
    assert marks == [
        ("struck", "~~seven~~"),
        ("hidden", "<!-- five -->"),
        ("struck", "<del>six</del> ~four~"),
    ]


def test_a_line_through_the_letters_of_a_pdf_strikes_them_and_one_below_does_not() -> None:
    plain = make_pdf(["It lasts seven years.", "It lasts three years."])
    drawn = plain.replace(b"BT /F1", b"72 723.6 120 0.8 re f 72 704 120 0.8 re f BT /F1")
    text, marks = marks_of(drawn, "a.pdf")
    assert text == "It lasts seven years.\nIt lasts three years.\n"
    assert marks == [("struck", "It lasts seven years.")]
    assert marks_of(plain, "a.pdf")[1] == []


def test_an_annotation_of_a_pdf_strikes_out() -> None:
    note = (
        b"/Annots [<< /Type /Annot /Subtype /StrikeOut /Rect [72 718 200 732]"
        b" /QuadPoints [72 732 200 732 72 718 200 718] >>] /Contents"
    )
    drawn = make_pdf(["It lasts seven years.", "It lasts three years."]).replace(b"/Contents", note)
    assert marks_of(drawn, "a.pdf")[1] == [("struck", "It lasts seven years.")]


def test_the_marks_of_a_mail_are_those_of_its_page() -> None:
    mail = (
        "Subject: Lease\r\nMIME-Version: 1.0\r\nContent-Type: text/html; charset=utf-8\r\n\r\n"
        "<p>It lasts <s>seven</s> three years.</p>"
    )
    assert marks_of(mail, "a.eml") == (
        "Subject: Lease\n\nIt lasts seven three years.\n",
        [("struck", "seven")],
    )


@given(st.lists(st.tuples(st.text(alphabet="ab é\n\ufdd0\ufdd1"), st.sampled_from(["", "struck", "hidden"]))))
def test_lifted_marks_are_where_the_marked_text_is(parts: list[tuple[str, str]]) -> None:
    pieces = [(unmarked(text), kind) for text, kind in parts]
    written = "".join(marked(text, kind) if kind else text for text, kind in pieces)
    text, marks = lifted(written.encode())
    assert text.decode() == "".join(text for text, _ in pieces)
    covered = {place for mark in marks for place in range(mark.start, mark.end)}
    offset = 0
    for piece, kind in pieces:
        for place, byte in enumerate(piece.encode(), offset):
            if not bytes([byte]).isspace():
                assert (place in covered) == bool(kind)
        offset += len(piece.encode())


def test_blanked_and_told_keep_every_line() -> None:
    text, marks = "It lästs\nno longer.\n".encode(), (Mark("struck", 3, 12),)
    assert blanked(text, marks) == b"It       \n  " + text[12:]
    assert told(text, marks).decode() == "It [struck out: lästs]\n[struck out: no] longer.\n"
    assert blanked(text, (("struck", -5, 99), ("hidden", 3, 4))).strip() == b""


def test_more_marks_than_are_kept_are_joined_where_they_stand_nearest() -> None:
    marks = [Mark("struck", 10 * number, 10 * number + 1) for number in range(MAX_MARKS + 5)]
    found = bounded(marks)
    assert len(found) == MAX_MARKS
    assert all(any(one.start <= mark.start and mark.end <= one.end for one in found) for mark in marks)


@pytest.mark.parametrize(
    ("head", "dated"),
    [
        ("<meta property='article:published_time' content='2010-05-03T08:00:00Z'>", "2010-05-03"),
        ("<meta name=date content=2010>", "2010"),
        ("<meta name='DC.date.issued' content='2010-05'>", "2010-05"),
        ("<meta property=article:modified_time content=2010-05-03>", "../2010-05-03"),
        (
            '<script type="application/ld+json">{"@graph":[{"datePublished":"2010-05-03"}]}</script>',
            "2010-05-03",
        ),
        ('<script type="application/ld+json">{"dateModified":"2010-05-03"}</script>', "../2010-05-03"),
        ("<article><time datetime=2010-05-03>3 May</time></article>", "2010-05-03"),
        ('<script type="application/ld+json">{not json</script>', ""),
        (f'<script type="application/ld+json">{"[" * 5000}</script>', ""),
        ("<meta name=date content='soon'>", ""),
    ],
)
def test_a_page_is_dated_by_its_metadata(head: str, dated: str) -> None:
    assert extract(f"<html><head>{head}</head><body><p>Text.</p>".encode(), "a.html").dated == dated


def test_office_files_and_pdfs_are_dated_by_their_properties() -> None:
    terms = 'xmlns:dcterms="http://purl.org/dc/terms/"'
    days = {"created": "2009-01-01", "modified": "2010-05-03"}
    told_days = "".join(f"<dcterms:{name}>{day}T00:00:00Z</dcterms:{name}>" for name, day in days.items())
    core = f"<p {terms}>{told_days}</p>"
    document = f"<w:document {W}><w:body>{paragraph('Text.')}</w:body></w:document>"
    docx = make_zip(**{"word__document.xml": document, "docProps__core.xml": core})
    assert extract(docx, "a.docx").dated == "2009-01-01/2010-05-03"
    made = make_pdf(["Text."]).replace(b"<< /Title ()", b"<< /CreationDate (D:20100503120000Z) /Title ()")
    assert extract(made, "a.pdf").dated == "2010-05-03"
