"""Several inputs as one folder: what is taken, what is refused, and what stays of it."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from vera.agent import inputs
from vera.agent.errors import SetupError
from vera.agent.folders import input_folder
from vera.agent.inputs import LaidOut, is_address, lay_out, unused
from vera.evidence.reading import walk


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "papers" / "deep").mkdir(parents=True)
    (tmp_path / "papers" / "a.txt").write_text("alpha\n")
    (tmp_path / "papers" / "deep" / "b.txt").write_text("beta\n")
    (tmp_path / "note.txt").write_text("note\n")
    return tmp_path


def laid(here: Path, *names: str) -> LaidOut:
    return lay_out([str(here / name) for name in names], here / "base")


def contents(folder: Path) -> dict[str, str]:
    return {entry.path: (folder / entry.path).read_text() for entry in walk(folder, 1000)}


def test_one_folder_alone_is_that_folder_and_nothing_is_made(here: Path) -> None:
    assert laid(here, "papers").folder == here / "papers"
    assert not (here / "base").exists()


def test_files_and_folders_are_in_one_folder_under_their_names(here: Path) -> None:
    folder = laid(here, "papers", "note.txt").folder
    assert folder.parent == here / "base" / ".vera" / "inputs"
    assert contents(folder) == {
        "note.txt": "note\n",
        "papers/a.txt": "alpha\n",
        "papers/deep/b.txt": "beta\n",
    }
    assert (folder / "note.txt").samefile(here / "note.txt")


def test_one_file_alone_is_in_a_folder(here: Path) -> None:
    assert contents(laid(here, "note.txt").folder) == {"note.txt": "note\n"}


def test_where_no_link_can_be_made_it_is_a_copy(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object, **__: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr(os, "link", refused)
    (here / "note.txt").chmod(0o640)
    folder = laid(here, "papers", "note.txt").folder
    copy = folder / "note.txt"
    assert contents(folder)["note.txt"] == "note\n" and not copy.samefile(here / "note.txt")
    assert copy.stat().st_mode & 0o777 == 0o640
    assert laid(here, "papers", "note.txt").folder == folder
    assert (folder / "note.txt").samefile(copy)


def test_it_is_used_again_until_a_file_changes(here: Path) -> None:
    first = laid(here, "papers", "note.txt").folder
    made = first.stat().st_ino
    again = laid(here, "papers", "note.txt").folder
    assert (again, again.stat().st_ino) == (first, made)
    (here / "papers" / "a.txt").write_text("changed\n")
    after = laid(here, "papers", "note.txt").folder
    assert after != first and contents(after)["papers/a.txt"] == "changed\n"
    assert contents(first)["papers/a.txt"] == "changed\n", "a link: an edit in place is seen there"


def test_a_folder_that_somebody_altered_is_made_again(here: Path) -> None:
    folder = laid(here, "papers", "note.txt").folder
    (folder / "more.txt").write_text("planted\n")
    assert "more.txt" in contents(folder)
    assert laid(here, "papers", "note.txt").folder == folder
    assert "more.txt" not in contents(folder)
    (folder / "note.txt").unlink()
    assert "note.txt" in contents(laid(here, "papers", "note.txt").folder)
    assert [each.name for each in folder.parent.iterdir()] == [folder.name]


def test_a_name_that_is_taken_gets_a_number_and_keeps_its_ending(here: Path) -> None:
    for folder in ("x", "y", "z"):
        (here / folder / "papers").mkdir(parents=True)
        for name in ("r.pdf", "d.tar.gz", "R.pdf"):
            (here / folder / name).write_text(folder)
        (here / folder / "papers" / "in.txt").write_text(folder)
    given = ("x/r.pdf", "y/r.pdf", "z/R.pdf", "x/d.tar.gz", "y/d.tar.gz", "x/papers", "y/papers")
    found = laid(here, *given, "x/r.pdf")
    files = {"r.pdf": "x", "r-2.pdf": "y", "R-3.pdf": "z", "d.tar.gz": "x", "d-2.tar.gz": "y"}
    assert contents(found.folder) == {**files, "papers/in.txt": "x", "papers-2/in.txt": "y"}
    assert [name for _, name in found.renamed] == ["r-2.pdf", "R-3.pdf", "d-2.tar.gz", "papers-2"]


def test_links_pipes_and_sockets_in_a_folder_are_left_out_and_told(here: Path) -> None:
    papers = here / "papers"
    (papers / "link.txt").symlink_to("/etc/passwd")
    (papers / "linked").symlink_to("/etc")
    os.mkfifo(papers / "pipe")
    with socket.socket(socket.AF_UNIX) as unix:
        before = Path.cwd()
        os.chdir(papers)  # The name of a socket has a short limit.
        unix.bind("socket")
        os.chdir(before)
    (papers / "line\nbreak.txt").write_text("odd\n")
    (papers / ".vera").mkdir()
    (papers / ".vera" / "own.txt").write_text("own\n")
    found = laid(here, "papers", "note.txt")
    assert sorted(contents(found.folder)) == [
        *("note.txt", "papers/a.txt", "papers/deep/b.txt", "papers/line\nbreak.txt"),
    ]
    assert dict(found.left_out) == {
        "papers/.vera": "a session of VERA: what it wrote is no source",
        "papers/link.txt": "a symbolic link, which is not followed",
        "papers/linked": "a symbolic link, which is not followed",
        "papers/pipe": "a named pipe, not a file",
        "papers/socket": "a socket, not a file",
    }


def test_what_a_session_wrote_is_no_input(here: Path) -> None:
    session = here / "first"
    (session / "workspace").mkdir(parents=True)
    for name in ("trace.jsonl", "answer.md", "bread.txt"):
        (session / name).write_text("text")
    assert contents(laid(here, "first", "note.txt").folder).keys() == {"first/bread.txt", "note.txt"}
    assert contents(laid(here, "first/bread.txt").folder).keys() == {"bread.txt"}
    for given in ("first/answer.md", "first/workspace"):
        with pytest.raises(SetupError, match="written by a session of VERA"):
            laid(here, given, "note.txt")
    with pytest.raises(SetupError, match="written by a session of VERA"):
        input_folder(session / "workspace")


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _file_link(path: Path) -> None:
    path.symlink_to(path.parent / "note.txt")


def _folder_link(path: Path) -> None:
    path.symlink_to(path.parent / "papers")


def _nothing(path: Path) -> None: ...


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (_nothing, "does not exist"),
        (_pipe, "is a named pipe, not a file"),
        (_file_link, "is a symbolic link, which is not followed. Name what it points to"),
    ],
)
def test_what_is_no_file_and_no_folder_is_refused(
    make: Callable[[Path], None], sentence: str, here: Path
) -> None:
    make(here / "odd")
    for given in (("odd",), ("papers", "odd")):
        with pytest.raises(SetupError, match=sentence) as refused:
            laid(here, *given)
        assert refused.value.exit_code == 2
    assert not (here / "base").exists()


def test_a_link_to_a_folder_beside_others_is_refused(here: Path) -> None:
    _folder_link(here / "odd")
    with pytest.raises(SetupError, match="Name what it points to"):
        laid(here, "odd", "note.txt")
    assert laid(here, "odd").folder == here / "odd", "as --input-dir takes it"


def test_a_device_a_name_that_cannot_be_and_empty_folders_are_refused(here: Path) -> None:
    for path in ("/dev/zero", "nul\0.txt", "x" * 5000, ""):
        with pytest.raises(SetupError):
            lay_out([path, str(here / "note.txt")], here / "base")
    (here / "one").mkdir()
    (here / "two").mkdir()
    with pytest.raises(SetupError, match="hold no file that can be read"):
        laid(here, "one", "two")


def test_a_file_that_cannot_be_read_is_refused_or_left_out(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the system's answer, since root may read everything."""
    asked = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode, **more: Path(path).name != "a.txt" and asked(path, mode, **more)
    )
    assert laid(here, "papers", "note.txt").left_out == (("papers/a.txt", "no permission to read it"),)
    with pytest.raises(SetupError, match="cannot be read by you"):
        laid(here, "papers/a.txt", "note.txt")


@pytest.mark.parametrize("address", ["ftp://example.org/a.pdf", "file:///etc/passwd"])
def test_an_address_that_is_never_fetched_is_refused_with_what_to_do(address: str, here: Path) -> None:
    with pytest.raises(SetupError, match=r"only http and https are fetched\. Save it as a file"):
        lay_out([address], here / "base")
    assert not is_address(address) and is_address("HTTPS://example.org/a.pdf")


def test_too_many_files_bytes_or_inputs_are_refused_before_anything_is_copied(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SetupError, match="Give a folder"):
        lay_out(["a"] * 1001, here / "base")
    monkeypatch.setattr(inputs, "MAX_FILES", 3)
    laid(here, "papers", "note.txt")
    (here / "papers" / "c.txt").write_text("c\n")
    (here / "papers" / "d.txt").write_text("d\n")
    with pytest.raises(SetupError, match="more than 3 files and folders"):
        laid(here, "papers", "note.txt")
    monkeypatch.setattr(inputs, "MAX_FILES", 100)
    with (here / "big").open("wb") as sparse:
        sparse.truncate(inputs.MAX_BYTES)
    with pytest.raises(SetupError, match="more than 20 GB"):
        laid(here, "big", "note.txt")
    assert len(list((here / "base" / ".vera" / "inputs").iterdir())) == 1


def test_a_file_that_becomes_a_link_meanwhile_is_left_out(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    link = os.link

    def swapped(source: Path, *more: Path, follow_symlinks: bool = True) -> None:
        if source.name == "a.txt":
            source.unlink()
            source.symlink_to("/etc/passwd")
        link(source, *more, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(os, "link", swapped)
    found = laid(here, "papers", "note.txt")
    assert [name for name, _ in found.left_out] == ["papers/a.txt"]
    assert sorted(contents(found.folder)) == ["note.txt", "papers/deep/b.txt"]


def test_a_folder_that_cannot_be_written_is_the_environments_fault(here: Path) -> None:
    (here / "base").mkdir()
    (here / "base" / ".vera").write_text("a file\n")
    with pytest.raises(SetupError) as refused:
        laid(here, "papers", "note.txt")
    assert refused.value.exit_code == 5


def test_only_old_folders_that_no_log_names_are_unused(here: Path) -> None:
    base = here / "base"
    used, other, new = (
        laid(here, "note.txt", name).folder for name in ("papers", "papers/a.txt", "papers/deep")
    )
    log = here / "trace.jsonl"
    log.write_text(f'{{"type": "task", "input_dir": "{used}"}}\n')
    for folder in (used, other):
        os.utime(folder, (0, 0))
    (base / ".vera" / "inputs" / "link").symlink_to(here / "papers")
    assert unused(base, [log]) == [other]
    assert unused(base, []) == sorted([used, other])
    assert new.exists()
    laid(here, "note.txt", "papers/a.txt")
    assert unused(base, [log]) == [], "it was used again now"
    assert unused(here / "nothing", [log]) == []
