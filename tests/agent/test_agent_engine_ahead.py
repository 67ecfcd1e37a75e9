"""What is asked of the container engine while a run looks for its model."""

import asyncio

import pytest

from vera import config
from vera.agent.engine_ahead import Engine
from vera.config import Settings
from vera.sandbox.types import BoxError


def settings(*overrides: str) -> Settings:
    return config.load(overrides).settings


def engine_of(*overrides: str) -> Engine:
    return Engine(settings(*overrides))


def test_nothing_is_asked_in_advance_where_the_model_may_need_no_box() -> None:
    async def run() -> list[int]:
        tasks = []
        for base_url in ("builtin", "", "http://127.0.0.1:1/v1"):
            engine = engine_of(f"model.base_url={base_url}", "sandbox.backend=none")
            tasks.append(len(asyncio.all_tasks()))
            await engine.close()
        return tasks

    assert asyncio.run(run()) == [1, 1, 2]


def test_what_was_not_asked_in_advance_is_asked_when_it_is_needed() -> None:
    async def run() -> None:
        engine = engine_of("model.base_url=builtin", "sandbox.backend=bubblewrap")
        await engine.ready()
        await engine.ready()
        await engine.close()

    asyncio.run(run())


def test_a_backend_that_there_is_not_is_told_to_who_needs_it_and_to_nobody_else() -> None:
    odd = settings("model.base_url=http://127.0.0.1:1/v1")
    odd = odd.model_copy(update={"sandbox": odd.sandbox.model_copy(update={"backend": "podman"})})

    async def run() -> None:
        await Engine(odd).close()
        engine = Engine(odd)
        with pytest.raises(BoxError, match="no sandbox backend 'podman'"):
            await engine.ready()
        await engine.close()

    asyncio.run(run())
