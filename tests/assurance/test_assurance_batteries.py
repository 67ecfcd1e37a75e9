"""A slice of each battery, the first trials of a long run."""

import functools
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor

import pytest

from assurance import runner
from assurance.batteries import Battery, batteries

SLICES = [
    pytest.param(
        battery,
        range(of, battery.slice, SHARES),
        marks=[pytest.mark.needs(name) for name in battery.needs],
        id=f"{battery.name}-{of}",
    )
    for battery in batteries().values()
    for SHARES in [min(4, battery.slice)]
    for of in range(SHARES)
]


@pytest.fixture(scope="module")
def pool() -> Iterator[ProcessPoolExecutor]:
    """A process that nothing else uses: what attempts leave behind in theirs is no test's."""
    with runner.pool_of(1) as made:
        yield made


@pytest.mark.parametrize(("battery", "numbers"), SLICES)
def test_the_promise_of_a_battery_holds_in_its_slice(
    battery: Battery, numbers: range, pool: ProcessPoolExecutor
) -> None:
    results = list(pool.map(functools.partial(runner.attempt, battery.name, seed=0), numbers))
    failures = [
        each.failure or f"{each.number} has no row" for each in results if each.failure or not each.row
    ]
    assert not failures, "\n".join(failures)
