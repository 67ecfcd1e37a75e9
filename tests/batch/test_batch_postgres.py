"""The engine in Postgres where it differs from the local one: leases, slots, the shared folder, passwords."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from support import postgres
from support.cut_wire import wire
from support.postgres import PASSWORD, Server
from support.sleeping import Heard, manifest_of, sleep, sleeping_task
from vera.batch.engine import Attempt
from vera.batch.errors import BatchError
from vera.batch.postgres_notices import BEGINS
from vera.batch.records import Ended, Manifest
from vera.batch.runs import Runs
from vera.batch.task import BatchTask

pytestmark = [pytest.mark.needs("postgres"), pytest.mark.timeout(120)]

ENDPOINT = "http://model.example/v1"
LEASE = 3.0


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with postgres.server() as running:
        yield running


@pytest.fixture
def url(server: Server) -> str:
    return server.url(server.create_database())


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    return Runs(tmp_path)


async def _until(ask: Callable[[], Awaitable[object]]) -> None:
    for _ in range(1000):
        if await ask() is not None:
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it did not come about")


def database_of(url: str) -> str:
    return url.partition("@/")[2].partition("?")[0]


def test_a_worker_that_is_cut_off_has_stopped_before_another_begins_its_task(
    server: Server, runs: Runs
) -> None:
    from vera.batch.postgres import open_postgres

    database = server.create_database()
    task = sleeping_task("sleep 60 #1", ENDPOINT)
    stopped_at: list[float] = []
    began_again: list[float] = []

    async def cut_off(task: BatchTask, attempt: Attempt) -> Manifest:
        try:
            return await sleep(task, attempt)
        finally:
            stopped_at.append(time.monotonic())

    async def other(task: BatchTask, attempt: Attempt) -> Manifest:
        began_again.append(time.monotonic())
        return manifest_of(task, attempt)

    async def whole() -> None:
        heard = Heard()
        with wire(server.port) as line:
            far = server.url_of_port(database, line.port)
            async with (
                open_postgres(far, runs, heard, lease=LEASE) as cut,
                open_postgres(server.url(database), runs, Heard(), lease=LEASE) as near,
            ):
                await near.submit([task])
                first = asyncio.create_task(cut.work(cut_off, slots=1, limits={ENDPOINT: 1}, drain=False))
                await heard.until_begun()
                line.cut()
                await near.work(other, slots=1, limits={}, drain=True)
                line.mend()
                cut.stop()
                await first
        assert [end.reason for _, end, _ in heard.ends] == ["its worker could not renew its lease"]

    asyncio.run(whole())
    assert len(stopped_at) == len(began_again) == 1
    assert stopped_at[0] < began_again[0]
    rows = server.query(
        database, "select number, outcome, lost is not null from vera_attempt order by number"
    )
    assert rows == [(1, "interrupted", True), (2, "committed", False)]


def test_a_slot_whose_worker_is_alive_is_not_taken_even_when_its_lease_is_over(
    server: Server, url: str, runs: Runs
) -> None:
    from vera.batch.leases import Lease
    from vera.batch.postgres_queue import Queue
    from vera.batch.postgres_tables import prepare
    from vera.batch.postgres_url import Address

    async def whole() -> None:
        import procrastinate

        address = Address(url)
        connector = procrastinate.PsycopgConnector(
            kwargs={**address.parameters("test", 5), "autocommit": True}
        )
        await connector.open_async()
        store = await prepare(connector, runs)
        asleep, awake = (Lease(address, Queue(connector).manager, store, LEASE) for _ in range(2))
        for lease in (asleep, awake):
            await lease.take("somebody", 4)
        assert [await asleep.slots.acquire(ENDPOINT, 2), await awake.slots.acquire(ENDPOINT, 2)] == [1, 2]
        assert await awake.slots.acquire(ENDPOINT, 2) is None
        server.query(database_of(url), "delete from vera_slot where worker = %s", asleep.worker)
        assert await awake.slots.acquire(ENDPOINT, 2) is None, "its connection still stands for it"
        await asleep.close()
        await _until(lambda: awake.slots.acquire(ENDPOINT, 2))
        await awake.close()
        await connector.close_async()

    asyncio.run(whole())


def test_a_limit_holds_for_all_workers_also_when_another_one_said_it(
    server: Server, url: str, runs: Runs
) -> None:
    from vera.batch.postgres import open_postgres

    tasks = [sleeping_task(f"sleep 0.05 #{n}", ENDPOINT) for n in range(12)]
    running, most = [0], [0]

    async def counting(task: BatchTask, attempt: Attempt) -> Manifest:
        running[0] += 1
        most[0] = max(most[0], running[0])
        try:
            return await sleep(task, attempt)
        finally:
            running[0] -= 1

    async def whole() -> None:
        async with (
            open_postgres(url, runs, Heard()) as one,
            open_postgres(url, runs, Heard()) as two,
        ):
            await one.set_limits({ENDPOINT: 3})
            await one.submit(tasks)
            await asyncio.gather(
                *(each.work(counting, slots=4, limits={}, drain=True) for each in (one, two))
            )

    asyncio.run(whole())
    assert 2 <= most[0] <= 3


def test_a_result_in_the_database_that_its_worker_did_not_live_to_write_into_the_folder_is_written(
    server: Server, url: str, runs: Runs
) -> None:
    from vera.attestation.objects import canonical
    from vera.batch.postgres import open_postgres

    task = sleeping_task("sleep 60 #1")
    made = manifest_of(task, Attempt(number=1, folder=runs.session(task.id, 1)))

    async def whole() -> None:
        async with open_postgres(url, runs, Heard()) as engine:
            await engine.submit([task])
            runs.begin(task.id, "who died")
            said = canonical(made).decode()
            server.query(
                database_of(url),
                "insert into vera_commit (task, attempt, manifest) values (%s, 1, %s)",
                task.id,
                said,
            )
            await engine.work(sleep, slots=1, limits={}, drain=True)
            assert (await engine.status()).counts == {"done": 1}

    asyncio.run(whole())
    commit = runs.history(task.id).commit
    assert commit is not None
    assert runs.manifest(commit) == made


def test_a_job_that_a_crash_of_the_server_brings_back_leaves_the_queue_when_its_worker_is_connected_again(
    server: Server, url: str, runs: Runs
) -> None:
    from vera.batch.postgres import open_postgres

    task, database, heard = sleeping_task("sleep 0 #1"), database_of(url), Heard()

    async def whole() -> None:
        async with open_postgres(url, runs, heard) as engine:
            await engine.submit([task])
            working = asyncio.create_task(engine.work(sleep, slots=1, limits={}, drain=False))
            await _until(lambda: _gone(server, database))
            server.query(
                database,
                "insert into procrastinate_jobs "
                "(queue_name, task_name, queueing_lock, args, status, worker_id) "
                "select queue, 'vera.attempt', vera_task.id, jsonb_build_object('task', vera_task.id), "
                "'doing', vera_worker.id "
                "from vera_worker cross join vera_task join vera_endpoint using (endpoint)",
            )
            server.query(
                database,
                "select pg_terminate_backend(pid) from pg_stat_activity "
                "where datname = current_database() and application_name = 'vera listens'",
            )
            await _until(lambda: _gone(server, database))
            engine.stop()
            await working

    asyncio.run(whole())
    assert [end.outcome for _, end, _ in heard.ends] == ["committed"]


async def _gone(server: Server, database: str) -> bool | None:
    """Whether a result is there and the queue is empty; None where not."""
    query = "select exists (select from vera_commit) and not exists (select from procrastinate_jobs)"
    return server.query(database, query)[0][0] or None


def test_a_job_that_another_worker_has_begun_meanwhile_is_not_put_back(
    server: Server, url: str, runs: Runs
) -> None:
    from vera.batch.postgres import open_postgres

    database = database_of(url)

    async def whole() -> list[tuple[object, ...]]:
        import procrastinate
        import psycopg

        from vera.batch.postgres_queue import Queue

        async with open_postgres(url, runs, Heard()) as engine:
            await engine.submit([sleeping_task("sleep 0 #1")])
        connector = procrastinate.PsycopgConnector(conninfo=url, kwargs={"autocommit": True})
        await connector.open_async()
        queue = Queue(connector)
        lost, other = [await queue.manager.register_worker() for _ in range(2)]
        (waiting,) = await queue.waiting()
        job = await queue.take(waiting.queue, lost)
        assert job is not None
        async with await psycopg.AsyncConnection.connect(url) as begins:
            await begins.execute("update procrastinate_jobs set worker_id = %s", [other])
            putting_back = asyncio.create_task(queue.put_back(job, lost))
            await _until(lambda: _waits_for_a_lock(server, database))
            await begins.commit()
            await putting_back
        await connector.close_async()
        return server.query(database, "select status::text, worker_id = %s from procrastinate_jobs", other)

    assert asyncio.run(whole()) == [("doing", True)]


async def _waits_for_a_lock(server: Server, database: str) -> bool | None:
    query = "select 1 from pg_stat_activity where datname = %s and wait_event_type = 'Lock'"
    return bool(server.query(database, query, database)) or None


def test_a_job_that_waits_while_an_attempt_at_its_task_runs_is_kept_until_that_has_ended(
    server: Server, url: str, runs: Runs
) -> None:
    from vera.batch.postgres import open_postgres

    task, database, ended = sleeping_task("sleep 60 #1"), database_of(url), asyncio.Event()

    async def first(task: BatchTask, attempt: Attempt) -> Manifest:
        try:
            return await sleep(task, attempt)
        finally:
            ended.set()

    async def second(task: BatchTask, attempt: Attempt) -> Manifest:
        assert ended.is_set(), "the attempt of the other worker still runs"
        return manifest_of(task, attempt)

    async def put_back() -> bool | None:
        query = "select 1 from procrastinate_jobs where status = 'todo' and scheduled_at is not null"
        return bool(server.query(database, query)) or None

    async def whole() -> None:
        heard = Heard()
        async with (
            open_postgres(url, runs, heard, lease=LEASE) as one,
            open_postgres(url, runs, Heard(), lease=LEASE) as two,
        ):
            await one.submit([task])
            working = asyncio.create_task(one.work(first, slots=1, limits={}, drain=False))
            await heard.until_begun()
            server.query(database, "update procrastinate_jobs set status = 'todo', worker_id = null")
            draining = asyncio.create_task(two.work(second, slots=1, limits={}, drain=True))
            await _until(put_back)
            await one.cancel()
            await asyncio.gather(working, draining)
            assert (await one.status()).counts == {"done": 1}

    asyncio.run(whole())
    rows = server.query(database, "select number, outcome from vera_attempt order by number")
    assert rows == [(1, "interrupted"), (2, "committed")]


def test_an_attempt_of_a_worker_that_is_not_known_any_more_is_over(
    server: Server, url: str, runs: Runs
) -> None:
    from vera.batch.postgres import open_postgres

    task, database = sleeping_task("sleep 0 #1"), database_of(url)

    async def whole() -> None:
        async with open_postgres(url, runs, Heard(), lease=LEASE) as engine:
            await engine.submit([task])
            runs.begin(task.id, "gone")
            server.query(
                database,
                "insert into vera_attempt (task, number, worker, worker_name, endpoint) "
                "select id, 1, 12345, 'gone', endpoint from vera_task",
            )
            await engine.work(sleep, slots=1, limits={}, drain=True)

    asyncio.run(whole())
    rows = server.query(database, "select lost is not null, outcome from vera_attempt order by number")
    assert rows == [(True, None), (False, "committed")]


def test_an_attempt_whose_end_finds_no_room_on_the_disk_is_over_all_the_same(
    server: Server, url: str, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vera.batch.postgres import open_postgres

    task = sleeping_task("sleep 0.01 #1")

    def full(task: str, end: Ended) -> None:
        raise OSError(28, "No space left on device")

    async def whole() -> dict[str, int]:
        async with open_postgres(url, runs, Heard()) as engine:
            await engine.submit([task])
            with monkeypatch.context() as patched, pytest.raises(OSError, match="No space left"):
                patched.setattr(runs, "end", full)
                await engine.work(sleep, slots=1, limits={}, drain=True)
        async with open_postgres(url, runs, Heard()) as engine:
            await engine.work(sleep, slots=1, limits={}, drain=True)
            return {str(state): count for state, count in (await engine.status()).counts.items()}

    assert asyncio.run(whole()) == {"done": 1}
    open_ones = "select count(*) from vera_attempt where outcome is null and lost is null"
    assert server.query(database_of(url), open_ones) == [(0,)]


def test_a_new_database_takes_over_what_the_folder_knows(server: Server, runs: Runs) -> None:
    from vera.batch.postgres import open_postgres

    done, failed = sleeping_task("sleep 0.01 #1"), sleeping_task("fail #1")

    async def once(url: str) -> dict[str, int]:
        async with open_postgres(url, runs, Heard()) as engine:
            submitted = await engine.submit([done, failed])
            if submitted.queued:
                await engine.work(sleep, slots=2, limits={}, drain=True)
            return {str(state): count for state, count in (await engine.status()).counts.items()}

    first, second = (server.url(server.create_database()) for _ in range(2))
    assert asyncio.run(once(first)) == {"done": 1, "failed": 1}
    (runs.root / "cluster").unlink()
    assert asyncio.run(once(second)) == {"done": 1, "failed": 1}
    assert server.query(database_of(second), "select count(*) from vera_attempt") == [(2,)]


def test_a_folder_that_is_not_the_shared_one_is_refused(url: str, runs: Runs, tmp_path: Path) -> None:
    from vera.batch.postgres import open_postgres

    async def submit(where: Runs) -> None:
        async with open_postgres(url, where, Heard()) as engine:
            await engine.submit([sleeping_task("sleep 0.01 #1")])

    asyncio.run(submit(runs))
    with pytest.raises(BatchError, match="is not the folder that its workers share") as refused:
        asyncio.run(submit(Runs(tmp_path / "elsewhere")))
    assert refused.value.exit_code == 2


def test_what_cannot_be_run_yet_waits_and_is_given_up_after_five_times(url: str, runs: Runs) -> None:
    from vera.batch.postgres import open_postgres

    task = sleeping_task("unready #1")

    async def whole() -> None:
        heard = Heard()
        async with open_postgres(url, runs, heard, unready_seconds=0.05) as engine:
            await engine.submit([task])
            await engine.work(sleep, slots=1, limits={}, drain=True)
            assert [end.outcome for _, end, _ in heard.ends] == ["unready"] * 5
            assert (await engine.status()).counts == {"open": 1}
            assert (await engine.submit([task])).queued == 1, "a person tries again"

    asyncio.run(whole())


def test_who_waits_hears_what_the_workers_do(url: str, runs: Runs) -> None:
    from vera.batch.postgres import open_postgres

    tasks = [sleeping_task(f"sleep 0.05 #{n}") for n in range(5)]
    heard = Heard()

    async def whole() -> None:
        async with (
            open_postgres(url, runs, heard) as waiting,
            open_postgres(url, runs, Heard()) as working,
        ):
            await waiting.submit(tasks)
            await asyncio.gather(waiting.follow(tasks), working.work(sleep, slots=2, limits={}, drain=True))

    asyncio.run(whole())
    assert sorted(text for text, end, now in heard.ends if now.state == "done") == sorted(
        task.text for task in tasks
    )


def test_a_result_is_told_with_its_record_and_one_too_long_for_a_notice_by_its_task(
    url: str, runs: Runs
) -> None:
    from vera.batch.postgres import open_postgres
    from vera.batch.postgres_notices import result_of

    async def with_long_status(task: BatchTask, attempt: Attempt) -> Manifest:
        made = await sleep(task, attempt)
        return msgspec.structs.replace(made, status="ä" * 5000) if "long" in task.text else made

    tasks = [sleeping_task("sleep 0 #short"), sleeping_task("sleep 0 #long")]
    told: list[str] = []

    async def whole() -> None:
        async with open_postgres(url, runs, Heard()) as engine, asyncio.timeout(60):
            moves = engine.moves()
            assert await anext(moves) == ""
            await engine.submit(tasks)
            working = asyncio.create_task(engine.work(with_long_status, slots=1, limits={}, drain=True))
            while len(told) < 2:
                notice = await anext(moves)
                assert notice is not None
                if not notice.startswith(BEGINS):
                    told.append(notice)
            await working
            await moves.aclose()

    asyncio.run(whole())
    short, long = (task.id for task in tasks)
    (result,) = (found for notice in told if (found := result_of(notice)) is not None)
    assert result == runs.history(short).commit
    assert long in told
    assert result_of("=no record") is None
    assert result_of('={"other": ' + "[" * 6000) is None


def test_a_worker_that_came_too_late_lets_the_others_look_first_and_takes_what_they_cannot(
    server: Server, url: str, runs: Runs, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vera.batch import postgres_worker
    from vera.batch.postgres import open_postgres

    monkeypatch.setattr(postgres_worker, "LATE_SECONDS", 0.5)
    monkeypatch.setattr(postgres_worker, "LOOK_SECONDS", 60.0)
    heard = Heard()

    async def whole() -> None:
        async with (
            open_postgres(url, runs, heard) as waiting,
            open_postgres(url, runs, Heard()) as one,
            open_postgres(url, runs, Heard()) as two,
        ):
            ways = [each.work(sleep, slots=1, limits={}, drain=False) for each in (one, two)]
            working = [asyncio.create_task(way) for way in ways]
            for number in range(4):
                tasks = [sleeping_task(f"sleep 0 #{number}")]
                await waiting.submit(tasks)
                await waiting.follow(tasks)
            tasks = [sleeping_task(f"sleep 1.5 #{number}") for number in (4, 5)]
            await waiting.submit(tasks)
            await waiting.follow(tasks)
            for each in (one, two):
                each.stop()
            await asyncio.gather(*working)

    asyncio.run(whole())
    rows = server.query(database_of(url), "select worker from vera_attempt order by begun")
    workers = [worker for (worker,) in rows]
    assert len(set(workers[1:4])) == 1, "who took the last one is first"
    assert len(set(workers[4:])) == 2, "the other one works where the first cannot"


def test_a_wrong_password_and_a_silent_port_are_sentences_without_the_password(
    server: Server, runs: Runs
) -> None:
    from vera.batch.postgres import open_postgres

    async def reach(url: str) -> None:
        async with open_postgres(url, runs, Heard()):
            raise AssertionError("it must not open")

    wrong = server.url_of_port(server.create_database(), password="guessed")
    silent = f"postgresql://vera:{PASSWORD}@127.0.0.1:{postgres.free_port()}/batch"
    for url, secret in ((wrong, "guessed"), (silent, PASSWORD)):
        with pytest.raises(BatchError, match="cannot be reached") as refused:
            asyncio.run(reach(url))
        assert refused.value.exit_code == 5
        assert secret not in str(refused.value)


def test_a_password_from_the_environment_opens_the_database(server: Server, runs: Runs) -> None:
    from vera.batch.postgres import open_postgres
    from vera.batch.postgres_url import take_password

    environ = {"PGPASSWORD": PASSWORD, "HOME": "/"}
    password = take_password(environ)
    assert environ == {"HOME": "/"}, "what the attempts inherit has it no longer"

    async def whole() -> None:
        url = server.url_of_port(server.create_database(), password="")
        async with open_postgres(url, runs, Heard(), password=password) as engine:
            assert (await engine.status()).counts == {}

    asyncio.run(whole())
