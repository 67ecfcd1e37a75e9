"""Three workers as real processes, and whatever can happen to them: each task is committed exactly once."""

import asyncio
import contextlib
import json
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

import pytest

from support import postgres
from support.batches import until
from support.postgres import Server
from support.sleeping import Heard, sleeping_task
from vera.batch.runs import Runs
from vera.batch.task import BatchTask

pytestmark = [pytest.mark.needs("postgres"), pytest.mark.timeout(400)]

LEASE = 4.0
SLOTS = 4
LIMITS = {"http://capped.example/v1": 4, "http://slow.example/v1": 6}
CAPPED, SLOW = LIMITS
PROGRAM = Path(postgres.__file__).with_name("sleeping.py")
STOPPED_SECONDS = 9.0

SHORT_TASKS = [sleeping_task(f"sleep 0.05 #{n}", CAPPED if n % 2 else "builtin") for n in range(200)]
LONG_TASKS = [sleeping_task(f"stubborn 3 #{n}", SLOW) for n in range(40)]


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres.server() as running:
        yield running


class Place:
    """A database and a shared folder, with processes that work there."""

    def __init__(self, server: Server, store: Path, stack: contextlib.ExitStack) -> None:
        self.server = server
        self.store = store
        self.database = server.create_database()
        self.url = server.url(self.database)
        self._stack = stack

    def worker(self) -> subprocess.Popen[str]:
        return self._process("worker", self.url, self.store, SLOTS, LEASE)

    def submitter(self, tasks: Sequence[BatchTask]) -> subprocess.Popen[str]:
        lines = self.store / "tasks.tsv"
        lines.write_text("".join(f"{task.text}\t{task.endpoint}\n" for task in tasks))
        return self._process("submit", self.url, self.store, stdin=self._stack.enter_context(lines.open()))

    def committed(self) -> int:
        return len(list(self.store.glob("runs/*/commit.json")))

    def running(self, worker: subprocess.Popen[str]) -> set[str]:
        """The tasks that run at this worker, as the database has it."""
        return {
            task
            for (task,) in self.server.query(
                self.database,
                "select task from vera_attempt where split_part(worker_name, ':', 2) = %s "
                "and outcome is null and lost is null",
                str(worker.pid),
            )
        }

    def busy(self, workers: Sequence[subprocess.Popen[str]]) -> subprocess.Popen[str] | None:
        """A worker that runs two tasks or more: which one has them is the database's choice."""
        return next((worker for worker in workers if len(self.running(worker)) >= 2), None)

    def most_at_once(self, endpoint: str) -> int:
        """By the trail: an attempt counts from its beginning to its end, or to when its worker was lost."""
        moments = self.server.query(
            self.database,
            "select begun, 1 from vera_attempt where endpoint = %s union all "
            "select coalesce(ended, lost), -1 from vera_attempt where endpoint = %s order by 1, 2",
            endpoint,
            endpoint,
        )
        most = running = 0
        for _, change in moments:
            running += change
            most = max(most, running)
        return most

    def _process(self, *words: object, stdin: IO[str] | None = None) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [sys.executable, str(PROGRAM), *map(str, words)],
            stdin=stdin or subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            text=True,
        )
        self._stack.callback(_end, process)
        return process


@pytest.fixture
def place(server: Server, tmp_path: Path) -> Iterator[Place]:
    with contextlib.ExitStack() as stack:
        yield Place(server, tmp_path, stack)


def test_whatever_happens_to_workers_database_and_submitter_each_task_is_committed_once(
    place: Place, server: Server
) -> None:
    tasks = [*SHORT_TASKS, *LONG_TASKS]
    asyncio.run(_set_limits(place))
    submitter = place.submitter(tasks)
    assert submitter.stdout is not None
    assert submitter.stdout.readline() == f"queued {len(tasks)}\n"
    workers = [place.worker() for _ in range(3)]

    until(lambda: place.committed() >= 20, "the first 20 results")
    submitter.kill()
    until(lambda: place.committed() >= 205, "the first long tasks")
    killed = until(lambda: place.busy(workers), "a worker with long tasks")
    killed.kill()

    workers.remove(killed)
    stopped = until(lambda: place.busy(workers), "another worker with long tasks")
    asleep = place.running(stopped)
    stopped.send_signal(signal.SIGSTOP)
    time.sleep(STOPPED_SECONDS)
    until(lambda: any((place.store / "runs" / task / "commit.json").exists() for task in asleep))
    stopped.send_signal(signal.SIGCONT)

    until(lambda: place.committed() >= 222, "half of the long tasks")
    server.restart_at_once()
    until(lambda: place.committed() == len(tasks), "the last result")
    until(lambda: _unended(place) == 0, "the last record")

    rows = server.query(place.database, "select outcome, count(*) from vera_attempt group by outcome")
    counts = Counter({outcome or "lost": count for outcome, count in rows})
    assert _ended_otherwise(place) == 0
    assert counts["late"] >= 1, counts
    assert counts["lost"] >= 2, counts
    assert server.query(place.database, "select count(*), count(distinct task) from vera_commit") == [
        (240, 240)
    ]
    for endpoint, most in LIMITS.items():
        assert 2 <= place.most_at_once(endpoint) <= most
    _folder_says_the_same(place, tasks)
    again = asyncio.run(_submit(place, tasks))
    assert again == (0, {"done": len(tasks)})
    assert server.query(place.database, "select count(*) from procrastinate_jobs") == [(0,)]
    assert server.query(place.database, "select count(*) from vera_slot") == [(0,)]


def _folder_says_the_same(place: Place, tasks: Sequence[BatchTask]) -> None:
    """Each commit file names the attempt and the manifest that the database has."""
    rows = place.server.query(place.database, "select task, attempt, manifest from vera_commit")
    runs = Runs(place.store)
    found = {task: (attempt, json.loads(said)) for task, attempt, said in rows}
    assert found.keys() == {task.id for task in tasks}
    for task, (attempt, said) in found.items():
        commit = runs.history(task).commit
        assert commit is not None
        manifest = runs.manifest(commit)
        assert manifest is not None
        assert (commit.attempt, manifest.attempt, said["attempt"]) == (attempt, attempt, attempt)


def _ended_otherwise(place: Place) -> int:
    """Results whose attempt has another end than "committed", but for those of a worker killed before it
    could write one; and attempts with that end that are no result."""
    same = "on a.task = c.task and a.number = c.attempt"
    query = (
        f"select (select count(*) from vera_commit c join vera_attempt a {same} "
        "where a.outcome is distinct from 'committed' and not (a.outcome is null and a.lost is not null)) "
        f"+ (select count(*) from vera_attempt a left join vera_commit c {same} "
        "where a.outcome = 'committed' and c.task is null)"
    )
    return int(place.server.query(place.database, query)[0][0])


def _unended(place: Place) -> int:
    """Attempts without an end, and slots that are taken."""
    query = (
        "select (select count(*) from vera_attempt where outcome is null and lost is null) "
        "+ (select count(*) from vera_slot)"
    )
    return int(place.server.query(place.database, query)[0][0])


async def _set_limits(place: Place) -> None:
    from vera.batch.postgres import open_postgres

    async with open_postgres(place.url, Runs(place.store), Heard()) as engine:
        await engine.set_limits(LIMITS)


async def _submit(place: Place, tasks: Sequence[BatchTask]) -> tuple[int, dict[str, int]]:
    from vera.batch.postgres import open_postgres

    async with open_postgres(place.url, Runs(place.store), Heard()) as engine:
        submitted = await engine.submit(tasks)
        return submitted.queued, {str(state): count for state, count in submitted.others.items()}


def _end(process: subprocess.Popen[str]) -> None:
    if process.poll() is None:
        process.send_signal(signal.SIGCONT)
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
    if process.stdout is not None:
        process.stdout.close()
