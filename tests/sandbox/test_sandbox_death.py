"""When the process that holds a box dies, however it dies, nothing of the box is left."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_machine import BUBBLEWRAP, DOCKER, HOST, work_folder

from support.box_image import image
from vera.sandbox import orphans, owner
from vera.sandbox.backends import BACKENDS

PROGRAM = Path(__file__).with_name("sandbox_host_process.py")
SECONDS = 10.0
STATES = {"idle": "", "busy": "while :; do :; done", "flooding": "yes"}


def start(backend: str, work: Path, command: str) -> "subprocess.Popen[bytes]":
    named = image() if backend == "docker" else ""
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), backend, str(work), named, command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def containers() -> list[str]:
    shown = subprocess.run(
        ["docker", "ps", "--all", "--filter=label=vera.sandbox", "--format={{.Names}}"],
        capture_output=True,
        text=True,
        check=True,
    )
    return shown.stdout.split()


def remains(backend: str, pid: int) -> list[str]:
    """What is left of the boxes that the process had."""
    names = {name for _, found in orphans.named_processes() for name in found}
    if backend == "docker":
        names.update(containers())
    elif backend == "host":
        names.update(path.name for path in orphans.run_dir("x").parent.glob(f"{owner.PREFIX}.*"))
    return [name for name in names if f".{pid}." in name]


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]


def wait_until(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + SECONDS
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT], ids=lambda n: n.name)
@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("backend", [HOST, DOCKER, BUBBLEWRAP])
def test_nothing_is_left_when_the_holder_dies(
    backend: str, state: str, number: signal.Signals, repeats: int
) -> None:
    with work_folder() as work:
        holders = [start(backend, work, STATES[state]) for _ in range(repeats)]
        try:
            for holder in holders:
                assert holder.stdout is not None
                assert holder.stdout.readline() == b"READY\n"
                assert remains(backend, holder.pid)
            for holder in holders:
                holder.send_signal(number)
            for holder in holders:
                holder.wait(timeout=SECONDS)
                assert wait_until(lambda pid=holder.pid: not remains(backend, pid)), remains(
                    backend, holder.pid
                )
        finally:
            for holder in holders:
                holder.kill()
                holder.wait()
                assert holder.stdout is not None
                holder.stdout.close()


@pytest.mark.parametrize("state", STATES)
@pytest.mark.parametrize("backend", [DOCKER, BUBBLEWRAP])
def test_nothing_is_left_when_the_client_is_killed(backend: str, state: str, repeats: int) -> None:
    """The docker client or bwrap, while its holder lives on."""
    with work_folder() as work:
        for _ in range(repeats):
            holder = start(backend, work, STATES[state])
            try:
                assert holder.stdout is not None
                assert holder.stdout.readline() == b"READY\n"
                for child in children_of(holder.pid):
                    os.kill(child, signal.SIGKILL)
                assert wait_until(lambda pid=holder.pid: not remains(backend, pid)), remains(
                    backend, holder.pid
                )
            finally:
                holder.kill()
                holder.wait()
                assert holder.stdout is not None
                holder.stdout.close()


@pytest.mark.parametrize("backend", [HOST, DOCKER, BUBBLEWRAP])
def test_nothing_is_left_when_the_holder_and_its_child_die_together(backend: str) -> None:
    """The docker client, bwrap, or the supervisor itself: the last line of defence is the reaper."""
    with work_folder() as work:
        holder = start(backend, work, "sleep 1000")
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"READY\n"
        children = children_of(holder.pid)
        os.kill(holder.pid, signal.SIGSTOP)
        for child in children:
            os.kill(child, signal.SIGKILL)
        holder.kill()
        holder.wait()
        holder.stdout.close()
        (engine,) = [known for known in BACKENDS if known.name == backend]
        engine.reap()
        assert wait_until(lambda: not remains(backend, holder.pid)), remains(backend, holder.pid)


@pytest.mark.parametrize("backend", [HOST, DOCKER, BUBBLEWRAP])
def test_the_reaper_spares_the_boxes_of_the_living(backend: str) -> None:
    with work_folder() as work:
        holder = start(backend, work, "")
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"READY\n"
            (engine,) = [known for known in BACKENDS if known.name == backend]
            engine.reap()
            assert remains(backend, holder.pid)
        finally:
            holder.kill()
            holder.wait()
            holder.stdout.close()
        assert wait_until(lambda: not remains(backend, holder.pid))
