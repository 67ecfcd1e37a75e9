"""`vera watch`: another process's run, in the terminal, until it ends."""

import contextlib
import io
import os
import pty
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest
from rich.console import Console

from support.cli import vera
from vera import events
from vera.cli.watch import Watched
from vera.cli.watch_view import view
from vera.session import Session

END = events.RunEnd(status="UNRESOLVED", reason="no evidence", exit_code=3, steps=7, seconds=63.0)
WAIT = 60.0


class Watching:
    """`vera watch`, on a terminal of its own or on a pipe."""

    def __init__(self, run: Path, *, terminal: bool, **environment: str) -> None:
        self.text = ""
        clean = {name: value for name, value in os.environ.items() if name != "CI"}
        reader, writer = pty.openpty() if terminal else os.pipe()
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "vera", "watch", str(run)],
            stdin=subprocess.DEVNULL,
            stdout=writer,
            stderr=writer,
            env={**clean, "TERM": "xterm", "COLUMNS": "120", "LINES": "40", **environment},
            start_new_session=True,
        )
        os.close(writer)
        self._reader = reader
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while True:
            try:
                more = os.read(self._reader, 65536)
            except OSError:  # the other end of a terminal was closed
                return
            if not more:
                return
            self.text += more.decode("utf-8", "replace")

    def until(self, said: str) -> None:
        deadline = time.monotonic() + WAIT
        while said not in self.text:
            assert time.monotonic() < deadline, f"{said!r} is not in: {self.text[-3000:]}"
            time.sleep(0.02)

    def end(self) -> int:
        code = self.process.wait(WAIT)
        self._thread.join(WAIT)
        os.close(self._reader)
        return code


@pytest.mark.parametrize("terminal", [True, False])
def test_it_waits_for_a_run_shows_it_and_ends_with_its_code(tmp_path: Path, terminal: bool) -> None:
    watching = Watching(tmp_path / "a", terminal=terminal)
    watching.until("aiting for a run to begin")
    session = Session.create(tmp_path / "a", {})
    session.emit(events.Task(task="How high is the tower?"), lane="")
    watching.until("How high is the tower?" if terminal else "the run has begun")
    session.finish(END)
    watching.until("UNRESOLVED")
    assert watching.end() == 3
    assert "no evidence" in watching.text
    session.close()


@pytest.mark.parametrize(
    ("terminal", "environment"), [(False, {}), (True, {"TERM": "dumb"}), (True, {"CI": "true"})]
)
def test_where_lines_cannot_be_rewritten_there_are_no_control_codes(
    tmp_path: Path, terminal: bool, environment: dict[str, str]
) -> None:
    session = Session.create(tmp_path / "a", {})
    session.emit(events.Task(task="q"), lane="")
    session.finish(END)
    session.close()
    watching = Watching(tmp_path / "a", terminal=terminal, **environment)
    assert watching.end() == 3
    assert "\x1b" not in watching.text
    assert "UNRESOLVED: no evidence (7 steps, 63.0 s, exit code 3)" in watching.text


def test_ctrl_c_ends_the_watching_and_not_the_run(tmp_path: Path) -> None:
    session = Session.create(tmp_path / "a", {})
    session.emit(events.Task(task="q"), lane="")
    watching = Watching(tmp_path / "a", terminal=True)
    watching.until("q")
    watching.process.send_signal(signal.SIGINT)
    assert watching.end() == 130
    assert "the run is left alone" in watching.text
    session.finish(END)  # still ours to write
    session.close()


def test_a_run_whose_process_is_gone_ends_the_watching_with_what_to_type(tmp_path: Path) -> None:
    session = Session.create(tmp_path / "a", {})
    session.emit(events.Task(task="q"), lane="")
    session.close()
    done = vera("watch", "a", cwd=tmp_path)
    assert done.returncode == 1
    assert "no process works on this run" in done.stderr and "resume a" in done.stderr


def test_an_altered_log_is_a_sentence(tmp_path: Path) -> None:
    Session.create(tmp_path / "a", {}).close()
    log = tmp_path / "a" / "trace.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"format"', b'"formax"'))
    done = vera("watch", "a", cwd=tmp_path)
    assert done.returncode == 1 and "broken at line 1" in done.stderr


def test_a_log_that_takes_the_place_of_another_is_read_from_its_beginning(tmp_path: Path) -> None:
    first = Session.create(tmp_path / "a", {})
    first.emit(events.Task(task="first"), lane="")
    watched = Watched(tmp_path / "a")
    assert watched.poll() and watched.state.task is not None and watched.state.task.task == "first"
    first.close()
    second = Session.create(tmp_path / "a", {})  # the first never took a step and is put aside
    second.emit(events.Task(task="second"), lane="")
    assert watched.poll() and watched.state.task.task == "second"
    second.close()


def test_a_log_that_gets_the_freed_inode_of_another_is_told_from_it(tmp_path: Path) -> None:
    for name in ("first", "second"):
        with contextlib.closing(Session.create(tmp_path / name, {})) as session:
            session.emit(events.Task(task=name), lane="")
    log = tmp_path / "first" / "trace.jsonl"
    before = log.stat().st_ino
    watched = Watched(log.parent)
    watched.poll()
    text = (tmp_path / "second" / "trace.jsonl").read_bytes()
    log.unlink()
    log.write_bytes(text)  # most file systems give a new file the number that was freed last
    assert log.stat().st_ino != before
    assert watched.poll() and watched.state.task is not None and watched.state.task.task == "second"


def test_what_stands_in_the_log_means_nothing_to_the_terminal(tmp_path: Path) -> None:
    session = Session.create(tmp_path / "a", {})
    session.emit(events.Task(task="[bold red]x[/] \x1b]0;title\x07 \x1b[2J\nnext"), lane="")
    session.close()
    watched = Watched(tmp_path / "a")
    watched.poll()
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(
        view(watched.fold, watched.state, watched.store, session="a", alive=False, now=0.0, height=30)
    )
    text = console.export_text(styles=False)
    assert "[bold red]x[/]" in text and "\x1b" not in text and "\x07" not in text


@pytest.mark.parametrize("height", [1, 5, 24, 200])
def test_a_page_fits_its_terminal_as_far_as_it_can(tmp_path: Path, height: int) -> None:
    session = Session.create(tmp_path / "a", {})
    session.emit(events.Task(task="q"), lane="")
    for number in range(100):
        session.emit(events.Note(text=f"note {number}", step=number))
    session.close()
    watched = Watched(tmp_path / "a")
    watched.poll()
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(
        view(watched.fold, watched.state, watched.store, session="a", alive=False, now=0.0, height=height)
    )
    assert len(console.export_text().splitlines()) <= max(height, 14)
