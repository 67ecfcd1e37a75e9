"""`vera worker` and `vera batch --engine` as a person types them, with real attempts at a scripted server."""

import contextlib
import json
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from support import postgres
from support.batches import (
    batch,
    commits,
    most_at_once,
    outcomes,
    said,
    slowly,
    started,
    trail,
    until,
    worker,
    write_tasks,
)
from support.cli import vera
from support.postgres import PASSWORD, Server
from support.scripted_server import ScriptedServer

pytestmark = [pytest.mark.needs("postgres"), pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres.server() as running:
        yield running


def test_workers_run_what_was_queued_within_a_limit_and_the_same_file_again_does_nothing(
    server: Server, tmp_path: Path
) -> None:
    url = server.url(server.create_database())
    with ScriptedServer(slowly(0.1)) as model:
        tasks = write_tasks(tmp_path / "tasks.jsonl", model.base_url, 6)
        words = (tasks, "--engine", url, "--base-dir", tmp_path, "--json")
        limit = f"{json.loads(tasks.read_text().splitlines()[0])['settings']['model.base_url']}=2"
        queued = batch(*words, "--no-wait", "--limit", limit, cwd=tmp_path)
        assert (queued.returncode, said(queued)["states"]) == (0, {"open": 6}), queued.stderr
        with worker(url, tmp_path, "--slots", 2), worker(url, tmp_path, "--slots", 2):
            done = batch(*words, cwd=tmp_path)
            status = vera("batch", "status", *map(str, words[1:]), cwd=tmp_path)
        asked = len(model.requests)
        again = batch(*words, cwd=tmp_path)
        assert len(model.requests) == asked
    assert done.returncode == again.returncode == 3, done.stderr
    assert said(done)["states"] == json.loads(status.stdout)["states"] == {"done": 6}
    assert status.stderr.count(" of 2 slots, seen ") == 2
    assert outcomes(tmp_path) == ["committed"] * 6
    assert most_at_once(trail(tmp_path)) <= 2
    assert "6 done, 0 queued" in again.stderr


def test_a_folder_has_one_engine_a_cluster_or_a_batch_of_this_machine(server: Server, tmp_path: Path) -> None:
    url = server.url(server.create_database())
    ours, theirs = tmp_path / "ours", tmp_path / "theirs"
    with ScriptedServer(slowly(20.0)) as model:
        tasks = write_tasks(tmp_path / "tasks.jsonl", model.base_url, 1)
        queued = batch(tasks, "--engine", url, "--base-dir", theirs, "--no-wait", cwd=tmp_path)
        assert queued.returncode == 0, queued.stderr
        for words in ([tasks], ["cancel", "--all"], ["requeue"]):
            done = batch(*words, "--base-dir", theirs, cwd=tmp_path)
            assert done.returncode == 2
            assert "belong to a cluster, whose workers run its tasks" in done.stderr
        assert said(batch("status", "--json", "--base-dir", theirs, cwd=tmp_path))["states"] == {"open": 1}
        assert outcomes(theirs) == []
        other = server.url(server.create_database())
        with started(tasks, "--base-dir", ours, cwd=tmp_path):
            until(lambda: len(model.requests) == 1, "the first model call")
            refused = batch(tasks, "--engine", other, "--base-dir", ours, "--no-wait", cwd=tmp_path)
        assert refused.returncode == 1
        assert "Another batch works in" in refused.stderr
        assert not (ours / "runs" / "cluster").exists()
        taken = batch(tasks, "--engine", other, "--base-dir", ours, "--no-wait", cwd=tmp_path)
    assert taken.returncode == 0, taken.stderr


def test_a_worker_that_gets_sigterm_puts_its_task_back_and_the_next_goes_on_in_its_session(
    server: Server, tmp_path: Path
) -> None:
    url = server.url(server.create_database())
    with ScriptedServer(slowly(0.4, calls=5)) as model:
        tasks = write_tasks(tmp_path / "tasks.jsonl", model.base_url, 1)
        words = (tasks, "--engine", url, "--base-dir", tmp_path, "--json")
        batch(*words, "--no-wait", cwd=tmp_path)
        with worker(url, tmp_path, "--slots", 1) as first:
            until(lambda: len(model.requests) >= 2, "the second model call")
            first.send_signal(signal.SIGTERM)
            assert first.wait(60) == 130
        assert outcomes(tmp_path) == ["interrupted"]
        with worker(url, tmp_path, "--slots", 1, "--drain") as second:
            assert second.wait(120) == 0
    assert outcomes(tmp_path) == ["interrupted", "committed"]
    (commit,) = commits(tmp_path).values()
    assert (commit["attempt"], commit["session"]) == (2, 1)


def test_whoever_waits_can_be_interrupted_and_the_tasks_are_done_all_the_same(
    server: Server, tmp_path: Path
) -> None:
    url = server.url(server.create_database())
    with ScriptedServer(slowly(0.1)) as model:
        tasks = write_tasks(tmp_path / "tasks.jsonl", model.base_url, 3)
        with started(tasks, "--engine", url, "--base-dir", tmp_path, cwd=tmp_path) as waiting:
            assert waiting.stderr is not None
            until(lambda: "no worker is there yet" in (waiting.stderr.readline() if waiting.stderr else ""))
            waiting.send_signal(signal.SIGINT)
            assert waiting.wait(30) == 130
        with worker(url, tmp_path, "--drain") as alone:
            assert alone.wait(120) == 0
    assert outcomes(tmp_path) == ["committed"] * 3


def test_the_password_is_in_no_output_no_file_and_no_attempt(server: Server, tmp_path: Path) -> None:
    database = server.create_database()
    url = server.url_of_port(database, password="")
    with ScriptedServer(slowly(0.5, calls=4)) as model:
        tasks = write_tasks(tmp_path / "tasks.jsonl", model.base_url, 1)
        with worker(url, tmp_path, PGPASSWORD=PASSWORD) as running:
            until(lambda: "working with" in (tmp_path / "worker.stderr").read_text(), "the worker")
            done = batch(tasks, "--engine", server.url_of_port(database), "--no-wait", cwd=tmp_path)
            assert done.returncode == 0, done.stderr
            assert "can be read in this machine's list of processes" in done.stderr
            until(lambda: len(model.requests) >= 1, "the first model call")
            children = [path for path in Path("/proc").glob("[0-9]*") if _has_ancestor(path, running.pid)]
            assert len(children) >= 2
            for each in children:
                with contextlib.suppress(OSError):
                    assert PASSWORD.encode() not in (each / "environ").read_bytes()
            until(lambda: commits(tmp_path), "the result")
    assert PASSWORD not in done.stdout + done.stderr
    for path in tmp_path.rglob("*"):
        assert not path.is_file() or PASSWORD.encode() not in path.read_bytes(), path


def test_a_database_that_is_not_there_is_a_sentence_and_exit_code_5(tmp_path: Path) -> None:
    url = f"postgresql://vera:{PASSWORD}@127.0.0.1:{postgres.free_port()}/batch"
    done = vera("worker", "--engine", url, "--store", tmp_path, cwd=tmp_path)
    assert done.returncode == 5
    assert "vera: The database postgresql://vera:***@127.0.0.1:" in done.stderr
    assert PASSWORD not in done.stderr
    assert "Traceback" not in done.stderr


def _has_ancestor(process: Path, ancestor: int) -> bool:
    """Whether a process was started by another, or by one that it started."""
    pid = int(process.name)
    with contextlib.suppress(OSError, ValueError, IndexError):
        while pid > 1:
            pid = int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
            if pid == ancestor:
                return True
    return False
