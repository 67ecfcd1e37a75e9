"""The questions over real manuals: their form, and the look whether a page holds the expected words."""

import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import msgspec
import pytest

from support.benchmarks import FOLDER, loaded

SETS = {
    **dict.fromkeys(
        ("questions", "held-out", "third", "fourth", "sixth", "seventh", "eighth", "ninth"), (10, 10, 10)
    ),
    "fifth": (8, 3, 4),
}
"""Set: its questions in a corpus near the words, in other words, and without an answer."""


@pytest.fixture
def manuals(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    monkeypatch.syspath_prepend(FOLDER)
    with loaded("manuals") as module:
        yield module
    sys.modules.pop("extractive", None)


@pytest.mark.parametrize("name", SETS)
def test_a_set_has_the_same_number_of_a_class_in_each_corpus(manuals: ModuleType, name: str) -> None:
    lines = (FOLDER / "manuals" / f"{name}.jsonl").read_text().splitlines()
    asked = [msgspec.json.decode(line, type=manuals.Question) for line in lines]
    corpora = {question.corpus for question in asked}
    assert corpora <= manuals.SOURCES.keys()
    assert Counter((question.corpus, question.kind) for question in asked) == {
        (corpus, kind): number
        for corpus in corpora
        for kind, number in zip(manuals.CLASSES, SETS[name], strict=True)
    }
    assert len({question.question for question in asked}) == len(asked)
    for question in asked:
        assert bool(question.answer) == (question.kind != "unanswerable")
        assert question.file is None or question.answer


def test_the_sets_share_no_corpus(manuals: ModuleType) -> None:
    corpora = [
        {
            msgspec.json.decode(line, type=manuals.Question).corpus
            for line in (FOLDER / "manuals" / f"{name}.jsonl").read_text().splitlines()
        }
        for name in SETS
    ]
    assert sum(map(len, corpora)) == len(set().union(*corpora))


def test_a_page_without_the_words_and_a_missing_page_are_named(manuals: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "mail").mkdir()
    (tmp_path / "mail" / "limits.html").write_text("<p>A mail may have <b>10</b> lines.</p>")

    def asked(file: str | None, *answer: str) -> object:
        return manuals.Question(
            corpus="mail", language="en", kind="near", question="How many?", file=file, answer=answer
        )

    found, anywhere = asked("limits.html", "have 10 lines"), asked(None, "have 10 lines")
    wrong, missing = asked("limits.html", "have 12 lines"), asked("gone.html", "have 10 lines")
    unanswerable = asked(None)
    questions = [found, wrong, anywhere, unanswerable, missing]
    assert list(manuals.unfounded(tmp_path, questions)) == [wrong, missing]
