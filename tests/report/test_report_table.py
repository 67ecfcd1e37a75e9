"""A table of answers as values, and as HTML, CSV, a workbook and JSON."""

import csv
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import msgspec
import pytest
from selectolax.lexbor import LexborHTMLParser

from support.exported import claim
from support.markup import problems_beside, visible_text
from support.run_pages import FINISHED, HOSTILE, header
from vera.extraction.canonical.xlsx import extract
from vera.headline import HEADLINES, Headline
from vera.report.html.answer import SHOWN
from vera.report.table.csv_text import safe_cell, table_csv
from vera.report.table.json_text import table_json
from vera.report.table.model import MAX_LINES, MAX_PLACES, Cell, Place, Row, Table, cell_of
from vera.report.table.page import table_html
from vera.report.table.xlsx import table_xlsx
from vera.report.view.model import ClaimView, RunPage

BESIDE = Path("/work/out")


def page(*claims: ClaimView, **said: Any) -> RunPage:
    values = {name: getattr(FINISHED, name) for name in FINISHED.__struct_fields__}
    return RunPage(**{**values, "claims": claims, "answer": "An answer.", "header": header(**said)})


def cell(word: Headline = "QUOTED", text: str = "two years", **members: Any) -> Cell:
    place = Place(source="a.txt", first=3, last=4, relation="SUPPORTS", lines=(text, "and more"))
    values = {"phrase": text, "reason": "why", "places": (place,), "session": "/work/runs/1", **members}
    return Cell(word=word, **values)


def table(*cells: Cell, document: str = "a.txt", question: str = "How long?") -> Table:
    return Table(
        questions=((question, question),), rows=tuple(Row(document=document, cells=(c,)) for c in cells)
    )


def html(made: Table) -> str:
    return table_html(made, title="Answers", beside=BESIDE).decode()


def rows(made: Table) -> list[list[str]]:
    return list(csv.reader(io.StringIO(table_csv(made).decode("utf-8-sig"))))


def test_a_cell_has_the_word_the_first_supported_claim_and_its_lines() -> None:
    made = cell_of(page(claim("unchecked"), claim("supported")), "PARTIAL", "runs/1")
    assert made.text == "PARTIAL: The Elbe is 1094 kilometres long."
    assert [place.lines for place in made.places] == [("The Elbe is 1094 kilometres long.",)]
    assert [verdict for verdict, _ in made.statements] == ["unchecked", "supported"]


def test_the_answer_of_an_extract_are_its_lines() -> None:
    extract_of = claim("supported", "“a”: a.txt", quotation=("The bridge is", "120 metres long."))
    extract_of = ClaimView(
        key="c1", text=extract_of.text, verdict="supported", cards=extract_of.cards, form="extract"
    )
    assert cell_of(page(extract_of), "QUOTED", "").text == "QUOTED: The bridge is 120 metres long."


def test_the_answer_of_an_extract_with_a_phrase_is_the_phrase() -> None:
    claims = claim("supported", "lines", quotation=("valid for at least three years,",), first=1, last=4)
    shown = page(ClaimView(key="c1", text="lines", verdict="supported", cards=claims.cards, form="extract"))
    answer = "1. “one”: b.txt [ev_0009:2]\n2. “at least three years”: a.txt [ev_0002:2-3]"
    shown = msgspec.structs.replace(shown, answer=answer)
    assert cell_of(shown, "QUOTED", "").phrase == "at least three years"


@pytest.mark.parametrize("word", ["UNRESOLVED", "DISPUTED", "REFUTED"])
def test_a_cell_that_proves_nothing_says_why_and_never_gives_an_answer(word: Headline) -> None:
    made = cell_of(page(claim("supported"), reason="nothing was found"), word, "runs/1")
    assert made.phrase == "" and made.text == f"{word}: nothing was found"


def test_a_session_that_cannot_be_relied_on_is_unresolved() -> None:
    made = cell_of(page(claim("supported"), verdict="ALTERED", reason="a byte differs"), None, "runs/1")
    assert made.text == "UNRESOLVED: ALTERED: a byte differs"
    assert made.places == ()


def test_no_cell_is_blank() -> None:
    assert Cell(word="UNRESOLVED").text == "UNRESOLVED: not asked yet"
    made = table(Cell(word="UNRESOLVED"))
    assert rows(made)[1][1] == "UNRESOLVED: not asked yet"
    assert "UNRESOLVED: not asked yet" in visible_text(html(made))


def test_a_cell_has_a_bounded_size() -> None:
    claims = [claim("supported", source_id=f"{n:064}", quotation=("long " * SHOWN,) * 40) for n in range(30)]
    made = cell_of(page(*claims), "VERIFIED", "")
    assert len(made.places) == MAX_PLACES
    assert {len(place.lines) for place in made.places} == {MAX_LINES + 1}
    assert len(table_json(table(made))) < 100_000


@pytest.mark.parametrize("word", HEADLINES)
def test_each_word_is_in_each_format(word: Headline) -> None:
    made = table(cell(word))
    assert f"{word}: two years" in visible_text(html(made))
    assert rows(made)[1] == ["a.txt", f"{word}: two years (a.txt, lines 3-4)"]
    assert f"{word}: two years" in extract(table_xlsx(made), "t.xlsx").text.decode()
    assert json.loads(table_json(made))["rows"][0]["cells"][0]["word"] == word


def test_the_page_is_valid_accessible_and_loads_nothing() -> None:
    made = Table(
        questions=(("length", "How long?"), ("问题", "桥有多长？"), ("Prüfung", "Wer prüft die Brücke?")),
        rows=(
            Row(document="a.txt", cells=(cell(), cell("REFUTED"), cell("UNRESOLVED", places=(), session=""))),
            Row(document="sub/b.pdf", cells=(cell("VERIFIED"), cell("DISPUTED"), cell("PARTIAL"))),
        ),
        skipped=(("link", "a link, which is not followed"),),
    )
    text = html(made)
    assert problems_beside(text) == []
    tree = LexborHTMLParser(text)
    assert not tree.css("script, link, img, iframe, form, [src]")
    assert [node.attributes["scope"] for node in tree.css("th")] == ["col"] * 4 + ["row"] * 2
    assert len(tree.css("td details")) == 5
    assert "桥有多长" in text or "问题" in text
    assert "not followed" in visible_text(text)


def test_a_link_leads_to_the_session_beside_the_file() -> None:
    tree = LexborHTMLParser(html(table(cell(session="/work/runs/a b#1"))))
    links = [node.attributes["href"] for node in tree.css("td a")]
    assert links == ["./../runs/a%20b%231/answer.md"]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_of_a_document_becomes_part_of_a_format(text: str) -> None:
    short = text[:30_000]
    made = table(cell(text=short, reason=short), document=short, question=short)
    page_text = html(made)
    assert problems_beside(page_text) == []
    body = page_text.partition("</style>")[2]
    for harmful in ("<script", "<img", "<svg", "<![CDATA["):
        assert harmful not in body
    assert len(rows(made)) == 2
    json.loads(table_json(made))
    assert "QUOTED" in extract(table_xlsx(made), "t.xlsx").text.decode()


@pytest.mark.parametrize(
    "formula",
    ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1", "\u200c=1", "＝1+1", '=HYPERLINK("http://x")'],
)
def test_no_cell_of_a_csv_file_is_a_formula(formula: str) -> None:
    assert safe_cell(formula) == f"'{formula}"
    made = table(cell(), document=formula, question=formula)
    assert all(each[:1] not in "=+-@\t\r" for row in rows(made) for each in row)


@pytest.mark.parametrize("formula", ["=1+1", "{=1}", "http://x.test", "007", "mailto:a@b.test"])
def test_a_text_of_a_workbook_is_a_text(formula: str) -> None:
    data = table_xlsx(table(cell(), document=formula))
    with zipfile.ZipFile(io.BytesIO(data)) as file:
        sheets = b"".join(file.read(name) for name in file.namelist() if "sheet" in name)
        relations = [name for name in file.namelist() if "sheets/_rels" in name]
    assert b"<f>" not in sheets and relations == []
    assert formula in extract(data, "t.xlsx").text.decode()


def test_a_csv_file_begins_with_the_mark_by_which_excel_knows_utf_8() -> None:
    assert table_csv(table(cell())).startswith(b'\xef\xbb\xbf"document",')


def test_a_workbook_has_a_row_for_each_cell_too() -> None:
    text = extract(table_xlsx(table(cell(), cell("REFUTED", "no"))), "t.xlsx").text.decode()
    for part in ("Cells", "two years", "and more", "/work/runs/1", "REFUTED"):
        assert part in text
