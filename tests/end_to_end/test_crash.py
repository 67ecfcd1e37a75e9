"""`kill -9` at every event boundary of a run, then `vera resume`: nothing is lost, nothing runs twice."""

import multiprocessing
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from support.cli import folded, records
from support.scripted_server import ScriptedServer
from support.turns import answered_turns, as_reply, final, turn
from vera import events
from vera.session import check, rebuild

SCRIPT = [
    turn("search", query="written offer valid"),
    turn("read", path="terms.txt", note="the term stands in terms.txt"),
    turn("shell", cmd="echo ran >> count.txt", note="counted"),
    turn("note", text="one more look"),
    turn("read", path="terms.txt", first=1, last=3),
    final("At least three years [ev_0002:3]."),
]

MOST_RECORDS = 80


def in_process(arguments: list[str], kill_after: int) -> None:
    """Run `vera` in this process, killing it behind the record number `kill_after` (0: never)."""
    from vera.cli import main
    from vera.session import log

    real = log.Log.append

    def append(self: log.Log, event: Any, lane: str, *, sync: bool = False) -> Any:
        record = real(self, event, lane, sync=sync)
        if record.seq == kill_after:
            os.kill(os.getpid(), signal.SIGKILL)
        return record

    log.Log.append = append  # type: ignore[method-assign]
    descriptor = os.open(os.devnull, os.O_WRONLY)
    os.dup2(descriptor, 1)
    os.dup2(descriptor, 2)
    main(arguments, prog_name="vera")


CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["vera.cli.run", "vera.cli.resume", "vera.cli.execute", "vera.model.connect"])


def vera(arguments: list[str], kill_after: int = 0) -> int | None:
    process = CONTEXT.Process(target=in_process, args=(arguments, kill_after))
    process.start()
    process.join(60)
    assert process.exitcode is not None, "the run hung"
    return process.exitcode


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "terms.txt").write_text("Terms\n\nA written offer must be valid for three years.\nEnd.\n")
    return folder


@pytest.mark.timeout(600)
def test_a_run_killed_behind_any_record_is_resumed_to_its_end(documents: Path, tmp_path: Path) -> None:
    def reply(index: int, body: dict[str, Any]) -> Any:
        return as_reply(SCRIPT[min(answered_turns(body), len(SCRIPT) - 1)], "text")

    with ScriptedServer(reply) as server:
        common = ["--model-base-url", server.root, "--protocol", "text", "--sandbox", "host", "--quiet"]
        boundary = 0
        while True:
            boundary += 1
            assert boundary < MOST_RECORDS
            work = tmp_path / f"work-{boundary}"
            run = [
                "run",
                "--task",
                "How long?",
                "--input-dir",
                str(documents),
                "--work-dir",
                str(work),
                *common,
            ]
            code = vera(run, kill_after=boundary)
            if code == 3:
                break  # the run has fewer records than that: every boundary was tried
            assert code == -signal.SIGKILL
            before = (work / "trace.jsonl").read_bytes()
            told = [record for record in records(work) if isinstance(record, events.RunEnd | events.Task)]
            resumed = vera(["resume", str(work), "--quiet"])
            after = (work / "trace.jsonl").read_bytes()
            assert after.startswith(before), "a record was lost"
            if not told:
                assert resumed == 1  # killed before the task was written: there is nothing to go on with
                continue
            if isinstance(told[-1], events.RunEnd):
                assert resumed == 1  # killed behind the last record: the run has finished
            else:
                assert resumed == 3
                check_whole(work, boundary)
    assert boundary > 30
    check_whole(tmp_path / f"work-{boundary}", boundary)


def check_whole(work: Path, boundary: int) -> None:
    log = records(work)
    assert check(work).verdict == "SEALED"
    assert [record.seq for record in log] == list(range(1, len(log) + 1))
    ids = [record.id for record in log if isinstance(record, events.Evidence)]
    assert len(set(ids)) == len(ids)
    state = folded(work)
    answer = state.lane("main").answer
    assert answer is not None
    assert answer.text == "At least three years [ev_0002:3]."
    count = work / "workspace" / "count.txt"
    lines = count.read_text().splitlines() if count.exists() else []
    interrupted = [
        record
        for record in log
        if isinstance(record, events.Tool) and record.outcome == "interrupted" and record.tool == "shell"
    ]
    assert lines == ["ran"] or (lines == [] and interrupted), (boundary, lines)
    assert rebuild(work) == [], "the files beside the log are not what the log says"


def test_projections_are_rebuilt_byte_for_byte(documents: Path, tmp_path: Path) -> None:
    work = tmp_path / "work"
    with ScriptedServer([as_reply(said, "text") for said in SCRIPT]) as server:
        vera([
            "run", "--task", "How long?", "--input-dir", str(documents), "--work-dir", str(work),
            "--model-base-url", server.root, "--protocol", "text", "--sandbox", "host", "--quiet",
        ])  # fmt: skip
    made = {name: (work / name).read_bytes() for name in ("notes.md", "evidence.jsonl")}
    for name in made:
        (work / name).write_bytes(b"forged")
    assert sorted(rebuild(work)) == sorted(made)
    assert {name: (work / name).read_bytes() for name in made} == made
    assert b"the term stands in terms.txt" in made["notes.md"]
    assert b"- ev_0001" in made["notes.md"]
