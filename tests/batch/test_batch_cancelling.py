"""A cancellation that a library swallowed arrives all the same."""

import asyncio
import contextlib

import pytest

from vera.batch import cancelling
from vera.batch.cancelling import end_tasks, insist_on_cancellation


async def swallows(times: int) -> None:
    """Goes on after so many cancellations, as `asyncio.wait_for` of Python 3.11 can."""
    for _ in range(times):
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
    await asyncio.Event().wait()


def test_a_task_is_cancelled_until_it_is_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cancelling, "AGAIN_SECONDS", 0.01)

    async def main() -> list[bool]:
        tasks = [asyncio.create_task(swallows(times)) for times in (0, 1, 3)]
        await asyncio.sleep(0)
        await end_tasks(tasks)
        return [task.cancelled() for task in tasks]

    assert asyncio.run(main()) == [True, True, True]


def test_what_a_task_raises_at_its_end_is_dropped() -> None:
    async def breaks() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            raise RuntimeError

    async def main() -> None:
        task = asyncio.create_task(breaks())
        await asyncio.sleep(0)
        await end_tasks([task])
        assert isinstance(task.exception(), RuntimeError)

    asyncio.run(main())


def test_a_loop_insists_on_a_cancellation_that_was_swallowed() -> None:
    async def loop() -> None:
        while True:
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.Event().wait()
            insist_on_cancellation()

    async def main() -> bool:
        task = asyncio.create_task(loop())
        await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task], timeout=10)
        return task.cancelled()

    assert asyncio.run(main())


def test_without_a_cancellation_nothing_is_insisted_on() -> None:
    async def main() -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(0.001):  # cancels the task, and takes that back
                await asyncio.Event().wait()
        insist_on_cancellation()

    asyncio.run(main())
