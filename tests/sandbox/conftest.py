"""Boxes for the tests of this folder."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sandbox_machine import BUBBLEWRAP, DOCKER, HOST, Machine, machine, work_folder


@pytest.fixture
def work() -> Iterator[Path]:
    with work_folder() as folder:
        yield folder


@pytest.fixture
def start(work: Path) -> Iterator[Callable[..., Machine]]:
    """Starts boxes: `start("docker", limits=Limits(head=10), pids=64)`; they are closed after the test."""
    with contextlib.ExitStack() as stack:
        yield lambda backend, **changes: stack.enter_context(machine(backend, work, **changes))


@pytest.fixture(params=[HOST, DOCKER, BUBBLEWRAP])
def box(request: pytest.FixtureRequest, start: Callable[..., Machine]) -> Machine:
    """A box of each backend in turn."""
    return start(request.param)
