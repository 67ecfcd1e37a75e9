"""One list of words for the status of a run: code, pages, metrics and documentation use no other."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from docs_pages import DOCS, PAGES, ROOT, name, section

from vera.headline import EXIT_CODES, HEADLINES, STATUSES, headline, word_of
from vera.metrics.families import FAMILIES
from vera.report.standing import VERDICTS

SOURCE = ROOT / "src" / "vera"
CSS = (SOURCE / "report/html/report.css").read_text()

TEXTS = [*PAGES, ROOT / "README.md", *sorted(SOURCE.rglob("*.j2")), *sorted(SOURCE.rglob("*.html"))]

_LEADS = re.compile(r"(?:^|`)([A-Z][A-Z_]{3,}): ", re.MULTILINE)
_JSON = re.compile(r'"status": "([A-Z_]+)"')
_OLD = re.compile(r"as quoted|\bUNVERIFIED\b|\bNOT VERIFIED\b|VERIFIED as")
_OF_A_LOG = frozenset({"SEALED", "UNSEALED", "BROKEN", "ALTERED", "UNTRUSTED", "UNCHECKED"})
"""Words for whether a log is whole, beside the status or in its place where it may not be shown."""
_OF_A_TURN = frozenset(
    {"THOUGHT", "ACTION", "EVIDENCE_USED", "STATUS_UPDATE", "NOTE", "FINAL", "OBSERVATION", "REQUIRED"}
)
"""What begins a line of a prompt or of the turn protocol and is no status."""


@pytest.mark.parametrize("page", TEXTS, ids=name)
def test_no_page_uses_another_word_for_a_status(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    used = {*_LEADS.findall(text), *_JSON.findall(text)} - _OF_A_LOG - _OF_A_TURN
    assert used - set(STATUSES) == set()
    assert _OLD.findall(text) == []


def statuses_of(path: Path) -> Iterator[str]:
    """The words that code gives to, or compares with, a `status`."""
    for node in ast.walk(ast.parse(path.read_bytes())):
        match node:
            case ast.keyword(arg="status", value=ast.Constant(value=str(word))):
                yield word
            case ast.Compare(left=ast.Attribute(attr="status"), comparators=others):
                yield from (each.value for each in others if isinstance(each, ast.Constant))
            case _:
                pass


def test_the_code_uses_no_other_word() -> None:
    used = {word for path in SOURCE.rglob("*.py") for word in statuses_of(path) if isinstance(word, str)}
    assert {word for word in used if word.isupper()} <= set(STATUSES)


def test_the_labels_of_the_metrics_are_the_list() -> None:
    for family in ("dra_runs_ended_total", "dra_run_status"):
        assert FAMILIES[family].labels["status"] == STATUSES
    page = (DOCS / "reference/metrics.md").read_text()
    row = next(line for line in page.split("\n") if line.startswith("| `status` | `dra"))
    assert tuple(re.findall(r"`([A-Z_]+)`", row)) == STATUSES


def test_every_word_has_its_own_name_and_colour_on_the_pages() -> None:
    tones = [VERDICTS[word].tone for word in HEADLINES]
    assert len({VERDICTS[word].word for word in HEADLINES}) == len(set(tones)) == len(HEADLINES)
    for tone in tones:
        assert re.search(rf"^\.tone-{tone} {{ --c: var\(--[a-z]+\) }}", CSS, re.MULTILINE)


def test_the_how_to_lists_every_word_with_its_exit_code() -> None:
    rows = re.findall(
        r"^\| `([A-Z]+)` \| (\d) \|", section("how-to/verify-an-answer.md", "The status"), re.MULTILINE
    )
    assert {word: int(code) for word, code in rows} == EXIT_CODES


def test_the_reference_has_the_table_of_the_pure_function() -> None:
    table = section("reference/findings.md", "The word of a verdict")
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")] for line in table.split("\n") if "| " in line
    ]
    given = [row for row in rows if row[3] in HEADLINES]
    assert {row[3] for row in given} == set(HEADLINES)
    for results, reason, rules, word, code in given:
        for result in results.split(", "):
            for rule in re.findall(r"`(\w+)`", rules) or ["model", "literal", "containment"]:
                assert headline(result, "SCORE" if "any" in reason else reason, rule) == word
        assert EXIT_CODES[word_of(word)] == int(code)


def test_the_page_of_exit_codes_and_the_lawyers_page_have_every_word() -> None:
    codes = (DOCS / "reference/exit-codes.md").read_text()
    promised = section("verification.md", "What each word promises")
    for word in HEADLINES:
        assert word in codes
        assert f"**{word}**" in promised
