"""A real box that tests speak to without `await`."""

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from support.box_image import image
from vera.sandbox.backends import open_box
from vera.sandbox.box import BoxLimits
from vera.sandbox.spec import BoxSpec
from vera.sandbox.types import CommandResult

T = TypeVar("T")

LINUX = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the host backend needs Linux")
HOST = pytest.param("host", id="host", marks=LINUX)
DOCKER = pytest.param("docker", id="docker", marks=pytest.mark.needs("docker"))
BUBBLEWRAP = pytest.param("bubblewrap", id="bubblewrap", marks=pytest.mark.needs("bubblewrap"))


class Machine:
    """A started box and its own event loop, which runs only during a call."""

    def __init__(self, backend: str, spec: BoxSpec, limits: BoxLimits | None = None) -> None:
        self.backend, self.spec, self.work = backend, spec, spec.work
        self.log: list[bytes] = []
        self.events: list[tuple[str, str]] = []
        self._runner = asyncio.Runner()
        self.box = self._runner.run(
            open_box(backend, spec, limits=limits, log=self.log.append, tell=self._tell)
        )

    def _tell(self, event: str, detail: str) -> None:
        self.events.append((event, detail))

    def run(self, command: str, timeout: float = 30.0) -> CommandResult:
        return self.do(self.box.run(command, timeout=timeout))

    def output(self, command: str, timeout: float = 30.0) -> str:
        result = self.run(command, timeout)
        return (result.head + result.tail).decode()

    def do(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self._runner.run(coroutine)

    def close_box(self) -> None:
        """End the box alone: what was told of it is all here then."""
        self.do(self.box.close())

    def kill_program(self) -> None:
        """Kill the program that the host side has started (the supervisor, where nothing is in between)."""
        assert self.box._process is not None
        self.box._process.kill()

    def close(self) -> None:
        self.close_box()
        self._runner.close()


@contextlib.contextmanager
def work_folder() -> Iterator[Path]:
    """A folder that other users may reach: pytest's own lies below a private one."""
    folder = Path(tempfile.mkdtemp(prefix="vera-test-work-"))
    folder.chmod(0o755)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)


@contextlib.contextmanager
def machine(backend: str, work: Path, limits: BoxLimits | None = None, **changes: Any) -> Iterator[Machine]:
    started = Machine(backend, spec_for(backend, work, **changes), limits)
    try:
        yield started
    finally:
        started.close()


def spec_for(backend: str, work: Path, **changes: Any) -> BoxSpec:
    if backend == "docker":
        changes.setdefault("image", image())
    return BoxSpec(work=work, **changes)
