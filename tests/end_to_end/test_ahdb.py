"""The AHDB by the command line: what the review did to it, from the outside."""

import json
import shutil
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.cli import vera
from vera.attestation.ahdb.entries import Assert, encode
from vera.attestation.ahdb.journal import parse_lines
from vera.session.log import seal_line

THESIS = "The Elbe is 1094 kilometres long."


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "rivers").mkdir()
    (tmp_path / "rivers" / "rivers.txt").write_text(f"{THESIS}\nThe Rhine is 1233 kilometres long.\n")
    return tmp_path


def verify(place: Path, *options: str) -> tuple[str, str]:
    """Result and reason of a verification of THESIS."""
    done = vera("verify", THESIS, "--input-dir", "rivers", "--json", *options, cwd=place)
    said = json.loads(done.stdout)
    return said["result"], said["reason"]


def show(place: Path) -> tuple[int, dict[str, Any]]:
    done = vera("ahdb", "show", "--json", cwd=place)
    return done.returncode, json.loads(done.stdout)


def registers(shown: dict[str, Any]) -> list[str]:
    return [entry["register"] for entry in shown["entries"]]


def test_row_94_a_starved_look_up_takes_no_assert_away(place: Path) -> None:
    assert verify(place) == ("SUPPORTED", "")
    assert verify(place, "--fresh", "--max-seconds", "0.001") == ("INCONCLUSIVE", "BUDGET")
    code, shown = show(place)
    assert code == 0
    (entry,) = [entry for entry in shown["entries"] if entry["register"] == "ASSERT"]
    assert entry["risk"] == "med"


def test_row_100_a_low_risk_request_does_not_replace_a_high_risk_assert(place: Path) -> None:
    assert verify(place, "--risk", "high") == ("SUPPORTED", "")
    assert verify(place, "--risk", "low") == ("SUPPORTED", "")
    (entry,) = [entry for entry in show(place)[1]["entries"] if entry["register"] == "ASSERT"]
    assert entry["risk"] == "high"


def test_row_99_the_line_of_an_assert_that_was_retracted_asserts_nothing_again(place: Path) -> None:
    assert verify(place) == ("SUPPORTED", "")
    path = place / ".vera" / "ahdb.jsonl"
    (old,) = [entry for entry in parse_lines(path.read_bytes()).entries if isinstance(entry, Assert)]
    assert vera("ahdb", "retract", old.seq, "--reason", "A draft.", cwd=place).returncode == 0
    content = parse_lines(path.read_bytes())
    line = len(content.entries) + 1
    again = msgspec.structs.replace(old, seq=line, ts=content.entries[-1].ts, prev=content.head)
    with path.open("ab") as file:
        file.write(seal_line(encode(again))[0])
    code, shown = show(place)
    assert code == 1
    assert shown["unsigned"] == 1
    assert "ASSERT" not in registers(shown)
    said = vera("ahdb", "show", cwd=place)
    assert f"NOT SIGNED: line {line} stands behind the signed head" in said.stdout


def test_a_journal_of_before_heads_opens_with_what_it_asserted(tmp_path: Path) -> None:
    """`.vera` as version 0.1.0 wrote it, before journals had a head and ASSERTs a tier."""
    older = Path(__file__).parents[1] / "fixtures" / "ahdb_before_heads"
    shutil.copytree(older / "journal", tmp_path / "base" / ".vera")
    keyid = (older / "keyid").read_text().strip()
    show = ["ahdb", "show", "--base-dir", "base", "--trust", keyid]
    done = vera(*show, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.startswith("ASSERT\n")
    assert "this journal is unsealed" in done.stderr
    drive = ["drive", "Ship", "--priority", "1", "--trade-off", "speed", "--red-line", "lies"]
    assert vera("ahdb", "propose", *drive, "--base-dir", "base", cwd=tmp_path).returncode == 0
    done = vera(*show, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("ASSERT\n")
