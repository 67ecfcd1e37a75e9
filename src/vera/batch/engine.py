"""What runs the tasks of a batch: one interface, whichever engine hands them out.

An engine is a queue and a set of slots. What it believes is never the truth: a task is done when its commit
is there (`vera.batch.runs`), whoever ran it and however often.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import msgspec

from vera.batch.records import Manifest, Outcome
from vera.batch.status import State
from vera.batch.task import BatchTask


class Attempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt at a task: its `number`, the `folder` for its session, and the sessions of `earlier`
    attempts by number, the newest first, which it may go on with instead."""

    number: int
    folder: Path
    earlier: tuple[tuple[int, Path], ...] = ()


class Unfinished(Exception):
    """An attempt ended without a result that stands: how, why, and what its session has spent."""

    def __init__(
        self,
        outcome: Outcome,
        reason: str,
        exit_code: int,
        *,
        session: int = 0,
        spent: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(reason)
        self.outcome: Outcome = outcome
        self.reason = reason
        self.exit_code = exit_code
        self.session = session
        self.spent = spent or {}


Handle = Callable[[BatchTask, Attempt], Coroutine[Any, Any, Manifest]]
"""Gives what runs one attempt. It is called before it is certain that the attempt begins, so until it is
awaited it only gets ready what can be got ready twice; where no attempt begins it is closed. Raises
Unfinished when the attempt has no result; cancelled, it ends what it started first."""


class Submitted(msgspec.Struct, frozen=True, kw_only=True):
    """What became of tasks that were submitted: how many are now in the queue, and how many stand otherwise
    (`standing.State` → count)."""

    queued: int
    others: Mapping[State, int]


class Status(msgspec.Struct, frozen=True, kw_only=True):
    """How many tasks stand where."""

    counts: Mapping[State, int]


class Engine(Protocol):
    """Hands out tasks to slots."""

    async def submit(self, tasks: Sequence[BatchTask]) -> Submitted:
        """Queue the tasks that are open; one that is done, queued, held or cancelled stays as it is."""

    async def work(self, handle: Handle, *, slots: int, limits: Mapping[str, int], drain: bool) -> None:
        """Run attempts, at most `slots` at once and at most `limits[endpoint]` at one endpoint. With `drain`
        until nothing is left to be run, else until it is stopped."""

    async def status(self) -> Status:
        """Where everything that was ever submitted here stands."""
