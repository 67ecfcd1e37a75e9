"""The example questions have their answers where examples/licences.questions.json says."""

import json
from pathlib import Path
from typing import Any

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
LICENCES = EXAMPLES / "licences"
QUESTIONS: list[dict[str, Any]] = json.loads((EXAMPLES / "licences.questions.json").read_text())
MAX_LINES_OF_A_CITATION = 6


def test_there_are_five_questions_over_five_licences() -> None:
    assert len({each["id"] for each in QUESTIONS}) == len(QUESTIONS) == 5
    assert len({each["file"] for each in QUESTIONS}) == 5


def test_the_questions_lie_outside_the_folder_that_is_searched() -> None:
    assert {path.suffix for path in LICENCES.iterdir()} == {".txt"}


@pytest.mark.parametrize("each", QUESTIONS, ids=lambda each: each["id"])
def test_the_answer_stands_in_the_lines_that_are_named(each: dict[str, Any]) -> None:
    first, last = each["lines"]
    lines = (LICENCES / each["file"]).read_text(encoding="utf-8").split("\n")
    assert 1 <= first <= last <= len(lines)
    assert last - first < MAX_LINES_OF_A_CITATION
    passage = " ".join(" ".join(lines[first - 1 : last]).split())
    assert [words for words in each["words"] if words not in passage] == []
