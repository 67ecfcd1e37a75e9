"""The engine of one machine, with attempts in this process: slots, caps, retries, stopping."""

import asyncio
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from support.batches import soon
from vera.batch.engine import Attempt, Unfinished
from vera.batch.local import LocalEngine
from vera.batch.records import Ended, Manifest
from vera.batch.runs import Runs
from vera.batch.status import MAX_ATTEMPTS, Standing
from vera.batch.task import BatchTask, canonical_task, task_id


class Heard:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.ends: list[tuple[str, Ended, Standing]] = []
        self.slow: list[tuple[str, int]] = []

    def began(self, task: BatchTask, attempt: Attempt) -> None:
        """Not kept."""

    def ended(self, task: BatchTask, end: Ended, now: Standing) -> None:
        self.ends.append((task.text, end, now))

    def slowed(self, endpoint: str, allowed: int) -> None:
        self.slow.append((endpoint, allowed))


class Attempts:
    """A handle that counts what runs at once; `then` decides how an attempt ends."""

    def __init__(self, then: Callable[[BatchTask, Attempt], None] = lambda task, attempt: None) -> None:
        self.then = then
        self.running: Counter[str] = Counter()
        self.most: Counter[str] = Counter()
        self.begun: list[tuple[str, Attempt]] = []

    async def __call__(self, task: BatchTask, attempt: Attempt) -> Manifest:
        self.begun.append((task.text, attempt))
        for key in (task.endpoint, "all"):
            self.running[key] += 1
            self.most[key] = max(self.most[key], self.running[key])
        try:
            attempt.folder.mkdir(exist_ok=True)
            await asyncio.sleep(0.005)
            self.then(task, attempt)
        finally:
            for key in (task.endpoint, "all"):
                self.running[key] -= 1
        return manifest(task, attempt)


def manifest(task: BatchTask, attempt: Attempt) -> Manifest:
    return Manifest(
        task=task.id,
        attempt=attempt.number,
        session=attempt.number,
        status="VERIFIED",
        reason="",
        exit_code=0,
        attestation="",
        log=(1, ""),
        steps=1,
        spent={},
    )


def tasks(count: int, endpoint: Callable[[int], str] = lambda number: "e") -> list[BatchTask]:
    return [
        BatchTask(
            id=task_id(canonical_task("task", f"{n}?")), kind="task", text=f"{n}?", endpoint=endpoint(n)
        )
        for n in range(count)
    ]


def worked(
    runs: Runs,
    given: list[BatchTask],
    handle: Attempts,
    *,
    slots: int = 4,
    limits: Mapping[str, int] | None = None,
) -> Heard:
    """The tasks, submitted and worked on to the end."""
    heard = Heard()

    async def whole() -> None:
        engine = LocalEngine(runs, heard)
        await engine.submit(given)
        await engine.work(handle, slots=slots, limits=limits or {}, drain=True)

    asyncio.run(whole())
    return heard


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


def test_all_tasks_are_done_once_within_the_slots(runs: Runs) -> None:
    handle = Attempts()
    heard = worked(runs, tasks(20), handle, slots=3)
    assert sorted(text for text, _ in handle.begun) == sorted(task.text for task in tasks(20))
    assert handle.most["all"] == 3
    assert {now.state for _, _, now in heard.ends} == {"done"}


def test_caps_are_exact_endpoint_by_endpoint(runs: Runs) -> None:
    handle = Attempts()
    given = tasks(30, lambda number: "abc"[number % 3])
    worked(runs, given, handle, slots=8, limits={"a": 1, "b": 3})
    assert (handle.most["a"], handle.most["b"]) == (1, 3)
    assert handle.most["c"] >= 4
    assert handle.most["all"] == 8


def test_submitting_again_queues_nothing_that_is_queued_or_done(runs: Runs) -> None:
    async def twice() -> list[tuple[int, dict[str, int]]]:
        engine = LocalEngine(runs, Heard())
        counts = [await engine.submit(tasks(3)), await engine.submit(tasks(4))]
        await engine.work(Attempts(), slots=2, limits={}, drain=True)
        counts.append(await LocalEngine(runs, Heard()).submit(tasks(5)))
        return [(each.queued, dict(each.others)) for each in counts]

    assert asyncio.run(twice()) == [(3, {}), (1, {"running": 3}), (1, {"done": 4})]


def test_a_task_whose_process_dies_is_tried_again_and_held_after_five_attempts(runs: Runs) -> None:
    def die(task: BatchTask, attempt: Attempt) -> None:
        if task.text == "1?":
            raise Unfinished("crashed", "killed by signal 9", 1, session=attempt.number)

    handle = Attempts(die)
    heard = worked(runs, tasks(3), handle)
    assert Counter(text for text, _ in handle.begun) == {"0?": 1, "1?": MAX_ATTEMPTS, "2?": 1}
    text, end, now = heard.ends[-1]
    assert (text, end.number, now.state) == ("1?", MAX_ATTEMPTS, "held")
    assert now.reason == "5 attempts died with their process: killed by signal 9"
    again = Attempts()
    worked(runs, tasks(3), again)
    assert again.begun == []


def test_an_attempt_knows_the_sessions_before_it_the_newest_first(runs: Runs) -> None:
    def die_twice(task: BatchTask, attempt: Attempt) -> None:
        if attempt.number < 3:
            raise Unfinished("crashed", "died", 1)

    handle = Attempts(die_twice)
    worked(runs, tasks(1), handle)
    assert [[number for number, _ in attempt.earlier] for _, attempt in handle.begun] == [[], [1], [2, 1]]


def test_a_failed_or_unready_task_is_not_tried_again_in_this_run(runs: Runs) -> None:
    def fail(task: BatchTask, attempt: Attempt) -> None:
        raise Unfinished("failed" if task.text == "0?" else "unready", "no", 1)

    heard = worked(runs, tasks(2), Attempts(fail))
    assert {text: now.state for text, _, now in heard.ends} == {"0?": "failed", "1?": "open"}


def test_a_late_result_changes_nothing(runs: Runs) -> None:
    def overtaken(task: BatchTask, attempt: Attempt) -> None:
        other = Attempt(number=runs.begin(task.id, "other").number, folder=attempt.folder)
        assert runs.commit(manifest(task, other))

    heard = worked(runs, tasks(1), Attempts(overtaken))
    ((_, end, now),) = heard.ends
    assert (end.outcome, now.state) == ("late", "done")
    commit = runs.history(tasks(1)[0].id).commit
    assert commit is not None
    assert commit.attempt == 2


def test_stopping_begins_no_further_attempt_and_waits_for_those_that_run(runs: Runs) -> None:
    async def stopped() -> Attempts:
        engine = LocalEngine(runs, Heard())
        handle = Attempts(lambda task, attempt: engine.stop())
        await engine.submit(tasks(10))
        await engine.work(handle, slots=2, limits={}, drain=True)
        return handle

    assert len(asyncio.run(stopped()).begun) == 2
    assert sum(runs.is_done(task.id) for task in tasks(10)) == 2


def test_a_cancelled_engine_ends_its_attempts_first(runs: Runs) -> None:
    ended = []

    async def handle(task: BatchTask, attempt: Attempt) -> Manifest:
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0.01)
            ended.append(task.text)
        raise AssertionError

    async def cancelled() -> None:
        engine = LocalEngine(runs, Heard())
        await engine.submit(tasks(2))
        work = asyncio.create_task(engine.work(handle, slots=2, limits={}, drain=True))
        await asyncio.sleep(0.05)
        work.cancel()
        with pytest.raises(asyncio.CancelledError):
            await work

    asyncio.run(cancelled())
    assert sorted(ended) == ["0?", "1?"]
    assert {runs.history(task.id).ended[1].outcome for task in tasks(2)} == {"interrupted"}


def test_without_drain_it_waits_for_what_is_submitted_later(runs: Runs) -> None:
    async def later() -> int:
        engine = LocalEngine(runs, Heard())
        work = asyncio.create_task(engine.work(Attempts(), slots=2, limits={}, drain=False))
        await asyncio.sleep(0.02)
        await engine.submit(tasks(3))
        await soon(lambda: all(runs.is_done(task.id) for task in tasks(3)))
        engine.stop()
        await work
        return (await engine.status()).counts["done"]

    assert asyncio.run(later()) == 3


def test_an_attempt_that_breaks_the_engine_ends_the_others_and_is_raised(runs: Runs) -> None:
    async def handle(task: BatchTask, attempt: Attempt) -> Manifest:
        if task.text == "0?":
            raise OSError("no space left")
        await asyncio.sleep(60)
        raise AssertionError

    async def broken() -> None:
        engine = LocalEngine(runs, Heard())
        await engine.submit(tasks(3))
        await engine.work(handle, slots=3, limits={}, drain=True)

    with pytest.raises(OSError, match="no space left"):
        asyncio.run(broken())
    assert [runs.history(task.id).ended.keys() for task in tasks(3)] == [set(), {1}, {1}]


def test_push_backs_halve_what_runs_at_that_endpoint(runs: Runs) -> None:
    async def pushed() -> tuple[Attempts, Heard]:
        heard = Heard()
        engine = LocalEngine(runs, heard)

        def push(task: BatchTask, attempt: Attempt) -> None:
            if task.endpoint == "a" and len(handle.begun) <= 8:
                engine.pushed_back(task)
                handle.most.clear()

        handle = Attempts(push)
        await engine.submit(tasks(16, lambda number: "ab"[number % 2]))
        await engine.work(handle, slots=8, limits={}, drain=True)
        return handle, heard

    handle, heard = asyncio.run(pushed())
    assert heard.slow == [("a", 4)]
    assert handle.most["a"] <= 4
