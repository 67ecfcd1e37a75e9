"""The acceptance probes: what a command in a hardened box cannot do, tried."""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator

import pytest
from sandbox_machine import BUBBLEWRAP, DOCKER

from support.box_image import image
from vera.sandbox import acceptance
from vera.sandbox.types import BoxError

BY_DESIGN = {"fifo in /work", "exec from /work"}


async def built() -> str:
    return image()


@pytest.mark.parametrize("profile", ["research", "sealed"])
@pytest.mark.parametrize("backend", [DOCKER, BUBBLEWRAP])
def test_only_what_is_by_design_works_from_inside(backend: str, profile: str) -> None:
    if backend == "docker":
        image()
    found = asyncio.run(acceptance.probe(backend, profile, built))  # type: ignore[arg-type] # a Literal
    show(found)
    assert found.backend == backend
    assert {attempt.name for attempt in found.attempts if attempt.worked} == BY_DESIGN
    assert found.openings == []


@pytest.mark.needs("docker")
def test_root_in_a_lab_gets_no_further_than_its_own_root() -> None:
    image()
    found = asyncio.run(acceptance.probe("docker", "lab", built))
    show(found)
    assert found.openings == []
    worked = {attempt.name for attempt in found.attempts if attempt.worked}
    assert "write /usr" in worked
    assert not worked & {"write /input", "a device in /work", "io_uring", "a raw socket", "mount"}


@pytest.mark.parametrize("backend", ["host", "none"])
def test_what_isolates_nothing_is_not_probed(backend: str) -> None:
    with pytest.raises(BoxError, match="nothing to probe"):
        asyncio.run(acceptance.probe(backend))


@pytest.fixture
def offered() -> Iterator[dict[str, object]]:
    """What a bare machine has for a program in it: a server, an abstract socket, a file."""
    name = f"vera-test-{os.getpid()}"
    with socket.create_server(("0.0.0.0", 0)) as listener, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind("\0" + name)
        abstract.listen()
        yield {"port": listener.getsockname()[1], "abstract": name, "secret": str(acceptance.PROGRAM)}


def test_probes_find_openings_where_there_are_some(offered: dict[str, object]) -> None:
    names = ["a path of the host", "variables of the host", "a service of the host by loopback"]
    names += ["an abstract socket of the host", "a network interface"]
    done = subprocess.run(
        [sys.executable, "-I", str(acceptance.PROGRAM), json.dumps(offered), *names],
        capture_output=True,
        check=True,
        env={**os.environ, "PROBE_SECRET": "1"},
    )
    assert json.loads(done.stdout) == dict.fromkeys(names, True)


def show(found: acceptance.Acceptance) -> None:
    width = max(len(attempt.name) for attempt in found.attempts)
    for attempt in found.attempts:
        state = "OPEN" if attempt.worked else "stopped"
        sys.stdout.write(f"{found.backend}  {attempt.name:{width}}  {state}\n")
