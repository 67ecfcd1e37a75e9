"""notes.md only grows: what commands append is taken in, what they destroy is put back."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from vera.lane.notes import Change, NotesMirror


class Desk:
    def __init__(self, folder: Path) -> None:
        self.notes = folder / "notes.md"
        self.workspace = folder / "workspace"
        self.workspace.mkdir()
        self.notes.write_text("# Task\n\nWhy?\n")
        self.mirror = NotesMirror(self.notes, self.workspace)
        self.seen = self.workspace / "notes.md"

    def note(self, text: str) -> None:
        with self.notes.open("a") as file:
            file.write(text)


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    desk = Desk(tmp_path)
    assert desk.mirror.sync() == Change()
    return desk


def test_the_mirror_follows_the_notes(desk: Desk) -> None:
    assert desk.seen.read_bytes() == desk.notes.read_bytes()
    desk.note("- ev_0001 · read a.txt\n")
    assert desk.mirror.sync() == Change()
    assert desk.seen.read_bytes() == desk.notes.read_bytes()


def test_an_append_by_a_command_is_taken_in_once(desk: Desk) -> None:
    with desk.seen.open("a") as file:
        file.write("- found it\n")
    assert desk.mirror.sync() == Change(appended="- found it")
    assert desk.mirror.sync() == Change()


def test_a_long_append_is_bounded(desk: Desk) -> None:
    with desk.seen.open("a") as file:
        file.write("x" * 100_000)
    assert len(desk.mirror.sync().appended.encode()) < 2100


@pytest.mark.parametrize(
    "destroy",
    [
        lambda path: path.write_text("new story\n"),
        lambda path: path.write_text(""),
        lambda path: path.unlink(),
        lambda path: path.write_bytes(b"X" + path.read_bytes()[1:]),
        lambda path: (path.unlink(), path.symlink_to("/etc/passwd")),
        lambda path: (path.unlink(), os.mkfifo(path)),
        lambda path: (path.unlink(), os.truncate(os.open(path, os.O_CREAT | os.O_RDWR), 10 << 30)),
    ],
    ids=["rewritten", "emptied", "deleted", "altered", "link", "fifo", "sparse 10 GB"],
)
def test_notes_that_lost_earlier_bytes_are_restored_from_the_hosts_copy(
    desk: Desk, destroy: Callable[[Path], object]
) -> None:
    destroy(desk.seen)
    assert desk.mirror.sync().restored
    assert not desk.seen.is_symlink()
    assert desk.seen.read_bytes() == desk.notes.read_bytes()


def test_a_folder_in_the_place_of_the_notes_is_moved_aside(desk: Desk) -> None:
    desk.seen.unlink()
    desk.seen.mkdir()
    assert desk.mirror.sync().restored
    assert desk.seen.read_bytes() == desk.notes.read_bytes()


def test_a_link_to_a_host_file_is_never_written_through(desk: Desk, tmp_path: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("mine")
    desk.seen.unlink()
    desk.seen.symlink_to(outside)
    desk.note("- more\n")
    desk.mirror.sync()
    assert outside.read_text() == "mine"


def test_notes_written_while_a_command_ran_do_not_look_like_its_work(desk: Desk) -> None:
    with desk.seen.open("a") as file:
        file.write("- by the command\n")
    desk.note("- by the host\n")
    assert desk.mirror.sync() == Change(appended="- by the command")
    assert desk.seen.read_bytes() == desk.notes.read_bytes()
