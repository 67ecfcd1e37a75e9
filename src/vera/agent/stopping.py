"""Stopping a run before its end: a person stops it, or its time is spent."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

from vera import events
from vera.agent import spending
from vera.attestation.keys import Signer
from vera.lane.budget import Budget
from vera.lane.loop import Lane
from vera.session import stop_request
from vera.verification.context import VerifierContext

OUT_OF_TIME = "time"
"""Why a lane ends whose run has no time left."""

BY_PERSON = "interrupted"
"""Why a lane ends that a person stopped."""

LOOK_SECONDS = 0.5
"""Between two looks for a request to stop: one look is one call of the system."""

LOST = "model"
"""Why a lane ends whose model cannot be asked any more."""

# What judges an answer is imported when there is one: the first question is asked without.


class Stopping:
    """Whether a run was stopped, and why. Of several reasons the first counts."""

    def __init__(self) -> None:
        self.reason = ""
        self._verifying: asyncio.Task[events.Verifier] | None = None

    @property
    def is_out_of_time(self) -> bool:
        return self.reason == OUT_OF_TIME

    @property
    def by_person(self) -> bool:
        return bool(self.reason) and not self.is_out_of_time

    def spent(self, budget: Budget) -> str:
        """The budget that ended the run, as half a sentence; '' when none did."""
        return budget.out_of_time if self.is_out_of_time else str(budget.refusal or "")

    def stop(self, reason: str) -> str:
        """Cut off the verification under way; the reason that counts."""
        self.reason = self.reason or reason
        if self._verifying is not None:
            self._verifying.cancel()
        return self.reason

    async def unless_stopped(
        self, verification: Coroutine[Any, Any, events.Verifier]
    ) -> events.Verifier | None:
        """The decision that a verification comes to; None where the run is stopped meanwhile."""
        self._verifying = asyncio.ensure_future(verification)
        try:
            return await self._verifying
        except asyncio.CancelledError:
            task = asyncio.current_task()
            asked_twice = task is not None and task.cancelling() > 0
            if asked_twice or not self.reason:
                raise
            return None
        finally:
            self._verifying = None


@contextmanager
def within_time(left: float | None, stop: Callable[[str], None]) -> Iterator[None]:
    """Call `stop` with OUT_OF_TIME in so many seconds, unless the work is done by then; None: never."""
    if left is None:
        yield
        return
    if left <= 0:
        stop(OUT_OF_TIME)
    timer = asyncio.get_running_loop().call_later(max(0.0, left), stop, OUT_OF_TIME)
    try:
        yield
    finally:
        timer.cancel()


@asynccontextmanager
async def heeding(root: Path, stop: Callable[[str], None] | None = None) -> AsyncIterator[None]:
    """Within, a request to stop in the session at `root` (`session.stop_request`) does what Ctrl-C does: the
    first calls `stop`, one to stop at once cancels the task that runs here, as each does without a `stop`."""
    running = asyncio.current_task()
    assert running is not None
    heeded = asyncio.ensure_future(_heed(root, stop, running.cancel))
    try:
        yield
    finally:
        heeded.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await heeded
        stop_request.clear(root)


async def _heed(root: Path, stop: Callable[[str], None] | None, cancel: Callable[[], bool]) -> None:
    is_told = False
    while (asked := stop_request.asked(root)) != stop_request.NOW and not (asked and stop is None):
        if asked and stop is not None and not is_told:
            stop(BY_PERSON)
            is_told = True
        await asyncio.sleep(LOOK_SECONDS)
    cancel()


async def decide(
    context: VerifierContext,
    signer: Signer,
    lane: Lane,
    stopping: Stopping,
    now: Callable[[str], None],
    *,
    last: bool,
) -> events.Verifier | None:
    """The decision on the lane's answer of now; None when the run was stopped meanwhile.

    One that a spent budget cut short is made again: the run was resumed, perhaps with more.
    """
    answer = lane.state.answer
    decided = [
        each
        for each in context.session.state.rounds.values()
        if each.decision and each.started.answer_seq == (answer.seq if answer else 0)
    ]
    if decided and not spending.was_cut_short(decided[-1]):
        return decided[-1].decision
    if stopping.reason:
        return None
    from vera.verification.verifier import verify

    return await stopping.unless_stopped(verify(context, signer, last=last, now=now))
