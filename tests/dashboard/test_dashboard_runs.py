"""Runs that the dashboard starts: once a session, with real processes, and told truly afterwards."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.dashboard_runs import (
    ANSWER,
    actions,
    arguments_of,
    asked,
    environment_of,
    open_files,
    pid_of,
    runs_in,
    said,
    signals_of,
    until,
    until_state,
    use_plain_machine,
    waiting_model,
)
from support.scripted_server import ScriptedServer, Slow
from vera import events
from vera.config.handed import read_handed
from vera.dashboard import audit_log, run_child, run_process
from vera.dashboard.runs import RunRefused
from vera.dashboard.sessions import SessionFolder, Sessions
from vera.sandbox.owner import Owner
from vera.session import Session

pytestmark = pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at processes in /proc")


@pytest.fixture(autouse=True)
def plain_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    use_plain_machine(monkeypatch)


@pytest.fixture
def base(tmp_path: Path) -> Iterator[Path]:
    """A base folder, in which no process of a test outlives it."""
    yield tmp_path
    for path in tmp_path.glob("work/*/run.pid"):
        if (process := run_process.read(path.parent)) is not None:
            run_process.send(process, signal.SIGKILL, to_group=True)


def quick_model() -> ScriptedServer:
    return ScriptedServer([ANSWER], exhausted="repeat")


def test_new_sessions_are_numbered_folders_of_the_day(base: Path) -> None:
    async def make() -> list[SessionFolder]:
        runs = runs_in(base)
        return [await runs.new(), await runs.new()]

    first, second = asyncio.run(make())
    assert first.name.startswith("./work/ui-run-2") and first.name.endswith("-1")
    assert second.name == first.name[:-1] + "2"
    assert actions(first)[0]["action"] == "created"
    listed, _ = Sessions(base).listed()
    assert {each.id for each in listed} == {first.id, second.id}


def test_two_dashboards_that_make_sessions_at_once_never_make_the_same(base: Path) -> None:
    async def make() -> list[SessionFolder]:
        one, other = runs_in(base), runs_in(base)
        return await asyncio.gather(*(runs.new() for runs in (one, other) * 5))

    assert len({each.path for each in asyncio.run(make())}) == 10


def test_a_run_is_started_told_and_ended(base: Path) -> None:
    async def run(server: ScriptedServer) -> None:
        runs = runs_in(base)
        session = await runs.new()
        assert runs.status(session).can_start and not runs.form(session).locked
        await runs.start(session, asked(server, max_steps="7"))
        assert runs.status(session).alive
        assert runs.form(session).locked
        await until_state(runs, session, "ended")
        status = runs.status(session)
        assert not status.alive and not status.can_start and not status.can_resume
        assert "Session:" in said(session)
        lines = actions(session)
        assert [line["action"] for line in lines] == ["created", "started", "ended"]
        assert lines[1]["pid"] == lines[2]["pid"] == pid_of(session)
        assert lines[1]["chosen"]["max_steps"] == "7"
        assert lines[2]["exit_code"] == status.exit_code
        with pytest.raises(RunRefused, match="once in a session") as refused:
            await runs.start(session, asked(server))
        assert refused.value.status == 409

    with quick_model() as server:
        asyncio.run(run(server))


def test_the_task_is_no_argument_that_everybody_can_read(base: Path) -> None:
    async def run(server: ScriptedServer) -> None:
        runs = runs_in(base)
        session = await runs.new()
        await runs.start(session, asked(server, task="a secret question\n--privileged"))
        await until_state(runs, session, "running")
        arguments = arguments_of(pid_of(session))
        assert arguments[:5] == [sys.executable, "-P", "-m", "vera", "run"]
        assert not any("secret" in argument or "privileged" in argument for argument in arguments)
        await until(lambda: bool(server.requests), "the model is asked")
        assert "a secret question\n--privileged" in str(server.requests[0].body["messages"][1]["content"])
        await runs.stop(session)
        await until_state(runs, session, "stopped", "ended")

    with waiting_model() as server:
        asyncio.run(run(server))


def given_to(pid: int) -> str:
    """The task that a process got by its standard input."""
    with Path(f"/proc/{pid}/fd/0").open("rb") as stdin:
        return read_handed(stdin).text


def test_a_child_leads_a_session_of_its_own_and_reads_nothing(base: Path) -> None:
    async def run(server: ScriptedServer) -> None:
        runs = runs_in(base)
        session = await runs.new()
        await runs.start(session, asked(server))
        pid = pid_of(session)
        assert os.getsid(pid) == os.getpgid(pid) == pid
        assert Path(f"/proc/{pid}/cwd").resolve() == base.resolve()
        assert given_to(pid) == asked(server)["task"]
        os.kill(pid, signal.SIGKILL)
        await until_state(runs, session, "failed", "crashed")

    with waiting_model() as server:
        asyncio.run(run(server))


def test_only_what_a_run_needs_of_the_environment_reaches_it(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOMEBODYS_PASSWORD", "hunter2")
    monkeypatch.setenv("BRAVE_API_KEY", "a-brave-key")

    async def run(server: ScriptedServer) -> None:
        runs = runs_in(base)
        session = await runs.new()
        await runs.start(session, asked(server))
        variables = environment_of(pid_of(session))
        assert "SOMEBODYS_PASSWORD" not in variables
        assert variables["BRAVE_API_KEY"] == "a-brave-key"
        assert variables["PATH"] == os.environ["PATH"]
        assert "a-brave-key" not in (session.path / "session.log").read_text()
        os.kill(pid_of(session), signal.SIGKILL)
        await until_state(runs, session, "failed", "crashed")

    with waiting_model() as server:
        asyncio.run(run(server))


def test_a_double_click_on_two_dashboards_starts_one_run(base: Path) -> None:
    async def run(server: ScriptedServer) -> None:
        one, other = runs_in(base), runs_in(base)
        session = await one.new()
        found = await asyncio.gather(
            *(runs.start(session, asked(server)) for runs in (one, other) * 4), return_exceptions=True
        )
        refused = [each for each in found if isinstance(each, RunRefused)]
        assert len(refused) == 7 and {each.status for each in refused} == {409}
        assert [line["action"] for line in actions(session)].count("started") == 1
        os.kill(pid_of(session), signal.SIGKILL)
        await until_state(one, session, "failed", "crashed")

    with waiting_model() as server:
        asyncio.run(run(server))


def test_run_pid_names_no_process_before_it_is_known_as_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whoever looks before the system says what it works on would start a second one."""
    ended, write, known = threading.Semaphore(0), run_process.write, list[bool]()

    def written(descriptor: int, process: Owner) -> None:
        write(descriptor, process)
        known.append(run_process.worker(folder) is not None)

    monkeypatch.setattr(run_process, "write", written)
    for number in range(20):
        folder = tmp_path / str(number)
        folder.mkdir()
        waits = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(60)", str(folder)]
        with audit_log.acting(folder):
            pid = run_child.launch(
                folder, waits, cwd=tmp_path, environment={}, stdin="", action="started", about={},
                on_end=ended.release,
            )  # fmt: skip
        os.kill(pid, signal.SIGKILL)
        assert ended.acquire(timeout=30)
    assert known == [True] * 20


STARTER = """
import asyncio, json, sys
from pathlib import Path
from vera.dashboard.runs import RunRefused, Runs
from vera.dashboard.sessions import Sessions
base, work_dir, fields = Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])

async def main():
    sessions = Sessions(base)
    runs = Runs(base, sessions)
    session = sessions.by_work_dir(work_dir)
    print("ready", flush=True)
    sys.stdin.readline()
    found = await asyncio.gather(*(runs.start(session, fields) for _ in range(3)), return_exceptions=True)
    assert all(each is None or isinstance(each, RunRefused) for each in found), found
    print(sum(each is None for each in found), flush=True)
    sys.stdin.readline()

asyncio.run(main())
"""


def dashboard_process(base: Path, work_dir: str, fields: dict[str, str]) -> "subprocess.Popen[str]":
    process = subprocess.Popen(
        [sys.executable, "-c", STARTER, str(base), work_dir, json.dumps(fields)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "ready\n"
    return process


def tell(process: "subprocess.Popen[str]") -> None:
    assert process.stdin is not None
    process.stdin.write("go\n")
    process.stdin.flush()


def test_three_dashboard_processes_start_one_run(base: Path) -> None:
    with waiting_model() as server:
        starters = [dashboard_process(base, "./work/example", asked(server)) for _ in range(3)]
        for each in starters:
            tell(each)
        assert sorted(each.stdout.readline() for each in starters if each.stdout) == ["0\n", "0\n", "1\n"]
        runs, session = runs_in(base), Sessions(base).by_work_dir("./work/example")
        assert [line["action"] for line in actions(session)] == ["started"]
        os.kill(pid_of(session), signal.SIGKILL)
        for each in starters:
            tell(each)
            each.wait(30)
        assert runs.status(session).state in ("failed", "crashed", "stopped")


def test_a_run_outlives_its_dashboard_and_the_next_one_stops_it(base: Path) -> None:
    async def find(session: SessionFolder) -> None:
        runs = runs_in(base)
        await until_state(runs, session, "running")
        status = runs.status(session)
        assert status.alive and status.pid == pid_of(session) and status.can_stop
        await runs.stop(session)
        assert runs.status(session).state in ("stopping", "ended", "stopped")
        await until(lambda: not runs.status(session).alive, "it ends")
        assert signals_of(session)[0] == "SIGINT"
        await runs.close()

    with waiting_model() as server:
        starter = dashboard_process(base, "./work/example", asked(server))
        tell(starter)
        assert starter.stdout is not None and starter.stdout.readline() == "1\n"
        starter.kill()
        starter.wait()
        asyncio.run(find(Sessions(base).by_work_dir("./work/example")))


def test_a_run_that_is_stopped_finishes_with_what_is_known_and_can_go_on(base: Path) -> None:
    async def run(server: ScriptedServer) -> None:
        runs = runs_in(base)
        session = await runs.new()
        await runs.start(session, asked(server))
        await until(lambda: bool(server.requests), "the model is asked")
        await runs.stop(session)
        await until(lambda: not runs.status(session).alive, "it ends")
        status = runs.status(session)
        assert status.can_resume, status
        assert not status.can_start
        await runs.resume(session, {"max_steps": "9"})
        await until(lambda: not runs.status(session).alive, "it ends again")
        assert runs.status(session).state == "ended", said(session)
        started = [line["action"] for line in actions(session)]
        assert started == ["created", "started", "stopped", "ended", "resumed", "ended"]
        with pytest.raises(RunRefused, match="no run to stop") as refused:
            await runs.stop(session)
        assert refused.value.status == 409

    with ScriptedServer([Slow(2, ANSWER)], exhausted="repeat") as server:
        asyncio.run(run(server))


def test_a_run_that_does_not_finish_is_ended_after_its_grace(base: Path) -> None:
    async def run(server: ScriptedServer) -> None:
        runs = runs_in(base, finish_seconds=0.5, end_seconds=20.0)
        session = await runs.new()
        await runs.start(session, asked(server))
        await until(lambda: bool(server.requests), "the model is asked")
        os.kill(pid_of(session), signal.SIGSTOP)
        await runs.stop(session)
        await until(lambda: signals_of(session) == ["SIGINT", "SIGTERM"], "its grace is over")
        os.kill(pid_of(session), signal.SIGCONT)
        await until(lambda: not runs.status(session).alive, "it ends")
        assert runs.status(session).state in ("stopped", "ended")
        assert runs.status(session).can_resume

    with waiting_model() as server:
        asyncio.run(run(server))


def test_a_run_that_ignores_every_signal_is_killed(base: Path) -> None:
    async def run(server: ScriptedServer) -> None:
        runs = runs_in(base, finish_seconds=0.3, end_seconds=0.3)
        session = await runs.new()
        await runs.start(session, asked(server))
        await until(lambda: bool(server.requests), "the model is asked")
        os.kill(pid_of(session), signal.SIGSTOP)
        await runs.stop(session)
        await until(lambda: not runs.status(session).alive, "it ends")
        status = runs.status(session)
        assert (status.state, status.exit_code) == ("crashed", -signal.SIGKILL)
        assert "SIGKILL" in status.words and status.can_resume

    with waiting_model() as server:
        asyncio.run(run(server))


def test_no_zombie_and_no_descriptor_is_left(base: Path) -> None:
    async def run(server: ScriptedServer) -> None:
        runs = runs_in(base)
        before = open_files()
        pids = []
        for _ in range(3):
            session = await runs.new()
            await runs.start(session, asked(server))
            pids.append(pid_of(session))
            await until_state(runs, session, "ended")
        assert open_files() <= before + 1  # the event loop may have opened its own
        assert not any(Path(f"/proc/{pid}").exists() for pid in pids)

    with quick_model() as server:
        asyncio.run(run(server))


def test_a_run_that_cannot_start_says_why_and_may_be_tried_again(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODEL_BASE_URL", "http://127.0.0.1:9")

    async def run() -> None:
        runs = runs_in(base)
        session = await runs.new()
        await runs.start(session, {"task": "What?"})
        await until_state(runs, session, "failed")
        status = runs.status(session)
        assert "exit code 5" in status.words and "127.0.0.1:9" in status.words
        assert status.can_start
        form = runs.form(session)
        assert not form.locked
        assert (form.task, form.values["model_base_url"]) == ("What?", "http://127.0.0.1:9")

    asyncio.run(run())


def test_another_process_that_got_the_number_is_not_ours(base: Path) -> None:
    session = Sessions(base).by_work_dir("./work/example")
    session.path.mkdir(parents=True)
    sleeper = subprocess.Popen(["sleep", "60"])
    try:
        from vera.sandbox.owner import this_host

        (session.path / "run.pid").write_text(f"{sleeper.pid}\n{this_host()} 12345\n")

        async def run() -> None:
            runs = runs_in(base)
            assert not runs.status(session).alive
            with pytest.raises(RunRefused):
                await runs.stop(session)

        asyncio.run(run())
        assert sleeper.poll() is None
    finally:
        sleeper.kill()
        sleeper.wait()
        (session.path / "run.pid").unlink()


@pytest.mark.parametrize(
    "content", ["", "1\n", "-1\nhost 5\n", "0\nx y\n", "99999999999\na b\n", "1 2 3", "\0"]
)
def test_a_strange_run_pid_is_no_process(base: Path, content: str) -> None:
    session = Sessions(base).by_work_dir("./work/example")
    session.path.mkdir(parents=True)
    (session.path / "run.pid").write_text(content)
    assert not runs_in(base).status(session).alive


def test_a_run_from_a_terminal_is_running_and_neither_started_nor_resumed_here(base: Path) -> None:
    session = Sessions(base).by_work_dir("./work/example")
    held = Session.create(session.path, {})
    held.emit(events.Task(task="What?"), lane="")

    async def run() -> None:
        runs = runs_in(base)
        status = runs.status(session)
        assert status.alive and status.state == "running" and status.pid is None
        for refused in (
            runs.start(session, {"task": "Again?"}),
            runs.resume(session, {}),
        ):
            with pytest.raises(RunRefused) as found:
                await refused
            assert found.value.status == 409

    asyncio.run(run())
    held.close()
    assert not runs_in(base).status(session).alive


def test_looking_at_a_run_never_takes_its_lock(base: Path) -> None:
    session = Sessions(base).by_work_dir("./work/example")
    Session.create(session.path, {}).close()
    runs = runs_in(base)
    looked = 0
    ends = time.monotonic() + 1
    while time.monotonic() < ends:
        runs.status(session)
        Session.create(session.path, {}).close()  # an unbegun log is put aside; a held lock would raise
        looked += 1
    assert looked > 5


def test_run_log_is_bounded_while_a_run_writes_to_it(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_child, "MAX_RUN_LOG", 1000)
    monkeypatch.setattr(run_child, "KEPT_RUN_LOG", 400)
    session = Sessions(base).by_work_dir("./work/example")
    session.path.mkdir(parents=True)
    with (session.path / "run.log").open("ab") as writer:
        writer.write(b"a" * 2000)
        writer.flush()
        runs_in(base).status(session)
        writer.write(b"b" * 10)
        writer.flush()
    assert said(session) == "b" * 10
    assert (session.path / "run.log.1").read_text() == "a" * 400


def test_nothing_is_written_through_a_link(base: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    outside = tmp_path_factory.mktemp("outside") / "victim"
    outside.write_text("mine")
    for name in ("session.log", "run.log", "run.pid"):
        session = Sessions(base).by_work_dir(f"./work/{name}")
        session.path.mkdir(parents=True)
        (session.path / name).symlink_to(outside)

        async def start(session: SessionFolder = session, name: str = name) -> None:
            runs = runs_in(base)
            with quick_model() as server:
                if name == "run.pid":  # a link of that name is replaced, as a file of a dead run is
                    await runs.start(session, asked(server))
                    await until_state(runs, session, "ended")
                    return
                with pytest.raises(RunRefused) as refused:
                    await runs.start(session, asked(server))
                assert refused.value.status == 503
                assert runs.status(session).can_start

        asyncio.run(start())
        assert outside.read_text() == "mine"


def test_a_replay_says_what_it_found(base: Path) -> None:
    async def run(server: ScriptedServer) -> None:
        runs = runs_in(base)
        session = await runs.new()
        with pytest.raises(RunRefused, match="nothing to replay"):
            await runs.replay(session)
        await runs.start(session, asked(server))
        await until_state(runs, session, "ended")
        found = await runs.replay(session)
        assert found.exit_code in (0, 3) and "L0 integrity" in found.text
        (session.path / "trace.jsonl").write_bytes(b"x" + (session.path / "trace.jsonl").read_bytes()[1:])
        found = await runs.replay(session)
        assert found.exit_code == 1

    with quick_model() as server:
        asyncio.run(run(server))
