"""One worker: takes tasks from the queue, runs attempts in its slots, and writes down what became of them.

When the database is away, what runs goes on until half of the lease; what has ended waits to be written. The
queue may be wrong about who runs what; the first commit is the result, whoever made it.
"""

import asyncio
import contextlib
import fcntl
import os
import socket
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from vera.batch import postgres_records as records
from vera.batch.cancelling import end_tasks, insist_on_cancellation
from vera.batch.engine import Attempt, Handle, Unfinished
from vera.batch.errors import BatchError
from vera.batch.leases import Lease, LeaseLost
from vera.batch.local import Listener
from vera.batch.pace import Pace
from vera.batch.postgres_notices import AGAIN_SECONDS, MOVED, QUEUED, notices, tell
from vera.batch.postgres_queue import Job, Queue
from vera.batch.postgres_url import Address
from vera.batch.records import Begun, Ended, History, Manifest
from vera.batch.recovery import end_attempts, recover
from vera.batch.runs import Runs
from vera.batch.status import Standing, standing
from vera.batch.task import BatchTask
from vera.batch.trouble import cause_of, database_errors, is_passing
from vera.session.session import TRACE

if TYPE_CHECKING:
    from procrastinate import PsycopgConnector

LOOK_SECONDS = 0.5
"""How often the queue is looked at when nothing happens here, and cancelled tasks are looked for."""
CLOSING_SECONDS = 10.0
"""How long a worker that ends tries to write what became of its attempts."""
UNREADY_SECONDS = 30.0
"""How long a task waits that could not be run yet, and this worker before it asks that endpoint again."""
MAX_UNREADY = 5
LATE_SECONDS = 0.03
"""How much later than others a worker looks at what was queued that came too late for it the last time. Else
all that are free wake at one moment, to let one have it. In so long the first one has begun its process, on a
slow machine too."""
LEASE_OVER = "its worker could not renew its lease"
CANCELLED = "cancelled"


class Cluster(msgspec.Struct, frozen=True):
    """What all who work with the database share: the way there, the queue, the folder, and its name."""

    address: Address
    connector: "PsycopgConnector"
    queue: Queue
    runs: Runs
    store: str

    async def check(self) -> None:
        """After the connection to the database broke: the others may be broken without a sign of it, and are
        made again."""
        with contextlib.suppress(*database_errors()):
            await self.connector.pool.check()


class _Held(msgspec.Struct, kw_only=True, eq=False):
    """An attempt that runs here; `why` says why it was stopped."""

    task: BatchTask
    job: Job
    number: int
    slot: int | None
    handling: "asyncio.Task[Manifest]"
    before: History
    running: "asyncio.Task[None] | None" = None
    why: str = ""


class PostgresWorker:
    """Runs attempts. `stop` begins no further one, `cancel` ends those that run and puts their tasks back."""

    def __init__(
        self,
        cluster: Cluster,
        lease: Lease,
        listener: Listener,
        *,
        clock: Callable[[], float],
        steady: Callable[[], float],
        unready_seconds: float = UNREADY_SECONDS,
    ) -> None:
        self._cluster = cluster
        self._queue = cluster.queue
        self._runs = cluster.runs
        self._lease = lease
        self._listener = listener
        self._clock = clock
        self._steady = steady
        self._unready_seconds = unready_seconds
        self._name = f"{socket.gethostname()}:{os.getpid()}"
        self._slots = 0
        self._running: dict[str, _Held] = {}
        self._at: Counter[str] = Counter()
        self._paces: dict[str, Pace] = {}
        self._paused: dict[str, float] = {}
        self._pushed_back: set[str] = set()
        self._unsure = False
        self._broken: BaseException | None = None
        self._stopped = False
        self._closing_at: float | None = None
        self._recovered_at = float("-inf")
        self._looked_at = float("-inf")
        self._changed = asyncio.Event()
        self._was_woken = False
        self._was_told = False
        self._comes_late = False

    async def work(self, handle: Handle, *, slots: int, limits: Mapping[str, int], drain: bool) -> None:
        """Raises BatchError when the database refuses, and OSError when the shared folder cannot be used."""
        self._slots = slots
        helpers = [asyncio.create_task(each) for each in (self._renew(), self._watch(), self._hear())]
        unset = dict(limits)
        try:
            while True:
                self._changed.clear()
                try:
                    if unset:
                        async with self._cluster.connector.pool.connection() as connection:
                            await records.set_limits(connection, unset)
                        unset = {}
                    async with asyncio.timeout(self._lease.seconds):
                        if await self._turn(handle, drain):
                            return
                    pause = LOOK_SECONDS
                except database_errors() as error:
                    self._unsure = True
                    if not is_passing(error):
                        raise self._refused(error) from None
                    pause = AGAIN_SECONDS
                await self._wait(pause)
        finally:
            await self._end(helpers)

    def stop(self) -> None:
        """Begin no further attempt; `work` returns when those that run have ended."""
        self._stopped = True
        self._changed.set()

    async def cancel(self) -> None:
        """End the attempts that run, and wait for that."""
        self._stopped = True
        for held in self._running.values():
            self._interrupt(held, held.why)
        running = [held.running for held in self._running.values() if held.running is not None]
        await asyncio.gather(*running, return_exceptions=True)

    def pushed_back(self, task: BatchTask) -> None:
        """A model call of this task was pushed back by its endpoint."""
        self._pushed_back.add(task.id)
        pace = self._paces.get(task.endpoint)
        if pace is not None and pace.pushed_back(self._steady()):
            self._listener.slowed(task.endpoint, pace.allowed)

    async def _turn(self, handle: Handle, drain: bool) -> bool:
        """Do what is due; whether there is nothing more to do."""
        if self._lease.worker == 0 or self._lease.is_lost:
            if self._running:
                return False  # first what ran under the lost lease has to end
            if self._stopped:
                return True
            await self._lease.take(self._name, self._slots)
            self._unsure = False
        if self._lease.is_held:
            if self._unsure:
                await self._make_sure()
            await self._begin_all(handle)
            await self._look_around()
        if self._running:
            return False
        return self._stopped or (drain and await self._queue.is_empty())

    async def _wait(self, seconds: float) -> None:
        self._was_woken = True
        try:
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        except TimeoutError:
            self._was_woken = False
        if self._broken is not None:
            raise self._broken
        insist_on_cancellation()

    async def _renew(self) -> None:
        """Renew the lease for ever; what is wrong is seen by `_watch` and `_turn`."""
        while True:
            pause = self._lease.pause
            if self._lease.worker and not self._lease.is_lost:
                try:
                    await self._lease.renew()
                except LeaseLost:
                    self._changed.set()
                except database_errors():
                    pause = min(AGAIN_SECONDS, pause / 2)
            await asyncio.sleep(pause)

    async def _watch(self) -> None:
        """Stop what runs when the lease is not held any more. Nothing here waits for the database."""
        while True:
            await asyncio.sleep(self._lease.pause / 4)
            if self._lease.worker and not self._lease.is_held:
                for held in self._running.values():
                    self._interrupt(held, LEASE_OVER)

    async def _hear(self) -> None:
        """Take a turn as soon as something was queued; after the connection broke, make sure first."""
        broke, loop = False, asyncio.get_running_loop()
        async with contextlib.aclosing(notices(self._cluster.address, QUEUED, self._lease.pause)) as heard:
            async for notice in heard:
                if notice is None:
                    broke = True
                    continue
                if broke:
                    await self._cluster.check()
                    self._unsure, broke = True, False
                loop.call_later(LATE_SECONDS if self._comes_late else 0.0, self._tell_queued)

    def _tell_queued(self) -> None:
        self._was_told = True
        self._changed.set()

    async def _make_sure(self) -> None:
        """After trouble: give back what this worker owns without knowing."""
        self._unsure = False
        await end_attempts(self._cluster.connector, self._lease.worker, self._runs, list(self._running))
        known = {held.job.id for held in self._running.values()}
        for job in await self._queue.owned(self._lease.worker):
            if job.id not in known:
                await self._queue.put_back(job, self._lease.worker)
        used = {(h.task.endpoint, h.slot) for h in self._running.values() if h.slot is not None}
        await self._lease.slots.keep_only(used)

    async def _look_around(self) -> None:
        """Now and then: take over from lost workers, and stop what a person cancelled. The first can wait
        while there is a task to begin, of which every worker is told at one moment."""
        now = self._steady()
        if now - self._recovered_at >= self._lease.pause * (2 if self._was_woken else 1):
            self._recovered_at = now
            await recover(self._cluster.connector, self._queue, self._runs)
        if now - self._looked_at < LOOK_SECONDS:
            return
        self._looked_at = now  # also while nothing runs: not beside the start of the first process
        if self._running:
            async with self._cluster.connector.pool.connection() as connection:
                cancelled = await records.cancelled_among(connection, self._running)
            for task in cancelled & self._running.keys():
                self._interrupt(self._running[task], CANCELLED)

    async def _begin_all(self, handle: Handle) -> None:
        """Begin what there are slots for, and learn whether this worker was in time for what it was told."""
        was_told, self._was_told = self._was_told, False
        while not self._stopped and len(self._running) < self._slots:
            if await self._begin_next(handle):
                was_told = self._comes_late = False
            else:
                self._comes_late = self._comes_late or was_told
                return

    async def _begin_next(self, handle: Handle) -> bool:
        """Take a job of the endpoints that have room and begin it; False when there is none to take."""
        try:
            async with self._cluster.connector.pool.connection() as connection:
                taken = await records.take_first(connection, self._lease.worker, self._full())
            if taken is None:
                return False
            if taken.job is None:
                return await self._begin_within_limits(handle)
            await self._begin(taken.job, taken.endpoint, None, handle, taken.known)
            return True
        except BaseException:
            self._unsure = True  # something may be taken that is not known here
            raise

    async def _begin_within_limits(self, handle: Handle) -> bool:
        """As `_begin_next`, for endpoints of which some have limits."""
        full = self._full()
        for waiting in await self._queue.waiting():
            endpoint, slot = waiting.endpoint, None
            if endpoint in full or self._at[endpoint] >= self._pace(endpoint, waiting.most).allowed:
                continue
            if waiting.most is not None:
                slot = await self._lease.slots.acquire(endpoint, waiting.most)
                if slot is None:
                    continue
            job = await self._queue.take(waiting.queue, self._lease.worker)
            begun = job is not None and await self._begin(job, endpoint, slot, handle)
            if slot is not None and not begun:
                await self._lease.slots.release(endpoint, slot)
            if job is not None:
                return True
        return False

    def _full(self) -> set[str]:
        """Endpoints at which nothing more is begun now."""
        now = self._steady()
        full = {endpoint for endpoint, pace in self._paces.items() if self._at[endpoint] >= pace.allowed}
        return full | {endpoint for endpoint, until in self._paused.items() if now < until}

    async def _begin(
        self, job: Job, endpoint: str, slot: int | None, handle: Handle, known: records.Known | None = None
    ) -> bool:
        """Begin an attempt at the task of a job, about which this is known; False when it is not to be
        run."""
        if known is None:
            async with self._cluster.connector.pool.connection() as connection:
                known = (await records.known(connection, [job.task]))[job.task]
        task, before = known.task, known.history
        if known.result is not None:  # who won may have died before it wrote this
            await asyncio.to_thread(self._runs.commit, known.result)
        state = standing(before, live=True).state
        if state == "running":  # the queue is wrong, and is needed should that attempt come to no result
            await self._queue.put_back(job, self._lease.worker, self._lease.pause)
            return False
        if task is None or state != "open":
            await self._queue.finish(job, self._lease.worker)
            return False
        row, attempt = await asyncio.to_thread(self._written, task, before)
        handling = handle(task, attempt)
        is_begun = False
        try:
            async with self._cluster.connector.pool.connection() as connection:
                is_begun = await records.begin(
                    connection, row, worker=self._lease.worker, endpoint=endpoint, slot=slot
                )
        finally:
            if not is_begun:
                handling.close()
        if not is_begun:
            return False
        self._listener.began(task, attempt)
        loop = asyncio.get_running_loop()
        held = _Held(
            task=task,
            job=job,
            number=row.number,
            slot=slot,
            before=before,
            handling=loop.create_task(handling, name=f"task {task.id}"),
        )
        self._pace(endpoint, None)
        self._at[endpoint] += 1
        self._running[task.id] = held
        held.running = loop.create_task(self._attempt(held))
        held.running.add_done_callback(lambda done: self._over(held, done))
        return True

    def _written(self, task: BatchTask, before: History) -> tuple[Begun, Attempt]:
        """Write into the folder what the task is, and that an attempt at it begins. Raises OSError."""
        self._runs.keep(task)
        row = self._runs.begin(task.id, self._name)
        folder = self._runs.session(task.id, row.number)
        return row, Attempt(number=row.number, folder=folder, earlier=self._earlier(before, task.id))

    async def _attempt(self, held: _Held) -> None:
        """From the end of an attempt to its last record."""
        manifest, end = None, None
        try:
            manifest = await held.handling
        except Unfinished as why:
            end = Ended(
                number=held.number,
                outcome=why.outcome,
                ts=self._clock(),
                exit_code=why.exit_code,
                reason=why.reason,
                session=why.session,
                spent=why.spent,
            )
        except asyncio.CancelledError:
            end = Ended(
                number=held.number,
                outcome="cancelled" if held.why == CANCELLED else "interrupted",
                ts=self._clock(),
                exit_code=130,
                reason=held.why or "stopped",
            )
        await self._record(held, manifest, end)

    def _over(self, held: _Held, done: "asyncio.Task[None]") -> None:
        """The slot is free here. What broke the engine itself is kept for `work`, which raises it."""
        self._at[held.task.endpoint] -= 1
        del self._running[held.task.id]
        if not done.cancelled() and (error := done.exception()) is not None:
            self._broken = error
            self._unsure = True  # its end is written nowhere
        self._changed.set()

    async def _record(self, held: _Held, manifest: Manifest | None, end: Ended | None) -> None:
        """Write down the end of an attempt, as often as the database needs; a worker that ends gives up."""
        while True:
            try:
                async with asyncio.timeout(self._lease.seconds):
                    if manifest is not None:
                        end = await self._commit(manifest)
                    assert end is not None
                    now = await self._settle(held, end, is_told=manifest is not None)
            except database_errors() as error:
                self._unsure = True
                if not is_passing(error):
                    raise self._refused(error) from None
                if self._closing_at is not None and self._steady() >= self._closing_at:
                    return
                await asyncio.sleep(AGAIN_SECONDS / 4)
                continue
            self._learn(held, end)
            self._listener.ended(held.task, end, now)
            return

    async def _commit(self, manifest: Manifest) -> Ended:
        """Make this the result of its task unless it has one: in the database, which tells those who wait,
        and then in the folder."""
        async with self._cluster.connector.pool.connection() as connection:
            winner = await records.commit(connection, manifest)
        if winner == manifest.attempt and not await asyncio.to_thread(self._runs.commit, manifest):
            other = await asyncio.to_thread(_result_of, self._runs, manifest.task)
            if other is not None and other.attempt != winner:  # made without the database: it was first
                winner = other.attempt
                async with self._cluster.connector.pool.connection() as connection:
                    await records.replace_commit(connection, other, manifest.attempt)
        return Ended(
            number=manifest.attempt,
            outcome="committed" if winner == manifest.attempt else "late",
            ts=self._clock(),
            exit_code=manifest.exit_code,
            reason=manifest.reason,
            session=manifest.session,
            spent=manifest.spent,
        )

    async def _settle(self, held: _Held, end: Ended, *, is_told: bool) -> Standing:
        """Write the end, and tell it unless that is done; give the job and the slot back, and say where the
        task stands now. Whoever waits for a task that is done does not wait for its job to be gone."""
        task = held.task.id
        await asyncio.to_thread(self._runs.end, task, end)
        now, wait = Standing(state="done"), None
        if not is_told:
            async with self._cluster.connector.pool.connection() as connection:
                await records.end(connection, task, end)
                history = (await records.known(connection, [task]))[task].history
            now = standing(history)
            wait = self._pause_after(end, history) if now.state == "open" else None
        if wait is not None:
            await self._queue.put_back(held.job, self._lease.worker, wait)
        else:
            await self._queue.finish(held.job, self._lease.worker)
        if held.slot is not None and not self._lease.is_lost:
            await self._lease.slots.release(held.task.endpoint, held.slot)
        if now.state != "done":
            async with self._cluster.connector.pool.connection() as connection:
                await tell(connection, MOVED, task)
        return now

    def _pause_after(self, end: Ended, history: History) -> float | None:
        """Seconds until the task may be tried again, None when only a person's word tries it again."""
        if end.outcome in ("crashed", "interrupted", "cancelled"):
            return 0.0
        if end.outcome != "unready":
            return None
        first = history.mark.after + 1 if history.mark is not None else 1
        unready = [e for e in history.ended.values() if e.outcome == "unready" and e.number >= first]
        return self._unready_seconds if len(unready) < MAX_UNREADY else None

    def _learn(self, held: _Held, end: Ended) -> None:
        """What the end of an attempt says about its endpoint."""
        endpoint = held.task.endpoint
        if held.task.id in self._pushed_back:
            self._pushed_back.discard(held.task.id)
        elif end.outcome in ("committed", "late"):
            self._paces[endpoint].went_well()
        if end.outcome == "unready":
            self._paused[endpoint] = self._steady() + self._unready_seconds

    def _pace(self, endpoint: str, most: int | None) -> Pace:
        if endpoint not in self._paces:
            self._paces[endpoint] = Pace(min(self._slots, most or self._slots))
        return self._paces[endpoint]

    def _interrupt(self, held: _Held, why: str) -> None:
        if not held.handling.done():
            held.why = held.why or why
            held.handling.cancel()

    def _earlier(self, before: History, task: str) -> tuple[tuple[int, Path], ...]:
        """The sessions of earlier attempts that no one works in: a lost worker's may still be running."""
        numbers = sorted((begun.number for begun in before.begun), reverse=True)
        found = ((number, self._runs.session(task, number)) for number in numbers)
        return tuple((number, folder) for number, folder in found if _is_free(folder))

    def _refused(self, error: Exception) -> BatchError:
        said = self._cluster.address.said(cause_of(error))
        return BatchError(f"The database {self._cluster.address} refused: {said}", 5)

    async def _end(self, helpers: "list[asyncio.Task[None]]") -> None:
        """End what runs, say goodbye, and let go of the connection."""
        self._closing_at = self._steady() + CLOSING_SECONDS
        try:
            await self.cancel()
        finally:
            await end_tasks(helpers)
            if self._lease.worker and not self._lease.is_lost and not self._running:
                with contextlib.suppress(*database_errors()):
                    async with asyncio.timeout(CLOSING_SECONDS):
                        if self._unsure:
                            with contextlib.suppress(OSError):
                                await self._make_sure()
                        await self._lease.give_back()
            await self._lease.close()


def _result_of(runs: Runs, task: str) -> Manifest | None:
    commit = runs.history(task).commit
    return runs.manifest(commit) if commit is not None else None


def _is_free(session: Path) -> bool:
    """Whether there is a session, and no process has its log (`vera.session.log` locks it)."""
    try:
        descriptor = os.open(session / TRACE, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
