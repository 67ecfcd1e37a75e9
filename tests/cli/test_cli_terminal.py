"""What is printed fits the terminal: its width, and the characters that it has."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.cli import LIMIT, vera
from vera.cli.terminal import fitted

LONG = "The written offer is valid for at least three years – and “for as long as” spare parts are offered."
QUESTION = "How long is the written offer valid?"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("terminal")
    (folder / "notes").mkdir()
    (folder / "notes" / "offer.md").write_text(f"# Offer\n\n{LONG} Ω\n", "utf-8")
    done = vera("run", QUESTION, "--input", "notes", "--work-dir", "w", "-q", cwd=folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize("width", [40, 60, 80])
def test_no_line_of_show_is_wider_than_the_terminal_unless_a_word_is(width: int, place: Path) -> None:
    shown = vera("show", "w", cwd=place, COLUMNS=str(width))
    assert shown.returncode == 0, shown.stderr
    assert all(len(line) <= width or " " not in line.strip() for line in shown.stdout.splitlines())
    whole = vera("show", "w", cwd=place)
    assert shown.stdout.replace(">", "").split() == whole.stdout.replace(">", "").split()


def test_a_broken_line_goes_on_under_its_beginning() -> None:
    assert fitted("> one two three four five six", 24) == "> one two three four\n> five six"
    assert fitted("  12 one two three four five six", 28) == "  12 one two three four five\n     six"
    assert fitted("水水水水水水水水 水水水水水水", 20).count("\n") == 1, "a character may be two columns wide"
    assert fitted("one two", None) == "one two"


@pytest.mark.parametrize("environment", [{"PYTHONIOENCODING": "latin-1"}, {"LC_ALL": "C", "PYTHONUTF8": "0"}])
@pytest.mark.parametrize(
    "command",
    [("show", "w"), ("list",), ("replay", "w"), ("run", QUESTION, "--input", "notes"), ("run", "--help")],
    ids=lambda command: " ".join(command[:2]),
)
def test_a_character_that_the_terminal_does_not_have_is_replaced(
    command: tuple[str, ...], environment: dict[str, str], place: Path
) -> None:
    variables = {**os.environ, "MODEL_BASE_URL": "builtin", "PYTHONCOERCECLOCALE": "0", **environment}
    words = [sys.executable, "-m", "vera", *command]
    done = subprocess.run(words, cwd=place, capture_output=True, timeout=LIMIT, env=variables)
    assert (done.returncode, b"Traceback" in done.stderr) == (0, False), done.stderr
