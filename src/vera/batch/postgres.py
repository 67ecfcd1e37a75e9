"""The engine of many machines: a queue in Postgres, and a folder that all of them share.

`open_postgres` gives the engine. It is an `Engine`, and has what `LocalEngine` has: `stop`, `cancel`,
`pushed_back`. Whoever only submits has `set_limits` and `follow`, which waits until the tasks have left the
queue, and loses nothing when it is killed. `requeue_tasks`, `cancel_tasks`, `standings` and `workers` are for
a person. What is done is written into the shared folder as the local engine writes it, so what reads a folder
of runs reads this one.
"""

import asyncio
import contextlib
import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from vera.batch import postgres_records as records
from vera.batch.engine import Handle, Status, Submitted
from vera.batch.errors import BatchError
from vera.batch.leases import LEASE_SECONDS, RENEWALS, Lease, boot_seconds
from vera.batch.local import Listener
from vera.batch.postgres_follow import Following
from vera.batch.postgres_notices import AGAIN_SECONDS, MOVED, notices
from vera.batch.postgres_queue import MAX_AT_ONCE, Queue
from vera.batch.postgres_tables import prepare
from vera.batch.postgres_url import Address
from vera.batch.postgres_worker import UNREADY_SECONDS, Cluster, PostgresWorker
from vera.batch.records import History
from vera.batch.runs import Runs
from vera.batch.status import Standing, State, standing
from vera.batch.task import BatchTask
from vera.batch.trouble import cause_of, database_errors, is_passing

if TYPE_CHECKING:
    from psycopg import AsyncConnection
    from psycopg_pool import AsyncConnectionPool

MIN_LEASE = 3.0
TRIES = 5
"""Of a submission that met another one of the same tasks."""
CONNECTIONS = 4
"""Of one process, beside that of its lease."""
PREPARED_AFTER = 1
"""Times that a connection sends a statement before the server keeps it: it takes half as long then."""


class WorkerSeen(msgspec.Struct, frozen=True, kw_only=True):
    """A worker: its name (host and process), its slots, attempts that run there, seconds since it renewed its
    lease."""

    name: str
    slots: int
    running: int
    seen: float


class PostgresEngine:
    """`Engine` for many machines."""

    def __init__(self, cluster: Cluster, worker: PostgresWorker, listener: Listener) -> None:
        self._cluster = cluster
        self._queue = cluster.queue
        self._runs = cluster.runs
        self._worker = worker
        self._listener = listener

    async def submit(self, tasks: Sequence[BatchTask]) -> Submitted:
        """Queue what is open. Raises OSError when a task cannot be written, and BatchError."""
        with self._refusing():
            return await self.submit_or_raise(tasks)

    async def submit_or_raise(self, tasks: Sequence[BatchTask]) -> Submitted:
        """As `submit`, for whoever tries again. Raises as Queue does, OSError, and BatchError."""
        queued, others = 0, Counter[State]()
        for start in range(0, len(tasks), MAX_AT_ONCE):
            some = list({task.id: task for task in tasks[start : start + MAX_AT_ONCE]}.values())
            found = await self.submit_written(some, await asyncio.to_thread(self.written, some))
            queued += sum(state is None for state in found)
            others.update(state for state in found if state is not None)
        return Submitted(queued=queued, others=dict(others))

    def written(self, tasks: Sequence[BatchTask]) -> dict[str, History]:
        """Write tasks into the folder; what it knows about those that were begun there. Raises OSError."""
        found = {}
        for task in tasks:
            self._runs.keep(task)
            history = self._runs.history(task.id)
            if history.begun or history.commit is not None or history.mark is not None:
                found[task.id] = history
        return found

    def insist_on_passing(self, error: Exception) -> None:
        """Raises BatchError for an error of the database that does not pass by itself."""
        if not is_passing(error):
            raise self._refused(error) from None

    async def work(self, handle: Handle, *, slots: int, limits: Mapping[str, int], drain: bool) -> None:
        """Run attempts at whatever is queued, by anyone. `limits` hold for all workers from now on.
        Cancelled, it ends the attempts that run first and puts their tasks back.

        Raises BatchError when the database refuses, and OSError when the shared folder cannot be used.
        """
        await self._worker.work(handle, slots=slots, limits=limits, drain=drain)

    async def status(self) -> Status:
        """Where every task in the database stands."""
        return Status(counts=Counter(now.state for now in (await self.standings()).values()))

    def stop(self) -> None:
        """Begin no further attempt here; `work` returns when those that run have ended."""
        self._worker.stop()

    async def cancel(self) -> None:
        """End the attempts that run here and put their tasks back."""
        await self._worker.cancel()

    def pushed_back(self, task: BatchTask) -> None:
        """A model call of this task was pushed back by its endpoint."""
        self._worker.pushed_back(task)

    async def set_limits(self, limits: Mapping[str, int]) -> None:
        """From now on at most so many tasks run at these endpoints, on all machines."""
        with self._refusing():
            async with self._connection() as connection:
                await records.set_limits(connection, limits)

    async def follow(self, tasks: Sequence[BatchTask]) -> None:
        """Wait until none of these tasks is queued or running, and tell the listener what is done about them.
        A database that is away is waited for."""
        following = Following(self._cluster, self._listener, tasks)
        while True:
            try:
                if await following.look():
                    return
                await asyncio.sleep(AGAIN_SECONDS)
            except database_errors() as error:
                self.insist_on_passing(error)
                await asyncio.sleep(AGAIN_SECONDS)

    async def moves(self) -> AsyncGenerator[str | None, None]:
        """What is told on MOVED as it happens; '' when all tasks should be looked at, and None while the
        database is away."""
        told = notices(self._cluster.address, MOVED, LEASE_SECONDS / RENEWALS)
        async with contextlib.aclosing(told) as moves:
            async for task in moves:
                if task == "":
                    await self._cluster.check()
                yield task

    async def look(self, tasks: Sequence[str]) -> dict[str, records.Known]:
        """What is written about each of these tasks. Raises as Queue does."""
        async with self._connection() as connection:
            return await self._known(connection, tasks)

    async def standings(self) -> dict[str, Standing]:
        """Where every task stands, by its id."""
        with self._refusing():
            async with self._connection() as connection:
                found = await self._known(connection, await records.all_tasks(connection))
            return {task: standing(each.history, live=True) for task, each in found.items()}

    async def requeue_tasks(self, tasks: Collection[str]) -> list[str]:
        """Open tasks again that failed, are held or were cancelled, and queue them; those that were."""
        return await self._mark(tasks, "requeued", ("failed", "held", "cancelled"))

    async def cancel_tasks(self, tasks: Collection[str]) -> list[str]:
        """Do not run these tasks; one that runs is stopped by its worker. Those that were not done."""
        return await self._mark(tasks, "cancelled", ("open", "running", "failed", "held"))

    async def workers(self) -> list[WorkerSeen]:
        """The workers whose lease is not over."""
        with self._refusing():
            async with self._connection() as connection:
                rows = await connection.execute(
                    "select name, slots, (select count(*) from vera_attempt where worker = id "
                    "and outcome is null and lost is null), "
                    "extract(epoch from clock_timestamp() - seen)::float8 from vera_worker "
                    "where lost is null and seen + make_interval(secs => lease) >= clock_timestamp() "
                    "order by id"
                )
                return [
                    WorkerSeen(name=name, slots=slots, running=running, seen=seen)
                    for name, slots, running, seen in await rows.fetchall()
                ]

    async def submit_written(
        self, tasks: Sequence[BatchTask], folder: Mapping[str, History], *, soon: bool = False
    ) -> list[State | None]:
        """Queue tasks, each once, of which the folder has what `written` said. Of each the state it has, None
        where it was queued. `soon` does not wait until they are on the disk of the server, for whoever
        queues again what a crash of the server takes back. Raises as `submit_or_raise`."""
        from procrastinate.exceptions import AlreadyEnqueued

        fresh = [task for task in tasks if task.id not in folder]
        async with self._connection() as one:
            new = await records.add_tasks(one, fresh, queued=True, soon=soon) if fresh else set()
        rest = [task for task in tasks if task.id not in new]
        for _ in range(TRIES):
            with contextlib.suppress(AlreadyEnqueued):  # somebody submits the same: look again
                states: dict[str, State | None] = {}
                if rest:
                    async with self._connection() as one, one.transaction():
                        states = await self._queue_open(one, rest, folder)
                return [states.get(task.id) for task in tasks]
        raise BatchError("Others submit the same tasks at this moment. Run the same command again.")

    async def _queue_open(
        self, connection: "AsyncConnection[Any]", tasks: Sequence[BatchTask], folder: Mapping[str, History]
    ) -> dict[str, State | None]:
        new = await records.add_tasks(connection, tasks, queued=False)
        before = {task.id: records.Known() for task in tasks}
        if old := [task for task in before if task not in new]:
            before |= await records.known(connection, old)
        for task, found in folder.items():
            if task in new or (found.commit is not None and before[task].result is None):
                manifest = self._runs.manifest(found.commit) if found.commit is not None else None
                await records.adopt(connection, task, found, manifest)
                before |= await records.known(connection, [task])
        states = {
            task: "running" if each.is_active else standing(each.history).state
            for task, each in before.items()
        }
        is_open = [task for task in tasks if states[task.id] == "open"]
        queues = {task.id: records.queue_of(task.endpoint) for task in is_open if task.id in new}
        if again := [task.id for task in is_open if task.id not in new]:
            queues |= await _queues(connection, again)
        await self._queue.add(connection, [(task.id, queues[task.id]) for task in is_open])
        return {task: None if state == "open" else state for task, state in states.items()}

    async def _mark(self, tasks: Collection[str], kind: str, states: Sequence[State]) -> list[str]:
        changed = []
        with self._refusing():
            for task in sorted(tasks):
                async with self._connection() as connection, connection.transaction():
                    found = (await records.known(connection, [task]))[task]
                    if standing(found.history, live=True).state not in states:
                        continue
                    await records.set_mark(connection, task, kind)
                    if kind == "requeued" and not found.is_active:
                        queue = (await _queues(connection, [task]))[task]
                        await self._queue.add(connection, [(task, queue)])
                await asyncio.to_thread(self._runs.set_mark, task, kind)
                if kind == "cancelled":
                    await self._queue.withdraw(task)
                changed.append(task)
        return changed

    async def _known(
        self, connection: "AsyncConnection[Any]", tasks: Sequence[str]
    ) -> dict[str, records.Known]:
        found: dict[str, records.Known] = {}
        for start in range(0, len(tasks), MAX_AT_ONCE):
            found |= await records.known(connection, tasks[start : start + MAX_AT_ONCE])
        return found

    def _connection(self) -> contextlib.AbstractAsyncContextManager["AsyncConnection[Any]"]:
        return self._cluster.connector.pool.connection()

    @contextlib.contextmanager
    def _refusing(self) -> Iterator[None]:
        try:
            yield
        except database_errors() as error:
            raise self._refused(error) from None

    def _refused(self, error: Exception) -> BatchError:
        said = self._cluster.address.said(cause_of(error))
        what = "does not answer" if is_passing(error) else "refused"
        return BatchError(f"The database {self._cluster.address} {what}: {said}", 5)


@contextlib.asynccontextmanager
async def open_postgres(
    url: str,
    runs: Runs,
    listener: Listener,
    *,
    password: str = "",
    lease: float = LEASE_SECONDS,
    unready_seconds: float = UNREADY_SECONDS,
    clock: Callable[[], float] = time.time,
    steady: Callable[[], float] = boot_seconds,
) -> AsyncIterator[PostgresEngine]:
    """The engine at a database, whose tables are made when they are not there. `lease` is in seconds.

    Raises BatchError: 2 for a wrong address, lease or folder, 5 when the database does not answer or the
    extra is missing; OSError for a folder that cannot be written.
    """
    if lease < MIN_LEASE:
        raise BatchError(f"A lease of {lease:g} s is too short: {MIN_LEASE:g} s at least.", 2)
    address = Address(url, password)
    import procrastinate
    import psycopg

    for name in ("psycopg", "procrastinate"):  # what they log on stderr is told in our words
        logging.getLogger(name).addHandler(logging.NullHandler())
    parameters = address.parameters("vera", lease / RENEWALS)
    try:
        await (await psycopg.AsyncConnection.connect(**parameters)).close()
        connector = procrastinate.PsycopgConnector(
            kwargs={**parameters, "autocommit": True, "prepare_threshold": PREPARED_AFTER},
            min_size=1,
            max_size=CONNECTIONS,
            timeout=lease / RENEWALS,
            reconnect_timeout=AGAIN_SECONDS,
            pool_factory=_unchecked,
        )
        await connector.open_async()
    except database_errors() as error:
        said = address.said(cause_of(error))
        raise BatchError(f"The database {address} cannot be reached: {said}", 5) from None
    try:
        store = await _prepared(connector, runs, address)
        queue = Queue(connector)
        cluster = Cluster(address, connector, queue, runs, store)
        held = Lease(address, queue.manager, store, lease, steady=steady)
        worker = PostgresWorker(
            cluster, held, listener, clock=clock, steady=steady, unready_seconds=unready_seconds
        )
        yield PostgresEngine(cluster, worker, listener)
    finally:
        await connector.close_async()


def _unchecked(**options: Any) -> "AsyncConnectionPool[Any]":
    """A pool that gives a connection without asking the server whether it still works, which would double the
    messages of most statements: a broken one fails, and who uses it tries again."""
    from psycopg_pool import AsyncConnectionPool

    return AsyncConnectionPool(**{**options, "check": None})


async def _prepared(connector: Any, runs: Runs, address: Address) -> str:
    try:
        return await prepare(connector, runs)
    except database_errors() as error:
        raise BatchError(f"The database {address} refused: {address.said(cause_of(error))}", 5) from None


async def _queues(connection: "AsyncConnection[Any]", tasks: Sequence[str]) -> dict[str, str]:
    """Task → the queue of its endpoint."""
    rows = await connection.execute(
        "select id, queue from vera_task join vera_endpoint using (endpoint) where id = any(%s)",
        [list(tasks)],
    )
    return dict(await rows.fetchall())
