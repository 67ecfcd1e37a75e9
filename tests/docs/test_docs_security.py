"""docs/security-model.md: its table is that of the code, and each promise names tests that there are."""

import re

from docs_pages import DOCS, ROOT, first_cells, quoted, section

from vera.config.origin import Source
from vera.config.reference import with_tables
from vera.config.schema import catalogue
from vera.config.trust import OTHERS, TRUST

PAGE = DOCS / "security-model.md"


def test_the_table_of_trust_is_that_of_the_code() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert page == with_tables(page), "write it again: python -m vera.config.reference docs/security-model.md"
    rows = section("security-model.md", "Who may set what")
    assert [word for cell in first_cells(rows) for word in quoted(cell)] == list(catalogue())
    for key, row in TRUST.items():
        words = " | ".join(row.rule_of(source).words for source in OTHERS)
        assert f"| `{key}` | {words} |" in rows


def test_every_origin_is_described() -> None:
    described = re.findall(r"^\| \*\*([\w ]+)\*\* \|", PAGE.read_text(), re.MULTILINE)
    assert [name.removeprefix("project ") for name in described] == [each.value for each in Source]


def test_every_promise_names_tests_that_there_are() -> None:
    promises = re.findall(r"^\| (.+) \| (`tests/.+) \|$", PAGE.read_text(), re.MULTILINE)
    assert len(promises) >= 10
    for promise, tests in promises:
        assert promise.endswith("."), promise
        assert all((ROOT / path).is_file() for path in quoted(tests)), tests
