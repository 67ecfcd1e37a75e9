"""What the members of a cluster tell each other at once, over LISTEN and NOTIFY of Postgres.

A notice says only that it is worth a look. Each member looks now and then all the same, so a lost one costs
time and nothing else.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

from vera.batch.postgres_url import Address
from vera.batch.trouble import database_errors

if TYPE_CHECKING:
    from psycopg import AsyncConnection

QUEUED = "vera_queued"
"""The channel on which it is told that tasks wait."""
MOVED = "vera_moved"
"""The channel on which the id of a task is told that has ended, or with BEGINS in front that begins."""
BEGINS = "+"
AGAIN_SECONDS = 1.0
"""Between two tries to reach the database."""


async def tell(connection: "AsyncConnection[Any]", channel: str, text: str = "") -> None:
    """Tell whoever listens, when the transaction is over. Raises psycopg.Error."""
    await connection.execute("select pg_notify(%s, %s)", [channel, text])


async def notices(address: Address, channel: str, patience: float) -> AsyncGenerator[str | None, None]:
    """What is told on a channel, for ever: '' after each time that the connection was made, None when it
    broke or could not be made. It counts as broken after `patience` seconds without an answer."""
    from psycopg import AsyncConnection, sql

    parameters = address.parameters("vera listens", patience)
    while True:
        try:
            async with await AsyncConnection.connect(**parameters, autocommit=True) as connection:
                await connection.execute(sql.SQL("listen {}").format(sql.Identifier(channel)))
                yield ""
                async with contextlib.aclosing(connection.notifies()) as heard:
                    async for notice in heard:
                        yield notice.payload
        except database_errors():
            pass
        yield None
        await asyncio.sleep(AGAIN_SECONDS)
