"""Which folders are sessions, and by what ids they are called."""

import os
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from support.dashboards import Grown
from vera.dashboard.sessions import CONTROL_LOG, MAX_LISTED, NoSession, Sessions, decode_id, encode_id


@given(st.binary(min_size=1, max_size=300))
@example(b".")
@example(b"work/example")
@example(b"~2F")
def test_an_id_is_one_segment_that_stands_for_one_path(name: bytes) -> None:
    found = encode_id(name)
    assert decode_id(found) == name
    assert found.isascii()
    assert not set(found) & set("/.%?#&\\ ")


@given(st.text(max_size=60))
@example("work~2fexample")
@example("~77ork")
@example("a.b")
@example("~")
def test_a_path_has_no_other_id(text: str) -> None:
    name = decode_id(text)
    assert name is None or encode_id(name) == text


def test_sessions_are_found_three_levels_down_the_newest_first(tmp_path: Path) -> None:
    for number, name in enumerate(["work/old", "work/a/new", "top", "one/two/three/four"]):
        log = Grown(tmp_path / name)
        os.utime(log.path, (1000 + number, 1000 + number))
    assert [each.name for each in Sessions(tmp_path).listed()[0]] == ["./top", "./work/a/new", "./work/old"]


def test_a_session_is_known_by_its_work_dir_however_it_is_written(tmp_path: Path) -> None:
    sessions = Sessions(tmp_path)
    Grown(tmp_path / "work" / "example")
    (listed,) = sessions.listed()[0]
    for written in ("./work/example", "work/example", "work/example/", str(tmp_path / "work/example")):
        assert sessions.by_work_dir(written) == listed
    assert sessions.by_id(listed.id) == listed
    assert (listed.id, listed.name) == ("work~2Fexample", "./work/example")


def test_a_session_that_is_not_there_yet_can_be_asked_for(tmp_path: Path) -> None:
    found = Sessions(tmp_path).by_work_dir("./work/later")
    assert not found.exists
    Grown(found.path)
    assert found.exists


def test_the_base_itself_may_be_the_session(tmp_path: Path) -> None:
    Grown(tmp_path)
    sessions = Sessions(tmp_path)
    (found,) = sessions.listed()[0]
    assert found.path.samefile(tmp_path)
    assert sessions.by_id(found.id) == found


@pytest.mark.parametrize(
    "work_dir",
    ["..", "../x", "work/../../x", "/etc", "/", "", " ", "a\0b", "a/" * 20 + "b", "x" * 3000, "\ud800"],
)
def test_what_is_not_below_the_base_is_no_session(tmp_path: Path, work_dir: str) -> None:
    with pytest.raises(NoSession) as raised:
        Sessions(tmp_path).by_work_dir(work_dir)
    assert str(raised.value).endswith(".")


def test_no_link_leads_to_a_session(tmp_path: Path) -> None:
    outside, base = tmp_path / "outside", tmp_path / "base"
    Grown(outside / "run")
    (base / "work" / "linked").mkdir(parents=True)
    (base / "out").symlink_to(outside)
    (base / "work" / "linked" / "trace.jsonl").symlink_to(outside / "run" / "trace.jsonl")
    sessions = Sessions(base)
    assert sessions.listed() == ([], 0)
    for work_dir in ("out/run", "out", "work/linked"):
        with pytest.raises(NoSession):
            sessions.by_work_dir(work_dir)


def test_a_log_that_a_sandbox_wrote_is_no_session(tmp_path: Path) -> None:
    """It may write to `workspace/` of its session whatever it likes."""
    Grown(tmp_path / "work" / "example")
    Grown(tmp_path / "work" / "example" / "workspace" / "fake")
    sessions = Sessions(tmp_path)
    assert [each.name for each in sessions.listed()[0]] == ["./work/example"]
    with pytest.raises(NoSession, match="inside another session"):
        sessions.by_work_dir("work/example/workspace/fake")


def test_a_session_made_here_is_listed_before_it_has_a_log(tmp_path: Path) -> None:
    (tmp_path / "work" / "ui-run-1").mkdir(parents=True)
    (tmp_path / "work" / "ui-run-1" / CONTROL_LOG).write_text("{}\n")
    assert [each.name for each in Sessions(tmp_path).listed()[0]] == ["./work/ui-run-1"]


def test_a_list_has_an_end_and_says_so(tmp_path: Path) -> None:
    for number in range(MAX_LISTED + 3):
        folder = tmp_path / "work" / f"run-{number}"
        folder.mkdir(parents=True)
        (folder / "trace.jsonl").touch()
    listed, left_out = Sessions(tmp_path).listed()
    assert (len(listed), left_out) == (MAX_LISTED, 3)


def test_a_name_that_acts_on_who_reads_it_is_shown_as_text(tmp_path: Path) -> None:
    Grown(tmp_path / "evil\x1b[2J\u202e")
    (found,) = Sessions(tmp_path).listed()[0]
    assert found.name.isprintable()
    assert Sessions(tmp_path).by_id(found.id).path == found.path


def test_a_name_that_is_no_text_has_an_id(tmp_path: Path) -> None:
    name = os.fsdecode(b"run-\xff")
    try:
        Grown(tmp_path / name)
    except OSError:
        pytest.skip("this file system takes names that are text only")
    (found,) = Sessions(tmp_path).listed()[0]
    assert found.id == "run-~FF"
    assert Sessions(tmp_path).by_id(found.id) == found
