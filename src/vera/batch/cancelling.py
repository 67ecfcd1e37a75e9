"""Cancellation that arrives: before Python 3.12 `asyncio.wait_for` can swallow one, and the libraries that
speak with the database use it (https://github.com/python/cpython/issues/86296)."""

import asyncio
from collections.abc import Iterable

AGAIN_SECONDS = 1.0


async def end_tasks(tasks: Iterable[asyncio.Task[None]]) -> None:
    """Cancel tasks, again and again until they are over; what they raise is dropped."""
    left = {task for task in tasks if not task.done()}
    while left:
        for task in left:
            task.cancel()
        _, left = await asyncio.wait(left, timeout=AGAIN_SECONDS)


def insist_on_cancellation() -> None:
    """Raises CancelledError where this task was cancelled and something that it waited for swallowed that."""
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise asyncio.CancelledError
