"""The slots of the model endpoints that have a limit: exactly so many tasks run there, on all machines.

A slot is held by two things. Its row says that an attempt may be running in it: it goes when the attempt has
ended, or when the lease of its worker is over and the attempt must have been stopped. Its advisory lock
belongs to the worker's connection and goes with the process, when it dies: while a worker that is only
stopped could wake up, no one takes its place (for `leases.SILENT_LEASES`). A slot is free when both are gone.
"""

import hashlib
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from psycopg import AsyncConnection


class Slots:
    """The slots that a worker holds, over the connection of its lease. `worker` gives its number."""

    def __init__(
        self,
        connection: Callable[[], AbstractAsyncContextManager["AsyncConnection[Any]"]],
        worker: Callable[[], int],
        store: str,
    ) -> None:
        self._connection = connection
        self._worker = worker
        self._store = store
        self._held: set[tuple[str, int]] = set()
        self._unlocked: set[tuple[str, int]] = set()

    async def acquire(self, endpoint: str, most: int) -> int | None:
        """The number of a slot from 1 to `most`, None when all are taken. Raises psycopg.Error."""
        async with self._connection() as connection:
            rows = await connection.execute("select number from vera_slot where endpoint = %s", [endpoint])
            taken = {number for (number,) in await rows.fetchall()}
            free = [number for number in range(1, most + 1) if number not in taken]
            for number in free[: max(0, most - len(taken))]:
                if not await self._lock(connection, endpoint, number):
                    continue
                row = await connection.execute(
                    "insert into vera_slot (endpoint, number, worker) select %s, %s, id from vera_worker "
                    "where id = %s and lost is null for share on conflict do nothing returning number",
                    [endpoint, number, self._worker()],
                )
                if await row.fetchone() is not None:
                    self._held.add((endpoint, number))
                    return number
                await self._unlock(connection, endpoint, number)
        return None

    async def release(self, endpoint: str, number: int) -> None:
        """Give a slot back. Raises psycopg.Error, and can then be called again."""
        async with self._connection() as connection:
            await connection.execute(
                "with gone as (delete from vera_slot where endpoint = %s and number = %s and worker = %s) "
                "select pg_advisory_unlock(%s)",
                [endpoint, number, self._worker(), self._key(endpoint, number)],
            )
            self._held.discard((endpoint, number))
            self._unlocked.discard((endpoint, number))

    async def lock_again(self, connection: "AsyncConnection[Any]", *, reconnected: bool) -> None:
        """The locks went with the connection (`reconnected`): take them again. One that the server still has
        on the old connection is tried at the next renewal; meanwhile its row keeps others away."""
        if reconnected:
            self._unlocked = set(self._held)
        for endpoint, number in list(self._unlocked):
            if await self._lock(connection, endpoint, number):
                self._unlocked.discard((endpoint, number))

    async def keep_only(self, used: Collection[tuple[str, int]]) -> None:
        """Give back every slot but these, also those that this worker took without hearing of it."""
        for endpoint, number in self._held - set(used):
            await self.release(endpoint, number)
        async with self._connection() as connection:
            rows = await connection.execute(
                "select endpoint, number from vera_slot where worker = %s", [self._worker()]
            )
            for endpoint, number in await rows.fetchall():
                if (endpoint, number) not in self._held:
                    await connection.execute(
                        "delete from vera_slot where endpoint = %s and number = %s", [endpoint, number]
                    )

    def forget(self) -> None:
        """The lease is lost, and the rows with it; the locks end with the connection."""
        self._held.clear()
        self._unlocked.clear()

    async def _lock(self, connection: "AsyncConnection[Any]", endpoint: str, number: int) -> bool:
        row = await connection.execute("select pg_try_advisory_lock(%s)", [self._key(endpoint, number)])
        found = await row.fetchone()
        return bool(found and found[0])

    async def _unlock(self, connection: "AsyncConnection[Any]", endpoint: str, number: int) -> None:
        await connection.execute("select pg_advisory_unlock(%s)", [self._key(endpoint, number)])

    def _key(self, endpoint: str, number: int) -> int:
        """An advisory lock's number, of 64 bits with a sign. Two that are equal by chance make a limit
        stricter, never looser."""
        said = f"{self._store}\n{endpoint}\n{number}".encode()
        return int.from_bytes(hashlib.sha256(said).digest()[:8], "big", signed=True)
