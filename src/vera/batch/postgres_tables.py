"""The tables of the engine in Postgres, and which shared folder they belong to.

Beside them lie procrastinate's own, which are the queue. Times are those of the database's clock, so that
what is written by different machines can be compared.
"""

import secrets
from typing import TYPE_CHECKING, Any

from vera.batch.errors import BatchError
from vera.batch.runs import CLUSTER_FILE, Runs, write_once
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable

if TYPE_CHECKING:
    from procrastinate import PsycopgConnector
    from psycopg import AsyncConnection

VERSION = 1
OLDEST_SERVER = 140000
"""As Postgres numbers its versions: 14 is the first with `idle_session_timeout`."""
"""In the folder of the runs: the name of the cluster that works there."""
SETUP_LOCK = 0x7665_7261_6261_7463
"""The advisory lock under which tables are made: the bytes of `verabatc`."""

TABLES = """
create table vera_batch (
    single boolean primary key default true check (single),
    version integer not null,
    store text not null
);
create table vera_endpoint (
    endpoint text primary key,
    queue text not null unique,
    most integer check (most >= 1)
);
create table vera_task (
    id text primary key,
    said text not null,
    endpoint text not null references vera_endpoint,
    mark text,
    mark_after integer not null default 0,
    mark_at timestamptz,
    submitted timestamptz not null default clock_timestamp()
);
create table vera_worker (
    id bigint primary key,
    name text not null,
    slots integer not null,
    lease double precision not null,
    since timestamptz not null default clock_timestamp(),
    seen timestamptz not null default clock_timestamp(),
    lost timestamptz
);
create table vera_attempt (
    task text not null references vera_task,
    number integer not null,
    worker bigint not null,
    worker_name text not null,
    endpoint text not null,
    slot integer,
    begun timestamptz not null default clock_timestamp(),
    lost timestamptz,
    ended timestamptz,
    outcome text,
    reason text not null default '',
    exit_code integer not null default 0,
    session integer not null default 0,
    spent text not null default '{}',
    changed timestamptz not null default clock_timestamp(),
    primary key (task, number)
);
create index vera_attempt_changed on vera_attempt (changed);
create index vera_attempt_running on vera_attempt (worker) where outcome is null;
create table vera_commit (
    task text primary key references vera_task,
    attempt integer not null,
    manifest text not null,
    at timestamptz not null default clock_timestamp()
);
create table vera_slot (
    endpoint text not null,
    number integer not null,
    worker bigint not null,
    primary key (endpoint, number)
);
"""


async def prepare(connector: "PsycopgConnector", runs: Runs) -> str:
    """Make the tables unless they are there, and bind them to the folder: returns the cluster's name.

    Raises BatchError for a server that is too old, tables of another version, or another folder.
    """
    async with connector.pool.connection() as connection, connection.transaction():
        await connection.execute("select pg_advisory_xact_lock(%s)", [SETUP_LOCK])
        if connection.info.server_version < OLDEST_SERVER:
            raise BatchError("The database is older than Postgres 14. Use a newer one.", 5)
        if await _one(connection, "select to_regclass('vera_batch')") is None:
            await _create(connection)
        version, store = await _row(connection, "select version, store from vera_batch")
        if version != VERSION:
            raise BatchError(
                f"The tables in the database are of version {version}, and this is for {VERSION}: the "
                "machines of a cluster need the same version of VERA.",
                5,
            )
        _bind(runs, str(store), first=await _one(connection, "select 1 from vera_task limit 1") is None)
    return str(store)


async def _create(connection: "AsyncConnection[Any]") -> None:
    from procrastinate.schema import SchemaManager

    if await _one(connection, "select to_regclass('procrastinate_jobs')") is None:
        await connection.execute(SchemaManager.get_schema())
    await connection.execute(TABLES)
    values = [VERSION, secrets.token_hex(16)]
    await connection.execute("insert into vera_batch (version, store) values (%s, %s)", values)


def _bind(runs: Runs, store: str, *, first: bool) -> None:
    """Hold the folder against the database: two that do not belong together would each be half of the truth.

    The first time the folder is taken over, and then no batch of one machine may work there. Raises
    BatchError (2; 1 when such a batch works), and OSError for a folder that cannot be written.
    """
    if first and not (runs.root / CLUSTER_FILE).exists():
        with runs.lock(wait_seconds=0):
            write_once(runs.root / CLUSTER_FILE, f"{store}\n".encode(), sync=True)
    try:
        found = read_regular(runs.root, CLUSTER_FILE, 100).decode("ascii", "replace").strip()
    except Unreadable:
        found = ""
    if found != store:
        belongs = "belongs to another database" if found else "is not the folder that its workers share"
        raise BatchError(
            f"{runs.base} {belongs}. Mount the shared folder here and name it, or use a new database.", 2
        )


async def _row(connection: "AsyncConnection[Any]", query: Any) -> tuple[Any, ...]:
    row = await (await connection.execute(query)).fetchone()
    return tuple(row) if row is not None else (None,)


async def _one(connection: "AsyncConnection[Any]", query: Any) -> Any:
    return (await _row(connection, query))[0]
