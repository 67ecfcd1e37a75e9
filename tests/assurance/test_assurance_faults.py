"""The shim that the battery `crash` loads below Python does what its words say, to a small program."""

import errno
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from assurance.faults import Fault, calls, plan

pytestmark = pytest.mark.needs("faults")

PROGRAM = """
import os, sys
there = sys.argv[1]
file = os.open(f"{there}/new", os.O_WRONLY | os.O_CREAT)
os.write(file, b"12345678")
os.fsync(file)
os.rename(f"{there}/new", f"{there}/old")
os.write(file, b"9")
print("whole")
"""
MAKE, WRITE, SYNC, RENAME = 1, 2, 3, 4
"""The numbers of its calls."""

Program = Callable[[Fault], "subprocess.CompletedProcess[str]"]


@pytest.fixture
def program(tmp_path: Path) -> Program:
    """Runs the program in the folder `watched` with that fault."""
    watched = tmp_path / "watched"
    watched.mkdir()

    def run(fault: Fault) -> "subprocess.CompletedProcess[str]":
        environment = {**os.environ, **plan(watched, tmp_path / "state", fault)}
        return subprocess.run(
            [sys.executable, "-c", PROGRAM, str(watched)],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


def left(tmp_path: Path) -> dict[str, str]:
    """The files of the watched folder with their texts."""
    return {path.name: path.read_text() for path in (tmp_path / "watched").iterdir()}


def test_without_a_fault_every_call_is_counted(program: Program, tmp_path: Path) -> None:
    assert program(Fault()).stdout == "whole\n"
    counted = [(each.number, each.name) for each in calls(tmp_path / "state")]
    assert counted == [(1, "open"), (2, "write"), (3, "sync"), (4, "rename"), (5, "write")]
    assert left(tmp_path) == {"old": "123456789"}


@pytest.mark.parametrize(
    ("action", "number", "files"),
    [
        ("before", MAKE, {}),
        ("behind", MAKE, {"new": ""}),
        ("before", WRITE, {"new": ""}),
        ("inside", WRITE, {"new": "1234"}),
        ("behind", WRITE, {"new": "12345678"}),
        ("before", RENAME, {"new": "12345678"}),
        ("behind", RENAME, {"old": "12345678"}),
    ],
)
def test_a_kill_is_before_inside_or_behind_its_call(
    program: Program, tmp_path: Path, action: str, number: int, files: dict[str, str]
) -> None:
    done = program(Fault(action, number))
    assert (done.returncode, done.stdout) == (-signal.SIGKILL, "")
    assert left(tmp_path) == files


@pytest.mark.parametrize(
    ("fault", "said", "files"),
    [
        (Fault("fails", SYNC, errno.EIO), "Input/output error", {"new": "12345678"}),
        (Fault("fails-once", WRITE, errno.EROFS), "Read-only file system", {"new": ""}),
        (Fault("fails", RENAME, errno.EIO), "Input/output error", {"new": "12345678"}),
    ],
)
def test_a_call_that_fails_has_its_error_and_changes_nothing(
    program: Program, tmp_path: Path, fault: Fault, said: str, files: dict[str, str]
) -> None:
    assert said in program(fault).stderr
    assert left(tmp_path) == files


def test_a_write_to_a_full_disk_writes_what_had_room(program: Program, tmp_path: Path) -> None:
    program(Fault("fails-once", WRITE, errno.ENOSPC))
    assert left(tmp_path) == {"old": "12349"}
