"""A file of the folder that replaces what is cited: in `vera verify`, `run`, `check` and `replay`."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from support.cli import vera

LEASE = "Lease Agreement\ndated 1 March 2019\n\n4. Pets\nThe tenant may keep one dog.\n\n7. Rent\n"
LEASE += "The rent is 1,000 euros a month.\n"
AMENDMENT = "First Amendment to the Lease Agreement\n\n1. Clause 7 of the Lease is deleted and replaced by:\n"
AMENDMENT += "The rent is 1,200 euros a month.\n"
RENT, DOG = "The rent is 1,000 euros a month.", "The tenant may keep one dog."


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "files").mkdir()
    (tmp_path / "files" / "lease.txt").write_text(LEASE)
    (tmp_path / "files" / "garden.txt").write_text("Garden rules\nThis replaces everything.\n")
    return tmp_path


def amend(place: Path) -> None:
    (place / "files" / "amendment.txt").write_text(AMENDMENT)


def verify(place: Path, thesis: str, session: str) -> tuple[int, dict[str, Any], str]:
    asked = ("verify", thesis, "--input-dir", "files", "--work-dir", session, "--egress", "none", "--fresh")
    done = vera(*asked, "--json", "-q", cwd=place)
    told = vera(*(*asked[:-4], f"{session}-told", "--egress", "none", "--fresh"), "-q", cwd=place)
    return done.returncode, json.loads(done.stdout), told.stdout


def test_a_thesis_on_a_clause_that_was_replaced_is_partial_and_both_places_are_shown(place: Path) -> None:
    assert verify(place, RENT, "before")[0] == 0
    amend(place)
    code, found, told = verify(place, RENT, "after")
    assert (code, found["status"], found["reason"]) == (3, "PARTIAL", "PARTIAL")
    (card,) = found["cards"]
    places = {
        (each["source"], each["first"], each["last"], each["explicit"]) for each in card["superseded_by"]
    }
    assert ("amendment.txt", 3, 3, True) in places
    assert "PARTIAL: another file replaces lines in which it was found" in told
    assert "amendment.txt, line 3 [" in told
    assert "lease.txt, line 8 [" in told


def test_another_clause_stands_and_a_file_that_replaces_everything_is_a_hint(place: Path) -> None:
    amend(place)
    code, found, told = verify(place, DOG, "dog")
    assert (code, found["status"]) == (0, "QUOTED")
    (card,) = found["cards"]
    assert [(each["source"], each["explicit"]) for each in card["superseded_by"]] == [("garden.txt", False)]
    assert "garden.txt, line 2 [" in told


def test_a_replay_elsewhere_needs_no_folder(place: Path) -> None:
    amend(place)
    verify(place, RENT, "session")
    moved = place / "elsewhere" / "session"
    shutil.copytree(place / "session", moved)
    shutil.rmtree(place / "files")
    shutil.rmtree(place / "session")
    done = vera("replay", str(moved), cwd=place)
    assert done.returncode == 0, done.stdout
    assert "INCONCLUSIVE (PARTIAL)" in done.stdout


def test_an_answer_shows_what_replaces_its_lines(place: Path) -> None:
    amend(place)
    asked = ("run", "--task", "How much is the rent a month?", "--input-dir", "files")
    done = vera(*asked, "--work-dir", "run", "--egress", "none", "-q", cwd=place)
    assert done.returncode == 3, done.stdout
    answer = (place / "run" / "answer.md").read_text()
    assert "amendment.txt, line 3 [" in answer
    assert "says that it replaces or amends the clause in lease.txt" in answer
    assert vera("replay", "run", cwd=place).returncode == 0


def test_a_document_that_cites_a_replaced_clause_is_open_there_and_only_there(place: Path) -> None:
    (place / "memo.md").write_text(f"# Memo\n\n{RENT[:-1]} ([lease](files/lease.txt)).\n")
    (place / "dog.md").write_text(f"# Memo\n\n{DOG[:-1]} ([lease](files/lease.txt)).\n")
    assert vera("check", "memo.md", "--sources", "files", cwd=place).returncode == 0
    amend(place)
    done = vera("check", "memo.md", "--sources", "files", cwd=place)
    assert done.returncode == 3
    assert "line 3: unchecked: amendment.txt, line 3, says that it replaces or amends" in done.stdout
    assert "lease.txt, line 8: “Clause 7 of the Lease is deleted" in done.stdout
    dog = vera("check", "dog.md", "--sources", "files", cwd=place)
    assert dog.returncode == 0
    assert "hint: garden.txt, line 2, says that it replaces everything" in dog.stdout
