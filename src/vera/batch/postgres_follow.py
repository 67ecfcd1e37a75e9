"""What happens to the tasks of one submission, as whoever waits for them sees it: read, never written."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vera.batch import postgres_records as records
from vera.batch.engine import Attempt
from vera.batch.local import Listener
from vera.batch.postgres_queue import MAX_AT_ONCE
from vera.batch.status import standing
from vera.batch.task import BatchTask

if TYPE_CHECKING:
    from psycopg import AsyncConnection

    from vera.batch.postgres_worker import Cluster

OVERLAP_SECONDS = 15.0
"""Rows are read again for so long: one that was written earlier can become visible later."""


class Following:
    """Tells a listener about the attempts at some tasks."""

    def __init__(self, cluster: "Cluster", listener: Listener, tasks: Sequence[BatchTask]) -> None:
        self._cluster = cluster
        self._listener = listener
        self._tasks = {task.id: task for task in tasks}
        self._order = list(self._tasks)
        self._settled = 0
        self._since: float | None = None
        self._begun: set[tuple[str, int]] = set()
        self._ended: set[tuple[str, int]] = set()

    async def look(self) -> bool:
        """Tell what is new; whether none of the tasks is queued or running. Raises psycopg.Error."""
        async with self._cluster.connector.pool.connection() as connection:
            is_over = await self._is_over(connection)
            await self._tell(connection)
        return is_over

    async def _is_over(self, connection: "AsyncConnection[Any]") -> bool:
        while self._settled < len(self._order):
            some = self._order[self._settled : self._settled + MAX_AT_ONCE]
            if await self._cluster.queue.active(connection, some):
                return False
            self._settled += len(some)
        return True

    async def _tell(self, connection: "AsyncConnection[Any]") -> None:
        """Attempts that were begun or ended since the last look."""
        if self._since is None:  # what was before this submission is not told
            row = await (
                await connection.execute("select extract(epoch from clock_timestamp())::float8")
            ).fetchone()
            assert row is not None
            self._since = float(row[0])
        found = await records.attempts(
            connection, "changed > to_timestamp(%s)", [self._since - OVERLAP_SECONDS]
        )
        mine = [row for row in found if row.begun.task in self._tasks]
        over = {row.begun.task for row in mine if row.ended is not None}
        known = await records.known(connection, sorted(over))
        for row in mine:
            key, task = (row.begun.task, row.begun.number), self._tasks[row.begun.task]
            if key not in self._begun:
                self._begun.add(key)
                folder = self._cluster.runs.session(task.id, row.begun.number)
                self._listener.began(task, Attempt(number=row.begun.number, folder=folder))
            if row.ended is not None and key not in self._ended:
                self._ended.add(key)
                self._listener.ended(task, row.ended, standing(known[task.id].history, live=True))
        self._since = max([self._since, *(row.changed for row in found)])
        await asyncio.sleep(0)
