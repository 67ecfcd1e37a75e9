"""The built-in model on a generated set and on the licences, through the command as it is typed."""

import json
from pathlib import Path
from typing import Any

from support.cli import vera

ROOT = Path(__file__).parents[2]
AT_LEAST = 0.7


def asked(data: Path, work_dir: Path, *words: str) -> dict[str, Any]:
    done = vera("eval", data, "--work-dir", work_dir, "--json", "-q", *words, cwd=work_dir.parent)
    assert done.returncode == 0, done.stderr
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def test_of_a_generated_set_nothing_unanswerable_is_verified_and_most_of_the_rest_is(tmp_path: Path) -> None:
    made = vera("eval", "--generate", "made", "--count", "30", "--seed", "2", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    figures = asked(tmp_path / "made" / "questions.jsonl", tmp_path / "kept", "--slots", "2")
    assert (figures["answerable"], figures["unanswerable"]) == (20, 10)
    assert figures["verifier_on"]["unanswerable_answered"]["count"] == 0
    assert figures["verifier_on"]["right_of_answerable"]["value"] >= AT_LEAST
    assert figures["verifier"]["false_accept"]["count"] == 0


def test_the_licences_questions_are_answered_rightly_and_verified(tmp_path: Path) -> None:
    figures = asked(ROOT / "examples" / "licences.questions.jsonl", tmp_path / "kept")
    assert figures["verifier_on"]["right_of_answerable"]["count"] == figures["questions"] == 5
    assert figures["citations"]["recall_by_key"]["value"] == 1.0
