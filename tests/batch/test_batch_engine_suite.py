"""What every engine does, each held against the same tests: `local`, and `postgres` on a real server."""

import asyncio
import contextlib
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest

from support import postgres
from support.postgres import Server
from support.sleeping import Heard, manifest_of, sleep, sleeping_task
from vera.batch.engine import Attempt, Engine
from vera.batch.local import LocalEngine
from vera.batch.records import Manifest
from vera.batch.runs import Runs
from vera.batch.status import MAX_ATTEMPTS
from vera.batch.task import BatchTask
from vera.batch.task_file import parse_task

LIMITED = "http://limited.example/v1"


class Stoppable(Engine, Protocol):
    """What both engines can do beside their interface."""

    def stop(self) -> None: ...
    async def cancel(self) -> None: ...


class Kind(Protocol):
    """One kind of engine."""

    def open(self, runs: Runs, heard: Heard) -> contextlib.AbstractAsyncContextManager[Stoppable]: ...
    async def requeue(self, engine: Any, tasks: Sequence[BatchTask]) -> None: ...
    async def cancel_tasks(self, engine: Any, tasks: Sequence[BatchTask]) -> None: ...


class Local:
    def __init__(self, base: Path) -> None:
        self.runs = Runs(base)

    @contextlib.asynccontextmanager
    async def open(self, runs: Runs, heard: Heard) -> AsyncIterator[Stoppable]:
        with runs.lock():
            yield LocalEngine(runs, heard)

    async def requeue(self, engine: Any, tasks: Sequence[BatchTask]) -> None:
        for task in tasks:
            self.runs.set_mark(task.id, "requeued")

    async def cancel_tasks(self, engine: Any, tasks: Sequence[BatchTask]) -> None:
        for task in tasks:
            self.runs.set_mark(task.id, "cancelled")


class Postgres:
    def __init__(self, server: Server) -> None:
        self.url = server.url(server.create_database())

    @contextlib.asynccontextmanager
    async def open(self, runs: Runs, heard: Heard) -> AsyncIterator[Stoppable]:
        from vera.batch.postgres import open_postgres

        async with open_postgres(self.url, runs, heard, unready_seconds=0.1) as engine:
            yield engine

    async def requeue(self, engine: Any, tasks: Sequence[BatchTask]) -> None:
        await engine.requeue_tasks([task.id for task in tasks])

    async def cancel_tasks(self, engine: Any, tasks: Sequence[BatchTask]) -> None:
        await engine.cancel_tasks([task.id for task in tasks])


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres.server() as running:
        yield running


@pytest.fixture(params=["local", pytest.param("postgres", marks=pytest.mark.needs("postgres"))])
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Kind:
    return Local(tmp_path) if request.param == "local" else Postgres(request.getfixturevalue("server"))


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def go(
    kind: Kind, runs: Runs, steps: Callable[[Stoppable, Heard], Coroutine[Any, Any, None]]
) -> tuple[Heard, dict[str, int]]:
    """Open an engine and take some steps; what it told, and where the tasks stand then."""

    async def whole() -> tuple[Heard, dict[str, int]]:
        heard = Heard()
        async with kind.open(runs, heard) as engine:
            await steps(engine, heard)
            return heard, {str(state): count for state, count in (await engine.status()).counts.items()}

    return asyncio.run(whole())


def outcomes(runs: Runs, task: BatchTask) -> list[str]:
    history = runs.history(task.id)
    return [history.ended[begun.number].outcome for begun in history.begun]


def test_each_task_is_run_once_and_its_commit_lies_in_the_folder(kind: Kind, runs: Runs) -> None:
    tasks = [sleeping_task(f"sleep 0.01 #{n}") for n in range(12)]

    async def steps(engine: Stoppable, heard: Heard) -> None:
        assert (await engine.submit(tasks)).queued == 12
        await engine.work(sleep, slots=4, limits={}, drain=True)

    heard, counts = go(kind, runs, steps)
    assert counts == {"done": 12}
    assert sorted(text for text, _, _ in heard.ends) == sorted(task.text for task in tasks)
    for task in tasks:
        history = runs.history(task.id)
        assert history.commit is not None
        assert (history.commit.attempt, outcomes(runs, task)) == (1, ["committed"])
        made = runs.manifest(history.commit)
        assert made is not None
        assert made.spent == {"model_calls": 1}


def test_tasks_that_differ_only_in_their_inputs_are_run_each_with_its_own(kind: Kind, runs: Runs) -> None:
    tasks = [parse_task(b'{"task": "sleep 0 #1", "inputs": ["%s"]}' % name) for name in (b"a", b"b")]
    ran: list[tuple[str, ...]] = []

    async def seen(task: BatchTask, attempt: Attempt) -> Manifest:
        ran.append(task.inputs)
        return await sleep(task, attempt)

    async def steps(engine: Stoppable, heard: Heard) -> None:
        await engine.submit(tasks)
        await engine.work(seen, slots=1, limits={}, drain=True)

    _, counts = go(kind, runs, steps)
    assert counts == {"done": 2}
    assert sorted(ran) == [("a",), ("b",)]
    assert {task.id for task in runs.tasks()} == {task.id for task in tasks}


def test_what_is_queued_or_done_is_not_queued_again(kind: Kind, runs: Runs) -> None:
    tasks = [sleeping_task(f"sleep 0.01 #{n}") for n in range(3)]

    async def steps(engine: Stoppable, heard: Heard) -> None:
        await engine.submit(tasks)
        again = await engine.submit(tasks)
        assert (again.queued, again.others) == (0, {"running": 3})
        await engine.work(sleep, slots=2, limits={}, drain=True)

    go(kind, runs, steps)

    async def later(engine: Stoppable, heard: Heard) -> None:
        submitted = await engine.submit([*tasks, sleeping_task("sleep 0.01 #new")])
        assert (submitted.queued, submitted.others) == (1, {"done": 3})

    go(kind, runs, later)


def test_no_more_run_at_once_than_there_are_slots_and_than_an_endpoint_may_have(
    kind: Kind, runs: Runs
) -> None:
    tasks = [sleeping_task(f"sleep 0.03 #{n}", LIMITED if n % 2 else "builtin") for n in range(16)]
    running, most = Counter[str](), Counter[str]()

    async def counting(task: BatchTask, attempt: Attempt) -> Manifest:
        keys = ("all", task.endpoint)
        for key in keys:
            running[key] += 1
            most[key] = max(most[key], running[key])
        try:
            return await sleep(task, attempt)
        finally:
            running.subtract(keys)

    async def steps(engine: Stoppable, heard: Heard) -> None:
        await engine.submit(tasks)
        await engine.work(counting, slots=5, limits={LIMITED: 2}, drain=True)

    _, counts = go(kind, runs, steps)
    assert counts == {"done": 16}
    assert most["all"] <= 5
    assert most[LIMITED] <= 2


def test_a_task_that_failed_is_not_tried_again_until_it_is_requeued(kind: Kind, runs: Runs) -> None:
    task = sleeping_task("fail #1")

    async def steps(engine: Stoppable, heard: Heard) -> None:
        await engine.submit([task])
        await engine.work(sleep, slots=1, limits={}, drain=True)
        assert (await engine.submit([task])).others == {"failed": 1}

    _, counts = go(kind, runs, steps)
    assert counts == {"failed": 1}

    async def again(engine: Stoppable, heard: Heard) -> None:
        await kind.requeue(engine, [task])
        await engine.submit([task])
        await engine.work(sleep, slots=1, limits={}, drain=True)

    heard, counts = go(kind, runs, again)
    assert counts == {"failed": 1}
    assert outcomes(runs, task) == ["failed", "failed"]
    assert heard.ends[-1][2].reason == "as the task wants: fail"


def test_a_task_whose_process_dies_is_tried_five_times_and_held_with_the_reason(
    kind: Kind, runs: Runs
) -> None:
    task = sleeping_task("crash #1")

    async def steps(engine: Stoppable, heard: Heard) -> None:
        await engine.submit([task])
        await engine.work(sleep, slots=1, limits={}, drain=True)
        assert (await engine.submit([task])).others == {"held": 1}

    heard, counts = go(kind, runs, steps)
    assert counts == {"held": 1}
    assert outcomes(runs, task) == ["crashed"] * MAX_ATTEMPTS
    assert heard.ends[-1][2].reason.endswith("as the task wants: crash")


def test_a_cancelled_task_is_not_run_and_one_that_runs_is_stopped(kind: Kind, runs: Runs) -> None:
    waits, runs_long = sleeping_task("sleep 0.01 #waits"), sleeping_task("sleep 60 #long")

    async def steps(engine: Stoppable, heard: Heard) -> None:
        await engine.submit([waits, runs_long])
        await kind.cancel_tasks(engine, [waits])
        working = asyncio.create_task(engine.work(sleep, slots=2, limits={}, drain=True))
        await heard.until_begun()
        await kind.cancel_tasks(engine, [runs_long])
        await working

    heard, counts = go(kind, runs, steps)
    assert counts == {"cancelled": 2}
    assert heard.began_ == [(runs_long.text, 1)]


def test_what_was_stopped_is_gone_on_with_and_finds_its_earlier_session(kind: Kind, runs: Runs) -> None:
    task = sleeping_task("sleep 60 #1")
    seen: list[Attempt] = []

    async def begin(engine: Stoppable, heard: Heard) -> None:
        await engine.submit([task])
        working = asyncio.create_task(engine.work(_with_a_log, slots=1, limits={}, drain=True))
        await heard.until_begun()
        await asyncio.sleep(0)  # the handle makes its log before it first waits
        await engine.cancel()
        await working

    _, counts = go(kind, runs, begin)
    assert outcomes(runs, task) == ["interrupted"]
    assert "done" not in counts

    async def quick(task: BatchTask, attempt: Attempt) -> Manifest:
        seen.append(attempt)
        return manifest_of(task, attempt)

    async def go_on(engine: Stoppable, heard: Heard) -> None:
        await engine.submit([task])
        await engine.work(quick, slots=1, limits={}, drain=True)

    _, counts = go(kind, runs, go_on)
    assert counts == {"done": 1}
    assert [(each.number, each.earlier) for each in seen] == [(2, ((1, runs.session(task.id, 1)),))]


def test_stop_begins_nothing_more_and_lets_what_runs_finish(kind: Kind, runs: Runs) -> None:
    tasks = [sleeping_task(f"sleep 0.3 #{n}") for n in range(4)]

    async def steps(engine: Stoppable, heard: Heard) -> None:
        await engine.submit(tasks)
        working = asyncio.create_task(engine.work(sleep, slots=2, limits={}, drain=True))
        await heard.until_begun(2)
        engine.stop()
        await working

    heard, counts = go(kind, runs, steps)
    assert counts["done"] == 2
    assert [end.outcome for _, end, _ in heard.ends] == ["committed", "committed"]


def test_a_result_that_comes_after_another_is_refused_and_written_down(kind: Kind, runs: Runs) -> None:
    task = sleeping_task("sleep 0.01 #1")

    async def overtaken(task: BatchTask, attempt: Attempt) -> Manifest:
        other = runs.begin(task.id, "somebody else")
        assert runs.commit(manifest_of(task, Attempt(number=other.number, folder=attempt.folder)))
        return manifest_of(task, attempt)

    async def steps(engine: Stoppable, heard: Heard) -> None:
        await engine.submit([task])
        await engine.work(overtaken, slots=1, limits={}, drain=True)

    heard, counts = go(kind, runs, steps)
    assert counts == {"done": 1}
    assert [end.outcome for _, end, _ in heard.ends] == ["late"]
    history = runs.history(task.id)
    assert history.commit is not None
    assert history.commit.attempt == 2
    assert history.ended[1].outcome == "late"


async def _with_a_log(task: BatchTask, attempt: Attempt) -> Manifest:
    attempt.folder.mkdir()
    (attempt.folder / "trace.jsonl").touch()
    await asyncio.sleep(60)
    return manifest_of(task, attempt)
