"""What the members of a cluster tell each other at once, over LISTEN and NOTIFY of Postgres.

A notice says that it is worth a look, or what the result of a task is. Each member looks now and then all the
same, so a lost one costs time and nothing else.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator
from typing import TYPE_CHECKING, Any

import msgspec

from vera.batch.postgres_url import Address
from vera.batch.records import Commit
from vera.batch.trouble import database_errors
from vera.decode_errors import DECODE_ERRORS

if TYPE_CHECKING:
    from psycopg import AsyncConnection

QUEUED = "vera_queued"
"""The channel on which it is told that tasks wait."""
MOVED = "vera_moved"
"""The channel on which the id of a task is told that has ended, or with BEGINS in front that begins. A result
is told as `result_notice` writes it."""
BEGINS = "+"
RESULT = "="
MAX_BYTES = 7000
"""Postgres sends a notice of fewer than 8000 bytes."""
AGAIN_SECONDS = 1.0
"""Between two tries to reach the database."""


def result_notice(commit: Commit) -> str:
    """What is told of a result: RESULT and its record, or the id of the task alone where that is too long."""
    said = RESULT + msgspec.json.encode(commit).decode()
    return said if len(said.encode()) <= MAX_BYTES else commit.task


def result_of(notice: str) -> Commit | None:
    """The result that a notice tells; None for one that says only that a look is worth it."""
    if not notice.startswith(RESULT):
        return None
    try:
        return msgspec.json.decode(notice.removeprefix(RESULT), type=Commit)
    except DECODE_ERRORS:
        return None


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
