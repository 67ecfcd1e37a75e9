"""What becomes of the work of a lost worker: any other worker gives it to whoever is free.

A worker is lost when its lease is over by the database's clock: it stopped its attempts at half of it. Each
part can be done twice, by two workers or after a crash in the middle.
"""

import asyncio
from collections.abc import Collection
from typing import TYPE_CHECKING, Any, cast

from vera.batch import postgres_records as records
from vera.batch.postgres_queue import Queue
from vera.batch.records import Ended
from vera.batch.runs import Runs

if TYPE_CHECKING:
    from procrastinate import PsycopgConnector
    from psycopg import AsyncConnection


async def recover(connector: "PsycopgConnector", queue: Queue, runs: Runs) -> int:
    """Take over from every lost worker, and from one that is not known any more; how many jobs wait again.
    Raises as Queue does, and OSError."""
    async with connector.pool.connection() as connection:
        await connection.execute(
            "update vera_worker set lost = clock_timestamp() where lost is null "
            "and seen + make_interval(secs => lease) < clock_timestamp()"
        )
    async with connector.pool.connection() as connection:
        rows = await connection.execute(
            "select id from vera_worker where lost is not null union select worker from vera_attempt "
            "where outcome is null and lost is null and worker not in (select id from vera_worker) order by 1"
        )
        lost = [worker for (worker,) in await rows.fetchall()]
    again = 0
    for worker in lost:
        await end_attempts(connector, worker, runs)
        for job in await queue.owned(worker):
            await queue.put_back(job, worker)
            again += 1
        async with connector.pool.connection() as connection:
            await connection.execute("delete from vera_worker where id = %s", [worker])
        await queue.manager.unregister_worker(worker)
    for job in await queue.ownerless():
        await queue.put_back(job, None)
        again += 1
    return again


async def end_attempts(
    connector: "PsycopgConnector", worker: int, runs: Runs, but: Collection[str] = ()
) -> None:
    """The attempts of a worker are over, but those at the tasks `but`; where it has none, its slots are free.
    This is one transaction, so that no moment counts one of them twice."""
    which = "worker = %s and outcome is null and lost is null and task <> all(%s)"
    end = f"update vera_attempt set lost = clock_timestamp(), changed = clock_timestamp() where {which}"
    async with connector.pool.connection() as connection, connection.transaction():
        found = await records.attempts(connection, which, [worker, list(but)])
        await connection.execute(cast("Any", end), [worker, list(but)])
        if not but:
            await connection.execute("delete from vera_slot where worker = %s", [worker])
        now = await _now(connection)
    for row in found:
        over = Ended(number=row.begun.number, outcome="crashed", ts=now, exit_code=1, reason=records.LOST)
        await asyncio.to_thread(runs.sweep, row.begun.task)
        await asyncio.to_thread(runs.end, row.begun.task, over)


async def _now(connection: "AsyncConnection[Any]") -> float:
    row = await (await connection.execute("select extract(epoch from clock_timestamp())::float8")).fetchone()
    assert row is not None
    return float(row[0])
