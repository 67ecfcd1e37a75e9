"""Stop for any run of this user, wherever it was started, and for nothing else."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from support.batches import outcomes, started, trail, write_tasks
from support.batches import until as held
from support.cli import folded
from support.dashboard_runs import actions, asked, runs_in, until, use_plain_machine, waiting_model
from support.dashboards import Grown
from support.scripted_server import ScriptedServer
from vera.dashboard import run_process
from vera.dashboard.run_status import RunStatus
from vera.dashboard.runs import RunRefused
from vera.dashboard.sessions import SessionFolder, Sessions
from vera.session import Session, stop_request

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes in /proc")

THESIS = "The written offer is valid for at least three years."


@pytest.fixture(autouse=True)
def plain_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    use_plain_machine(monkeypatch)


@contextmanager
def in_a_terminal(base: Path, *words: object) -> Iterator[subprocess.Popen[str]]:
    """`vera WORDS`, as a person types it."""
    process = subprocess.Popen(
        [sys.executable, "-m", "vera", *map(str, words)],
        cwd=base,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def example(base: Path) -> SessionFolder:
    return Sessions(base).by_work_dir("./work/example")


def run_of(server: ScriptedServer) -> tuple[object, ...]:
    asked(server)  # the environment names it
    return ("run", "What does the file say?", "--work-dir", "work/example", "--model-name", server.model)


def test_a_run_of_a_terminal_finishes_with_what_it_knows(tmp_path: Path) -> None:
    async def stop() -> None:
        runs, session = runs_in(tmp_path), example(tmp_path)
        await until(lambda: bool(server.requests), "the model is asked")
        status = runs.status(session)
        assert (status.state, status.can_stop, status.pid) == ("running", True, None)
        await runs.stop(session)
        assert actions(session)[-1]["action"] == "asked to stop"
        await until(lambda: not runs.status(session).alive, "it ends")
        assert runs.status(session).can_resume
        assert not (session.path / stop_request.FILE).exists()

    with waiting_model() as server, in_a_terminal(tmp_path, *run_of(server)) as process:
        asyncio.run(stop())
        assert process.wait(30) == 130
    ended = folded(tmp_path / "work" / "example").ended
    assert ended is not None and ended.exit_code == 130


def test_asked_twice_it_stops_at_once(tmp_path: Path) -> None:
    """The first request is not seen: the process stands still until the second one is there."""

    async def stop(pid: int) -> None:
        runs, session = runs_in(tmp_path), example(tmp_path)
        await until(lambda: bool(server.requests), "the model is asked")
        os.kill(pid, signal.SIGSTOP)
        await runs.stop(session)
        status = runs.status(session)
        assert (status.state, status.can_stop) == ("stopping", True)
        await runs.stop(session)
        status = runs.status(session)
        assert (status.state, status.can_stop) == ("stopping", False)
        with pytest.raises(RunRefused) as refused:
            await runs.stop(session)
        assert refused.value.status == 409
        os.kill(pid, signal.SIGCONT)
        await until(lambda: not runs.status(session).alive, "it ends")
        assert runs.status(session).can_resume

    with waiting_model() as server, in_a_terminal(tmp_path, *run_of(server)) as process:
        asyncio.run(stop(process.pid))
        assert process.wait(30) == 130
        assert process.stderr is not None and "stopped. Go on with 'vera resume" in process.stderr.read()
    assert folded(tmp_path / "work" / "example").ended is None


def test_a_thesis_of_a_terminal_stops(tmp_path: Path) -> None:
    (tmp_path / "licences").mkdir()
    (tmp_path / "licences" / "gpl.txt").write_text("A written offer, valid for at least three years.\n")

    async def stop() -> None:
        runs, session = runs_in(tmp_path), example(tmp_path)
        await until(lambda: bool(server.requests), "the judge is asked")
        await runs.stop(session)
        await until(lambda: not runs.status(session).alive, "it ends")

    options = ("--input-dir", "licences", "--work-dir", "work/example", "--verifier", "model")
    with waiting_model() as server:
        asked(server)
        words = ("verify", THESIS, *options, "--model-name", server.model)
        with in_a_terminal(tmp_path, *words) as process:
            asyncio.run(stop())
            assert process.wait(30) == 130
            assert process.stderr is not None and process.stderr.read().endswith("vera: interrupted.\n")


def test_a_run_of_a_batch_is_stopped_and_the_batch_goes_on_without_it(tmp_path: Path) -> None:
    def working() -> SessionFolder | None:
        found = [each for each in Sessions(tmp_path).listed()[0] if RunStatus() != runs.status(each)]
        return next((each for each in found if runs.status(each).can_stop), None)

    runs = runs_in(tmp_path)
    with waiting_model() as server:
        write_tasks(tmp_path / "tasks.jsonl", server.base_url, 1, **{"model.name": server.model})
        with started("tasks.jsonl", cwd=tmp_path) as process:
            held(lambda: server.requests, "the model is asked")
            session = held(working, "its session can be stopped")
            assert session is not None
            asyncio.run(runs.stop(session))
            process.communicate(timeout=60)
    assert len(trail(tmp_path)) == 1, "what a person stopped is not tried again by the same command"
    assert outcomes(tmp_path) == ["interrupted"]
    ended = folded(session.path).ended
    assert ended is not None and ended.exit_code == 130


def test_a_session_from_somebody_else_stops_nothing(tmp_path: Path) -> None:
    """Its run.pid names a process that lives, and when that one began; it holds a request to stop."""
    sleeper = subprocess.Popen(["sleep", "600"])
    try:
        session = example(tmp_path)
        grown = Grown(session.path)
        grown.log.close()
        descriptor = run_process.claim(session.path)
        run_process.write(descriptor, run_process.identity(sleeper.pid))
        os.close(descriptor)
        stop_request.ask(session.path, at_once=True)
        runs = runs_in(tmp_path)
        assert not runs.status(session).alive
        with pytest.raises(RunRefused) as refused:
            asyncio.run(runs.stop(session))
        assert refused.value.status == 409
        assert sleeper.poll() is None
    finally:
        sleeper.kill()
        sleeper.wait()


def test_a_request_that_lay_there_before_stops_no_run(tmp_path: Path) -> None:
    stop_request.ask(tmp_path, at_once=True)
    session = Session.create(tmp_path, {})
    assert stop_request.asked(tmp_path) == ""
    session.close()


@pytest.mark.parametrize(("at_once", "said"), [(False, "finish"), (True, "now")])
def test_a_request_says_how(tmp_path: Path, at_once: bool, said: str) -> None:
    stop_request.ask(tmp_path, at_once=at_once)
    assert (tmp_path / stop_request.FILE).stat().st_mode & 0o777 == 0o600
    assert stop_request.asked(tmp_path) == said
    stop_request.clear(tmp_path)
    stop_request.clear(tmp_path)
    assert stop_request.asked(tmp_path) == ""


def test_a_link_a_folder_and_a_pipe_ask_nothing(tmp_path: Path) -> None:
    path = tmp_path / stop_request.FILE
    (tmp_path / "file").write_text("now\n")
    path.symlink_to(tmp_path / "file")
    assert stop_request.asked(tmp_path) == ""
    with pytest.raises(OSError):
        stop_request.ask(tmp_path)
    path.unlink()
    path.mkdir()
    assert stop_request.asked(tmp_path) == ""
    path.rmdir()
    os.mkfifo(path)
    assert stop_request.asked(tmp_path) == ""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make a file of another user")
def test_a_request_of_another_user_asks_nothing(tmp_path: Path) -> None:
    stop_request.ask(tmp_path)
    os.chown(tmp_path / stop_request.FILE, 65534, 65534)
    assert stop_request.asked(tmp_path) == ""
