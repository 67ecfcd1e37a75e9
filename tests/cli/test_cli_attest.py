"""`vera attest`: a statement about files is signed, and held against files, with an exit code for scripts."""

import json
import os
from pathlib import Path

import pytest

from support.cli import vera

TYPE = "https://slsa.dev/provenance/v1"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "report.pdf").write_text("report")
    (tmp_path / "predicate.json").write_text('{"made": "by hand"}')
    return tmp_path


def sign(place: Path, *files: str) -> None:
    stated = ["--type", TYPE, "--predicate", "predicate.json", "--output", "statement.json"]
    done = vera("attest", *(files or ["report.pdf"]), *stated, cwd=place)
    assert done.returncode == 0, done.stderr


def test_your_own_statement_holds(place: Path) -> None:
    sign(place)
    done = vera("attest", "report.pdf", "--check", "statement.json", cwd=place)
    assert (done.returncode, done.stderr) == (0, "")
    first, second, third = done.stdout.splitlines()
    assert first == "AGREES   report.pdf"
    assert second.startswith("signed by your key (key id ")
    assert third == f"states {TYPE}"


def test_a_changed_file_ends_with_exit_code_1_also_as_json(place: Path) -> None:
    sign(place)
    (place / "report.pdf").write_text("changed")
    done = vera("attest", "report.pdf", "--check", "statement.json", "--json", cwd=place)
    said = json.loads(done.stdout)
    assert done.returncode == 1
    assert (said["holds"], said["predicate"]) == (False, {"made": "by hand"})
    assert said["files"][0]["why"] == "its bytes are not those that were signed"


def test_an_unknown_signer_is_not_accepted_until_you_say_so(place: Path, tmp_path: Path) -> None:
    sign(place)
    keyid = json.loads(vera("key", "--json", cwd=place).stdout)["keyid"]
    other = {"XDG_DATA_HOME": str(tmp_path / "other")}
    check = ["attest", "report.pdf", "--check", "statement.json"]
    done = vera(*check, cwd=place, **other)
    assert done.returncode == 1
    assert "signed by an unknown key" in done.stdout and "UNTRUSTED" in done.stdout
    assert vera(*check, "--any-signer", cwd=place, **other).returncode == 0
    assert vera(*check, "--trust", keyid, cwd=place, **other).returncode == 0
    assert vera(*check, "--trust", "0" * 64, cwd=place).returncode == 1
    vera("trust", "add", "anna", keyid, cwd=place, **other)
    done = vera(*check, cwd=place, **other)
    assert (done.returncode, "signed by anna, whom you trust" in done.stdout) == (0, True)


def test_an_envelope_is_never_overwritten(place: Path) -> None:
    sign(place)
    before = (place / "statement.json").read_bytes()
    stated = ["--type", TYPE, "--predicate", "predicate.json", "--output", "statement.json"]
    done = vera("attest", "report.pdf", *stated, cwd=place)
    assert (done.returncode, "statement.json" in done.stderr) == (1, True)
    assert (place / "statement.json").read_bytes() == before


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ([], 2),
        (["--type", TYPE], 2),
        (["--check", "statement.json", "--type", TYPE], 2),
        (["--type", TYPE, "--predicate", "predicate.json", "--output", "new", "--json"], 2),
        (["--type", "no-uri", "--predicate", "predicate.json", "--output", "new"], 2),
        (["--type", TYPE, "--predicate", "report.pdf", "--output", "new"], 2),
        (["--check", "statement.json", "--trust", "x"], 2),
        (["--check", "predicate.json"], 1),
        (["--check", "missing.json"], 1),
    ],
)
def test_what_cannot_be_done_ends_with_a_sentence(place: Path, options: list[str], code: int) -> None:
    sign(place)
    done = vera("attest", "report.pdf", *options, cwd=place)
    assert (done.returncode, "Traceback" in done.stderr) == (code, False)
    assert done.stderr
    assert not (place / "new").exists()


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "f").write_bytes(b"f")
    done = vera("attest", "f", "--check", "pipe", cwd=tmp_path)
    assert done.returncode == 1 and "is no file" in done.stderr
