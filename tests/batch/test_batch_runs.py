"""The folder of the runs: the commit rule, the numbers of attempts, the lock."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec
import pytest

from vera.attestation.objects import canonical, digest
from vera.batch.errors import BatchError
from vera.batch.records import Ended, Manifest
from vera.batch.runs import Runs, write_once
from vera.batch.task import BatchTask
from vera.batch.task_file import parse_task

TASK = parse_task(b'{"task": "Why?"}')


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    runs = Runs(tmp_path)
    runs.keep(TASK)
    return runs


def manifest(attempt: int, **members: object) -> Manifest:
    made = Manifest(
        task=TASK.id,
        attempt=attempt,
        session=attempt,
        status="VERIFIED",
        reason="",
        exit_code=0,
        attestation="",
        log=(7, "abc"),
        steps=3,
        spent={"seconds": 1.5, "cost": None},
    )
    return msgspec.structs.replace(made, **members)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_first_commit_counts_and_there_is_no_second(runs: Runs) -> None:
    first, second = runs.begin(TASK.id, "a"), runs.begin(TASK.id, "b")
    assert runs.commit(manifest(second.number))
    assert not runs.commit(manifest(first.number))
    commit = runs.history(TASK.id).commit
    assert commit is not None
    assert commit.attempt == second.number


def test_a_commit_that_is_no_whole_record_is_made_again(runs: Runs) -> None:
    runs.begin(TASK.id, "w")
    assert runs.commit(manifest(1))
    (runs.folder(TASK.id) / "commit.json").write_bytes(b'{"task":')
    assert runs.commit(manifest(1)) and not runs.commit(manifest(1))
    commit = runs.history(TASK.id).commit
    assert commit is not None and runs.manifest(commit) == manifest(1)


def test_of_many_that_commit_at_once_one_is_first(runs: Runs) -> None:
    numbers = [runs.begin(TASK.id, "w").number for _ in range(32)]
    with ThreadPoolExecutor(32) as pool:
        won = list(pool.map(lambda number: runs.commit(manifest(number)), numbers))
    assert won.count(True) == 1
    commit = runs.history(TASK.id).commit
    assert commit is not None
    assert won[numbers.index(commit.attempt)]


def test_attempts_that_begin_at_once_have_numbers_of_their_own(runs: Runs) -> None:
    with ThreadPoolExecutor(16) as pool:
        rows = list(pool.map(lambda _: runs.begin(TASK.id, "w"), range(16)))
    assert sorted(row.number for row in rows) == list(range(1, 17))


def test_a_commit_names_the_hash_of_its_manifest(runs: Runs) -> None:
    runs.commit(manifest(runs.begin(TASK.id, "w").number))
    commit = runs.history(TASK.id).commit
    assert commit is not None
    assert commit.manifest == digest(canonical(manifest(1)))
    assert runs.manifest(commit) == manifest(1)
    (runs.folder(TASK.id) / "attempts" / "1.manifest.json").write_bytes(canonical(manifest(1, exit_code=3)))
    assert runs.manifest(commit) is None


def test_the_task_file_of_a_run_hashes_to_its_id(runs: Runs) -> None:
    assert digest((runs.folder(TASK.id) / "task.json").read_bytes()) == f"sha256:{TASK.id}"
    assert list(runs.tasks()) == [TASK]


def test_a_torn_task_file_is_written_again(runs: Runs) -> None:
    (runs.folder(TASK.id) / "task.json").write_bytes(b'{"task"')
    assert list(runs.tasks()) == []
    runs.keep(TASK)
    assert list(runs.tasks()) == [TASK]


def test_foreign_folders_links_and_altered_tasks_are_no_tasks(runs: Runs, tmp_path: Path) -> None:
    (runs.root / "notes").mkdir()
    (runs.root / ("0" * 64)).symlink_to(runs.folder(TASK.id))
    (runs.root / ("1" * 64)).mkdir()
    (runs.root / ("1" * 64) / "task.json").write_bytes(b'{"task":"Why?"}')
    assert list(runs.tasks()) == [TASK]


def test_the_first_end_of_an_attempt_counts(runs: Runs) -> None:
    number = runs.begin(TASK.id, "w").number
    for code in (3, 4):
        runs.end(TASK.id, Ended(number=number, outcome="failed", ts=1, exit_code=code))
    assert runs.history(TASK.id).ended[number].exit_code == 3


@pytest.mark.parametrize("data", [b"", b"\xff{", b'{"outcome":"\xce"}', b"[" * 10_000])
def test_a_record_that_is_no_record_is_as_if_it_were_not_there(runs: Runs, data: bytes) -> None:
    number = runs.begin(TASK.id, "w").number
    attempts = runs.folder(TASK.id) / "attempts"
    (attempts / f"{number}.end.json").write_bytes(data)
    (attempts / "1.json").write_bytes(b"")
    history = runs.history(TASK.id)
    assert (len(history.begun), dict(history.ended)) == (1, {})


def test_writing_once_changes_nothing_that_is_there_and_leaves_no_temporary_file(tmp_path: Path) -> None:
    assert write_once(tmp_path / "a", b"one", sync=True)
    assert not write_once(tmp_path / "a", b"two", sync=True)
    assert (tmp_path / "a").read_bytes() == b"one"
    assert names(tmp_path) == ["a"]


def test_what_a_killed_writer_left_is_swept(runs: Runs) -> None:
    runs.begin(TASK.id, "w")
    for name in (".new-abc", "attempts/.new-def", "attempts/1.stderr"):
        (runs.folder(TASK.id) / name).write_bytes(b"x")
    runs.sweep(TASK.id)
    assert names(runs.folder(TASK.id)) == ["attempts", "task.json"]
    assert names(runs.folder(TASK.id) / "attempts") == ["1.json"]


def test_what_a_killed_attempt_left_beside_its_log_is_swept(runs: Runs) -> None:
    session = runs.session(TASK.id, runs.begin(TASK.id, "w").number)
    session.mkdir()
    for name in (".new-abc", "trace.jsonl"):
        (session / name).write_bytes(b"x")
    runs.sweep(TASK.id)
    assert names(session) == ["trace.jsonl"]


def test_one_batch_at_a_time_holds_the_folder(tmp_path: Path) -> None:
    runs, other = Runs(tmp_path), Runs(tmp_path)
    assert not runs.is_locked()
    with runs.lock():
        assert other.is_locked()
        with pytest.raises(BatchError, match=rf"process {os.getpid()}"), other.lock(0.0):
            pass
    with other.lock(0.0):
        pass


def test_the_folder_is_held_as_long_as_an_heir_of_the_lock_lives(tmp_path: Path) -> None:
    runs = Runs(tmp_path)
    with runs.lock() as descriptor:
        heir = subprocess.Popen(
            [sys.executable, "-c", "input()"], stdin=subprocess.PIPE, pass_fds=[descriptor]
        )
    assert runs.is_locked()
    heir.communicate(b"\n")
    assert not runs.is_locked()


@pytest.mark.parametrize("kind", ["cancelled", "requeued"])
def test_a_mark_says_after_which_attempt_it_was_made(runs: Runs, kind: str) -> None:
    runs.begin(TASK.id, "w")
    runs.set_mark(TASK.id, kind)
    mark = runs.mark(TASK.id)
    assert mark is not None
    assert (mark.kind, mark.after) == (kind, 1)


def test_records_are_canonical_json(runs: Runs) -> None:
    row = runs.begin(TASK.id, "w")
    written = (runs.folder(TASK.id) / "attempts" / "1.json").read_bytes()
    assert written == canonical(row)
    assert json.loads(written)["task"] == TASK.id


def test_a_task_keeps_what_it_was_given(runs: Runs) -> None:
    line = b'{"thesis":"It is.","input_dir":"papers","name":"n","settings":{"run.max_steps":3}}'
    task: BatchTask = parse_task(line)
    runs.keep(task)
    assert task in list(runs.tasks())
