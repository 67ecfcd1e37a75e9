"""`vera` alone on a terminal asks for a question and a folder."""

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from vera.cli.first_question import answer_to

LIMIT = 60.0


def on_a_terminal(place: Path, typed: str) -> tuple[int, str]:
    """`vera` alone in `place`, with what is typed at it: its exit code, and what the terminal showed."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "MODEL_BASE_URL": "builtin", "TERM": "dumb", "COLUMNS": "200"}
    with os.fdopen(ours, "r+b", buffering=0) as terminal:
        terminal.write(typed.encode())
        process = subprocess.Popen(
            [sys.executable, "-m", "vera"],
            cwd=place,
            env=environment,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(terminal.fileno(), 65536):
                shown += chunk
        except OSError:  # Linux says EIO where the last process has closed its end.
            pass
        return process.wait(LIMIT), shown.decode()


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "sky.txt").write_text("The sky is blue because of Rayleigh scattering.\n")
    return tmp_path


def test_a_question_and_a_folder_are_asked_for_and_run(place: Path) -> None:
    code, shown = on_a_terminal(place, "Why is the sky blue?\npapers\n")
    assert "This is: vera run 'Why is the sky blue?' --input-dir papers" in shown
    assert "Rayleigh scattering" in shown
    assert code == 0, shown
    assert len(list((place / "work").iterdir())) == 1


def test_a_question_that_begins_like_an_option_is_a_question(place: Path) -> None:
    code, shown = on_a_terminal(place, "--version of the sky?\npapers\n")
    assert "No such option" not in shown
    assert code in (0, 3), shown
    assert len(list((place / "work").iterdir())) == 1


def test_a_folder_that_is_not_there_is_asked_for_again(place: Path) -> None:
    code, shown = on_a_terminal(place, "Why?\na\nb\nc\n")
    assert code == 2
    assert [f"There is no folder {name}." in shown for name in "abc"] == [True] * 3
    assert not (place / "work").exists()


def test_without_a_question_nothing_is_run(place: Path) -> None:
    code, shown = on_a_terminal(place, "\n")
    assert code == 2
    assert "All commands: vera --help" in shown


def test_ctrl_c_at_a_question_ends_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Interrupted:
        def readline(self) -> str:
            raise KeyboardInterrupt

    monkeypatch.setattr(sys, "stdin", Interrupted())
    with pytest.raises(SystemExit) as ended:
        answer_to("Your question: ")
    assert ended.value.code == 130
    assert capsys.readouterr().err.endswith("vera: interrupted.\n")
