"""`vera ask`: what it prints of a session that goes on from one which a person accepted."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from support.verified import read_file
from vera import events
from vera.attestation.keys import Signer, load_or_create
from vera.cli.ask import ask
from vera.cli.show import show
from vera.session import Session

CLAIM = "The Elbe is 1094 kilometres long."
SETTINGS = ["-c", "model.base_url=builtin", "-c", "verification.rule=literal", "-c", "egress.mode=none"]


def read_today(root: Path, signer: Signer) -> None:
    """A session that ended and has read a file."""
    session = Session.create(root, {})
    session.emit(events.Task(task="How long are the rivers?"), lane="")
    read_file(session, "rivers.txt", b"Rivers of Europe\n\nThe Elbe is 1094 kilometres long.\n")
    session.finish(
        events.RunEnd(status="UNRESOLVED", reason="", exit_code=3, steps=1, seconds=0), signer.seal
    )
    session.close()


@pytest.fixture
def base(tmp_path: Path) -> Path:
    """A base folder with a session of one's own, and one of a stranger."""
    read_today(tmp_path / "own", load_or_create())
    read_today(tmp_path / "theirs", load_or_create(tmp_path / "others"))
    return tmp_path


def asked(base: Path, session: str, *question: str) -> Result:
    folders = ["--session", str(base / session), "--base-dir", str(base), "--work-dir", str(base / "new")]
    return CliRunner().invoke(ask, [*folders, "--trust-session", *SETTINGS, *question])


def word_shown(base: Path) -> str:
    shown = CliRunner().invoke(show, [str(base / "new"), "--json"])
    return str(json.loads(shown.stdout)["status"])


@pytest.mark.parametrize(
    ("session", "word", "code"), [("own", "QUOTED", 0), ("theirs", "UNTRUSTED", 3)], ids=["own", "theirs"]
)
def test_a_thesis_has_the_word_of_show_and_is_registered_only_after_a_session_that_holds(
    base: Path, session: str, word: str, code: int
) -> None:
    done = asked(base, session, "--thesis", CLAIM)
    assert done.exit_code == code, done.output
    assert done.stdout.startswith(f"{word}: ") and word_shown(base) == word
    is_registered = "ahdb: not entered" not in done.stderr
    assert (is_registered, (base / ".vera" / "ahdb.jsonl").exists()) == (word == "QUOTED", word == "QUOTED")


@pytest.mark.parametrize(
    ("session", "word", "code"), [("own", "QUOTED", 0), ("theirs", "UNTRUSTED", 3)], ids=["own", "theirs"]
)
def test_an_answer_has_the_word_of_show(base: Path, session: str, word: str, code: int) -> None:
    done = asked(base, session, "How long is the Elbe?", "--json")
    assert done.exit_code == code, done.output
    told = json.loads(done.stdout)
    assert (told["status"], told["exit_code"], word_shown(base)) == (word, code, word)
