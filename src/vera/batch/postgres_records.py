"""What the database knows about tasks: the same records as the folder of the runs has (`vera.batch.records`).

Who reads or writes here gives the connection. A row that is written twice, because the answer to the first
time was lost, says the same as one that is written once.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import msgspec

from vera.attestation.objects import canonical, digest
from vera.batch.postgres_notices import BEGINS, MOVED, QUEUED, result_notice
from vera.batch.postgres_queue import ACTIVE, KIND, TAKE_FIRST, Job
from vera.batch.records import Begun, Commit, Ended, History, Manifest, Mark, Outcome
from vera.batch.task import BatchTask, said_of
from vera.batch.task_file import parse_task

if TYPE_CHECKING:
    from psycopg import AsyncConnection

    Connection = AsyncConnection[Any]

LOST = "its worker was lost"


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """An attempt as the database has it: `lost` that its worker was given up before it ended, `changed` when
    it last was written (Unix time of the database's clock)."""

    begun: Begun
    ended: Ended | None
    lost: bool
    changed: float


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """What the database knows about a task at one moment. `task` is None for an unknown or invalid id;
    `is_active` says that it is queued or running."""

    task: BatchTask | None = None
    history: History = History()
    result: Manifest | None = None
    is_active: bool = False


class Taken(msgspec.Struct, frozen=True, kw_only=True):
    """What `take_first` took: a job with what is known about its task, as far as there is any."""

    endpoint: str
    job: Job | None
    known: Known | None


def queue_of(endpoint: str) -> str:
    """The queue of an endpoint, by its hash: procrastinate's channel of a queue has 40 bytes for its name."""
    return f"vera:{digest(endpoint.encode())[7:39]}"


_ADD = """
with said as (
    select * from unnest(%(ids)s::text[], %(said)s::text[], %(endpoints)s::text[], %(queues)s::text[])
        as said (id, said, endpoint, queue)
), endpoints as (
    insert into vera_endpoint (endpoint, queue) select distinct endpoint, queue from said order by endpoint
    on conflict do nothing
), new as (
    insert into vera_task (id, said, endpoint) select id, said, endpoint from said order by id
    on conflict do nothing returning id
)
select coalesce(array_agg(id), '{}'), pg_notify(%(channel)s, ''),
    case when %(soon)s then set_config('synchronous_commit', 'off', true) end,
    case when %(queued)s and count(*) > 0 then procrastinate_defer_jobs_v1(array_agg(
        row(queue, %(kind)s::text, 0, null, id, jsonb_build_object('task', id), null)
        ::procrastinate_job_to_defer_v1
    )) end
from new join said using (id)
"""


async def add_tasks(
    connection: "Connection", tasks: Sequence[BatchTask], *, queued: bool, soon: bool = False
) -> set[str]:
    """Write down tasks, and tell the workers when the transaction is over; the ids of those that are new.
    `queued` queues these as well: one statement, since each goes to another machine and back. `soon` is that
    of `PostgresEngine.submit_written`."""
    values = {
        "ids": [task.id for task in tasks],
        "said": [said_of(task).decode() for task in tasks],
        "endpoints": [task.endpoint for task in tasks],
        "queues": [queue_of(task.endpoint) for task in tasks],
        "channel": QUEUED,
        "kind": KIND,
        "queued": queued,
        "soon": soon,
    }
    row = await (await connection.execute(cast("Any", _ADD), values)).fetchone()
    assert row is not None
    return set(row[0])


async def all_tasks(connection: "Connection") -> list[str]:
    rows = await connection.execute("select id from vera_task order by id")
    return [task for (task,) in await rows.fetchall()]


_ATTEMPT = (
    "vera_attempt.task, number, worker_name, extract(epoch from begun)::float8, "
    "extract(epoch from coalesce(ended, lost))::float8, coalesce(outcome, 'crashed'), reason, exit_code, "
    "session, spent, lost is not null, outcome is not null, extract(epoch from changed)::float8"
)
_TASK = (
    "vera_task.id, said, vera_task.endpoint, mark, mark_after, extract(epoch from mark_at)::float8, "
    "(select manifest from vera_commit where task = vera_task.id)"
)
_KNOWN = (
    f"select {_TASK}, vera_task.id in ({ACTIVE}), {_ATTEMPT} "
    "from vera_task left join vera_attempt on task = vera_task.id where vera_task.id = any(%(tasks)s) "
    "order by vera_task.id, number"
)
_TAKE_FIRST = (
    f"with taken as ({TAKE_FIRST}) select taken.endpoint, job, taken.task, {_TASK}, true, {_ATTEMPT} "
    "from taken "
    "left join vera_task on vera_task.id = taken.task and job = waited "
    "left join vera_attempt on vera_attempt.task = vera_task.id order by number"
)


async def known(connection: "Connection", tasks: Sequence[str]) -> dict[str, Known]:
    """What is known about each of these tasks, all at one moment: one statement, since each goes to another
    machine and back. An attempt whose worker was lost has ended as crashed."""
    rows = await connection.execute(cast("Any", _KNOWN), {"tasks": list(tasks)})
    by_task: dict[str, list[tuple[Any, ...]]] = {}
    for row in await rows.fetchall():
        by_task.setdefault(row[0], []).append(row)
    return {task: _known(by_task[task]) if task in by_task else Known() for task in tasks}


async def take_first(connection: "Connection", worker: int, full: Collection[str]) -> Taken | None:
    """Own the job that waits longest, in one statement with what is known about its task; None when none
    waits. There is no job where its endpoint has a limit or is one of `full`, or another was quicker, and
    nothing is known where the job taken is not the one that waited at the statement's moment."""
    values = {"full": list(full), "worker": worker}
    rows = await (await connection.execute(cast("Any", _TAKE_FIRST), values)).fetchall()
    if not rows:
        return None
    endpoint, job, task, *said = rows[0]
    return Taken(
        endpoint=endpoint,
        job=Job(job, task) if job is not None else None,
        known=_known([row[3:] for row in rows]) if said[0] is not None else None,
    )


def _known(rows: Sequence[tuple[Any, ...]]) -> Known:
    """From the rows of one task: one for each attempt, at least one."""
    id_, said, endpoint, kind, after, marked_at, manifest, is_active = rows[0][:8]
    result = msgspec.json.decode(manifest, type=Manifest) if manifest is not None else None
    attempts = [_row(*row[8:]) for row in rows if row[8] is not None]
    return Known(
        task=_task(id_, said, endpoint),
        history=History(
            commit=commit_of(result) if result is not None else None,
            mark=Mark(kind=kind, after=after, ts=marked_at or 0.0) if kind is not None else None,
            begun=tuple(row.begun for row in attempts),
            ended={row.begun.number: row.ended for row in attempts if row.ended is not None},
        ),
        result=result,
        is_active=is_active,
    )


def _task(id_: str, said: str, endpoint: str) -> BatchTask | None:
    try:
        found = parse_task(said.encode())
    except ValueError:
        return None
    return msgspec.structs.replace(found, endpoint=endpoint) if found.id == id_ else None


async def attempts(connection: "Connection", where: str, values: Sequence[object]) -> list[Row]:
    """The attempts of which an SQL condition is true, in their order."""
    query = f"select {_ATTEMPT} from vera_attempt where {where} order by task, number"
    rows = await connection.execute(cast("Any", query), values)
    return [_row(*row) for row in await rows.fetchall()]


def _row(
    task: str,
    number: int,
    worker: str,
    begun: float,
    over: float | None,
    outcome: Outcome,
    reason: str,
    exit_code: int,
    session: int,
    spent: str,
    lost: bool,
    known: bool,
    changed: float,
) -> Row:
    ended = None
    if over is not None:
        ended = Ended(
            number=number,
            outcome=outcome,
            ts=over,
            exit_code=exit_code if known else 1,
            reason=reason if known else LOST,
            session=session,
            spent=msgspec.json.decode(spent),
        )
    first = Begun(task=task, number=number, worker=worker, ts=begun)
    return Row(begun=first, ended=ended, lost=lost, changed=changed)


async def begin(
    connection: "Connection", begun: Begun, *, worker: int, endpoint: str, slot: int | None
) -> bool:
    """Write and tell that an attempt begins; False when this worker was given up."""
    rows = await connection.execute(
        "with begun as (insert into vera_attempt (task, number, worker, worker_name, endpoint, slot) "
        "select %s, %s, id, %s, %s, %s from vera_worker where id = %s and lost is null for share "
        "on conflict (task, number) do update set worker = excluded.worker returning task) "
        "select pg_notify(%s, %s) from begun",
        [begun.task, begun.number, begun.worker, endpoint, slot, worker, MOVED, BEGINS + begun.task],
    )
    return await rows.fetchone() is not None


async def end(connection: "Connection", task: str, ended: Ended) -> None:
    """Write and tell that an attempt has ended; the first word of who ran it counts."""
    await connection.execute(
        "with ended as (update vera_attempt set ended = clock_timestamp(), changed = clock_timestamp(), "
        "outcome = %s, reason = %s, exit_code = %s, session = %s, spent = %s "
        "where task = %s and number = %s and outcome is null returning task) "
        "select pg_notify(%s, task) from ended",
        [
            ended.outcome,
            _clean(ended.reason),
            ended.exit_code,
            ended.session,
            canonical(dict(ended.spent)).decode(),
            task,
            ended.number,
            MOVED,
        ],
    )


_COMMIT = """
with won as (
    insert into vera_commit (task, attempt, manifest) values (%(task)s, %(attempt)s, %(manifest)s)
    on conflict do nothing returning attempt
), winner as (
    select attempt from won union all select attempt from vera_commit where task = %(task)s limit 1
), over as (
    update vera_attempt set ended = clock_timestamp(), changed = clock_timestamp(),
        outcome = case when winner.attempt = %(attempt)s then 'committed' else 'late' end,
        reason = %(reason)s, exit_code = %(exit_code)s, session = %(session)s, spent = %(spent)s
    from winner where task = %(task)s and number = %(attempt)s and outcome is null returning task
)
select attempt, (
    select pg_notify(%(channel)s, case when winner.attempt = %(attempt)s then %(told)s else task end)
    from over
) from winner
"""


async def commit(connection: "Connection", manifest: Manifest) -> int:
    """Make this the result of its task unless it has one, and write and tell that its attempt has ended; the
    number of the attempt that the result came from."""
    values = {
        "task": manifest.task,
        "attempt": manifest.attempt,
        "manifest": canonical(manifest).decode(),
        "reason": _clean(manifest.reason),
        "exit_code": manifest.exit_code,
        "session": manifest.session,
        "spent": canonical(dict(manifest.spent)).decode(),
        "channel": MOVED,
        "told": result_notice(commit_of(manifest)),
    }
    for _ in range(2):  # a statement does not see the row of another one that committed beside it
        row = await (await connection.execute(cast("Any", _COMMIT), values)).fetchone()
        if row is not None:
            return int(row[0])
    raise AssertionError("a commit is never deleted")


async def replace_commit(connection: "Connection", manifest: Manifest, late: int) -> None:
    """The folder has this result, whatever is written here, and the attempt `late` came after it."""
    await connection.execute(
        "update vera_attempt set outcome = 'late', changed = clock_timestamp() "
        "where task = %s and number = %s",
        [manifest.task, late],
    )
    await adopt_commit(connection, manifest)


async def adopt_commit(connection: "Connection", manifest: Manifest) -> None:
    """Make this the result of its task, whatever is written here."""
    await connection.execute(
        "insert into vera_commit (task, attempt, manifest) values (%s, %s, %s) "
        "on conflict (task) do update set attempt = excluded.attempt, manifest = excluded.manifest",
        [manifest.task, manifest.attempt, canonical(manifest).decode()],
    )


async def set_mark(connection: "Connection", task: str, kind: str) -> None:
    """Write what a person decided."""
    await connection.execute(
        "update vera_task set mark = %s, mark_at = clock_timestamp(), mark_after = "
        "coalesce((select max(number) from vera_attempt where task = id), 0) where id = %s",
        [kind, task],
    )


async def cancelled_among(connection: "Connection", tasks: Iterable[str]) -> set[str]:
    rows = await connection.execute(
        "select id from vera_task where id = any(%s) and mark = 'cancelled'", [list(tasks)]
    )
    return {task for (task,) in await rows.fetchall()}


async def set_limits(connection: "Connection", limits: Mapping[str, int]) -> None:
    """At most so many tasks run at these endpoints, from now on."""
    for endpoint, most in sorted(limits.items()):
        await connection.execute(
            "insert into vera_endpoint (endpoint, queue, most) values (%s, %s, %s) "
            "on conflict (endpoint) do update set most = excluded.most",
            [endpoint, queue_of(endpoint), most],
        )


async def adopt(connection: "Connection", task: str, found: History, manifest: Manifest | None) -> None:
    """Take over what the folder knows about a task that is new here, as when the database is a new one."""
    for begun in found.begun:
        await connection.execute(
            "insert into vera_attempt (task, number, worker, worker_name, endpoint, begun, lost, ended, "
            "outcome, reason, exit_code, session, spent) select %s, %s, 0, %s, endpoint, to_timestamp(%s), "
            "case when %s::float8 is null then clock_timestamp() end, to_timestamp(%s), %s, %s, %s, %s, %s "
            "from vera_task where id = %s on conflict do nothing",
            [
                task,
                begun.number,
                _clean(begun.worker),
                begun.ts,
                *_end_columns(found.ended.get(begun.number)),
                task,
            ],
        )
    if found.mark is not None:
        await connection.execute(
            "update vera_task set mark = %s, mark_after = %s, mark_at = to_timestamp(%s) where id = %s",
            [found.mark.kind, found.mark.after, found.mark.ts, task],
        )
    if manifest is not None:
        await adopt_commit(connection, manifest)


def _end_columns(end: Ended | None) -> list[Any]:
    """What `adopt` writes of the end of an attempt, the time twice: for `lost` and for `ended`."""
    if end is None:
        return [None, None, None, "", 0, 0, "{}"]
    spent = canonical(dict(end.spent)).decode()
    return [end.ts, end.ts, end.outcome, _clean(end.reason), end.exit_code, end.session, spent]


def commit_of(manifest: Manifest) -> Commit:
    """The commit record that a manifest gets."""
    return Commit(
        task=manifest.task,
        attempt=manifest.attempt,
        session=manifest.session,
        manifest=digest(canonical(manifest)),
        status=manifest.status,
        exit_code=manifest.exit_code,
    )


def _clean(text: str) -> str:
    """Text that Postgres can hold: it knows no NUL and no lone surrogate."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
