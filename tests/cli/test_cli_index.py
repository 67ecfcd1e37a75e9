"""`vera index` as a person and a script see it."""

import json
import os
import pty
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from support.containers import mail, mbox, zipped
from vera.cli.index import index as command


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "papers"
    made.mkdir()
    (made / "a.txt").write_text("alpha\n")
    (made / "mail.zip").write_bytes(zipped({"all.mbox": mbox(mail("s", "beta\n")), "../x": b"x"}))
    return made


def index(folder: Path, *more: str) -> Result:
    environment = {"XDG_CACHE_HOME": str(folder.parent / "cache")}
    return CliRunner().invoke(command, [str(folder), *more], env=environment)


def told(folder: Path, *more: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(index(folder, "--json", *more).stdout)
    return found


def test_it_says_what_it_read_where_the_index_lies_and_its_digest(folder: Path) -> None:
    done = index(folder)
    assert done.exit_code == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("2 files looked at, 0.0 MB in ")
    assert (
        lines[1] == "2 documents with text, those in 1 archive or mail included: 0.0 MB of text in 2 chunks."
    )
    assert lines[2].startswith(f"index: {folder.parent}/cache/vera/index/")
    assert lines[3].startswith("digest: sha256:")
    assert lines[4:] == ["  not readable: mail.zip!/#000002: its name leads out of the archive: '../x'"]


def test_the_second_time_nothing_is_read_and_the_digest_stays(folder: Path) -> None:
    first, second = told(folder), told(folder)
    assert (first["read"], second["read"], second["unchanged"]) == (2, 0, 2)
    assert first["digest"] == second["digest"]
    assert first["documents"] == 2
    assert first["unreadable"] == [
        {"name": "mail.zip!/#000002", "reason": "its name leads out of the archive: '../x'"}
    ]


def test_the_status_says_what_there_is_and_changes_nothing(folder: Path) -> None:
    before = index(folder, "--status")
    assert before.exit_code == 3
    assert before.stdout == f"There is no index of {folder} by this version yet: vera index makes one.\n"
    assert not (folder.parent / "cache").exists()
    whole = told(folder)
    assert (index(folder, "--status").exit_code, told(folder, "--status")["digest"]) == (0, whole["digest"])
    (folder / "b.txt").write_text("new\n")
    (folder / "a.txt").unlink()
    after = index(folder, "--status")
    assert after.exit_code == 3
    assert after.stdout.splitlines()[-1] == "Not up to date: 1 new, 0 changed, 1 gone, 0 not read to the end."
    assert told(folder, "--status")["digest"] == whole["digest"]


def test_the_digest_does_not_tell_where_the_folder_lies(folder: Path, tmp_path: Path) -> None:
    first = told(folder)["digest"]
    folder.rename(tmp_path / "elsewhere")
    assert told(tmp_path / "elsewhere")["digest"] == first


@pytest.mark.parametrize(
    ("make", "code", "said"),
    [
        (lambda path: None, 2, "does not exist. Type: vera index DIR\n"),
        (lambda path: path.write_text("x"), 2, "is not a folder"),
        (lambda path: path.mkdir(), 1, "is empty"),
    ],
)
def test_errors_are_sentences(tmp_path: Path, make: Any, code: int, said: str) -> None:
    make(tmp_path / "in")
    done = index(tmp_path / "in")
    assert done.exit_code == code
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.needs("minilm")
def test_a_missing_embedding_model_is_one_sentence_and_the_words_are_indexed(folder: Path) -> None:
    done = index(folder, "-c", "search.embedding=/nowhere/model")
    assert done.exit_code == 0, done.stderr
    assert done.stderr.count("indexed by words alone: The embedding model /nowhere/model cannot be read") == 1


def test_an_index_that_cannot_be_written_is_a_sentence(folder: Path) -> None:
    (folder.parent / "cache").write_text("a file where a folder should be")
    done = index(folder)
    assert done.exit_code == 1
    assert "cannot be written" in done.stderr


def test_ctrl_c_keeps_what_is_indexed_and_the_same_command_goes_on(folder: Path) -> None:
    (folder / "big.mbox").write_bytes(mbox(*(mail(f"s{n}", f"Body {n}\n" * 100) for n in range(2000))))
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder.parent / "cache")}
    typed = [sys.executable, "-m", "vera", "index", str(folder)]
    process = subprocess.Popen(typed, env=environment, stderr=subprocess.PIPE, text=True)
    wal = folder.parent / "cache/vera/index"
    while process.poll() is None and not any(wal.glob("*/index.sqlite")):
        time.sleep(0.02)
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    error = process.communicate(timeout=60)[1]
    assert process.returncode == 130, error
    assert "What was indexed is kept; the same command goes on from there." in error
    assert "Traceback" not in error
    whole = told(folder)
    assert whole["documents"] == 2002
    assert whole["containers_unfinished"] == 0


def test_on_a_terminal_a_line_shows_how_far_it_is(folder: Path) -> None:
    (folder / "big.mbox").write_bytes(mbox(*(mail(f"s{n}", f"Body {n}\n" * 100) for n in range(300))))
    ours, theirs = pty.openpty()
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder.parent / "cache")}
    typed = [sys.executable, "-m", "vera", "index", str(folder)]
    with subprocess.Popen(typed, env=environment, stdout=subprocess.DEVNULL, stderr=theirs):
        os.close(theirs)
        shown = b""
        while True:
            try:
                piece = os.read(ours, 4096)
            except OSError:
                break
            if not piece:
                break
            shown += piece
    os.close(ours)
    assert b"3 of 3 files, 303 documents, " in shown
    assert b" MB/s" in shown
