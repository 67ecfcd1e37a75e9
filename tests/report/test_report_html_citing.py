"""A citation to paste: as text, as Markdown and as BibTeX, whatever its source is called."""

import re

import msgspec
import pytest

from vera.report.html.citing import as_bibtex, as_markdown, as_text, citations
from vera.report.view.model import CardView

DIGEST = "ab" * 32
FILE = CardView(
    id="c", relation="SUPPORTS", evidence="ev_0001", first=258, last=261, source="licences/GPL-3.txt",
    source_id=DIGEST, at=1_795_000_000.0,
)  # fmt: skip
PAGE = msgspec.structs.replace(FILE, source="https://example.org/a_b?x=1&y=2", first=3, last=3)
HOSTILE = "https://example.org/}\\end{x}>)[a](http://evil.example/) <script>\n@misc{x"


def named(source: str) -> CardView:
    return msgspec.structs.replace(FILE, source=source)


def test_a_file_is_cited_with_its_lines_its_day_and_its_hash() -> None:
    assert as_text(FILE) == f"licences/GPL-3.txt, lines 258–261, read 2026-11-18 11:06 UTC, sha256 {DIGEST}"
    assert as_markdown(FILE) == f"*GPL-3.txt*, lines 258–261, read 2026-11-18 11:06 UTC, sha256 `{DIGEST}`"
    assert as_bibtex(FILE).splitlines() == [
        "@misc{gpl-3-txt-258,",
        "  title = {GPL-3.txt},",
        "  urldate = {2026-11-18},",
        f"  note = {{lines 258--261, sha256 {DIGEST}}},",
        "}",
    ]
    assert [name for name, _ in citations(FILE)] == ["text", "Markdown", "BibTeX"]


def test_a_page_is_cited_with_its_address() -> None:
    assert "](<https://example.org/a_b?x=1&y=2>), line 3," in as_markdown(PAGE)
    assert "  url = {https://example.org/a_b?x=1&y=2}," in as_bibtex(PAGE)


@pytest.mark.parametrize("source", [HOSTILE, HOSTILE.removeprefix("https://"), "", "\x00\u202e", "{" * 9999])
def test_no_name_of_a_source_ends_its_field_or_its_line(source: str) -> None:
    card = named(source)
    for _, text in citations(card):
        assert DIGEST in text and len(text) < 4000
        assert "\x00" not in text and "\u202e" not in text
    assert "\n" not in as_text(card) + as_markdown(card)
    entry = as_bibtex(card)
    assert entry.count("{") == entry.count("}") and entry.count("@misc{") == 1
    assert not set("<>{}\\ ") & set(as_markdown(card).partition("](<")[2].partition(">)")[0])
    title = as_markdown(card).partition("](<")[0].partition(", line")[0].replace("\\\\", "")
    assert re.search(r"(?<!\\)[\[\]<>`]", title[1:]) is None
