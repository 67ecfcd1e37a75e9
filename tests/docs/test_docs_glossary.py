"""The glossary has one sentence and one page for each word of the vocabulary."""

import re

import pytest
from docs_pages import DOCS, section

from vera.headline import HEADLINES

WORDS = (
    *("run", "step", "sandbox", "tool call", "evidence", "claim", "finding", "verdict", "judge", "selector"),
    *("candidate", "rubric", "usage", "connector", "plugin", "status"),
)
ROW = re.compile(r"^\| \*\*(?P<word>[^*]+)\*\* \| (?P<text>[^|]+) \| (?P<page>[^|]+) \|$", re.MULTILINE)


def rows(heading: str) -> dict[str, re.Match[str]]:
    return {found["word"]: found for found in ROW.finditer(section("reference/glossary.md", heading))}


@pytest.mark.parametrize(
    ("heading", "words"),
    [("Words", WORDS), ("Words of a proved answer", HEADLINES)],
    ids=["words", "headlines"],
)
def test_it_has_each_word_once_with_one_sentence_and_a_link(heading: str, words: tuple[str, ...]) -> None:
    table = section("reference/glossary.md", heading)
    assert re.findall(r"^\| \*\*([^*]+)\*\*", table, re.MULTILINE) == list(words)
    for word, row in rows(heading).items():
        assert re.fullmatch(r"[A-Z][^.]*\.", row["text"]), word
        assert re.fullmatch(r"\[[^\]]+\]\([^)]+\)", row["page"]), word


def test_an_explaining_page_uses_the_word() -> None:
    for word, row in {**rows("Words"), **rows("Words of a proved answer")}.items():
        path = row["page"].partition("](")[2].partition("#")[0].rstrip(")")
        assert word.lower() in (DOCS / "reference" / path).read_text().lower(), word
