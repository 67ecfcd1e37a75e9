"""What happens to a box is told as it happens, by the engine where there is one."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable

import pytest
from sandbox_machine import BUBBLEWRAP, DOCKER, HOST, Machine

from vera.sandbox.backends import docker
from vera.sandbox.engine_events import MAX_EVENTS, EngineEvents
from vera.sandbox.types import BoxError


def run_until_it_has_ended(started: Machine) -> None:
    """A kill is a signal: the box may still answer a command or two."""
    with pytest.raises(BoxError, match="has ended"):
        for _ in range(100):
            started.run("sleep 0.02")


def names(started: Machine) -> list[str]:
    return [event for event, _ in started.events]


@pytest.mark.parametrize("backend", [HOST, BUBBLEWRAP])
def test_a_life_without_an_engine(backend: str, start: Callable[..., Machine]) -> None:
    started = start(backend)
    started.run("true")
    started.run("kill -9 $$")
    started.run("exit 3")
    started.close_box()
    assert started.events[0][1].startswith(backend)
    assert names(started) == ["started", "restored", "restored", "closed"]


@pytest.mark.parametrize("backend", [HOST, BUBBLEWRAP])
def test_a_supervisor_that_is_killed_has_died(backend: str, start: Callable[..., Machine]) -> None:
    started = start(backend)
    started.kill_program()
    run_until_it_has_ended(started)
    started.close_box()
    assert names(started) == ["started", "died"]


@pytest.mark.parametrize("backend", [DOCKER])
def test_the_engine_tells_the_life_of_its_container(backend: str, start: Callable[..., Machine]) -> None:
    started = start(backend)
    started.run("true")
    started.close_box()
    told = names(started)
    assert set(told) >= {"create", "start", "started", "closed", "die", "destroy"}
    assert told.index("create") < told.index("start") < told.index("die") < told.index("destroy")
    assert dict(started.events)["die"].startswith("exitCode=0")


@pytest.mark.parametrize("backend", [DOCKER])
def test_a_container_that_the_engine_kills_has_died(backend: str, start: Callable[..., Machine]) -> None:
    started = start(backend)
    (name,) = [word.removeprefix("--name=") for word in started.box.launch.argv if word.startswith("--name=")]
    docker.client("kill", name)
    run_until_it_has_ended(started)
    started.close_box()
    assert "died" in names(started)
    assert "closed" not in names(started)
    assert dict(started.events)["die"].startswith("exitCode=137")


def follow(program: str) -> list[tuple[str, str]]:
    told: list[tuple[str, str]] = []

    async def main() -> None:
        argv = (sys.executable, "-c", program)
        events = EngineEvents(argv, os.environ, lambda event, detail: told.append((event, detail)))
        await events.start()
        await events.stop()

    asyncio.run(main())
    return told


EVENT = '{"Action": "%s", "Actor": {"Attributes": {"exitCode": "3", "secret": "x"}}}'


def test_events_stop_at_the_last_one_and_show_chosen_attributes_only() -> None:
    lines = [EVENT % "die", EVENT % "destroy", EVENT % "create"]
    assert follow(f"print({chr(10).join(lines)!r}, flush=True); import time; time.sleep(60)") == [
        ("die", "exitCode=3"),
        ("destroy", "exitCode=3"),
    ]


def test_events_are_bounded_in_number_and_length() -> None:
    assert len(follow(f"for _ in range(5000): print({EVENT % 'oom'!r})")) == MAX_EVENTS
    assert follow("print('x' * 1_000_000)") == []
    assert follow("print('[1, 2')") == []
    assert follow("print('{\"Action\": \"' + 'a' * 9999 + '\"}')") == [("a" * 80, "")]


def test_a_program_that_cannot_be_run_tells_nothing() -> None:
    async def main() -> None:
        events = EngineEvents(("/nonesuch",), {}, lambda event, detail: None)
        await events.start()
        await events.stop()

    asyncio.run(main())


def test_a_program_that_goes_on_is_ended() -> None:
    program = (
        f"import os, time; print({EVENT % 'x'!r}.replace('x', str(os.getpid())), flush=True); time.sleep(60)"
    )
    ((number, _),) = follow(program)
    with pytest.raises(ProcessLookupError):
        os.kill(int(number), signal.SIG_DFL)
