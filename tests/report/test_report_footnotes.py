"""Footnotes of an answer: one text in every format, and nothing that was written elsewhere becomes one."""

import re

import msgspec
import pytest
from selectolax.lexbor import LexborHTMLParser

from support.exported import URL, quote
from support.markup import problems
from support.run_pages import FINISHED, HOSTILE
from vera.report.answer import Report, block
from vera.report.footnotes import Footnotes
from vera.report.footnotes_markdown import markdown
from vera.report.html.document import report_html

PAGE = quote(2, URL)
FILE = quote(3, "notes/a_b.txt", first=4, last=5, lines=("1. It *is*", "    so <b> [^1]: &amp; | $x$"))
NOTE_OF_PAGE = (
    f"[^1]: \\[ev_0002:1\\] <{URL}>, line 1 (captured 2026-11-24 12:00:00Z, store/{PAGE.text_sha256[:12]}…)"
    "\n\n    > The Elbe is 1094 kilometres long."
)
DEFINITION = re.compile(r"^\[\^([^\]]+)\]:", re.MULTILINE)
REFERENCE = re.compile(r"(?<!\\)\[\^[^\]]+\](?!:)")


def written(text: str, *quotes: object, task: str = "How long?", said: str = "") -> str:
    report = msgspec.convert(
        {"text": text, "status": "VERIFIED", "quotes": quotes or (PAGE, FILE)}, Report, from_attributes=True
    )
    return markdown(task, report, said)


def test_a_citation_is_a_footnote_with_its_source_lines_time_and_words() -> None:
    made = written("The Elbe is 1094 kilometres long [ev_0002:1].")
    assert "\n\nThe Elbe is 1094 kilometres long [^1].\n\n" in made
    assert made.endswith(f"\n\n{NOTE_OF_PAGE}\n")


def test_a_place_that_is_cited_again_keeps_its_note() -> None:
    made = written("One [ev_0002:1]. Two [ev_0003:4; ev_0002]. Three [ev_0002:1].")
    assert "One [^1]. Two [^2][^1]. Three [^1]." in made
    assert DEFINITION.findall(made) == ["1", "2"] and "## Cited" not in made


def test_the_note_of_a_citation_has_the_lines_to_which_it_was_widened() -> None:
    first, second = quote(2, URL, first=3, last=5), quote(2, URL, first=19, last=21)
    notes = Footnotes([first, second])
    assert notes.quote("ev_0002", 20, 20) == second
    assert notes.quote("ev_0002", 4, 5) == first
    assert notes.quote("ev_0002", 7, 7) is None
    assert notes.text("ev_0002", 7, 7).startswith("[ev_0002:7] cannot be shown: ")
    whole = quote(2, URL, first=1, last=30)
    assert Footnotes([first, whole]).quote("ev_0002", None, None) == whole


def test_words_of_a_source_stay_words_in_markdown() -> None:
    made = written("It is so [ev_0003:4-5].")
    assert "    > 1\\. It \\*is\\*\n    > so \\<b\\> \\[\\^1\\]: \\&amp; \\| \\$x\\$\n" in made
    assert "notes/a_b.txt, lines 4-5 (" in made


@pytest.mark.parametrize(
    "text",
    [
        "It is so [ev_0002:1].\n\n[^1]: [ev_0009:1] law.example, line 1\n\n    > It is so.",
        "It is so [^1] [ev_0002:1], and ^[a note] [^a].\n\n[^a]: A note.",
        "It is so [ev_0002:1].\n\n```\n[^1]: in code\n```\n\n- x\n\n  ```\n[^1]\n\nNo code, [^1].",
        "[ev_0002:1]: It is so",
        "It is so \\[ev_0002:1](https://x.example) ^[ev_0002:1] ![ev_0002:1][x]",
    ],
)
def test_an_answer_makes_no_note_and_turns_none_into_something_else(text: str) -> None:
    made = written(text, task="Why [^1]?\n\n[^1]: x", said="[^1]: said by someone")
    body, _, notes = made.partition("\n\n[^1]: \\[ev_0002:1\\]")
    assert not DEFINITION.search(body) and notes
    assert len(REFERENCE.findall(body)) == text.count("[ev_")
    assert not re.search(r"[\\^!]\[\^[0-9]|\[\^[0-9]+\][:(\[{]|\^\[(?!\^)|(?<!\\)\[\^(?![0-9])", body)


def test_what_is_cited_in_code_stays_in_the_list() -> None:
    made = written("Run `cat [ev_0003:4]`.\n\n```\n[ev_0003:5] [^a-z]\n```\n\nIt is so [ev_0002:1].")
    assert "`cat [ev_0003:4]`" in made and "[ev_0003:5] [^a-z]\n" in made
    assert "## Cited\n\n[ev_0003:4-5] notes/a_b.txt" in made and DEFINITION.findall(made) == ["1"]


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_of_a_source_ends_its_note(text: str) -> None:
    made = written("It is so [ev_0002:1].", quote(2, f"{text}\n> x", lines=(text, "[^1]: x")))
    assert DEFINITION.findall(made) == ["1"]
    note = made.partition("\n[^1]: ")[2]
    assert not re.search(r"(?<!\\)<(?!https?://)", note)
    assert all(line.startswith("    >") for line in note.split("\n")[2:-1])


def test_the_report_has_a_numbered_note_for_each_place_with_links_both_ways() -> None:
    page = msgspec.structs.replace(
        FINISHED, answer="One [ev_0002:1]. Two [ev_0003:4; ev_0002:1]. Three [ev_0012:9]."
    )
    html = report_html(page, work_dir="x", quotes=(PAGE, FILE))
    assert problems(html) == []
    tree = LexborHTMLParser(html)
    notes = tree.css("#notes .notes > li")
    assert [each.attributes["id"] for each in notes] == ["note-1", "note-2", "note-3"]
    assert "https://rivers.example/elbe?a=1&b=2, line 1 (captured 2026-11-24 12:00:00Z" in notes[0].text()
    assert "The Elbe is 1094 kilometres long." in notes[0].text()
    assert "cannot be shown" in notes[2].text()
    marks = [f"#{each.attributes['id']}" for each in tree.css("#answer .note-mark")]
    there = [each.attributes["href"] for each in tree.css("#answer .note-mark > a")]
    assert there == ["#note-1", "#note-2", "#note-1", "#note-3"]
    back = [str(each.attributes["href"]) for each in tree.css("#notes a.back")]
    assert sorted(back) == sorted(marks)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_no_text_of_a_source_becomes_markup_in_a_note_of_the_report(text: str) -> None:
    hostile = quote(2, text, first=12, last=12, lines=(text,), origin=text)
    html = report_html(FINISHED, work_dir="x", quotes=(hostile,))
    assert problems(html) == [] and 'id="note-1"' in html
    assert not LexborHTMLParser(html).css("script, img, #notes svg")


def test_a_report_without_cited_places_has_no_notes() -> None:
    html = report_html(FINISHED, work_dir="x")
    assert "note-mark" not in html.partition("</style>")[2] and 'id="notes"' not in html


@pytest.mark.parametrize(
    ("cited", "kept", "lines"),
    [
        (((58, 58),), {2, 58, 118}, 26),
        (((10, 110),), {10, 110}, 27),
        ((), {2, 13, 107, 118}, 25),
        (((2, 118),), {2, 13, 107, 118}, 25),
    ],
)
def test_the_cited_lines_are_not_those_that_are_cut_out(
    cited: tuple[tuple[int, int], ...], kept: set[int], lines: int
) -> None:
    rows = tuple(f"item{number}" for number in range(2, 119))
    place = msgspec.structs.replace(quote(2, URL, first=2, last=118, lines=rows), cited=cited)
    _, *shown = block(place).split("\n")
    assert {f"> item{number}" for number in kept} <= set(shown)
    assert len(shown) == lines
