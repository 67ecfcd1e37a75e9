"""`vera batch` with real attempts against a scripted server: everything once, whatever happens on the way."""

import contextlib
import json
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from support.batches import (
    BLUE,
    allowed,
    batch,
    commits,
    most_at_once,
    outcomes,
    processes_of,
    question,
    said,
    slowly,
    started,
    trail,
    until,
    write_tasks,
)
from support.cli import folded, vera
from support.scripted_server import Fault, ScriptedServer, Slow
from vera.batch.task_file import parse_task


def test_every_task_is_committed_once_and_the_same_file_again_does_nothing(tmp_path: Path) -> None:
    with ScriptedServer(slowly(0.05)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 6)
        first = batch(tasks, "--slots", 3, "--json", cwd=tmp_path)
        asked = len(server.requests)
        second = batch(tasks, "--slots", 3, "--json", cwd=tmp_path)
        assert len(server.requests) == asked
    assert first.returncode == second.returncode == 3
    assert said(first) == said(second)
    assert said(first)["states"] == {"done": 6}
    assert outcomes(tmp_path) == ["committed"] * 6
    assert "6 done, 0 to run" in second.stderr


def test_a_server_is_looked_at_by_one_session_and_the_others_write_down_what_they_assume(
    tmp_path: Path,
) -> None:
    with ScriptedServer(slowly(0.0), kind="vllm", protocol="json_schema") as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 4, **{"model.protocol": "auto"})
        done = batch(tasks, "--slots", 1, "--json", cwd=tmp_path)
        assert said(done)["states"] == {"done": 4}, done.stderr
        assert len(server.probes) == 1
    found = [folded(Path(row["session"])) for row in said(done)["tasks"]]
    assumed = [state.session.settings["model"]["assumed"] for state in found if state.session]
    assert sorted(assumed) == ["", *["vllm/json_schema"] * 3]
    servers = {state.model_server.protocol for state in found if state.model_server}
    assert servers == {"json_schema"}


def test_the_summary_counts_what_the_logs_say(tmp_path: Path) -> None:
    with ScriptedServer(slowly(0.0)) as server:
        prices = {"budget.input_price": 2, "budget.output_price": 10}
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 3, **prices)
        summary = said(batch(tasks, "--json", cwd=tmp_path))
    states = [folded(Path(row["session"])) for row in summary["tasks"]]
    assert summary["spent"]["prompt_tokens"] == sum(state.spent.prompt_tokens for state in states)
    assert summary["spent"]["completion_tokens"] == sum(state.spent.completion_tokens for state in states)
    assert float(summary["spent"]["cost"]) > 0
    assert [row["name"] for row in summary["tasks"]] == ["sky 0", "sky 1", "sky 2"]


def test_an_attempt_is_a_session_that_replays(tmp_path: Path) -> None:
    with ScriptedServer(slowly(0.0)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 1)
        (row,) = said(batch(tasks, "--json", cwd=tmp_path))["tasks"]
    assert Path(row["session"]) == tmp_path / "runs" / row["id"] / "1"
    assert row["attestation"] in vera("replay", row["session"], cwd=tmp_path).stdout


def test_questions_and_theses_stand_in_one_file(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "a.txt").write_text("The bridge of Arden is 120 metres long.\n")
    lines = [
        {"thesis": "The bridge of Arden is 120 metres long.", "input_dir": "papers"},
        {"task": "How long is the bridge of Arden?", "input_dir": "papers"},
    ]
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = batch("tasks.jsonl", "--json", "-c", "model.base_url=builtin", cwd=tmp_path)
    assert [row["status"] for row in said(done)["tasks"]] == ["QUOTED", "QUOTED"], done.stderr
    assert done.returncode == 0


def test_a_verdict_that_is_used_again_costs_nothing_twice(tmp_path: Path) -> None:
    (tmp_path / "papers").mkdir()
    (tmp_path / "papers" / "a.txt").write_text("The bridge of Arden is 120 metres long.\n")
    thesis = {"thesis": "The bridge of Arden is 120 metres long.", "input_dir": "papers"}
    lines = [{**thesis, "name": "first"}, {**thesis, "name": "second"}]
    (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, lines)))
    done = batch("tasks.jsonl", "--slots", 1, "--json", "-c", "model.base_url=builtin", cwd=tmp_path)
    assert [row["reused"] for row in said(done)["tasks"]] == [False, True]


def test_a_killed_batch_loses_nothing_and_counts_nothing_twice(tmp_path: Path) -> None:
    with ScriptedServer(slowly(0.15, calls=4)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 8)
        with started(tasks, "--slots", 4, cwd=tmp_path) as process:
            until(lambda: len(commits(tmp_path)) >= 2, "two commits")
            process.kill()
            process.communicate()
        before = commits(tmp_path)
        done = batch(tasks, "--slots", 4, "--json", cwd=tmp_path)
    assert said(done)["states"] == {"done": 8}, done.stderr
    after = commits(tmp_path)
    assert {name: after[name] for name in before} == before
    assert set(outcomes(tmp_path)) == {"committed", ""}
    ran = {begun.task for begun, end in trail(tmp_path) if end and end.outcome == "committed"}
    assert ran >= after.keys() - before.keys()
    assert all(folded(session_of(tmp_path, commit)).ended for commit in after.values())


def session_of(base: Path, commit: Mapping[str, Any]) -> Path:
    """The session that holds a result."""
    return base / "runs" / commit["task"] / str(commit["session"])


def test_a_killed_attempt_is_gone_on_with_and_no_call_is_made_twice(tmp_path: Path) -> None:
    with ScriptedServer(slowly(0.2, calls=5)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 1)
        with started(tasks, cwd=tmp_path) as process:
            until(lambda: len(server.requests) >= 3, "three calls")
            process.kill()
            process.communicate()
        (row,) = said(batch(tasks, "--json", cwd=tmp_path))["tasks"]
        answers = [len(request.body["messages"]) for request in server.requests]
    assert row["attempts"] == 2
    assert row["session"].endswith("/1")  # the second attempt went on in the session of the first
    assert len(answers) <= 7  # five turns and a nudge, of which one may have been cut off


def test_of_a_session_that_was_killed_before_it_began_nothing_half_written_is_left(tmp_path: Path) -> None:
    with ScriptedServer(slowly(0.0)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 1)
        (row,) = said(batch(tasks, "--json", cwd=tmp_path))["tasks"]
        folder = tmp_path / "runs" / row["id"]
        for name in ("commit.json", "attempts/1.manifest.json", "attempts/1.end.json", "1/seal.json"):
            (folder / name).unlink()
        trace = folder / "1" / "trace.jsonl"
        trace.write_bytes(b"".join(trace.read_bytes().splitlines(keepends=True)[:2]))
        (folder / "1" / "seal.json.new").write_bytes(b"{")
        (row,) = said(batch(tasks, "--json", cwd=tmp_path))["tasks"]
    assert row["session"].endswith("/2")
    assert not list(folder.rglob("*.new"))


def test_a_result_that_was_not_yet_counted_is_counted_without_asking_again(tmp_path: Path) -> None:
    with ScriptedServer(slowly(0.0)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 2)
        first = said(batch(tasks, "--json", cwd=tmp_path))
        for name in ("commit.json", "attempts/1.manifest.json", "attempts/1.end.json"):
            (tmp_path / "runs" / first["tasks"][0]["id"] / name).unlink()
        asked = len(server.requests)
        again = said(batch(tasks, "--json", cwd=tmp_path))
        assert len(server.requests) == asked
    assert again["spent"] == first["spent"]
    assert again["states"] == {"done": 2}
    assert [row["attempts"] for row in again["tasks"]] == [2, 1]


def test_nobody_survives_a_killed_batch(tmp_path: Path) -> None:
    with ScriptedServer(slowly(20.0)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 4)
        with started(tasks, "--slots", 4, cwd=tmp_path) as process:
            until(lambda: len(server.requests) == 4, "four calls")
            process.kill()
            process.communicate()
        until(lambda: not processes_of(tmp_path / "runs"), "the end of all attempts")


def test_a_killed_fork_server_ends_its_attempts_and_the_tasks_stay_open(tmp_path: Path) -> None:
    with ScriptedServer(slowly(20.0)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 2)
        with started(tasks, "--slots", 2, cwd=tmp_path) as process:
            until(lambda: len(server.requests) == 2, "two calls")
            os.kill(fork_server_of(process.pid), signal.SIGKILL)
            _, err = process.communicate(timeout=60)
        assert process.returncode == 1
        assert "The process that starts the attempts has ended" in err
        until(lambda: not processes_of(tmp_path / "runs"), "the end of all attempts")


def fork_server_of(pid: int) -> int:
    (child,) = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return int(child)


def test_two_batches_in_one_folder_do_not_work_at_once(tmp_path: Path) -> None:
    with ScriptedServer(slowly(0.3, calls=3)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 3)
        with started(tasks, "--slots", 2, cwd=tmp_path) as process:
            until(lambda: server.requests, "the first call")
            second = batch(tasks, cwd=tmp_path)
            assert second.returncode == 1
            assert f"Another batch works in {tmp_path}/runs (process {process.pid})" in second.stderr
            process.communicate(timeout=60)
    assert outcomes(tmp_path) == ["committed"] * 3


def test_the_first_ctrl_c_lets_steps_finish_begins_no_other_task_and_no_call_is_made_twice(
    tmp_path: Path,
) -> None:
    with ScriptedServer(slowly(0.4, calls=5)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 5)
        with started(tasks, "--slots", 2, "--json", cwd=tmp_path) as process:
            until(lambda: len(server.requests) >= 4, "four calls")
            process.send_signal(signal.SIGINT)
            _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert "ending the steps that run" in err
        assert "the same command goes on" in err
        assert outcomes(tmp_path) == ["interrupted"] * 2
        assert server.cancelled == 0
        done = said(batch(tasks, "--json", cwd=tmp_path))
        assert len(server.requests) == 5 * 5
    assert done["states"] == {"done": 5}
    assert [row["attempts"] for row in done["tasks"]] == [2, 2, 1, 1, 1]


def test_the_second_ctrl_c_stops_at_once(tmp_path: Path) -> None:
    with ScriptedServer(lambda index, body: Slow(300.0, BLUE)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 3)
        with started(tasks, "--slots", 2, cwd=tmp_path) as process:
            until(lambda: len(server.requests) == 2, "two calls")
            process.send_signal(signal.SIGINT)
            assert process.stderr is not None
            # Two signals of a kind that come together are one: the first has to be taken before.
            assert any("ending the steps that run" in line for line in process.stderr)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
    assert process.returncode == 130
    assert outcomes(tmp_path) == ["interrupted"] * 2
    assert not processes_of(tmp_path / "runs")


def test_five_interruptions_hold_no_task(tmp_path: Path) -> None:
    with ScriptedServer(slowly(20.0)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 1)
        for number in range(1, 7):
            with started(tasks, cwd=tmp_path) as process:
                until(lambda number=number: len(trail(tmp_path)) == number, "an attempt")
                process.send_signal(signal.SIGTERM)
                process.communicate(timeout=60)
    assert said(batch("status", "--json", cwd=tmp_path))["states"] == {"open": 1}


def test_the_cap_of_an_endpoint_is_never_exceeded(tmp_path: Path) -> None:
    with (
        ScriptedServer(slowly(0.1, calls=2, together=3)) as one,
        ScriptedServer(slowly(0.1, calls=2, together=2)) as other,
    ):
        lines = [question(n, (one if n % 2 else other).base_url) for n in range(12)]
        (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, lines)))
        limits = ("--limit", f"{one.root}=3", "--limit", f"127.0.0.1:{other.port}=2")
        done = batch("tasks.jsonl", "--slots", 8, *limits, "--json", cwd=tmp_path)
        assert (one.most_at_once, other.most_at_once) == (3, 2)
    ids = {row["id"]: int(row["name"].split()[1]) % 2 for row in said(done)["tasks"]}
    for odd, most in ((1, 3), (0, 2)):
        assert most_at_once([row for row in trail(tmp_path) if ids[row[0].task] == odd]) == most


def test_the_slots_are_never_exceeded(tmp_path: Path) -> None:
    with ScriptedServer(slowly(0.1, together=2)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 7)
        batch(tasks, "--slots", 2, cwd=tmp_path)
    assert most_at_once(trail(tmp_path)) == 2


def test_a_limit_for_an_endpoint_that_no_task_asks_is_a_mistake(tmp_path: Path) -> None:
    tasks = write_tasks(tmp_path / "tasks.jsonl", "http://127.0.0.1:9/v1", 1)
    done = batch(tasks, "--limit", "http://127.0.0.1:8=2", cwd=tmp_path)
    assert done.returncode == 2
    assert "They ask: http://127.0.0.1:9/v1." in done.stderr


def test_a_server_that_pushes_back_slows_the_batch(tmp_path: Path) -> None:
    def reply(index: int, body: object) -> object:
        return Fault(429, {"retry-after": "0"}) if index < 3 else Slow(0.2, BLUE)

    with ScriptedServer(reply) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 6)
        done = batch(tasks, "--slots", 4, "--json", cwd=tmp_path)
    assert said(done)["states"] == {"done": 6}
    assert "pushes back: at most 2 tasks run there" in done.stderr


def test_a_server_that_is_down_leaves_the_tasks_open(tmp_path: Path) -> None:
    with ScriptedServer([]) as server:
        gone = server.base_url
    tasks = write_tasks(tmp_path / "tasks.jsonl", gone, 2)
    done = batch(tasks, "--json", cwd=tmp_path)
    assert done.returncode == 5
    assert said(done)["states"] == {"open": 2}
    assert outcomes(tmp_path) == ["unready"] * 2
    assert "No model server answers" in done.stderr


def test_a_task_that_cannot_be_run_fails_and_is_tried_again_only_when_asked(tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (tmp_path / "tasks.jsonl").write_text(json.dumps({"task": "What?", "input_dir": "papers"}))
    words = ("tasks.jsonl", "--json", "-c", "model.base_url=builtin")
    assert batch(*words, cwd=tmp_path).returncode == 1
    again = batch(*words, cwd=tmp_path)
    assert said(again)["states"] == {"failed": 1}
    assert said(again)["tasks"][0]["attempts"] == 1
    (folder / "a.txt").write_text("Nothing but a line.\n")
    mended = batch(*words, "--retry-failed", cwd=tmp_path)
    assert said(mended)["states"] == {"done": 1}, mended.stderr


def test_a_wrong_line_runs_nothing_and_is_named(tmp_path: Path) -> None:
    with ScriptedServer(slowly(0.0)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 2)
        with tasks.open("a") as file:
            file.write('{"tsak": "What?"}\n')
        done = batch(tasks, cwd=tmp_path)
        assert server.requests == []
    assert done.returncode == 2
    assert 'Line 3: "tsak" is no member of a task. Did you mean "task"?' in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_cancelled_task_is_stopped_and_stays_so_until_it_is_requeued(tmp_path: Path) -> None:
    with ScriptedServer(slowly(1.0, calls=8)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 2)
        with started(tasks, "--slots", 1, "--json", cwd=tmp_path) as process:
            until(lambda: len(server.requests) >= 2, "two calls")
            assert batch("cancel", "sky 0", "sky 1", cwd=tmp_path).stdout == "2 tasks cancelled\n"
            process.communicate(timeout=60)
    assert process.returncode == 0
    assert outcomes(tmp_path) == ["interrupted"]
    assert said(batch(tasks, "--json", cwd=tmp_path))["states"] == {"cancelled": 2}
    assert batch("requeue", cwd=tmp_path).stdout == "2 tasks requeued\n"
    assert said(batch("status", "--json", cwd=tmp_path))["states"] == {"open": 2}


def test_status_says_what_runs(tmp_path: Path) -> None:
    with ScriptedServer(slowly(20.0)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 3)
        with started(tasks, "--slots", 2, cwd=tmp_path):
            until(lambda: len(server.requests) == 2, "two calls")
            now = batch("status", "--json", cwd=tmp_path)
    assert now.returncode == 0
    assert said(now)["states"] == {"open": 1, "running": 2}


@pytest.mark.parametrize("how", [(), ("--new-interpreter",)])
def test_fifty_sessions_leave_nothing_behind(tmp_path: Path, how: tuple[str, ...]) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "base").mkdir()
    count = 8 if how else 50
    with ScriptedServer(slowly(0.0)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, count)
        words = (tasks, "--slots", 4, "--json", "--base-dir", "base", *how)
        done = batch(*words, cwd=tmp_path, TMPDIR=str(tmp_path / "tmp"))
    assert said(done)["states"] == {"done": count}
    assert not processes_of(tmp_path)
    assert list((tmp_path / "tmp").iterdir()) == []
    names = {path.name for path in (tmp_path / "base" / "runs").glob("*/*")}
    assert names == {"task.json", "commit.json", "attempts", "1"}
    names = {path.name for path in (tmp_path / "base" / "runs").glob("*/attempts/*")}
    assert names == {"1.json", "1.end.json", "1.manifest.json"}


def test_attempts_inherit_no_descriptor_but_the_lock(tmp_path: Path) -> None:
    with ScriptedServer(slowly(5.0)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 3)
        with started(tasks, "--slots", 3, cwd=tmp_path) as process:
            until(lambda: len(server.requests) == 3, "three calls")
            fork_server = fork_server_of(process.pid)
            pids = Path(f"/proc/{fork_server}/task/{fork_server}/children").read_text().split()
            held = [sorted(open_files(pid, tmp_path)) for pid in pids]
    assert len(held) == 3
    for files in held:
        session = {name for name in files if "/1/" in name}
        assert set(files) - session == {"runs/lock", *(n for n in files if n.endswith(".stderr"))}
        assert len({name.split("/")[1] for name in session}) == 1


def open_files(pid: str, base: Path) -> list[str]:
    """The files under `base` that a process holds, relative to it; each once."""
    links = {str(each.readlink()) for each in Path(f"/proc/{pid}/fd").iterdir()}
    return [str(Path(link).relative_to(base)) for link in links if link.startswith(str(base))]


def test_a_long_task_and_one_that_looks_like_an_option_are_asked_as_they_are(tmp_path: Path) -> None:
    texts = ["--help", "@/etc/passwd", "-", "Why? " + "word " * 3000]
    with ScriptedServer(slowly(0.0)) as server:
        lines = [{**question(0, server.base_url), "task": each} for each in texts]
        (tmp_path / "tasks.jsonl").write_text("\n".join(map(json.dumps, lines)))
        rows = said(batch("tasks.jsonl", "--json", cwd=tmp_path))["tasks"]
    asked = [task_of(Path(row["session"])) for row in rows]
    assert asked == [each.strip() for each in texts]


def task_of(session: Path) -> str:
    from vera.session import load_text
    from vera.store import Store

    task = folded(session).task
    assert task is not None
    return load_text(Store(session / "store"), task.task)


@pytest.mark.parametrize("how", [(), ("--new-interpreter",)])
def test_keys_reach_attempts_but_no_argument_and_no_file(tmp_path: Path, how: tuple[str, ...]) -> None:
    key = "sk-a-key-that-is-nowhere"
    seen: list[bytes] = []

    def look(index: int, body: object) -> str:
        seen.extend(Path(f"/proc/{pid}/cmdline").read_bytes() for pid in processes_of(tmp_path / "runs"))
        return BLUE

    with ScriptedServer(look, key=key) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 1)
        words = (
            tasks,
            "--json",
            "-c",
            "model.key=env:THE_KEY",
            "-c",
            f"model.base_url={server.base_url}",
            *how,
        )
        done = batch(*words, cwd=tmp_path, THE_KEY=key)
    assert said(done)["states"] == {"done": 1}, done.stderr
    assert seen and not any(key.encode() in words for words in seen)
    files = [path for path in (tmp_path / "runs").rglob("*") if path.is_file()]
    assert not any(key.encode() in path.read_bytes() for path in files)


def test_progress_is_a_line_for_each_task_where_there_is_no_terminal(tmp_path: Path) -> None:
    with ScriptedServer(slowly(0.0)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 2)
        done = batch(tasks, "--slots", 1, cwd=tmp_path)
        quiet = batch(tasks, "--quiet", cwd=tmp_path)
    lines = done.stderr.splitlines()
    assert lines[0] == "2 tasks, 2 to run"
    assert [line.split(":")[0] for line in lines[1:]] == ["1/2 sky 0", "2/2 sky 1"]
    assert quiet.stderr == ""
    assert "2 tasks: 2 done (2 UNRESOLVED)" in done.stdout


def test_a_task_that_kills_its_process_is_held_after_five_attempts_and_requeued_by_hand(
    tmp_path: Path,
) -> None:
    def kill(index: int, body: object) -> str:
        if "number 0" in str(body):
            for pid in processes_of(tmp_path / "runs" / poison):
                os.kill(pid, signal.SIGKILL)
        return BLUE

    with ScriptedServer(kill) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 2)
        poison = parse_task(tasks.read_bytes().splitlines()[0]).id
        done = batch(tasks, "--slots", 1, "--json", cwd=tmp_path)
        again = batch(tasks, "--json", cwd=tmp_path)
    assert done.returncode == 1
    assert said(done)["states"] == {"done": 1, "held": 1}
    held, _ = said(done)["tasks"]
    assert held["attempts"] == 5
    assert held["reason"] == "5 attempts died with their process: its process was killed by signal 9"
    assert said(again)["tasks"] == said(done)["tasks"]
    assert batch("requeue", "sky 0", cwd=tmp_path).stdout == "1 task requeued\n"
    assert said(batch("status", "--json", cwd=tmp_path))["states"] == {"done": 1, "open": 1}


def test_on_a_terminal_a_table_shows_what_runs(tmp_path: Path) -> None:
    with ScriptedServer(slowly(0.6, calls=2)) as server:
        tasks = write_tasks(tmp_path / "tasks.jsonl", server.base_url, 2)
        shown = on_a_terminal(tasks, "--slots", 1, cwd=tmp_path)
    assert "0 of 2 done, 1 running" in shown
    assert "1/2 sky 0" in shown
    assert "Traceback" not in shown


def on_a_terminal(*arguments: object, cwd: Path) -> str:
    """What `vera batch ARGUMENTS` shows where stderr is a terminal."""
    ours, theirs = os.openpty()
    words = [sys.executable, "-m", "vera", "batch", *map(str, arguments), *allowed(Path(str(arguments[0])))]
    environment = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    with subprocess.Popen(
        words, cwd=cwd, stdin=theirs, stdout=subprocess.DEVNULL, stderr=theirs, env=environment
    ):
        os.close(theirs)
        shown = b""
        with contextlib.suppress(OSError):  # Linux says so when the other end is closed
            while more := os.read(ours, 1 << 16):
                shown += more
    os.close(ours)
    return shown.decode("utf-8", "replace")
