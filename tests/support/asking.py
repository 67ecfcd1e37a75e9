"""Short words for tests of the model room: a question, a client without waiting, and its answer."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from support.scripted_server import ScriptedServer
from vera.model.client import ChatClient
from vera.model.types import Completion, Message, ModelError, Request

T = TypeVar("T")


class Pauses:
    """A clock that only moves when somebody sleeps, and remembers how long each time."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def clock(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


def question(text: str = "hello", **fields: Any) -> Request:
    return Request(messages=(Message(role="user", content=text),), **fields)


def answer(server: ScriptedServer, request: Request | None = None, **settings: Any) -> Completion:
    """One completion by a client of its own; pauses between attempts take no time."""
    pauses = Pauses()
    settings = {"clock": pauses.clock, "sleep": pauses.sleep, **settings}

    async def ask() -> Completion:
        client = ChatClient(server.base_url, server.model, **settings)
        try:
            return await client.complete(request or question())
        finally:
            await client.close()

    return asyncio.run(ask())


def failure(server: ScriptedServer, request: Request | None = None, **settings: Any) -> ModelError:
    """The error with which the same call ends."""
    try:
        done = answer(server, request, **settings)
    except ModelError as error:
        return error
    raise AssertionError(f"no error, but {done}")


async def until(condition: Callable[[], object]) -> None:
    """Wait for what another thread brings about; five seconds at most."""
    for _ in range(500):
        if condition():
            return
        await asyncio.sleep(0.01)
    raise AssertionError("it did not come about within 5 s")


def with_client(server: ScriptedServer, use: Callable[[ChatClient], Awaitable[T]], **settings: Any) -> T:
    """Runs `use` with a client that is closed afterwards."""

    async def run() -> T:
        client = ChatClient(server.base_url, server.model, **settings)
        try:
            return await use(client)
        finally:
            await client.close()

    return asyncio.run(run())
