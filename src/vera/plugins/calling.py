"""Calling code of others: in a thread, for a bounded time, with its failures as sentences.

Python cannot end a thread. A call that runs on after its time is left behind: nothing waits for it, and the
process can end while it runs.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import TypeVar

from vera.sanitize import one_line

T = TypeVar("T")

ERROR_SHOWN = 300
"""Characters of an exception's own words in a sentence."""


class PluginFailed(Exception):
    """A call that gave nothing: it raised, or its time was over. A sentence without a full stop."""


def described(error: BaseException) -> str:
    """The kind of an exception and its words on one line."""
    try:
        said = one_line(str(error), ERROR_SHOWN)
    except Exception:  # noqa: BLE001 (its __str__ is code of the plugin, too)
        said = ""
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def late(seconds: float) -> str:
    """That a call took longer than so many seconds."""
    return f"it did not end within {seconds:g} s"


def begun(work: Callable[[], T]) -> "Future[T]":
    """The result to come of `work`, which runs in a thread; what it raises is a PluginFailed."""
    future: Future[T] = Future()
    future.set_running_or_notify_cancel()

    def run() -> None:
        try:
            result = work()
        except PluginFailed as error:
            future.set_exception(error)
        except BaseException as error:  # noqa: BLE001 (sys.exit in a plugin ends its call, and no more)
            future.set_exception(PluginFailed(f"it failed with {described(error)}"))
        else:
            future.set_result(result)

    Thread(target=run, name="vera-plugin", daemon=True).start()
    return future


def call(work: Callable[[], T], seconds: float) -> T:
    """What `work` gives. Raises PluginFailed, also when it has not ended after so many seconds."""
    try:
        return begun(work).result(seconds)
    except TimeoutError:
        raise PluginFailed(late(seconds)) from None


async def finished(future: "Future[T]", seconds: float) -> T:
    """What a call that has begun gives. Raises PluginFailed as `call` does; the event loop is not held up."""
    try:
        async with asyncio.timeout(seconds):
            return await asyncio.wrap_future(future)
    except TimeoutError:
        raise PluginFailed(late(seconds)) from None
