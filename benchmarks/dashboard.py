"""The dashboard under load: many clients on one stream, pages and /metrics of long logs, and one open tab.

    python benchmarks/dashboard.py            100 clients, 1,000 events/s for 30 s; logs of 1k, 10k and 100k
    python benchmarks/dashboard.py --quick    10 s, and shorter looks at the tab

The server is `vera dashboard` in a process of its own, the clients are another; this process writes the log.
"events/s" is the least that one of the clients got, from the first record's time to its last arrival. "p50"
and "p99" are from the time in a record to its arrival, of every record at SAMPLED of the clients. "TTFB" is
from the request to the first byte of the answer, compressed, on a connection that is open; "cold" is the
first of its kind since the server started, which reads all of the log (a page that says "Reading the log" is
asked for again until it is there), with what it took of a CPU; "warm" the median of WARM more, "most" the
longest of them, "CPU each" what the server took of a CPU for one of them. A tab is the stream of a page: at
rest nothing happens, at work EVENTS_A_SECOND records come and the parts that changed are fetched every
REFRESH_SECONDS, as the page's module does. CPU is that of the server.
"""

import argparse
import asyncio
import http.client
import json
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import cycle
from pathlib import Path
from typing import Any

import httpx
import psutil

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from support.dashboards import Dashboard, dashboard_of
from vera import events
from vera.session.log import Log

CLIENTS = 100
EVENTS = 1000
"""A second."""

SAMPLED = 10
SIZES = (1_000, 10_000, 100_000)
LISTS = (200, 10_000)
"""Sessions of a base folder."""

WARM = 40
EVENTS_A_SECOND = 4
"""Of a run that is watched: a step takes a few seconds, and is about eight records."""

REFRESH_SECONDS = 3.0
"""As REFRESH_MS of the page's module."""

PATIENCE = 15.0
"""Seconds that clients wait for the last records."""

COLUMNS = f"{'cold':>9}{'CPU':>9}{'warm':>9}{'most':>9}{'CPU each':>9}"
SESSION = "run"
PAGE = f"/s/{SESSION}"
TS = re.compile(rb'"ts":([0-9.]+)')
TEXT = "NOTE: the page of the authority has the length.\n```sh\ngrep -n length /input/rivers.txt\n```\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="shorter: rougher figures")
    parser.add_argument("--pages", action="store_true", help="only the pages of steps and lists of sessions")
    parser.add_argument("--as-clients", type=json.loads, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.as_clients:
        asyncio.run(be_clients(**options.as_clients))
        return
    load = ", ".join(f"{each:.1f}" for each in os.getloadavg())
    print(
        f"{datetime.now(UTC):%Y-%m-%d} · Python {platform.python_version()} · {platform.platform()} · "
        f"{os.cpu_count()} CPUs · load before: {load}\n"
    )
    if options.pages:
        print_pages()
        return
    seconds, tab_seconds = (10, 5) if options.quick else (30, 20)
    print(f"{'':32}{'events/s':>10}{'p50 ms':>10}{'p99 ms':>10}{'CPU s':>8}{'MiB':>6}")
    for name, view in (("records", ""), ("frames of a page", "view=page")):
        print(f"{f'{CLIENTS} clients, {seconds} s, {name}':32}{stream_row(view, seconds)}", flush=True)
    print(f"\n{'TTFB in ms':12}{'page':>45}{'/metrics':>45}{'CPU of one tab':>24}")
    print(f"{'records':12}" + COLUMNS * 2 + f"{'at rest':>12}{'at work':>12}")
    for size in SIZES:
        print(f"{f'{size:,}':12}{size_row(size, tab_seconds)}", flush=True)
    print_pages()


def print_pages() -> None:
    """TTFB of the page of a step in the middle of the log, and of the list of sessions."""
    print(f"\n{'TTFB in ms':12}{'a step':>45}\n{'records':12}{COLUMNS}")
    for size in SIZES:
        with served(size) as (dashboard, _):
            print(f"{f'{size:,}':12}{ttfb(dashboard, f'{PAGE}/steps/{size // 16}')}", flush=True)
    print(f"\n{'ms, CPU ms':12}{'read in s':>12}{'the list':>16}{'a search':>16}{'by tokens':>16}")
    for size in LISTS:
        print(f"{f'{size:,}':12}{list_row(size)}", flush=True)


def list_row(size: int) -> str:
    """How long it takes until that many new sessions are in the index, then the median of WARM of a list."""
    with tempfile.TemporaryDirectory(prefix="vera-dashboard-") as folder:
        base = Path(folder) / "base"
        for number in range(size):
            small_session(base / "work" / f"run-{number:05}", number)
        os.environ["XDG_CACHE_HOME"] = str(Path(folder) / "cache")
        with dashboard_of(base, Path(folder) / "token") as dashboard, dashboard.client() as client:
            begun = time.perf_counter()
            while "not read yet" in client.get("/").text:
                time.sleep(1)
            read = time.perf_counter() - begun
            server = psutil.Process(dashboard.process.pid)
            found = [median(client, server, path) for path in ("/", "/?q=river+7", "/?sort=tokens")]
    return f"{read:>12.0f}" + "".join(f"{taken:>8.0f}{cpu:>8.0f}" for taken, cpu in found)


def median(client: httpx.Client, server: psutil.Process, path: str) -> tuple[float, float]:
    """Milliseconds of an answer, and of a CPU that the server took for it."""
    taken, before = [], cpu_seconds(server)
    for _ in range(WARM):
        begun = time.perf_counter()
        client.get(path)
        taken.append(1000 * (time.perf_counter() - begun))
    return statistics.median(taken), 1000 * (cpu_seconds(server) - before) / WARM


def small_session(work_dir: Path, number: int) -> None:
    """A session that ended, of five records."""
    work_dir.mkdir(parents=True)
    log = Log.create(work_dir / "trace.jsonl", time.time)
    log.append(events.Session(format=events.FORMAT, version="0", settings={}), "")
    log.append(events.Task(task=f"How long is river number {number}, and where does it rise?"), "")
    log.append(
        events.Model(step=1, scope="agent", latency_s=1.0, prompt_tokens=number, completion_tokens=9), "main"
    )
    log.append(events.Answer(step=1, text=f"It is {7 * number} kilometres long, says its authority."), "main")
    log.append(events.RunEnd(status="UNRESOLVED", reason="done", exit_code=3, steps=1, seconds=1.0), "")
    log.close()


def stream_row(view: str, seconds: int) -> str:
    """Least events/s, p50 and p99 of append to client, CPU seconds and memory of the server."""
    count = EVENTS * seconds
    with served() as (dashboard, log):
        asked = {
            "port": dashboard.port, "token": dashboard.token, "query": view, "start": log.seq, "count": count,
            "patience": seconds + PATIENCE,
        }  # fmt: skip
        clients = subprocess.Popen(
            [sys.executable, __file__, "--as-clients", json.dumps(asked)], stdout=subprocess.PIPE, text=True
        )
        assert clients.stdout is not None
        assert clients.stdout.readline() == "connected\n"
        server = psutil.Process(dashboard.process.pid)
        begun, cpu = time.time(), cpu_seconds(server)
        append_at_rate(log, EVENTS, count)
        found: dict[str, Any] = json.loads(clients.communicate()[0])
        cpu = cpu_seconds(server) - cpu
        memory = server.memory_info().rss / (1 << 20)
    rates = [got / (last - begun) for got, last in found["clients"]]
    p50, p99 = found["p50"], found["p99"]
    return f"{min(rates):>10.0f}{1000 * p50:>10.1f}{1000 * p99:>10.1f}{cpu:>8.2f}{memory:>6.0f}"


def size_row(size: int, tab_seconds: int) -> str:
    """TTFB of the page and of /metrics, and the CPU share of a tab at rest and at work."""
    with served(size) as (dashboard, log):
        page, metrics = ttfb(dashboard, PAGE), ttfb(dashboard, "/metrics")
        at_rest = tab(dashboard, log, tab_seconds, 0)
        at_work = tab(dashboard, log, tab_seconds, EVENTS_A_SECOND)
    return f"{page}{metrics}{at_rest:>12.1%}{at_work:>12.1%}"


def ttfb(dashboard: Dashboard, path: str) -> str:
    """The first time and what it took of a CPU, the median and the longest of the others."""
    connection = Connection(dashboard)
    connection.connect()
    server = psutil.Process(dashboard.process.pid)
    before, found = cpu_seconds(server), []
    for _ in range(1 + WARM):
        begun = time.perf_counter()
        connection.get(path)
        found.append(1000 * (time.perf_counter() - begun))
        time.sleep(0.02)
        if len(found) == 1:
            cpu = 1000 * ((read := cpu_seconds(server)) - before)
    each = 1000 * (cpu_seconds(server) - read) / WARM
    connection.close()
    cold, warm = found[0], found[1:]
    return f"{cold:>9.0f}{cpu:>9.0f}{statistics.median(warm):>9.1f}{max(warm):>9.1f}{each:>9.1f}"


class Connection(http.client.HTTPConnection):
    """A connection that stays open, with the token of its dashboard."""

    def __init__(self, dashboard: Dashboard) -> None:
        super().__init__("127.0.0.1", dashboard.port, timeout=60)
        self._token = dashboard.token
        self._rest: http.client.HTTPResponse | None = None

    def get(self, path: str) -> None:
        """Ask and wait for the first bytes; the rest is read by the time of the next."""
        if self._rest is not None:
            self._rest.read()
        headers = {"Authorization": f"Bearer {self._token}", "Accept-Encoding": "gzip"}
        while True:
            self.request("GET", path, headers=headers)
            self._rest = self.getresponse()
            assert self._rest.status == 200, (path, self._rest.status)
            if self._rest.getheader("refresh") is None:
                return
            self._rest.read()  # the log is read for the first time
            time.sleep(0.05)


def tab(dashboard: Dashboard, log: Log, seconds: int, rate: int) -> float:
    """The share of a CPU that the server takes while one tab is open and `rate` records a second come."""
    server = psutil.Process(dashboard.process.pid)
    stop = threading.Event()
    watching = threading.Thread(target=watch, args=(dashboard, log.path.stat().st_size, stop))
    watching.start()
    time.sleep(1.5)
    begun, cpu = time.monotonic(), cpu_seconds(server)
    if rate:
        append_at_rate(log, rate, rate * seconds)
    else:
        time.sleep(seconds)
    share = (cpu_seconds(server) - cpu) / (time.monotonic() - begun)
    stop.set()
    watching.join()
    return share


def watch(dashboard: Dashboard, offset: int, stop: threading.Event) -> None:
    """As a page's module: frames as they come, and now and then the parts that they say have changed."""
    headers = {"Authorization": f"Bearer {dashboard.token}"}
    stream = http.client.HTTPConnection("127.0.0.1", dashboard.port, timeout=0.25)
    parts = Connection(dashboard)
    stream.request("GET", f"{PAGE}/events?view=page&from={offset}", headers=headers)
    assert stream.sock is not None
    reading, rest = stream.sock, b""
    had: dict[str, int] | None = None
    new: dict[str, int] = {}
    fetched = time.monotonic()
    while not stop.is_set():
        try:
            *found, rest = (rest + reading.recv(1 << 16)).split(b"\n\n")
        except TimeoutError:
            found = []
        for each in found:
            if (at := each.find(b"data: {")) >= 0:
                new = json.loads(each[at + 6 :])["changed"]
        had = new if had is None else had
        if time.monotonic() - fetched >= REFRESH_SECONDS:
            names = [name for name in new.keys() - {"header", "events"} if new[name] != had.get(name)]
            if names:
                parts.get(f"{PAGE}/parts/{','.join(names)}")
            had, fetched = new, time.monotonic()
    stream.close()
    parts.close()


@contextmanager
def served(size: int = 10) -> Iterator[tuple[Dashboard, Log]]:
    """A dashboard of one session with a log of that many records, and the log, open."""
    with tempfile.TemporaryDirectory(prefix="vera-dashboard-") as folder:
        work_dir = Path(folder) / "base" / SESSION
        work_dir.mkdir(parents=True)
        now = time.time() - size
        log = Log.create(work_dir / "trace.jsonl", lambda: now if log.seq < size else time.time())
        log.append(events.Session(format=events.FORMAT, version="0", settings={}), "")
        log.append(events.Task(task="Which is longer, the Elbe or the Rhine, and by how much?"), "")
        log.append(STARTED, "main")
        for record in run_of(size - 3):
            now += 1
            log.append(record, "main")
        with dashboard_of(work_dir.parent, Path(folder) / "token") as dashboard:
            yield dashboard, log
        log.close()


STARTED = events.LaneStarted(
    purpose="agent", system="You are VERA. " * 300, task_message="Which is longer?", tools=("shell",),
    protocol="text", system_role="system", prompt_sha256="a" * 64, high_tokens=30_000, max_bytes=0,
    tail_steps=8,
)  # fmt: skip
ARGS = "grep -n length /input/rivers.txt"
EPOCH = events.ContextEpoch(step=0, tail_steps=8, prompt_bytes=90_000)
"""Of a prompt that has become too large: each twelve steps."""

OBSERVED = "12| The Elbe is 1,094 kilometres long.\n" * 100
SAID = "Write down what you know and what is open."


def run_of(count: int) -> Iterator[events.Event]:
    """So many records of a run: a step is a model's turn, a note, a call and its result."""
    step, left = 0, count
    while True:
        step += 1
        done = left - count
        call = f"call_{step:04d}"
        for record in (
            events.Model(
                step=step, scope="agent", latency_s=2.1, prompt_tokens=9000, cached_tokens=8000,
                completion_tokens=180, input_bytes=36_000, finish_reason="stop", n_messages=12,
            ),
            events.ModelIo(
                step=step, scope="agent", at_seq=done + 3, request_sha256="a" * 64, request_bytes=36_000,
                parameters={"temperature": 0.2}, content=TEXT * 3,
            ),
            events.Assistant(step=step, content=TEXT * 3),
            events.Note(step=step, text="the page of the authority has the length"),
            events.ToolStarted(step=step, call=call, tool="shell", args=ARGS),
            events.Tool(
                step=step, call=call, tool="shell", outcome="ok" if step % 9 else "failed",
                obs=OBSERVED, seconds=0.8, exit_code=0,
            ),
            events.Move(id=f"mv_{step:04d}", step=step, tool="shell", call=call, cmd=ARGS),
            events.PolicyReminder(step=step, effect="nudge", reason=SAID),
            *([EPOCH] if step % 12 == 0 else []),
        ):  # fmt: skip
            if not count:
                return
            count -= 1
            yield record


def append_at_rate(log: Log, rate: int, count: int) -> None:
    """Write records at an even rate."""
    begun, written = time.perf_counter(), 0
    record = events.ContainerEvent(event="restored", detail="x" * 100)
    moving = cycle(run_of(800)) if rate < EVENTS else cycle([record])
    while written < count:
        due = min(count, int((time.perf_counter() - begun) * rate) + 1)
        for _ in range(due - written):
            log.append(next(moving), "main")
        written = due
        time.sleep(min(0.002, 1 / rate))


def cpu_seconds(process: psutil.Process) -> float:
    """User and system time so far, of all threads."""
    times = process.cpu_times()
    return float(times.user + times.system)


async def be_clients(port: int, token: str, query: str, start: int, count: int, patience: float) -> None:
    """The process of the clients: says when they are connected, then what they got, as JSON."""
    clients = [Client(start, count, sampled=number < SAMPLED) for number in range(CLIENTS)]
    connected = [await client.connect(port, token, query) for client in clients]
    await asyncio.gather(*(client.begin(reader) for client, reader in zip(clients, connected, strict=True)))
    print("connected", flush=True)
    reading = [
        asyncio.create_task(client.read(reader)) for client, reader in zip(clients, connected, strict=True)
    ]
    await asyncio.wait(reading, timeout=patience)
    for task in reading:
        task.cancel()
    lags = sorted(lag for client in clients for lag in client.lags)
    print(
        json.dumps(
            {
                "clients": [(client.got, client.last) for client in clients],
                "p50": lags[len(lags) // 2],
                "p99": lags[len(lags) * 99 // 100],
            }
        )
    )


class Client:
    """One that follows a stream and counts the records behind the first `start`, up to `count`."""

    def __init__(self, start: int, count: int, *, sampled: bool) -> None:
        self._start, self._count, self._sampled = start, count, sampled
        self._seen = 0
        self._rest = b""
        self.lags: list[float] = []
        self.last = 0.0

    @property
    def got(self) -> int:
        return self._seen - self._start

    async def connect(self, port: int, token: str, query: str) -> asyncio.StreamReader:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=1 << 22)
        request = f"GET {PAGE}/events?{query}&from=0 HTTP/1.1\r\nHost: localhost\r\n"
        writer.write(f"{request}Authorization: Bearer {token}\r\n\r\n".encode())
        self._writer = writer
        return reader

    async def begin(self, reader: asyncio.StreamReader) -> None:
        """Until it has what the log had before."""
        while self._seen < self._start:
            self._take(await reader.read(1 << 16))
        self.lags.clear()

    async def read(self, reader: asyncio.StreamReader) -> None:
        while self.got < self._count and (data := await reader.read(1 << 16)):
            self._take(data)

    def _take(self, data: bytes) -> None:
        whole, end, self._rest = (self._rest + data).rpartition(b"\n\n")
        if not end:
            return
        self.last = time.time()
        self._seen += whole.count(b'"seq":')
        if self._sampled:
            self.lags += [self.last - float(ts) for ts in TS.findall(whole)]


if __name__ == "__main__":
    main()
