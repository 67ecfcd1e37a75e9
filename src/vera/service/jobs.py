"""The queue of jobs: which wait, which run, and who may start how many. An `Engine` runs them.

One event loop owns all of it: between two awaits nothing changes. What takes long (reading folders, starting
a process) is done in threads, under a lock for each token, so that equal requests that come at one time meet.
"""

import asyncio
import contextlib
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from vera.service.engine import Active, Engine
from vera.service.problems import Refused, TryLater
from vera.service.records import CANCELLED, Ended, Job, JobView, Records, State, keep_end
from vera.service.terms import KEPT, Terms
from vera.service.tokens import Token
from vera.service.work import Kind, Reach, body_digest, work_of
from vera.store import replace_file

RETRY_SECONDS = 5.0
HOUR = 3600.0

Clock = Callable[[], float]


class Jobs:
    """Every job of every token."""

    def __init__(
        self,
        terms: Terms,
        engine: Engine,
        *,
        most_waiting: int = 100,
        clock: Clock = time.time,
    ) -> None:
        self.terms = terms
        self.engine = engine
        self._most_waiting = most_waiting
        self._clock = clock
        self._records: dict[str, Records] = {}
        self._locks: dict[str, asyncio.Lock] = {}
        self._asked: dict[str, deque[float]] = {}
        self._active: OrderedDict[str, Active] = OrderedDict()
        self._waiting: deque[Active] = deque()
        self._running: set[asyncio.Task[None]] = set()
        self._cancelling: set[asyncio.Task[None]] = set()
        self._closing = False

    async def open(self, tokens: Sequence[Token]) -> None:
        """Take up what an earlier server left: jobs that still run, and what waited. Raises OSError."""
        await self.engine.open()
        for token in tokens:
            records = await self.records(token)
            await asyncio.to_thread(records.clear)
            self._asked[token.folder] = deque(records.since(self._clock() - HOUR), token.per_hour)
            for job in await asyncio.to_thread(records.unfinished):
                self._take_up(records, job)
        self._start_waiting()

    async def close(self) -> None:
        """Let go of everything; what runs goes on, and what waits is taken up by the next server."""
        self._closing = True
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await self.engine.close()

    async def records(self, token: Token) -> Records:
        """The jobs of a token."""
        if token.folder not in self._records:
            base = self.terms.base / KEPT / token.folder
            found = await asyncio.to_thread(Records, base)
            self._records.setdefault(token.folder, found)
        return self._records[token.folder]

    async def submit(self, token: Token, kind: Kind, body: bytes, key: str = "") -> tuple[Active | Job, bool]:
        """The job that a request is answered with, and whether it was there already: under the same
        idempotency key, or as an equal request that has not ended.

        Raises Refused: 400, 403, 409 for a key of another body, TryLater (429, 503).
        """
        self._count(token)
        records = await self.records(token)
        async with self._locks.setdefault(token.folder, asyncio.Lock()):
            told = body_digest(kind, body)
            if key and (before := records.by_key.get(key)):
                if before.body != told:
                    raise Refused(
                        409, "key_of_another", "This Idempotency-Key came with another body before."
                    )
                return self._shared(before), True
            work = await asyncio.to_thread(work_of, kind, body, self.terms)
            for active in self._of(records):
                if active.job.share == work.share:
                    if key:
                        await asyncio.to_thread(records.name, active.job, key, told)
                    return self._shared(active.job), True
            self._insist_on_room(token, records)
            job = await asyncio.to_thread(records.add, kind, body, work.share, told, key, self._clock())
            active = self._enqueue(records, job, work.reach)
        self._start_waiting()
        return active, False

    def state(self, records: Records, job: Job) -> State:
        """Where a job is."""
        active = self._active.get(job.id)
        return active.state if active else records.state(job)

    def active(self, job: Job) -> Active | None:
        """The job while it waits or runs."""
        return self._active.get(job.id)

    def session(self, records: Records, job: Job) -> Path:
        """Where the job's session lies now."""
        active = self._active.get(job.id)
        return self.engine.session(active) if active else records.place(job).session

    async def view(self, records: Records, job: Job, *, shared: bool = False, whole: bool = True) -> JobView:
        """The job as its owner sees it."""
        if (active := self._active.get(job.id)) is not None:  # which is told without a look at its files
            return records.view(job, active.state, self.terms, shared=shared, whole=whole)
        return await asyncio.to_thread(self._view_of_ended, records, job, shared, whole)

    def _view_of_ended(self, records: Records, job: Job, shared: bool, whole: bool) -> JobView:
        return records.view(job, records.state(job), self.terms, shared=shared, whole=whole)

    async def cancel(self, records: Records, job: Job) -> None:
        """End a job, for all who share it. What has ended stays as it is."""
        active = self._active.get(job.id)
        if active is None:
            return
        await asyncio.to_thread(replace_file, active.place.folder / CANCELLED, b"")
        if active in self._waiting:
            self._waiting.remove(active)
            self._over(active)
        else:
            await self.engine.cancel(active)

    def leave(self, active: Active) -> None:
        """One who waited has gone: a job that no one else asked for is cancelled."""
        active.askers -= 1
        if active.askers <= 0 and not self._closing:
            task = asyncio.create_task(self.cancel(active.records, active.job))
            self._cancelling.add(task)
            task.add_done_callback(self._cancelling.discard)

    def _shared(self, job: Job) -> Active | Job:
        if (active := self._active.get(job.id)) is None:
            return job
        active.askers += 1
        return active

    def _of(self, records: Records) -> Iterator[Active]:
        return (each for each in self._active.values() if each.records is records)

    def _count(self, token: Token) -> None:
        """Raises TryLater for a request too many in an hour."""
        now, asked = self._clock(), self._asked.setdefault(token.folder, deque())
        while asked and asked[0] <= now - HOUR:
            asked.popleft()
        if len(asked) >= token.per_hour:
            raise TryLater(
                429,
                "hour_used_up",
                f"This token may ask {token.per_hour} times an hour.",
                asked[0] + HOUR - now if asked else HOUR,
            )
        asked.append(now)

    def _insist_on_room(self, token: Token, records: Records) -> None:
        if self._closing:
            raise TryLater(503, "closing", "The service is ending.", RETRY_SECONDS)
        self.engine.insist_on_ready()
        if sum(1 for _ in self._of(records)) >= token.at_once:
            sentence = f"This token may have {token.at_once} jobs that wait or run."
            raise TryLater(429, "too_many_at_once", sentence, RETRY_SECONDS)
        if sum(each.state == "queued" for each in self._active.values()) >= self._most_waiting:
            raise TryLater(503, "queue_full", "Too many jobs wait already.", RETRY_SECONDS)

    def _take_up(self, records: Records, job: Job) -> None:
        active = self._enqueue(records, job)
        if self.engine.goes_on(active):
            self._waiting.remove(active)
            self._begin(active)

    def _enqueue(self, records: Records, job: Job, reach: Reach | None = None) -> Active:
        active = Active(records, job, reach)
        self._active[job.id] = active
        self._waiting.append(active)
        return active

    def _start_waiting(self) -> None:
        while self._waiting and self.engine.has_room(len(self._running)) and not self._closing:
            self._begin(self._waiting.popleft())

    def _begin(self, active: Active) -> None:
        task = asyncio.create_task(self._run(active))
        self._running.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        if not self._closing:
            self._start_waiting()

    async def _run(self, active: Active) -> None:
        """See a job to its end, and write down how it ended."""
        ended: Ended | None = Ended(exit_code=None, at=self._clock())
        try:
            ended = await self.engine.run(active)
        except Refused as refused:
            ended = self._never_started(self.terms.hidden(str(refused)))
        except FileExistsError:
            ended = self._never_started("It may have been started before the service ended. Ask again.")
        except OSError as error:
            why = error.strerror or "an error of the system"
            ended = self._never_started(f"The job cannot be started: {why}.")
        finally:
            if not self._closing:
                await self._keep(active, ended)

    def _never_started(self, why: str) -> Ended:
        return Ended(exit_code=None, at=self._clock(), refused=why)

    async def _keep(self, active: Active, ended: Ended | None) -> None:
        """The end of a job on the disk, before anyone hears of it unless the engine has its result there."""
        if active.has_result:
            self._over(active)
        if ended is not None:
            with contextlib.suppress(OSError):
                await asyncio.to_thread(keep_end, active.place.folder, ended)
        self._over(active)

    def _over(self, active: Active) -> None:
        self._active.pop(active.job.id, None)
        active.over.set()
