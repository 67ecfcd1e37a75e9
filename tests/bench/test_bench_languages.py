"""The table of languages says what the benchmark prints."""

import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "reference" / "languages.md").read_text(encoding="utf-8")


def documented(name: str) -> list[int]:
    """The numbers of a language's row, without how many there are of each."""
    (row,) = re.findall(rf"^\| {name} \|(.*)\|$", PAGE, re.MULTILINE)
    return [int(each) for each in re.findall(r"(\d+)(?: of \d+| supported| refuted)", row)]


@pytest.mark.parametrize("code", ["de", "en", "es", "fr", "it", "pt", "zh"])
def test_the_row_of_a_language_is_what_the_benchmark_prints(
    code: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "benchmarks"))
    languages = __import__("languages")
    (row,) = languages.rows([code])
    printed = [row.answered, row.made_up, row.supported, row.accepted, row.refuted, row.found, row.accused]
    assert printed == documented(row.language.name), row.misses
    assert (row.misled, row.accepted, row.accused) == (0, 0, 0)
    sys.modules.pop("languages", None)
