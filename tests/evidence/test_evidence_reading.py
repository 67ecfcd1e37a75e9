"""Reading a folder that somebody else fills."""

import contextlib
import os
import socket
import tempfile
import threading
from pathlib import Path

import pytest

from vera.evidence import reading
from vera.evidence.reading import FolderEntry, read_regular, walk
from vera.extraction.source import Unreadable


def open_files() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


def reason(root: Path, relative: str, limit: int = 100) -> str:
    with pytest.raises(Unreadable) as caught:
        read_regular(root, relative, limit)
    return str(caught.value)


def test_a_file_is_read_by_its_relative_path(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "c.txt").write_bytes(b"text")
    assert read_regular(tmp_path, "a/b/c.txt", 100) == b"text"
    assert read_regular(tmp_path, "./a//b/./c.txt", 4) == b"text"


def test_the_root_itself_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a").write_bytes(b"text")
    (tmp_path / "link").symlink_to("real")
    assert read_regular(tmp_path / "link", "a", 100) == b"text"
    assert [entry.path for entry in walk(tmp_path / "link", 10)] == ["a"]


@pytest.mark.parametrize("path", ["../secret", "a/../../secret", "/etc/passwd", "a\0b", "a/" * 200 + "b"])
def test_no_path_leads_out(tmp_path: Path, path: str) -> None:
    assert "out of the folder" in reason(tmp_path, path)


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    (tmp_path / "out").symlink_to("/etc/passwd")
    (tmp_path / "in").symlink_to("file")
    (tmp_path / "folder").symlink_to("/etc")
    assert "symbolic link" in reason(tmp_path, "out")
    assert "symbolic link" in reason(tmp_path, "in")
    assert "through a link" in reason(tmp_path, "folder/passwd")


def test_a_file_that_becomes_a_link_after_the_look_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").symlink_to("/etc/passwd")
    monkeypatch.setattr(reading, "_refuse_irregular", lambda mode: None)
    assert "through a link" in reason(tmp_path, "file")


def test_pipes_sockets_devices_and_folders_are_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    assert "named pipe" in reason(tmp_path, "pipe")
    assert "folder" in reason(tmp_path, "folder")
    assert "folder" in reason(tmp_path, "")
    assert "device" in reason(Path("/dev"), "null")
    with tempfile.TemporaryDirectory(dir="/tmp") as short, socket.socket(socket.AF_UNIX) as listener:
        listener.bind(f"{short}/s")
        assert "socket" in reason(Path(short), "s")


def test_what_is_missing_or_forbidden_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"text")
    assert reason(tmp_path, "nothing") == "there is no such file"
    assert reason(tmp_path / "nothing", "a") == "there is no such file"
    assert "no folder" in reason(tmp_path, "file/inner")
    assert reason(tmp_path, "x" * 300) == "file name too long"
    assert reason(tmp_path, "\ud800") == "no file can have this name"


def test_the_limit_holds_for_what_the_file_is_and_for_what_it_becomes(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x" * 101)
    assert reason(tmp_path, "file") == "larger than 100 bytes"
    assert len(read_regular(tmp_path, "file", 101)) == 101
    # Of size 0 when looked at, endless when read: what a growing file is at its worst.
    assert "larger than 100 bytes" in reason(Path("/proc/self"), "smaps") or not Path("/proc/self").exists()


def test_a_sparse_file_of_ten_gigabytes_is_refused_without_reading_it(tmp_path: Path) -> None:
    with (tmp_path / "huge").open("wb") as file:
        file.truncate(10 << 30)
    with pytest.raises(Unreadable):
        read_regular(tmp_path, "huge", 1 << 20)


def test_a_folder_that_is_swapped_for_a_link_again_and_again_never_lets_a_read_out(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside"
    for folder, text in ((root / "real", b"inside"), (outside, b"secret")):
        folder.mkdir(parents=True)
        (folder / "file").write_bytes(text)
    (root / "link").symlink_to(outside)
    stop = threading.Event()

    def swap() -> None:
        while not stop.is_set():
            (root / "real").rename(root / "aside")
            (root / "link").rename(root / "real")
            (root / "real").rename(root / "link")
            (root / "aside").rename(root / "real")

    swapping = threading.Thread(target=swap)
    swapping.start()
    seen = set()
    try:
        for _ in range(3000):
            with contextlib.suppress(Unreadable):
                seen.add(read_regular(root, "real/file", 1 << 20))
    finally:
        stop.set()
        swapping.join()
    assert seen <= {b"inside"}


def test_a_walk_lists_files_in_the_order_of_their_bytes(tmp_path: Path) -> None:
    for name in ("b/z", "b/a", "b.txt", "a", "Z", "é"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(name.encode())
    entries = list(walk(tmp_path, 100))
    assert [entry.path for entry in entries] == ["Z", "a", "b/a", "b/z", "b.txt", "é"]
    status = (tmp_path / "a").stat()
    assert entries[1] == FolderEntry(
        path="a", size=1, mtime_ns=status.st_mtime_ns, ctime_ns=status.st_ctime_ns
    )


def test_a_name_that_is_no_unicode_survives(tmp_path: Path) -> None:
    name = b"caf\xe9.txt"
    try:
        (tmp_path / os.fsdecode(name)).write_bytes(b"text")
    except OSError:
        pytest.skip("this file system takes only names in UTF-8")
    (entry,) = walk(tmp_path, 10)
    assert os.fsencode(entry.path) == name
    assert read_regular(tmp_path, entry.path, 10) == b"text"


def test_what_is_no_file_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    (tmp_path / "link").symlink_to("file")
    (tmp_path / "loop").symlink_to(".")
    os.mkfifo(tmp_path / "pipe")
    skipped = {entry.path: entry.skipped for entry in walk(tmp_path, 10)}
    assert skipped["file"] == ""
    assert "link" in skipped["link"]
    assert "link" in skipped["loop"]
    assert "pipe" in skipped["pipe"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every folder")
def test_a_folder_that_cannot_be_opened_is_reported(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o000)
    assert [(entry.path, entry.skipped) for entry in walk(tmp_path, 10)] == [
        ("closed", "no permission to read it")
    ]


def test_a_root_that_is_no_folder_is_reported(tmp_path: Path) -> None:
    (entry,) = walk(tmp_path / "nothing", 10)
    assert (entry.path, entry.skipped) == (".", "there is no such file")


def test_a_walk_has_an_end(tmp_path: Path) -> None:
    for number in range(20):
        (tmp_path / f"{number:02}").mkdir()
        (tmp_path / f"{number:02}" / "file").write_bytes(b"")
    entries = list(walk(tmp_path, 10))
    assert len(entries) == 6  # five folders with a file each, then the notice
    assert "more than 10 files" in entries[-1].skipped


def test_a_walk_does_not_go_down_without_end(tmp_path: Path) -> None:
    (tmp_path / "/".join("d" * (reading.DEEPEST + 5))).mkdir(parents=True)
    (entry,) = walk(tmp_path, 1000)
    assert "folders deep" in entry.skipped


def test_a_walk_that_is_left_closes_its_folders(tmp_path: Path) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "a" / "b" / "file").write_bytes(b"")
    before = open_files()
    walking = walk(tmp_path, 10)
    next(walking)
    assert open_files() > before
    walking.close()  # type: ignore[attr-defined]  # a generator, which Iterator does not say
    assert open_files() == before


def make_session(folder: Path, *own: str) -> Path:
    """A folder that looks like a session of VERA, with files of a person beside it."""
    (folder / "workspace").mkdir(parents=True)
    (folder / "store" / "87").mkdir(parents=True)
    for name in ("trace.jsonl", "answer.md", "notes.md", "store/87/text", "workspace/notes.md", *own):
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text("The Oder is 866 kilometres long.\n")
    return folder


def read_by_walk(folder: Path) -> set[str]:
    return {entry.path for entry in walk(folder, 100) if not entry.skipped}


def test_where_the_folder_is_a_session_only_what_a_person_put_there_is_read(tmp_path: Path) -> None:
    session = make_session(tmp_path / "sp", "bread.txt", "README.txt", "input/dropped.txt", "papers/notes.md")
    assert read_by_walk(session) == {"bread.txt", "README.txt", "input/dropped.txt", "papers/notes.md"}
    skipped = {entry.path: entry.skipped for entry in walk(session, 100) if entry.skipped}
    assert skipped == dict.fromkeys(
        ("answer.md", "notes.md", "store", "trace.jsonl", "workspace"), reading.WRITTEN
    )


@pytest.mark.parametrize("part", ["workspace", "store", "store/87"])
def test_a_part_of_a_session_holds_nothing_to_read(part: str, tmp_path: Path) -> None:
    session = make_session(tmp_path / "sp")
    assert read_by_walk(session / part) == set()
    assert len([entry for entry in walk(session / part, 100, of_session=True) if not entry.skipped]) > 0


def test_what_a_person_dropped_on_a_form_is_read(tmp_path: Path) -> None:
    session = make_session(tmp_path / "sp", "input/dropped.txt")
    assert read_by_walk(session / "input") == {"dropped.txt"}


def test_an_unpacked_bundle_is_a_session(tmp_path: Path) -> None:
    bundle = tmp_path / "bundle"
    (bundle / "store" / "87").mkdir(parents=True)
    for name in ("trace.jsonl", "answer.md", "seal.json", "README.txt", "store/87/text", "own.txt"):
        (bundle / name).write_text("text")
    assert read_by_walk(bundle) == {"own.txt"}
    assert read_by_walk(tmp_path) == set()
