"""Which folders may enter a box, and as whom."""

import os
from pathlib import Path

import pytest

from vera.sandbox import mounts
from vera.sandbox.spec import BoxSpec
from vera.sandbox.types import BoxError


def refusal(spec: BoxSpec) -> str:
    with pytest.raises(BoxError) as caught:
        mounts.check(spec)
    return str(caught.value)


def test_real_paths_are_mounted_whatever_links_led_there(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    spec = BoxSpec(work=tmp_path / "link", input=Path("/usr/share"))
    assert mounts.check(spec) == (tmp_path / "real", Path("/usr/share"))


@pytest.mark.parametrize(
    "folder", ["/", "/var/run", "/run", "/run/user", "/proc", "/proc/self", "/dev", "/sys"]
)
@pytest.mark.parametrize("kind", ["work", "input"])
def test_folders_of_the_system_are_refused(folder: str, kind: str, tmp_path: Path) -> None:
    if Path(folder).exists():
        spec = BoxSpec(**{"work": tmp_path, kind: Path(folder)})  # type: ignore[arg-type] # one name or both
        assert "not mounted" in refusal(spec)


def test_the_home_folder_and_what_holds_it_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home/me"
    (home / "project").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    assert "your home folder" in refusal(BoxSpec(work=home))
    assert "your home folder" in refusal(BoxSpec(work=tmp_path))
    mounts.check(BoxSpec(work=home / "project"))


def test_a_link_to_the_home_folder_is_refused_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    (tmp_path / "work").symlink_to(home)
    assert "your home folder" in refusal(BoxSpec(work=tmp_path / "work"))


def test_folders_that_hold_or_lie_in_veras_own_are_refused(tmp_path: Path) -> None:
    own = tmp_path / "base/.vera"
    (own / "below").mkdir(parents=True)
    (tmp_path / "base/work").mkdir()
    assert "VERA's own files" in refusal(BoxSpec(work=tmp_path / "base", forbidden=(own,)))
    assert "belongs to VERA alone" in refusal(BoxSpec(work=own / "below", forbidden=(own,)))
    mounts.check(BoxSpec(work=tmp_path / "base/work", forbidden=(own,)))


def test_of_folders_within_each_other_the_outer_one_is_left_out() -> None:
    doc = Path("/usr/share/doc")
    assert mounts.shown([doc / "bash", doc, Path("/home")]) == [doc]


def test_a_file_and_a_missing_folder_are_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert "is not a folder" in refusal(BoxSpec(work=tmp_path / "file"))
    assert "cannot be reached" in refusal(BoxSpec(work=tmp_path / "nonesuch"))


def test_commands_run_as_the_owner_of_the_work_folder_and_never_as_root(tmp_path: Path) -> None:
    uid, gid = mounts.identity(BoxSpec(work=tmp_path), tmp_path)
    if os.getuid() == 0:
        assert (uid, gid) == (mounts.UNPRIVILEGED, mounts.UNPRIVILEGED)
        assert tmp_path.stat().st_uid == mounts.UNPRIVILEGED
    else:
        assert (uid, gid) == (os.getuid(), tmp_path.stat().st_gid)


def test_the_identity_asked_for_wins_unless_it_is_root(tmp_path: Path) -> None:
    assert mounts.identity(BoxSpec(work=tmp_path, uid=4321, gid=4322), tmp_path) == (4321, 4322)
    assert mounts.identity(BoxSpec(work=tmp_path, uid=0, gid=0), tmp_path)[0] == mounts.UNPRIVILEGED


def make_session(folder: Path) -> Path:
    (folder / "workspace").mkdir(parents=True)
    (folder / "trace.jsonl").write_text("{}\n")
    (folder / "answer.md").write_text("7 years\n")
    return folder


def test_sessions_in_an_input_folder_are_found_and_a_folder_of_nothing_else_stands_for_them(
    tmp_path: Path,
) -> None:
    assert mounts.sessions_in(tmp_path) == []
    (tmp_path / "a.txt").write_text("text")
    (tmp_path / "like" / "workspace").mkdir(parents=True)  # no log: a person's own folder
    for name in ("work/one", "work/two", "mixed/three", "four"):
        make_session(tmp_path / name)
    (tmp_path / "mixed" / "b.txt").write_text("text")
    (tmp_path / "notes" / ".vera").mkdir(parents=True)
    (tmp_path / "elsewhere").symlink_to("work")
    found = {str(path) for path in mounts.sessions_in(tmp_path)}
    assert found == {"work", "mixed/three", "four", "notes"}


def test_more_sessions_among_documents_than_can_be_covered_are_refused(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("text")
    for number in range(mounts.MAX_COVERED + 1):
        make_session(tmp_path / f"{number}")
    with pytest.raises(BoxError, match="earlier runs"):
        mounts.sessions_in(tmp_path)


@pytest.mark.parametrize("part", [".", "workspace"])
def test_a_session_is_no_input_folder_of_a_command(part: str, tmp_path: Path) -> None:
    session = make_session(tmp_path / "sp")
    with pytest.raises(BoxError, match="what a session of VERA wrote"):
        mounts.sessions_in(session / part)


def test_a_changed_copy_of_the_input_in_a_session_is_mounted(tmp_path: Path) -> None:
    copy = make_session(tmp_path / "sp") / ".input-abc"
    copy.mkdir()
    assert mounts.sessions_in(copy) == []
