"""`vera list`: a line a session, from the ends of its log."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest

from support.cli import vera
from vera import events
from vera.attestation import known_outcomes, outcome
from vera.attestation.outcome import Outcome, fingerprint, outcome_here
from vera.cli.list import Listed, lines_of, look_at, took
from vera.dashboard.log_ends import HEAD_BYTES, LogEnds, in_use, is_still_in_use, read_ends
from vera.dashboard.sessions import Sessions
from vera.report.view.model import EventLine
from vera.report.view.outcome import NOT_REPEATED, lines_with
from vera.session import Session

END = events.RunEnd(status="UNRESOLVED", reason="nothing found", exit_code=3, steps=7, seconds=3.0)
LANE = events.LaneStarted(
    purpose="research",
    system="s",
    task_message="t",
    tools=(),
    protocol="text",
    system_role="system",
    prompt_sha256="0" * 64,
    high_tokens=24000,
    max_bytes=0,
    tail_steps=4,
)


def begin(root: Path, task: str, clock: Callable[[], float] = time.time) -> Session:
    session = Session.create(root, {}, clock)
    session.emit(events.Task(task=session.text(task)), lane="")
    return session


def listed(base: Path) -> dict[str, Listed]:
    folders, _ = Sessions(base).listed()
    return {row.session: row for row in look_at(folders)}


def test_each_state_of_a_run_has_its_word(tmp_path: Path) -> None:
    (tmp_path / "work" / "made").mkdir(parents=True)
    (tmp_path / "work" / "made" / "session.log").write_text("{}\n")
    working = begin(tmp_path / "work" / "working", "Is it running?")
    stopped = begin(tmp_path / "work" / "stopped", "Was it stopped?")
    stopped.emit(LANE)
    stopped.close()
    ended = begin(tmp_path / "work" / "ended", "Is it over?")
    ended.emit(LANE)
    ended.finish(END)
    ended.close()
    rows = listed(tmp_path)
    assert {name: row.state for name, row in rows.items()} == {
        "./work/made": "new",
        "./work/working": "running",
        "./work/stopped": "stopped",
        "./work/ended": "ended",
    }
    assert (rows["./work/ended"].verdict, rows["./work/ended"].steps) == ("UNRESOLVED", 7)
    assert rows["./work/ended"].task == "Is it over?"
    working.close()


def test_a_resumed_run_has_not_ended(tmp_path: Path) -> None:
    session = begin(tmp_path / "a", "q")
    session.emit(LANE)
    session.finish(events.RunEnd(status="UNRESOLVED", reason="", exit_code=6, steps=1, seconds=1.0))
    session.close()
    assert listed(tmp_path)["./a"].exit_code == 6
    Session.resume(tmp_path / "a").close()
    assert listed(tmp_path)["./a"].state == "stopped"


def test_the_time_is_from_the_first_record_to_the_last(tmp_path: Path) -> None:
    times = iter([1000.0, 1001.0, 1090.5])
    session = begin(tmp_path / "a", "q", lambda: next(times))
    session.emit(END, lane="")
    session.close()
    row = listed(tmp_path)["./a"]
    assert (row.started_ts, row.seconds) == (1000.0, 90.5)


def test_a_long_task_is_read_from_the_store_and_shown_on_one_line(tmp_path: Path) -> None:
    begin(tmp_path / "a", "first line\n\x1b[2Jsecond " + "x" * 10_000).close()
    row = listed(tmp_path)["./a"]
    assert row.task.startswith("first line \ufffd[2Jsecond") and len(row.task) == 2000
    shown = vera("list", cwd=tmp_path)
    assert len(shown.stdout.splitlines()) == 1 and "\x1b" not in shown.stdout


def test_a_task_whose_blob_is_gone_is_said_to_be(tmp_path: Path) -> None:
    begin(tmp_path / "a", "x" * 10_000).close()
    for blob in (tmp_path / "a" / "store").glob("*/*"):
        blob.unlink()
    assert listed(tmp_path)["./a"].task == "(its text is not in the store)"


@pytest.mark.parametrize(
    "content", [b"", b"\n\n", b"\x00\xff" * 100, b"{}\n" * 50, b'{"type":"run_end"}\n', b"x" * HEAD_BYTES * 2]
)
def test_a_log_that_is_none_is_listed_without_an_error(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "trace.jsonl").write_bytes(content)
    assert listed(tmp_path)["./a"].verdict == ""


def test_the_ends_of_a_large_log_are_enough(tmp_path: Path) -> None:
    session = begin(tmp_path / "a", "q")
    session.emit(LANE)
    for number in range(400):
        session.emit(events.Note(text="n" * 3000, step=number))
    session.finish(END)
    session.close()
    path = tmp_path / "a" / "trace.jsonl"
    ends = read_ends(path)
    assert ends.size == path.stat().st_size > 1_000_000
    assert ends.end is not None and ends.end.steps == 7 and ends.began
    assert ends.task is not None and ends.task.task == "q"


def test_a_log_behind_a_link_is_not_looked_at(tmp_path: Path) -> None:
    begin(tmp_path / "a", "q").close()
    (tmp_path / "link").symlink_to(tmp_path / "a" / "trace.jsonl")
    assert read_ends(tmp_path / "link") == LogEnds()
    assert in_use([tmp_path / "link"]) == set()


def test_a_log_is_in_use_as_long_as_its_session_is_open(tmp_path: Path) -> None:
    session = begin(tmp_path / "a", "q")
    path = tmp_path / "a" / "trace.jsonl"
    assert in_use([path]) == {path}
    assert is_still_in_use(path)
    session.close()
    assert in_use([path]) == set()
    assert not is_still_in_use(path)


def test_the_command_prints_lines_or_json(tmp_path: Path) -> None:
    session = begin(tmp_path / "work" / "one", "How high is the tower?")
    session.finish(END)
    session.close()
    shown = vera("list", cwd=tmp_path)
    assert shown.returncode == 0
    assert "./work/one" in shown.stdout and "Unresolved" in shown.stdout and "7 steps" in shown.stdout
    found: dict[str, Any] = json.loads(vera("list", "--json", cwd=tmp_path).stdout)
    assert [row["session"] for row in found["sessions"]] == ["./work/one"]
    assert found["left_out"] == 0


def test_a_base_folder_without_sessions_and_one_that_is_not_there_are_said(tmp_path: Path) -> None:
    empty = vera("list", cwd=tmp_path)
    assert (empty.returncode, empty.stdout) == (0, "") and "no session" in empty.stderr
    missing = vera("list", "--base-dir", "nowhere", cwd=tmp_path)
    assert missing.returncode == 1 and "no folder" in missing.stderr


def test_a_verdict_that_nothing_attests_is_not_listed(tmp_path: Path) -> None:
    session = begin(tmp_path / "work" / "one", "How high is the tower?")
    session.finish(msgspec.structs.replace(END, status="VERIFIED", exit_code=0))
    session.close()
    assert [(row.verdict, row.exit_code) for row in listed(tmp_path).values()] == [("ALTERED", None)]


def test_a_list_reads_a_session_again_only_when_a_file_of_it_has_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def counted(root: Path) -> Outcome:
        read.append(root)
        return outcome_here(root)

    monkeypatch.setattr(known_outcomes, "outcome_here", counted)
    session = begin(tmp_path / "work" / "one", "How high is the tower?")
    session.finish(END)
    session.close()
    assert listed(tmp_path)["./work/one"].verdict == "UNRESOLVED"
    assert listed(tmp_path)["./work/one"].verdict == "UNRESOLVED"
    assert len(read) == 1
    log = tmp_path / "work" / "one" / "trace.jsonl"
    times, data = log.stat(), log.read_bytes()
    log.write_bytes(data.replace(b"tower", b"tover"))
    os.utime(log, ns=(times.st_atime_ns, times.st_mtime_ns))
    assert listed(tmp_path)["./work/one"].verdict == "ALTERED"


@pytest.mark.parametrize("names", [("store/aa", "store/bb"), ("theses/0001/store/aa",), ("theses",)])
def test_a_session_with_more_files_than_are_watched_stays_unchecked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, names: tuple[str, ...]
) -> None:
    monkeypatch.setattr(outcome, "MAX_FILES", 40)
    session = begin(tmp_path / "work" / "one", "How high is the tower?")
    session.finish(END)
    session.close()
    assert listed(tmp_path)["./work/one"].verdict == "UNRESOLVED"
    for name in names:
        (tmp_path / "work" / "one" / name).mkdir(parents=True)
        for number in range(60 // len(names)):
            (tmp_path / "work" / "one" / name / str(number)).touch()
    assert listed(tmp_path)["./work/one"].verdict == "UNCHECKED"
    assert outcome_here(tmp_path / "work" / "one").word == "UNRESOLVED"


def test_what_a_log_says_of_the_verdict_is_not_repeated_of_what_stays_unchecked() -> None:
    line = EventLine(offset=0, seq=9, ts=0.0, lane="", kind="run_end", step=None, text="VERIFIED")
    stays = Outcome(word=outcome.UNCHECKED, reason=outcome.TOO_MANY)
    assert lines_with((line,), Outcome(word=outcome.UNCHECKED)) == (line,)
    assert [each.text for each in lines_with((line,), stays)] == [NOT_REPEATED]


def test_every_file_that_an_outcome_rests_on_is_in_its_fingerprint(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to the bound, the last one too."""
    begin(tmp_path / "s", "How high is the tower?").close()
    for folder in ("s", "s/theses/0001"):
        (tmp_path / folder / "store" / "aa").mkdir(parents=True)
        for number in range(31):
            (tmp_path / folder / "store" / "aa" / str(number)).touch()
    monkeypatch.setattr(outcome, "MAX_FILES", 40)
    before = fingerprint(tmp_path / "s")
    assert before
    for path in sorted((tmp_path / "s").rglob("store/aa/*")):
        path.write_text("changed")
        before, earlier = fingerprint(tmp_path / "s"), before
        assert before != earlier, path


def test_what_cannot_be_looked_at_in_time_is_not_listed_as_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(known_outcomes, "MAX_SECONDS", -1.0)
    session = begin(tmp_path / "work" / "one", "How high is the tower?")
    session.finish(END)
    session.close()
    assert listed(tmp_path)["./work/one"].verdict == "UNCHECKED"


def test_a_thousand_sessions_are_listed_and_what_is_left_out_is_said(
    tmp_path: Path, measured: Callable[[str, object], None]
) -> None:
    begin(tmp_path / "work" / "s0", "q").close()
    log = (tmp_path / "work" / "s0" / "trace.jsonl").read_bytes()
    for number in range(1, 1000):
        (tmp_path / "work" / f"s{number}").mkdir()
        (tmp_path / "work" / f"s{number}" / "trace.jsonl").write_bytes(log)
    began = time.perf_counter()
    rows = listed(tmp_path)
    measured("vera list, 1000 sessions, s", round(time.perf_counter() - began, 3))
    shown = vera("list", cwd=tmp_path)
    assert len(rows) == len(shown.stdout.splitlines())
    if len(rows) < 1000:
        assert f"{1000 - len(rows)} older ones are not shown" in shown.stderr


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "0 s"), (119, "119 s"), (180, "3 min"), (7500, "2 h 05"), (90_000, "25 h 00")]
)
def test_a_duration_is_said_in_the_unit_that_fits(seconds: float, words: str) -> None:
    assert took(seconds) == words


def row(name: str, task: str) -> Listed:
    return Listed(
        session=name,
        state="ended",
        verdict="VERIFIED",
        exit_code=0,
        steps=12,
        started_ts=1_800_000_000.0,
        seconds=61.0,
        task=task,
        word="Verified",
    )


ROWS = [
    row("work/20261124T165604-when-do-licences-end-0a1b2c", "When do licences end? " * 20),
    row("work/w", ""),
]


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_no_line_is_wider_than_the_terminal_and_no_folder_is_cut(columns: int) -> None:
    lines = list(lines_of(ROWS, columns))
    assert max(map(len, lines)) <= columns
    assert all(any(line.startswith(row.session) for line in lines) for row in ROWS)
    assert sum("Verified" in line for line in lines) == len(ROWS)
    assert any("When do licences end?" in line for line in lines)


def test_a_wide_terminal_and_a_pipe_have_one_line_a_session() -> None:
    assert [len(list(lines_of(ROWS, columns))) for columns in (200, None)] == [2, 2]
    assert len(list(lines_of(ROWS, 80))) == 5


def test_the_command_keeps_to_the_width_that_is_set(tmp_path: Path) -> None:
    begin(tmp_path / "work" / "one", "Is this a long question? " * 20).close()
    done = vera("list", "--base-dir", tmp_path, cwd=tmp_path, COLUMNS="60")
    assert max(map(len, done.stdout.splitlines())) <= 60


def test_an_empty_folder_is_named_in_words(tmp_path: Path) -> None:
    done = vera("list", cwd=tmp_path)
    assert done.stderr.startswith("There is no session below this folder. Type: vera run ")
