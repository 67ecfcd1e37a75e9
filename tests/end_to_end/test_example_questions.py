"""The README's promise: on a fresh machine each example question is answered by the right lines."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from support.cli import vera

ROOT = Path(__file__).parents[2]
PLACE = re.compile(r"\[ev_\d{4}:(\d+)-(\d+)\]")
QUESTIONS = json.loads((ROOT / "examples" / "licences.questions.json").read_text())


@pytest.mark.parametrize("asked", QUESTIONS, ids=[asked["id"] for asked in QUESTIONS])
def test_the_built_in_model_answers_with_the_right_file_and_lines(
    asked: dict[str, Any], tmp_path: Path
) -> None:
    done = vera(
        "run", "--task", asked["question"], "--input-dir", ROOT / "examples" / "licences",
        "--work-dir", tmp_path / "w", "--json", cwd=tmp_path,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    citations = answer["citations"]
    assert 1 <= len(citations) <= 3
    extracts = [(int(first), int(last)) for first, last in PLACE.findall(answer["answer"])]
    assert len(extracts) == len(citations)
    for (first, last), cited in zip(extracts, citations, strict=True):
        assert last - first < 6
        assert cited["first"] <= first <= last <= cited["last"] < first + 12  # whole sentences, no more
    assert all(not cited["problem"] for cited in citations)
    assert citations[0]["source"] == asked["file"]
    quote = " ".join(citations[0]["quote"].split())
    assert all(words in quote for words in asked["words"]), quote
    assert "not a synthesis" in answer["answer"]
    assert (answer["status"], answer["exit_code"]) == ("QUOTED", 0)
