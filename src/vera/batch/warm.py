"""The warm pool: processes that wait, each with a started box, for the attempts that come next.

A box waits for a kind of task: its settings and its input folder. That tasks with these settings use a box at
all is learned from the log of one that did, so nothing is started for theses, for the built-in model, or
where there is no engine. What waits is no attempt yet: nothing is written about it, it holds no slot, and it
has asked no model.
"""

import asyncio
import contextlib
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec

from vera.batch.children import Children, Parked
from vera.batch.task import BatchTask
from vera.batch.task_settings import handed_of
from vera.config.handed import Allowed, Scalar
from vera.sandbox import owner

FOLDER = ".warm"
"""In the folder of the runs, so that a workspace can be moved from there."""
NAME = "warm"
CLOSING_SECONDS = 15.0


class Kind(msgspec.Struct, frozen=True):
    """What the box of a task depends on: the settings that it sets, and the input folder as written."""

    settings: tuple[tuple[str, Scalar], ...]
    input_dir: str


class Warm:
    """At most `size` waiting processes. `runs` is the folder of the runs, `overrides` hold for all tasks, and
    tasks may set what is `allowed`."""

    def __init__(
        self, children: Children, runs: Path, overrides: Sequence[str], allowed: Allowed, size: int
    ) -> None:
        self.size = size
        self._children = children
        self._folder = runs / FOLDER / owner.new_box_name(NAME)
        self._overrides = tuple(overrides)
        self._allowed = allowed
        self._uses_box: set[tuple[tuple[str, Scalar], ...]] = set()
        self._cold: set[Kind] = set()
        self._waiting: list[tuple[Kind, Parked]] = []
        self._leaving: list[Parked] = []
        self._count = 0

    def learn(self, task: BatchTask) -> None:
        """An attempt at this task has opened a box."""
        if self.size:
            self._uses_box.add(_kind(task).settings)

    def prepare(self, tasks: Sequence[BatchTask]) -> None:
        """Let boxes wait for these tasks, the next ones to begin, and end those that wait for others. A kind
        whose process could not have a box, or died, gets no other.

        Raises BatchError when the fork server is gone.
        """
        ahead = {_kind(task): task for task in tasks[: self.size] if task.kind == "task"}
        wanted = Counter(_kind(task) for task in tasks[: self.size] if task.kind == "task")
        kept = []
        for kind, parked in self._waiting:
            if parked.ended.done():
                self._cold.add(kind)
            elif wanted[kind] > 0:
                wanted[kind] -= 1
                kept.append((kind, parked))
            else:
                self._release(parked)
        self._waiting = kept
        for kind in wanted.elements():
            if kind.settings in self._uses_box and kind not in self._cold:
                self._count += 1
                folder = self._folder / str(self._count)
                handed = handed_of(ahead[kind], self._allowed)
                self._waiting.append((kind, self._children.park(folder, self._overrides, handed)))

    def take(self, task: BatchTask) -> Parked | None:
        """The process that has waited longest for a task of this kind; None when none does."""
        kind = _kind(task)
        for place, (waits_for, parked) in enumerate(self._waiting):
            if waits_for == kind and not parked.ended.done():
                del self._waiting[place]
                return parked
        return None

    async def close(self) -> None:
        """End what waits, with its box, and remove its folders."""
        for _, parked in self._waiting:
            self._release(parked)
        self._waiting = []
        if left := [parked.ended for parked in self._leaving if not parked.ended.done()]:
            await asyncio.wait(left, timeout=CLOSING_SECONDS)
        await asyncio.to_thread(_remove, self._folder)

    def _release(self, parked: Parked) -> None:
        self._leaving = [each for each in self._leaving if not each.ended.done()]
        self._leaving.append(parked)
        parked.release()


@contextlib.asynccontextmanager
async def open_warm(
    children: Children, runs: Path, overrides: Sequence[str], allowed: Allowed, size: int
) -> AsyncIterator[Warm]:
    """A pool, which leaves nothing. What the pools of processes that were killed left is removed first."""
    with contextlib.suppress(OSError):
        for folder in (runs / FOLDER).iterdir():
            if (whose := owner.owner_of(folder.name, NAME)) is not None and whose.is_dead:
                await asyncio.to_thread(_remove, folder)
    warm = Warm(children, runs, overrides, allowed, size)
    try:
        yield warm
    finally:
        await warm.close()


def _kind(task: BatchTask) -> Kind:
    return Kind(tuple(task.settings.items()), task.input_dir)


def _remove(folder: Path) -> None:
    """A folder of a pool, and that of all pools when it was the last one."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        folder.parent.rmdir()
