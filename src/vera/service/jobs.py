"""The queue of jobs: which wait, which run, who may start how many, and how each comes to its end.

One event loop owns all of it: between two awaits nothing changes. What takes long (reading folders, starting
a process) is done in threads, under a lock for each token, so that equal requests that come at one time meet.
"""

import asyncio
import contextlib
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any

import msgspec

from vera.sandbox.owner import Owner
from vera.service import children
from vera.service.problems import Refused, TryLater
from vera.service.records import BODY, CANCELLED, ENDED, Ended, Job, JobView, Records, State
from vera.service.terms import KEPT, Terms
from vera.service.tokens import Token
from vera.service.work import REPORT, Kind, Work, body_digest, work_of
from vera.session.session import replace_file

GRACE_SECONDS = 10.0
"""Between asking a child to end and ending it."""

EXTRA_SECONDS = 120.0
"""What a child gets beyond the time of its job, to conclude with what it knows."""

FIND_SECONDS = 0.5
"""Between two looks at a child that an earlier server started."""

RETRY_SECONDS = 5.0
HOUR = 3600.0

Command = Callable[["Active", Work], Sequence[str]]
Clock = Callable[[], float]


class Active:
    """A job that waits or runs. `askers` are the requests that wait for it."""

    def __init__(self, records: Records, job: Job) -> None:
        self.records = records
        self.job = job
        self.place = records.place(job)
        self.state: State = "queued"
        self.askers = 1
        self.over = asyncio.Event()


class Jobs:
    """Every job of every token."""

    def __init__(
        self,
        terms: Terms,
        *,
        at_once: int = 2,
        most_waiting: int = 100,
        command: Command | None = None,
        clock: Clock = time.time,
    ) -> None:
        """`command` says how a job's child is started: by default as `Work` says."""
        self.terms = terms
        self._at_once = at_once
        self._most_waiting = most_waiting
        self._command = command or (lambda active, work: work.command(active.place))
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
        """Take up what an earlier server left: its children that still run, and what waited."""
        for token in tokens:
            records = await self.records(token)
            await asyncio.to_thread(records.clear_bundles)
            self._asked[token.folder] = deque(records.since(self._clock() - HOUR), token.per_hour)
            for job in await asyncio.to_thread(records.unfinished):
                self._take_up(records, job)
        self._start_waiting()

    async def close(self) -> None:
        """Let go of everything; children go on, and what waits is taken up by the next server."""
        self._closing = True
        for task in list(self._running):
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

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
            active = self._enqueue(records, job)
        self._start_waiting()
        return active, False

    def state(self, records: Records, job: Job) -> State:
        """Where a job is."""
        active = self._active.get(job.id)
        return active.state if active else records.state(job)

    def active(self, job: Job) -> Active | None:
        """The job while it waits or runs."""
        return self._active.get(job.id)

    async def view(self, records: Records, job: Job, *, shared: bool = False, whole: bool = True) -> JobView:
        """The job as its owner sees it."""
        state = self.state(records, job)
        return await asyncio.to_thread(records.view, job, state, self.terms, shared=shared, whole=whole)

    async def cancel(self, records: Records, job: Job) -> None:
        """End a job, for all who share it. What has ended stays as it is."""
        active = self._active.get(job.id)
        if active is None:
            return
        await asyncio.to_thread(replace_file, active.place.folder / CANCELLED, b"")
        if active in self._waiting:
            self._waiting.remove(active)
            self._over(active)
        elif owner := await asyncio.to_thread(children.alive, active.place.folder):
            children.end(owner)

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
        if sum(1 for _ in self._of(records)) >= token.at_once:
            sentence = f"This token may have {token.at_once} jobs that wait or run."
            raise TryLater(429, "too_many_at_once", sentence, RETRY_SECONDS)
        if len(self._waiting) >= self._most_waiting:
            raise TryLater(503, "queue_full", "Too many jobs wait already.", RETRY_SECONDS)

    def _take_up(self, records: Records, job: Job) -> None:
        owner = children.alive(records.place(job).folder)
        if owner is None:
            self._enqueue(records, job)
            return
        active = Active(records, job)
        active.state = "running"
        self._active[job.id] = active
        self._task(self._follow(active, owner))

    def _enqueue(self, records: Records, job: Job) -> Active:
        active = Active(records, job)
        self._active[job.id] = active
        self._waiting.append(active)
        return active

    def _start_waiting(self) -> None:
        while self._waiting and len(self._running) < self._at_once and not self._closing:
            active = self._waiting.popleft()
            active.state = "running"
            self._task(self._run(active))

    def _task(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._running.discard(task)
        if not self._closing:
            self._start_waiting()

    async def _run(self, active: Active) -> None:
        """Start the child of a job and see it to its end."""
        ended = Ended(exit_code=None, at=self._clock())
        try:
            ended = await self._child(active)
        except Refused as refused:
            ended = Ended(exit_code=None, at=self._clock(), refused=self.terms.hidden(str(refused)))
        except FileExistsError:
            sentence = "It may have been started before the service ended. Ask again."
            ended = Ended(exit_code=None, at=self._clock(), refused=sentence)
        except OSError as error:
            sentence = f"The job cannot be started: {error.strerror or 'an error of the system'}."
            ended = Ended(exit_code=None, at=self._clock(), refused=sentence)
        finally:
            if not self._closing:
                self._keep(active, ended)

    async def _child(self, active: Active) -> Ended:
        folder = active.place.folder
        data = await asyncio.to_thread((folder / BODY).read_bytes)
        work = await asyncio.to_thread(work_of, active.job.kind, data, self.terms)
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
        timed_out = await self._wait(active, child.owner, code, work.seconds + EXTRA_SECONDS)
        return Ended(exit_code=code.result() if code.done() else None, at=self._clock(), timed_out=timed_out)

    async def _wait(self, active: Active, owner: Owner, code: "asyncio.Future[int]", seconds: float) -> bool:
        """Wait for the end of a child; whether it had to be ended for its time."""
        cancelled = active.place.folder / CANCELLED
        deadline = time.monotonic() + seconds
        asked_at = 0.0
        while not code.done():
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(code), FIND_SECONDS)
            late = time.monotonic() > deadline
            if code.done() or not (late or cancelled.exists()):
                continue
            if not asked_at:
                asked_at = time.monotonic()
                children.end(owner)
            elif time.monotonic() > asked_at + GRACE_SECONDS:
                children.end(owner, at_once=True)
        return time.monotonic() > deadline

    async def _follow(self, active: Active, owner: Owner) -> None:
        """See a child to its end that an earlier server started."""
        code, timed_out = asyncio.Future[int](), False
        looking = asyncio.ensure_future(self._look(owner, code))
        try:
            timed_out = await self._wait(active, owner, code, self.terms.seconds + EXTRA_SECONDS)
        finally:
            looking.cancel()
            if not self._closing:
                late = Ended(exit_code=None, at=self._clock(), timed_out=True)
                self._keep(active, late if timed_out else None)

    async def _look(self, owner: Owner, code: "asyncio.Future[int]") -> None:
        while await asyncio.to_thread(children.is_alive, owner):  # noqa: ASYNC110 - no event says so
            await asyncio.sleep(FIND_SECONDS)
        if not code.done():
            code.set_result(0)

    def _keep(self, active: Active, ended: Ended | None) -> None:
        """The end of a job on the disk, before anyone hears of it."""
        if ended is not None:
            with contextlib.suppress(OSError):
                replace_file(active.place.folder / ENDED, msgspec.json.encode(ended))
        self._over(active)

    def _over(self, active: Active) -> None:
        self._active.pop(active.job.id, None)
        active.over.set()


def _tell(loop: asyncio.AbstractEventLoop, code: "asyncio.Future[int]", number: int) -> None:
    """From the thread of a child that has ended; the loop may have closed by then."""

    def tell() -> None:
        if not code.done():
            code.set_result(number)

    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(tell)
