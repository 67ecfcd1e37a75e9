"""The lease of a worker: its right to run attempts, which it renews, and which ends when it cannot.

A worker whose last renewal was asked for half a lease ago stops its attempts, whatever the reason: by the end
of the lease they are gone, and the others give its tasks to someone else. It may be alive, cut off or asleep
for a while: a worker that hears that its lease is over stops as well, and begins again as a new one.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from vera.batch.postgres_url import Address
from vera.batch.slots import Slots

if TYPE_CHECKING:
    from procrastinate.manager import JobManager
    from psycopg import AsyncConnection

LEASE_SECONDS = 60.0
RENEWALS = 6
"""Renewals in one lease."""
SILENT_LEASES = 10
"""A connection on which nothing was heard for so many leases is ended by the server, whatever keeps it open:
a process that was stopped, a tunnel that hangs."""


class LeaseLost(Exception):
    """The others have given this worker up."""


def boot_seconds() -> float:
    """Seconds on a clock that also counts while the machine is suspended, where there is one."""
    return time.clock_gettime(time.CLOCK_BOOTTIME) if hasattr(time, "CLOCK_BOOTTIME") else time.monotonic()


class Lease:
    """One worker's lease, and the connection that stands for it: its advisory locks are held there."""

    def __init__(
        self,
        address: Address,
        queue: "JobManager",
        store: str,
        seconds: float,
        *,
        steady: Callable[[], float] = boot_seconds,
    ) -> None:
        self.seconds = seconds
        self.worker = 0
        self.slots = Slots(self.connection, lambda: self.worker, store)
        self._address = address
        self._queue = queue
        self._steady = steady
        self._renewed = float("-inf")
        self._lost = False
        self._one_at_a_time = asyncio.Lock()
        self._connection: AsyncConnection[Any] | None = None

    @property
    def is_held(self) -> bool:
        """Whether attempts may run."""
        return not self._lost and self._steady() - self._renewed < self.seconds / 2

    @property
    def is_lost(self) -> bool:
        """Whether the worker must begin again: it has been given up."""
        return self._lost

    @property
    def pause(self) -> float:
        """Seconds between renewals, and the longest wait for one."""
        return self.seconds / RENEWALS

    async def take(self, name: str, slots: int) -> None:
        """Begin as a new worker. Raises psycopg.Error or procrastinate's ConnectorException."""
        await self.close()
        asked = self._steady()
        self.slots.forget()
        worker = await self._queue.register_worker()
        async with self.connection() as connection:
            await connection.execute(
                "insert into vera_worker (id, name, slots, lease) values (%s, %s, %s, %s)",
                [worker, name, slots, self.seconds],
            )
        self.worker, self._renewed, self._lost = worker, asked, False

    async def renew(self) -> None:
        """Raises LeaseLost, psycopg.Error or TimeoutError; after the first only `take` helps."""
        asked = self._steady()
        async with asyncio.timeout(self.pause), self.connection() as connection:
            row = await connection.execute(
                "update vera_worker set seen = clock_timestamp() where id = %s and lost is null returning id",
                [self.worker],
            )
            if await row.fetchone() is None:
                self._lost = True
                raise LeaseLost
            await self.slots.lock_again(connection, reconnected=False)
        self._renewed = asked

    @contextlib.asynccontextmanager
    async def connection(self) -> AsyncIterator["AsyncConnection[Any]"]:
        """The connection, opened again when it broke; each statement is its own transaction."""
        async with self._one_at_a_time:
            if self._connection is None or self._connection.closed:
                await self._connect()
            assert self._connection is not None
            try:
                yield self._connection
            except BaseException:
                if self._connection is not None and self._connection.broken:
                    self._connection = None
                raise

    async def give_back(self) -> None:
        """The worker ends in order, with nothing running. Raises as `take`."""
        async with self.connection() as connection:
            await connection.execute("delete from vera_slot where worker = %s", [self.worker])
            await connection.execute("delete from vera_worker where id = %s", [self.worker])
        await self._queue.unregister_worker(self.worker)

    async def close(self) -> None:
        """Close the connection: the server frees its locks."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.close()

    async def _connect(self) -> None:
        from psycopg import AsyncConnection

        parameters = self._address.parameters("vera worker", self.pause)
        connection = await AsyncConnection.connect(**parameters, autocommit=True)
        try:
            # The server must notice within a lease that a machine is gone, or its locks would stay for hours.
            seconds = max(1, int(self.seconds / 2))
            for name, value in (
                ("tcp_keepalives_idle", max(1, seconds // 2)),
                ("tcp_keepalives_interval", max(1, seconds // 6)),
                ("tcp_keepalives_count", 3),
                ("tcp_user_timeout", seconds * 1000),
                ("idle_session_timeout", int(SILENT_LEASES * self.seconds * 1000)),
            ):
                await connection.execute("select set_config(%s, %s, false)", [name, str(value)])
            await self.slots.lock_again(connection, reconnected=True)
        except BaseException:
            await connection.close()
            raise
        self._connection = connection
