"""The queue: procrastinate's jobs, one for each task that is to be run or running.

A job that is over is deleted: what became of its task is in our own tables. Whoever runs a job owns it
until it is finished or put back; one whose worker was given up goes to someone else.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec

if TYPE_CHECKING:
    from procrastinate import PsycopgConnector
    from procrastinate.jobs import Job as ProcrastinateJob
    from psycopg import AsyncConnection

KIND = "vera.attempt"
MAX_AT_ONCE = 500
"""Tasks that one statement names."""
ACTIVE = (
    "select queueing_lock from procrastinate_jobs where status = 'todo' and queueing_lock = any(%(tasks)s) "
    f"and task_name = '{KIND}' union all select queueing_lock from procrastinate_jobs "
    f"where status = 'doing' and queueing_lock = any(%(tasks)s) and task_name = '{KIND}'"
)
"""The SQL of those of `tasks` that wait or run. Two parts, as procrastinate has an index for each."""
SOON = "set_config('synchronous_commit', 'off', true)"
"""In a statement, SQL by which its transaction does not wait for the disk: with the next one that does, both
are there. A crash of the server in between takes the change back."""
WAITING = (
    "select endpoint, queue, most, waited from vera_endpoint cross join lateral ("
    "select id as waited from procrastinate_jobs where queue_name = queue and status = 'todo' "
    "and (scheduled_at is null or scheduled_at <= now()) order by id limit 1) as job order by waited"
)
TAKE = (
    f"select id, coalesce(args ->> 'task', ''), {SOON} "
    "from procrastinate_fetch_job_v2(array[%s]::varchar[], %s) where id is not null"
)
TAKE_FIRST = (
    f"with first as ({WAITING} limit 1) select endpoint, waited, job.id as job, "
    f"coalesce(args ->> 'task', '') as task, {SOON} as soon "
    "from first left join lateral procrastinate_fetch_job_v2(array["
    "case when most is null and endpoint <> all(%(full)s) then queue else '' end]::varchar[], %(worker)s) "
    "as job on true"
)
"""The SQL by which a worker owns the job that waits longest: its endpoint, the number of the job seen
waiting, that of the job taken (another where somebody was quicker) and its task. It takes nothing where that
endpoint has a limit or is one of those named, as no queue has an empty name."""
FINISH = (
    f"delete from procrastinate_jobs where id = %s and worker_id = %s and status = 'doing' returning {SOON}"
)
PUT_BACK = (
    "update procrastinate_jobs set status = 'todo', worker_id = null, attempts = attempts + 1, "
    "scheduled_at = now() + make_interval(secs => %s) "
    "where id = %s and status = 'doing' and worker_id is not distinct from %s"
)
"""One statement: of two that put a job of a lost worker back, the later one does not take it from the worker
that has begun it in between."""
NEVER = 10 * 365 * 86400.0
"""Seconds without a heartbeat after which procrastinate itself gives up a worker: our leases do."""


class Job(msgspec.Struct, frozen=True):
    """A job that this worker owns."""

    id: int
    task: str


class Waiting(msgspec.Struct, frozen=True):
    """An endpoint with jobs that wait: its queue, and the limit of tasks there."""

    endpoint: str
    queue: str
    most: int | None


class Queue:
    """The jobs, over a pool of connections that commit each statement.

    Raises procrastinate's ConnectorException or psycopg.Error.
    """

    def __init__(self, connector: "PsycopgConnector") -> None:
        from procrastinate.manager import JobManager

        self.manager = JobManager(connector)
        self._pool = connector.pool

    async def add(self, connection: "AsyncConnection[Any]", tasks: Sequence[tuple[str, str]]) -> None:
        """Queue tasks (id, queue), in the transaction of `connection`. Raises procrastinate's
        AlreadyEnqueued when one waits already: then none was queued."""
        from procrastinate.jobs import Job as ProcrastinateJob

        jobs = [
            ProcrastinateJob(
                id=None, queue=queue, lock=None, queueing_lock=id_, task_name=KIND, task_kwargs={"task": id_}
            )
            for id_, queue in tasks
        ]
        if jobs:
            await self.manager.batch_defer_jobs_async(jobs, connection=connection)

    async def active(self, connection: "AsyncConnection[Any]", tasks: Sequence[str]) -> set[str]:
        """Those of these tasks that wait or run."""
        rows = await connection.execute(cast("Any", ACTIVE), {"tasks": list(tasks)})
        return {task for (task,) in await rows.fetchall()}

    async def is_empty(self) -> bool:
        """Whether nothing waits and nothing runs, anywhere."""
        async with self._pool.connection() as connection:
            rows = await connection.execute(
                "select 1 from procrastinate_jobs where task_name = %s "
                "and status in ('todo', 'doing') limit 1",
                [KIND],
            )
            return await rows.fetchone() is None

    async def waiting(self) -> list[Waiting]:
        """The endpoints with jobs that may run now, the one whose first job waits longest first."""
        async with self._pool.connection() as connection:
            rows = await connection.execute(WAITING)
            return [Waiting(endpoint, queue, most) for endpoint, queue, most, _ in await rows.fetchall()]

    async def take(self, queue: str, worker: int) -> Job | None:
        """Own the next job of a queue; None when it has none. It is on the disk with what is written next,
        that the attempt begins."""
        async with self._pool.connection() as connection:
            rows = await connection.execute(cast("Any", TAKE), [queue, worker])
            row = await rows.fetchone()
        return Job(row[0], row[1]) if row is not None else None

    async def owned(self, worker: int) -> list[Job]:
        """The jobs that a worker owns."""
        return [_job(job) for job in await self.manager.list_jobs_async(worker_id=worker, status="doing")]

    async def ownerless(self) -> list[Job]:
        """The jobs that run nowhere, as their worker is no longer known."""
        stalled = await self.manager.get_stalled_jobs(task_name=KIND, seconds_since_heartbeat=NEVER)
        return [_job(job) for job in stalled]

    async def finish(self, job: Job, worker: int) -> None:
        """The job is over. One that is not this worker's any more stays as it is. One that a crash of the
        server brings back is put back by its worker, which does not know it."""
        async with self._pool.connection() as connection:
            await connection.execute(cast("Any", FINISH), [job.id, worker])

    async def put_back(self, job: Job, worker: int | None, seconds: float = 0.0) -> None:
        """The job waits again, and may be taken in so many seconds. One that is not of this worker (None: of
        no one) any more stays as it is."""
        async with self._pool.connection() as connection:
            await connection.execute(PUT_BACK, [seconds, job.id, worker])

    async def withdraw(self, task: str) -> None:
        """A task that waits does so no longer."""
        for job in await self.manager.list_jobs_async(queueing_lock=task, status="todo"):
            if job.id is not None:
                await self.manager.cancel_job_by_id_async(job.id, delete_job=True)


def _job(found: "ProcrastinateJob") -> Job:
    assert found.id is not None
    return Job(found.id, str(found.task_kwargs.get("task", "")))
