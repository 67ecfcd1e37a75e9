"""`vera eval`, as it is typed, over real runs of the built-in model."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from support.cli import folded, records, vera
from vera import events
from vera.attestation.keys import load_or_create
from vera.bench.eval_data import Question
from vera.bench.eval_figures import figures_of
from vera.bench.eval_sessions import Cited, Given, Outcome
from vera.report.evaluation import read_evaluation
from vera.session import seal
from vera.session.log import Reader

LEASE = "# Quay Road 27: lease\n\nThe monthly rent is 950 euros. The landlord is Klara Zeller.\n"
OTHER = "# Quay Road 72: lease\n\nThe monthly rent is 410 euros. A deposit of 1,200 euros was paid.\n"
QUESTIONS: list[dict[str, Any]] = [
    {"id": "rent", "question": "What is the monthly rent of Quay Road 27?", "answer": "950 euros",
     "evidence": {"file": "27.md", "quotation": "The monthly rent is 950 euros."}, "group": "said"},
    {"id": "deposit", "question": "What is the deposit of Quay Road 27?", "answer": None, "group": "none"},
]  # fmt: skip


@pytest.fixture
def data(tmp_path: Path) -> Path:
    papers = tmp_path / "papers"
    papers.mkdir()
    (papers / "27.md").write_text(LEASE)
    (papers / "72.md").write_text(OTHER)
    path = tmp_path / "asked.jsonl"
    path.write_text("".join(json.dumps({**each, "input_dir": "papers"}) + "\n" for each in QUESTIONS))
    return path


def evaluated(data: Path, *words: str) -> dict[str, Any]:
    done = vera("eval", data, "--work-dir", data.parent / "kept", "--json", "-q", *words, cwd=data.parent)
    assert done.returncode == 0, done.stderr
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


def test_answers_and_verdicts_are_held_against_the_key_and_runs_are_kept(data: Path) -> None:
    figures = evaluated(data, "--slots", "2")
    on, off = figures["verifier_on"], figures["verifier_off"]
    assert (on["right_of_answerable"]["count"], on["unanswerable_answered"]["count"]) == (1, 0)
    assert off["unanswerable_answered"]["count"] == 0, "nearest lines state nothing"
    assert figures["verifier"]["false_accept"]["count"] == 0
    assert figures["citations"]["precision_by_key"]["value"] == 1.0
    assert figures["citations"]["recall_by_key"]["value"] == 1.0
    assert [each["status"] for each in figures["each"]] == ["QUOTED", "UNRESOLVED"]
    before = {path: path.stat().st_mtime_ns for path in (data.parent / "kept").rglob("trace.jsonl")}
    assert len(before) == 2
    assert evaluated(data) == figures
    kept = read_evaluation(data.parent / "kept")
    assert (kept.data, [each.question for each in kept.each]) == (
        "asked",
        [each["question"] for each in QUESTIONS],
    )
    assert all((data.parent / "kept" / each.session / "trace.jsonl").is_file() for each in kept.each)
    assert {path: path.stat().st_mtime_ns for path in (data.parent / "kept").rglob("trace.jsonl")} == before


def test_an_interrupted_run_is_gone_on_with_and_other_settings_make_another(data: Path) -> None:
    figures = evaluated(data, "--limit", "1")
    root = Path(figures["each"][0]["session"])
    lines = (root / "trace.jsonl").read_bytes().splitlines(keepends=True)
    (root / "trace.jsonl").write_bytes(b"".join(lines[:16]))
    _seal(root)  # as a run does when it begins
    assert evaluated(data, "--limit", "1")["each"][0]["status"] == "QUOTED"
    assert any(isinstance(each, events.Resumed) for each in _records(root))
    evaluated(data, "--limit", "1", "-c", "run.max_steps=9")
    assert sum(each.is_dir() for each in (data.parent / "kept").iterdir()) == 2


def test_a_run_that_was_stopped_before_its_task_was_written_is_made_again_in_a_new_folder(data: Path) -> None:
    first = Path(evaluated(data, "--limit", "1")["each"][0]["session"])
    lines = (first / "trace.jsonl").read_bytes().splitlines(keepends=True)
    (first / "trace.jsonl").write_bytes(lines[0])
    (first / "seal.json").unlink()
    assert not any(isinstance(each, events.Task) for each in records(first))
    for _ in range(2):
        each = evaluated(data, "--limit", "1")["each"][0]
        assert (each["status"], Path(each["session"]).name) == ("QUOTED", f"{first.name}-2")


def _seal(root: Path) -> None:
    reader = Reader(root / "trace.jsonl")
    assert list(reader.poll())
    seal.write(root, seal.Seal(seq=reader.seq, hash=reader.head), load_or_create().seal)


def _records(root: Path) -> list[events.Record]:
    assert folded(root).ended is not None
    return records(root)


def test_stopping_it_stops_its_runs_and_says_how_to_go_on(data: Path) -> None:
    words = [sys.executable, "-m", "vera", "eval", str(data), "--work-dir", "kept"]
    environment = {**os.environ, "MODEL_BASE_URL": "builtin"}
    process = subprocess.Popen(words, cwd=data.parent, stderr=subprocess.PIPE, text=True, env=environment)
    while not list(data.parent.glob("kept/*/trace.jsonl")):
        assert process.poll() is None
        time.sleep(0.05)
    process.send_signal(signal.SIGTERM)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130
    assert said == "vera: stopped. What was done is kept: the same command goes on.\n"
    assert evaluated(data)["questions"] == 2


def test_a_run_that_cannot_begin_ends_the_evaluation_with_its_sentence(data: Path) -> None:
    broken = ("-c", "model.base_url=http://127.0.0.1:9")
    done = vera("eval", data, "--work-dir", "kept", "-q", *broken, cwd=data.parent)
    assert done.returncode == 1
    assert done.stderr.startswith("vera: rent: ")
    assert "the same command goes on" in done.stderr
    assert "Traceback" not in done.stderr


def test_without_questions_the_command_says_what_to_type(tmp_path: Path) -> None:
    assert "--generate" in vera("eval", cwd=tmp_path).stderr
    assert "cannot be read" in vera("eval", "gone.jsonl", cwd=tmp_path).stderr
    made = vera("eval", "--generate", "made", "--count", "9", "--seed", "2", cwd=tmp_path)
    assert "9 questions. Go on with: vera eval made/questions.jsonl" in made.stdout
    assert "is not empty" in vera("eval", "--generate", "made", cwd=tmp_path).stderr
    assert "is for --generate" in vera("eval", "--world", "own.yaml", cwd=tmp_path).stderr
    assert "cannot be read" in vera("eval", "--generate", "new", "--world", "own.yaml", cwd=tmp_path).stderr


def outcome(status: str, *, right: bool, answer: tuple[str, ...] | None = ("x",)) -> Outcome:
    given = Given(given=True, right=right)
    return Outcome(
        question=Question(question="?", answer=answer),
        session="s",
        status=status,
        first=given,
        last=given,
        cited=Cited(claims=2, supported=1, citations=4, supporting=3),
        tokens=10,
        seconds=1.0,
    )


def test_false_accepts_are_of_wrong_answers_and_false_rejects_of_right_ones() -> None:
    outcomes = [
        outcome("VERIFIED", right=True),
        outcome("UNRESOLVED", right=True),
        outcome("VERIFIED", right=False, answer=None),
        outcome("UNRESOLVED", right=False),
    ]
    figures = figures_of(outcomes, seed=1)
    assert figures["verifier"]["false_accept"]["value"] == 0.5
    assert figures["verifier"]["false_reject"]["value"] == 0.5
    assert figures["verifier_off"]["decided_rightly"]["value"] == 0.5
    assert figures["verifier_on"]["right_of_answered"]["value"] == 0.5
    assert figures["citations"]["precision_by_audit"]["value"] == 0.75
    assert figures == figures_of(outcomes, seed=1)
