"""The engine of one machine: a job is a process here, which goes on when the server ends."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from vera.sandbox.owner import Owner
from vera.service import children
from vera.service.engine import Active
from vera.service.records import BODY, CANCELLED, Ended
from vera.service.terms import Terms
from vera.service.work import REPORT, Work, work_of
from vera.store import replace_file

GRACE_SECONDS = 10.0
"""Between asking a child to end and ending it."""

EXTRA_SECONDS = 120.0
"""What a child gets beyond the time of its job, to conclude with what it knows."""

FIND_SECONDS = 0.5
"""Between two looks at a child that an earlier server started."""

Command = Callable[[Active, Work], Sequence[str]]


class Processes:
    """`Engine` for one machine."""

    def __init__(
        self,
        terms: Terms,
        *,
        at_once: int = 2,
        command: Command | None = None,
        clock: Callable[[], float] = time.time,
    ) -> None:
        """`command` says how a job's child is started: by default as `Work` says."""
        self._terms = terms
        self._at_once = at_once
        self._command = command or (lambda active, work: work.command(active.place))
        self._clock = clock

    async def open(self) -> None:
        """Nothing is to be opened."""

    async def close(self) -> None:
        """Children go on."""

    def insist_on_ready(self) -> None:
        """Always ready."""

    def health(self) -> dict[str, str]:
        return {}

    def has_room(self, running: int) -> bool:
        return running < self._at_once

    def goes_on(self, active: Active) -> bool:
        return children.alive(active.place.folder) is not None

    async def run(self, active: Active) -> Ended | None:
        active.state = "running"
        if owner := children.alive(active.place.folder):
            return await self._follow(active, owner)
        return await self._child(active)

    async def cancel(self, active: Active) -> None:
        if owner := await asyncio.to_thread(children.alive, active.place.folder):
            children.end(owner)

    def session(self, active: Active) -> Path:
        return active.place.session

    async def _child(self, active: Active) -> Ended:
        """Start the child of a job and see it to its end."""
        folder = active.place.folder
        data = await asyncio.to_thread((folder / BODY).read_bytes)
        work = await asyncio.to_thread(work_of, active.job.kind, data, self._terms)
        if work.report:
            await asyncio.to_thread(replace_file, folder / REPORT, work.report.encode())
        if (folder / CANCELLED).exists():
            return Ended(exit_code=None, at=self._clock())
        command = self._command(active, work)
        child = await asyncio.to_thread(children.start, folder, command, work.stdin)
        loop, code = asyncio.get_running_loop(), asyncio.Future[int]()
        child.on_end(lambda number: _tell(loop, code, number))
        if (folder / CANCELLED).exists():  # while it was being started
            children.end(child.owner)
        timed_out = await self._wait(active, child.owner, code, work.reach.seconds + EXTRA_SECONDS)
        return Ended(exit_code=code.result() if code.done() else None, at=self._clock(), timed_out=timed_out)

    async def _wait(self, active: Active, owner: Owner, code: "asyncio.Future[int]", seconds: float) -> bool:
        """Wait for the end of a child; whether it had to be ended for its time."""
        cancelled = active.place.folder / CANCELLED
        deadline = time.monotonic() + seconds
        asked_at = 0.0
        while not code.done():
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(FIND_SECONDS):
                    await asyncio.shield(code)
            late = time.monotonic() > deadline
            if code.done() or not (late or cancelled.exists()):
                continue
            if not asked_at:
                asked_at = time.monotonic()
                children.end(owner)
            elif time.monotonic() > asked_at + GRACE_SECONDS:
                children.end(owner, at_once=True)
        return time.monotonic() > deadline

    async def _follow(self, active: Active, owner: Owner) -> Ended | None:
        """See a child to its end that an earlier server started."""
        code = asyncio.Future[int]()
        looking = asyncio.ensure_future(self._look(owner, code))
        try:
            timed_out = await self._wait(active, owner, code, self._terms.seconds + EXTRA_SECONDS)
        finally:
            looking.cancel()
        return Ended(exit_code=None, at=self._clock(), timed_out=True) if timed_out else None

    async def _look(self, owner: Owner, code: "asyncio.Future[int]") -> None:
        while await asyncio.to_thread(children.is_alive, owner):  # noqa: ASYNC110 - no event says so
            await asyncio.sleep(FIND_SECONDS)
        if not code.done():
            code.set_result(0)


def _tell(loop: asyncio.AbstractEventLoop, code: "asyncio.Future[int]", number: int) -> None:
    """From the thread of a child that has ended; the loop may have closed by then."""

    def tell() -> None:
        if not code.done():
            code.set_result(number)

    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(tell)
