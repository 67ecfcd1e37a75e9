"""`--require verified`: what is less ends with exit code 3, and keeps its word."""

import json
from pathlib import Path

import pytest

from support.cli import vera

SKY = "About the sky.\n\nThe sky is blue on 12 days in May.\n"
THESIS = "The sky is blue on 12 days in May."
ASKED = "On how many days is the sky blue?"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "documents").mkdir()
    (tmp_path / "documents" / "sky.txt").write_text(SKY)
    (tmp_path / "said.md").write_text(f"{THESIS[:-1]} ([sky](documents/sky.txt)).\n")
    (tmp_path / "tasks.jsonl").write_text(json.dumps({"task": ASKED, "input_dir": "documents"}) + "\n")
    (tmp_path / "questions.jsonl").write_text(
        json.dumps({"id": "sky", "question": ASKED, "answer": "12 days", "input_dir": "documents"}) + "\n"
    )
    return tmp_path


COMMANDS = {
    "run": ("run", ASKED, "--input-dir", "documents"),
    "verify": ("verify", THESIS, "--input-dir", "documents"),
    "batch": ("batch", "run", "tasks.jsonl", "--base-dir", "base", "-c", "model.base_url=builtin"),
    "eval": ("eval", "questions.jsonl", "-c", "model.base_url=builtin"),
    "check": ("check", "said.md", "--sources", "documents"),
}


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_what_is_quoted_ends_with_0_and_with_3_where_verified_is_required(
    place: Path, command: tuple[str, ...]
) -> None:
    plain = vera(*command, cwd=place)
    assert plain.returncode == 0, plain.stderr
    again = ("--base-dir", "other") if command[0] == "batch" else ()
    required = vera(*command, *again, "--require", "verified", cwd=place)
    assert required.returncode == 3, required.stderr
    if command[0] != "check":  # which has no word: it judges no meaning
        assert "QUOTED" in plain.stdout and "QUOTED" in required.stdout


def test_a_run_and_its_json_say_what_was_required(place: Path) -> None:
    done = vera(*COMMANDS["run"], "--require", "verified", "--json", "-q", cwd=place)
    said = json.loads(done.stdout)
    assert (done.returncode, said["status"], said["exit_code"]) == (3, "QUOTED", 3)
    assert said["reason"].endswith("no judge has read them; VERIFIED was required")


def test_a_thesis_may_require_a_word_and_an_output(place: Path) -> None:
    asked = ("--require", "verified", "--required-output", "coverage_map", "--json")
    done = vera(*COMMANDS["verify"], *asked, cwd=place)
    assert (done.returncode, json.loads(done.stdout)["status"]) == (3, "QUOTED")
    assert "VERIFIED was required" in done.stderr


def test_the_setting_requires_it_too(place: Path) -> None:
    assert vera(*COMMANDS["run"], "-c", "verification.require=verified", cwd=place).returncode == 3
