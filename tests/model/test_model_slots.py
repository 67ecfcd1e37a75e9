"""Places for requests: never more than there are, first come first served."""

import asyncio

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vera.model.slots import Slots


@settings(max_examples=50, deadline=None)
@given(
    st.integers(1, 4), st.lists(st.tuples(st.integers(1, 6), st.integers(0, 3), st.booleans()), max_size=20)
)
def test_the_limit_holds_and_no_place_is_lost(size: int, jobs: list[tuple[int, int, bool]]) -> None:
    async def run() -> None:
        slots, held = Slots(size), 0

        async def job(weight: int, turns: int) -> None:
            nonlocal held
            async with slots.hold(weight):
                held += min(weight, size)
                try:
                    assert held <= size
                    for _ in range(turns):
                        await asyncio.sleep(0)
                finally:
                    held -= min(weight, size)

        tasks = [asyncio.create_task(job(weight, turns)) for weight, turns, _ in jobs]
        await asyncio.sleep(0)
        for task, (_, _, cancelled) in zip(tasks, jobs, strict=True):
            if cancelled:
                task.cancel()
        for outcome in await asyncio.gather(*tasks, return_exceptions=True):
            assert outcome is None or isinstance(outcome, asyncio.CancelledError)
        async with asyncio.timeout(5), slots.hold(size):
            assert held == 0

    asyncio.run(run())


def test_a_heavy_request_is_not_overtaken_for_ever() -> None:
    async def run() -> list[str]:
        slots, order = Slots(2), []

        async def job(name: str, weight: int) -> None:
            async with slots.hold(weight):
                order.append(name)
                await asyncio.sleep(0)

        await asyncio.gather(job("a", 1), job("heavy", 2), job("b", 1), job("c", 1))
        return order

    assert asyncio.run(run()) == ["a", "heavy", "b", "c"]


@pytest.mark.parametrize("size", [0, -3])
def test_there_is_always_one_place(size: int) -> None:
    async def run() -> None:
        async with Slots(size).hold():
            pass

    asyncio.run(run())
