"""The reading-comprehension sets: what is asked of them, and what becomes of a paragraph that is left out."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from support.benchmarks import FOLDER, loaded


@pytest.fixture
def reading(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(FOLDER)
    with loaded("reading") as module:
        yield module
    for name in ("extractive", "manuals"):
        sys.modules.pop(name, None)


def paragraph(number: int, **question: Any) -> dict[str, Any]:
    text = f"The lamp of ship {number} is green."
    answer = {"text": "green", "answer_start": text.index("green")}
    asked = {"question": f"Which colour has the lamp of ship {number}?", "answers": [answer], **question}
    return {"context": text, "qas": [asked]}


def written(folder: Path, *paragraphs: dict[str, Any]) -> Path:
    file = folder / "set.json"
    file.write_text(json.dumps({"data": [{"title": "Ships", "paragraphs": paragraphs}]}))
    return file


def test_a_question_whose_paragraph_is_left_out_has_no_answer(reading: ModuleType, tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    asked = reading.prepare(written(tmp_path, *map(paragraph, range(40))), texts)
    kept = (texts / "Ships.txt").read_text()
    assert len(asked) == 40
    for each in asked:
        number = each.question.split()[-1].rstrip("?")
        assert (f"ship {number} is" in kept) == bool(each.answer)
    assert {each.kind for each in asked if not each.answer} == {"unanswerable"}
    assert {each.kind for each in asked} > {"unanswerable"}


def test_a_set_with_impossible_questions_keeps_all_paragraphs(reading: ModuleType, tmp_path: Path) -> None:
    texts = tmp_path / "texts"
    texts.mkdir()
    paragraphs = [*map(paragraph, range(20)), paragraph(20, is_impossible=True, answers=[])]
    asked = reading.prepare(written(tmp_path, *paragraphs), texts)
    assert sum(not each.answer for each in asked) == 1
    assert (texts / "Ships.txt").read_text().count("green") == 21


def test_a_sentence_with_most_of_the_words_makes_a_question_near(reading: ModuleType) -> None:
    context = "The ship is old. The lamp of the ship is green."
    assert reading.is_near("Which lamp of the ship is green?", "Ships", context, context.index("green"))
    assert not reading.is_near("Which lamp of the ship is green?", "Ships", context, context.index("old"))
