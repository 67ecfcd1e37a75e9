"""The limits of queue, store and index, measured on this machine for scale_simulation.py."""

import asyncio
import contextlib
import os
import secrets
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import NamedTuple

import psutil
from scale_costs import Index, Queue, Store
from scale_queues import fitted

import corpus as corpora
from support import postgres
from support.sleeping import Heard, sleeping_task
from vera.batch.postgres import open_postgres
from vera.batch.runs import Runs
from vera.corpus import Corpus
from vera.extraction.extractor import Extractor
from vera.store import Store as Blobs

TESTS = Path(__file__).resolve().parents[1] / "tests"
ENDPOINT = "http://model.example/v1"
CONNECTIONS = 4
THREADS = 8
WORKER_SLOTS = 8
LEASE_SECONDS = 60
PATIENCE_SECONDS = 1800.0
SPUN_SECONDS = 1.0


def free_processors(processors: int) -> float:
    """Of so many processors, how many other work leaves to as many busy processes."""
    spin = f"import time; e = time.monotonic() + {SPUN_SECONDS}\nwhile time.monotonic() < e: pass"
    spin += "\nprint(time.process_time())"
    running = [
        subprocess.Popen([sys.executable, "-S", "-c", spin], stdout=subprocess.PIPE, text=True)
        for _ in range(processors)
    ]
    return sum(float(each.communicate()[0]) for each in running) / SPUN_SECONDS


class Filled(NamedTuple):
    """Jobs a second with so many jobs in the tables already."""

    before: int
    put: float
    work: float


def queue(folder: Path, jobs: int, rounds: int, workers: int) -> tuple[Queue, list[Filled]]:
    """Rounds of so many jobs through our engine: put over several connections, then claimed and committed by
    worker processes whose attempts do nothing. Rates are those of the database's clock, without the first and
    last tenth of the jobs."""
    with postgres.server() as server:
        database = server.create_database()
        found: list[Filled] = []
        asyncio.run(_put(server.url(database), folder, range(0)))
        size, log, cpu = _state(server, database)
        for number in range(rounds):
            first = number * jobs
            began = time.monotonic()
            asyncio.run(_put(server.url(database), folder, range(first, first + jobs)))
            put = jobs / (time.monotonic() - began)
            _work(server, database, folder, workers, first + jobs)
            found.append(Filled(first, put, _rate(server, database, first, jobs)))
        after = _state(server, database)
        tables = server.query(database, "select sum(n_live_tup)::float8 from pg_stat_user_tables")
        total = jobs * rounds
        middle = found[len(found) // 2 :]
        return Queue(
            connections=CONNECTIONS,
            put=statistics.mean(each.put for each in middle),
            work=statistics.mean(each.work for each in middle),
            cpu=(after[2] - cpu) / total,
            rows=tables[0][0] / total,
            bytes=(after[0] - size) / total,
            wal=(after[1] - log) / total,
        ), found


async def _put(url: str, folder: Path, numbers: range) -> None:
    async with open_postgres(url, Runs(folder), Heard()) as engine:
        tasks = [sleeping_task(f"sleep 0 #{number}", ENDPOINT) for number in numbers]
        await asyncio.gather(*(engine.submit(tasks[at::CONNECTIONS]) for at in range(CONNECTIONS)))


def _work(server: postgres.Server, database: str, folder: Path, workers: int, until: int) -> None:
    """Worker processes, until so many jobs are committed."""
    sleeper = [sys.executable, str(TESTS / "support" / "sleeping.py"), "worker"]
    command = [*sleeper, server.url(database), str(folder), str(WORKER_SLOTS), str(LEASE_SECONDS)]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    running = [subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) for _ in range(workers)]
    try:
        last = time.monotonic() + PATIENCE_SECONDS
        while server.query(database, "select count(*) from vera_commit")[0][0] < until:
            if time.monotonic() > last or all(each.poll() is not None for each in running):
                raise SystemExit("The workers of the queue did not commit what was queued.")
            time.sleep(0.2)
    finally:
        for each in running:
            each.terminate()
        for each in running:
            each.wait(LEASE_SECONDS)


def _rate(server: postgres.Server, database: str, before: int, jobs: int) -> float:
    query = "select extract(epoch from at)::float8 from vera_commit order by at offset %s"
    times = [at for (at,) in server.query(database, query, before)]
    tenth = max(1, jobs // 10)
    return (jobs - 2 * tenth) / max(times[-tenth - 1] - times[tenth - 1], 1e-9)


def _state(server: postgres.Server, database: str) -> tuple[float, float, float]:
    """Bytes of the database, bytes of its log so far, processor seconds of the server."""
    query = "select pg_database_size(current_database())::float8, (pg_current_wal_lsn() - '0/0')::float8"
    server.query(database, "vacuum analyze")
    size, log = server.query(database, query)[0]
    pid = int((server.data / "postmaster.pid").read_text().split()[0])
    main = psutil.Process(pid)
    times = [main.cpu_times()]
    for each in main.children():
        with contextlib.suppress(psutil.NoSuchProcess):  # a connection that was just closed
            times.append(each.cpu_times())
    ended = times[0].children_user + times[0].children_system
    return size, log, ended + sum(each.user + each.system for each in times)


class Puts(NamedTuple):
    """Puts a second into a folder with so many blobs: of one thread, and of THREADS together."""

    blobs: int
    one: float
    many: float


def store(
    folder: Path, sizes: Sequence[int], puts: int, size: int, seconds: float
) -> tuple[Store, list[Puts]]:
    """Puts with their fsync, of blobs of `size` bytes, at each number of blobs in the folder; filling it ends
    after so many seconds, and what it reached then is the last number."""
    blobs, found, held = Blobs(folder), list[Puts](), 0
    until = time.monotonic() + seconds
    for wanted in sizes:
        while held < wanted and time.monotonic() < until:
            held += _fill(folder, min(1000, wanted - held))
        one = _puts(blobs, puts, size, 1)
        many = _puts(blobs, puts, size, THREADS)
        found.append(Puts(held, one, many))
        held += 2 * puts
        if time.monotonic() >= until:
            break
    return Store(threads=THREADS, puts=found[-1].many), found


def _fill(folder: Path, count: int) -> int:
    """Small blobs without fsync, in the places where the store has its own."""
    for _ in range(count):
        name = secrets.token_hex(32)
        place = folder / name[:2]
        place.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(b"x")
    return count


def _puts(blobs: Blobs, count: int, size: int, threads: int) -> float:
    data = [secrets.token_bytes(size) for _ in range(count)]
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(blobs.put, [secrets.token_bytes(size) for _ in range(threads)]))
        began = time.monotonic()
        list(pool.map(blobs.put, data))
        return count / (time.monotonic() - began)


class Searched(NamedTuple):
    """An index of so many documents: MB/s in, and milliseconds of a question: median and p95 of the wall
    time, median of the processor's."""

    documents: int
    megabytes: float
    build: float
    p50: float
    p95: float
    cpu: float


def index(folder: Path, megabytes: Sequence[float]) -> tuple[Index, list[Searched]]:
    """The index of texts of this machine at each size, and questions of seven words drawn from them."""
    texts = corpora.endless([*corpora.ROOTS])
    plain, cache = folder / "plain", folder / "index"
    held, number, found, samples = 0, 0, list[Searched](), list[float]()
    with Extractor() as extractor, Corpus(plain, cache, extractor) as corpus:
        for wanted in megabytes:
            before = held
            while held < wanted * corpora.MB:
                text = next(texts)
                corpora.write(plain / f"{number // 1000:05d}" / f"{number:08d}.txt", text)
                held, number = held + len(text), number + 1
            report = corpus.update()
            build = (held - before) / corpora.MB / report.seconds
            asked = [query for query, _ in corpora.queries(plain, cache)["question"]]
            corpus.search(asked[0])
            samples = [_timed(corpus, query) for query in asked]
            wall, cpu = ([each[at] * 1000 for each in samples] for at in (0, 1))
            found.append(
                Searched(
                    corpus.stats().files,
                    held / corpora.MB,
                    build,
                    statistics.median(wall),
                    corpora.percentile(wall, 95),
                    statistics.median(cpu),
                )
            )
        share = sum(path.stat().st_size for path in cache.iterdir()) / held
    growth = fitted([(each.documents, each.cpu / 1000) for each in found])
    return Index(
        document_bytes=held / found[-1].documents,
        build=statistics.mean(each.build for each in found) * corpora.MB,
        share=share,
        query=growth,
        samples=tuple(cpu for _, cpu in samples),
    ), found


def _timed(corpus: Corpus, query: str) -> tuple[float, float]:
    began, cpu = time.perf_counter(), time.process_time()
    corpus.search(query)
    return time.perf_counter() - began, time.process_time() - cpu
