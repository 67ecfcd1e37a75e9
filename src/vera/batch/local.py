"""The engine of one machine: a queue in memory, filled from the folder of the runs, and nothing to install.

It works under the folder's lock, so no one else begins attempts meanwhile. When its process is killed, the
queue is gone and nothing is lost: what is open is in the folder, and the next one goes on from there.
"""

import asyncio
import contextlib
import os
import socket
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from vera.batch.engine import Attempt, Handle, Status, Submitted, Unfinished
from vera.batch.pace import Pace
from vera.batch.records import Ended, History, Manifest
from vera.batch.runs import Runs
from vera.batch.status import Standing, State, standing
from vera.batch.task import BatchTask
from vera.batch.waiting import Waiting

LOOK_SECONDS = 0.5
"""How often it is looked whether a person cancelled something that runs."""


class Listener(Protocol):
    """Is told what happens, in the loop's thread."""

    def began(self, task: BatchTask, attempt: Attempt) -> None:
        """An attempt begins."""

    def ended(self, task: BatchTask, end: Ended, now: Standing) -> None:
        """An attempt has ended, and where its task stands now."""

    def slowed(self, endpoint: str, allowed: int) -> None:
        """An endpoint pushed back: so many tasks may run there now."""


class LocalEngine:
    """`Engine` for one machine. `stop` begins no further attempt, `cancel` ends those that run."""

    def __init__(
        self,
        runs: Runs,
        listener: Listener,
        *,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = time.monotonic,
    ) -> None:
        self._runs = runs
        self._listener = listener
        self._clock = clock
        self._steady = steady
        self._waiting = Waiting()
        self._running: dict[str, tuple[BatchTask, asyncio.Task[None]]] = {}
        self._at: Counter[str] = Counter()
        self._paces: dict[str, Pace] = {}
        self._pushed_back: set[str] = set()
        self._slots = 0
        self._limits: Mapping[str, int] = {}
        self._stopped = False
        self._looked = 0.0
        self._changed = asyncio.Event()
        self._worker = f"{socket.gethostname()}:{os.getpid()}"

    async def submit(self, tasks: Sequence[BatchTask]) -> Submitted:
        """Queue what is open. Raises OSError when a task cannot be written."""
        queued, others = 0, Counter[State]()
        for task in tasks:
            self._runs.keep(task)
            if task.id in self._waiting or task.id in self._running:
                others["running"] += 1
                continue
            self._runs.sweep(task.id)
            now = standing(self._runs.history(task.id))
            if now.state == "open":
                self._waiting.add(task)
                queued += 1
            else:
                others[now.state] += 1
        self._changed.set()
        return Submitted(queued=queued, others=dict(others))

    async def work(self, handle: Handle, *, slots: int, limits: Mapping[str, int], drain: bool) -> None:
        """Run what is queued. Cancelled, or when writing fails, it ends the attempts that run first.

        Raises OSError when an attempt cannot be written down.
        """
        self._slots, self._limits, self._paces = slots, limits, {}
        try:
            while True:
                self._changed.clear()
                while not self._stopped and (task := self._take()) is not None:
                    self._begin(task, handle)
                idle = not self._running and (self._stopped or not self._waiting)
                if idle and (drain or self._stopped):
                    return
                await self._wait()
        finally:
            await self.cancel()

    async def status(self) -> Status:
        live = self._runs.is_locked()
        counts = Counter(standing(self._runs.history(t.id), live=live).state for t in self._runs.tasks())
        return Status(counts=counts)

    def stop(self) -> None:
        """Begin no further attempt; `work` returns when those that run have ended."""
        self._stopped = True
        self._changed.set()

    async def cancel(self) -> None:
        """End the attempts that run, and wait for that."""
        self._stopped = True
        running = [running for _, running in self._running.values()]
        for each in running:
            each.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    def pushed_back(self, task: BatchTask) -> None:
        """A model call of this task was pushed back by its endpoint."""
        self._pushed_back.add(task.id)
        pace = self._pace(task.endpoint)
        if pace.pushed_back(self._steady()):
            self._listener.slowed(task.endpoint, pace.allowed)

    async def _wait(self) -> None:
        """Until something changed; meanwhile what a person cancelled is stopped."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LOOK_SECONDS):
                await self._changed.wait()
        if self._steady() - self._looked >= LOOK_SECONDS:
            self._looked = self._steady()
            for task, running in self._running.values():
                if self._is_cancelled(task):
                    running.cancel()
        for _, running in list(self._running.values()):
            if running.done():
                running.result()

    def _take(self) -> BatchTask | None:
        """The next task to run; one that was cancelled while it waited is passed over."""
        while len(self._running) < self._slots:
            task = self._waiting.take(lambda endpoint: self._at[endpoint] < self._pace(endpoint).allowed)
            if task is None:
                return None
            if not self._is_cancelled(task):
                return task
        return None

    def _pace(self, endpoint: str) -> Pace:
        if endpoint not in self._paces:
            most = min(self._slots, self._limits.get(endpoint, self._slots))
            self._paces[endpoint] = Pace(most)
        return self._paces[endpoint]

    def _is_cancelled(self, task: BatchTask) -> bool:
        mark = self._runs.mark(task.id)
        return mark is not None and mark.kind == "cancelled"

    def _begin(self, task: BatchTask, handle: Handle) -> None:
        self._at[task.endpoint] += 1
        running = asyncio.get_running_loop().create_task(self._attempt(task, handle), name=f"task {task.id}")
        self._running[task.id] = (task, running)
        running.add_done_callback(lambda done: self._over(task, done))

    def _over(self, task: BatchTask, done: "asyncio.Task[None]") -> None:
        """The slot is free again. What broke the engine itself is kept for `work`, which raises it."""
        self._at[task.endpoint] -= 1
        if done.cancelled() or done.exception() is None:
            del self._running[task.id]
        self._changed.set()

    async def _attempt(self, task: BatchTask, handle: Handle) -> None:
        """One attempt from its first record to its last."""
        history = self._runs.history(task.id)
        begun = self._runs.begin(task.id, self._worker)
        attempt = Attempt(
            number=begun.number,
            folder=self._runs.session(task.id, begun.number),
            earlier=_earlier(self._runs, task, history),
        )
        self._listener.began(task, attempt)
        cancelled = False
        try:
            end = self._committed(await handle(task, attempt))
        except Unfinished as why:
            end = Ended(
                number=begun.number,
                outcome=why.outcome,
                ts=self._clock(),
                exit_code=why.exit_code,
                reason=why.reason,
                session=why.session,
                spent=why.spent,
            )
        except asyncio.CancelledError:
            cancelled = True
            end = Ended(
                number=begun.number, outcome="interrupted", ts=self._clock(), exit_code=130, reason="stopped"
            )
        self._runs.end(task.id, end)
        self._settle(task, end)
        if cancelled:
            raise asyncio.CancelledError

    def _committed(self, manifest: Manifest) -> Ended:
        won = self._runs.commit(manifest)
        return Ended(
            number=manifest.attempt,
            outcome="committed" if won else "late",
            ts=self._clock(),
            exit_code=manifest.exit_code,
            reason=manifest.reason,
            session=manifest.session,
            spent=manifest.spent,
        )

    def _settle(self, task: BatchTask, end: Ended) -> None:
        """What follows from an attempt: a faster pace, another attempt when its process died."""
        if task.id in self._pushed_back:
            self._pushed_back.discard(task.id)
        elif end.outcome in ("committed", "late"):
            self._pace(task.endpoint).went_well()
        now = standing(self._runs.history(task.id))
        if end.outcome == "crashed" and now.state == "open" and not self._stopped:
            self._waiting.add(task)
        self._listener.ended(task, end, now)


def _earlier(runs: Runs, task: BatchTask, history: History) -> tuple[tuple[int, Path], ...]:
    numbers = sorted((begun.number for begun in history.begun), reverse=True)
    found = ((number, runs.session(task.id, number)) for number in numbers)
    return tuple((number, folder) for number, folder in found if folder.is_dir())
