"""The acceptance probes: what a command in a hardened box cannot do, tried."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from sandbox_machine import BUBBLEWRAP, DOCKER, Machine

PROBES = Path(__file__).with_name("sandbox_probes.py")
MIB = 1 << 20
LIMITS = {"pids": 64, "memory": 192 * MIB, "fsize": 32 * MIB, "tmp": 16 * MIB}

BY_DESIGN = {"fifo in /work", "exec from /work"}


@pytest.fixture
def services() -> Iterator[dict[str, object]]:
    """What the host offers beside the box: a listener on all addresses, an abstract socket, a secret."""
    name = f"vera-test-{os.getpid()}"
    with socket.create_server(("0.0.0.0", 0)) as listener, socket.socket(socket.AF_UNIX) as abstract:
        abstract.bind("\0" + name)
        abstract.listen()
        yield {"port": listener.getsockname()[1], "abstract": name, "secret": str(PROBES)}


@pytest.mark.parametrize("backend", [DOCKER, BUBBLEWRAP])
def test_only_what_is_by_design_works_from_inside(
    backend: str,
    start: Callable[..., Machine],
    services: dict[str, object],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PROBE_SECRET", "1")
    started = start(backend, input=Path("/usr/share/common-licenses"), **LIMITS)
    (started.work / "probes.py").write_bytes(PROBES.read_bytes())
    result = started.run(f"python3 probes.py '{json.dumps({**LIMITS, **services})}'", timeout=120)
    found = json.loads(result.head + result.tail)
    width = max(map(len, found))
    for name, worked in found.items():
        sys.stdout.write(f"{backend}  {name:{width}}  {'OPEN' if worked else 'stopped'}\n")
    assert {name for name, worked in found.items() if worked} == BY_DESIGN


def test_probes_find_openings_where_there_are_some(services: dict[str, object]) -> None:
    names = ["a path of the host", "variables of the host", "a service of the host by loopback"]
    names += ["an abstract socket of the host", "a network interface"]
    done = subprocess.run(
        [sys.executable, str(PROBES), json.dumps(services), *names],
        capture_output=True,
        check=True,
        env={**os.environ, "PROBE_SECRET": "1"},
    )
    assert json.loads(done.stdout) == dict.fromkeys(names, True)
