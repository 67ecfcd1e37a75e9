"""A job as a row of the queue: what a worker believes of it, and what it refuses."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest

from vera.batch.engine import Attempt, Unfinished
from vera.batch.errors import BatchError
from vera.batch.records import Manifest
from vera.batch.task import BatchTask
from vera.batch.task_file import parse_task, read_tasks
from vera.config.handed import Allowed
from vera.service.attempts import JobAttempts
from vera.service.queued_task import NotQueued, kept, named, task_of
from vera.service.work import Place, Reach

ID = "20261123T193000-0123456789abcdef"
REACH = Reach(folder=None, egress="none", seconds=60.0)


def place(base: Path) -> Place:
    own = base / "serve" / "laptop-0123abcd"
    (own / "jobs" / ID).mkdir(parents=True)
    return Place(base=own, folder=own / "jobs" / ID, session=own / "work" / ID)


def test_a_job_comes_back_from_its_task_and_from_its_file(tmp_path: Path) -> None:
    where = place(tmp_path)
    task = task_of("verify", where, REACH, "builtin")
    found = named(task, tmp_path)
    assert (found.kind, found.base, found.id, found.reach) == ("verify", where.base, ID, REACH)
    assert kept(where, "builtin") == task
    assert found.place(tmp_path / "s").folder == where.folder


def test_a_file_that_a_power_cut_left_empty_is_as_if_it_were_not_there(tmp_path: Path) -> None:
    where = place(tmp_path)
    task = task_of("verify", where, REACH, "builtin")
    for left in (b"", bytes(40)):
        (where.folder / "queued.json").write_bytes(left)
        assert kept(where, "") is None
    assert task_of("verify", where, REACH, "builtin") == task == kept(where, "builtin")


@pytest.mark.parametrize(
    "text",
    [
        f"verify ../../etc/{ID}",
        f"verify laptop/../x/{ID}",
        "verify laptop-0123abcd/..",
        f"run laptop-0123abcd/{ID}",
        f"verify laptop-0123abcd/{ID}\n",
        f"verify /laptop-0123abcd/{ID}",
        "",
    ],
)
def test_a_row_that_names_no_job_is_refused(text: str, tmp_path: Path) -> None:
    settings = {"egress.mode": "none", "budget.seconds": 60}
    with pytest.raises(NotQueued):
        named(BatchTask(id="0" * 64, kind="job", text=text, settings=settings), tmp_path)


@pytest.mark.parametrize("settings", [{}, {"egress.mode": 1, "budget.seconds": 60}, {"egress.mode": "none"}])
def test_a_row_that_does_not_say_how_far_is_refused(settings: dict[str, int | str], tmp_path: Path) -> None:
    task = BatchTask(id="0" * 64, kind="job", text=f"check laptop-0123abcd/{ID}", settings=settings)
    with pytest.raises(NotQueued):
        named(task, tmp_path)


def test_a_file_of_tasks_has_no_jobs(tmp_path: Path) -> None:
    line = f'{{"job": "verify laptop-0123abcd/{ID}"}}'
    assert parse_task(line.encode()).kind == "job"
    (tmp_path / "tasks.jsonl").write_text(line)
    with pytest.raises(BatchError, match='"job" is no member of a task'):
        read_tasks(tmp_path / "tasks.jsonl", lambda task: ("builtin", ""))


async def never(task: BatchTask, attempt: Attempt) -> Manifest:
    raise AssertionError("a job is no task of a batch")


@pytest.mark.parametrize(
    ("reach", "overrides", "sentence"),
    [
        (REACH, ("sandbox.backend=host",), "no command outside of a sandbox"),
        (msgspec.structs.replace(REACH, egress="public"), ("egress.mode=none",), "egress.mode"),
        (msgspec.structs.replace(REACH, folder=Path("/etc")), (), "run.input_dir"),
        (msgspec.structs.replace(REACH, egress="anything"), (), "egress.mode"),
        (msgspec.structs.replace(REACH, seconds=float(-1)), (), "budget.seconds"),
    ],
)
def test_a_worker_refuses_what_its_own_person_does_not_allow(
    reach: Reach, overrides: tuple[str, ...], sentence: str, tmp_path: Path
) -> None:
    where = place(tmp_path)
    (where.folder / "body.json").write_text('{"question": "Why?"}')
    task = task_of("research", where, reach, "builtin")
    children: Any = None  # nothing is started
    attempts = JobAttempts(children, tmp_path, overrides, Allowed(), never)
    with pytest.raises(Unfinished, match=sentence) as end:
        asyncio.run(ran(attempts, task, tmp_path / "1"))
    assert (end.value.outcome, end.value.exit_code) == ("failed", 2)


async def ran(attempts: JobAttempts, task: BatchTask, folder: Path) -> Manifest:
    return await attempts(task, Attempt(number=1, folder=folder))


def test_a_job_whose_folder_is_not_here_waits_for_another_worker(tmp_path: Path) -> None:
    task = task_of("research", place(tmp_path / "there"), REACH, "builtin")
    children: Any = None
    attempts = JobAttempts(children, tmp_path / "here", (), Allowed(), never)
    with pytest.raises(Unfinished, match="the shared folder cannot be read here") as end:
        asyncio.run(ran(attempts, task, tmp_path / "1"))
    assert (end.value.outcome, end.value.exit_code) == ("unready", 5)
