"""The service as a person starts it, with workers, a database and a scripted model, and many who ask at once.

Used by the tests of the cluster and by benchmarks/service_load.py.
"""

import asyncio
import contextlib
import json
import os
import signal
import statistics
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import httpx

from support.batches import SHORT, slowly
from support.postgres import free_port
from support.scripted_server import ScriptedServer
from vera.config.handed import as_text
from vera.service.tokens import RIGHTS, add

PATIENCE = 200.0
LEASE = 5.0
EACH = 5
"""Different questions of one token; each is asked twice."""


@dataclass
class Asked:
    """One request: when it was sent, when its job was told, when its end was heard (Unix time)."""

    token: str
    question: str
    sent: float = 0.0
    taken: float = 0.0
    heard: float = 0.0
    job: str = ""
    shared: bool = False
    refused: int = 0
    status: str = ""


@dataclass
class Cluster:
    """A service with its processes, under one folder."""

    folder: Path
    model: ScriptedServer
    database: str = ""
    """The address of its database; '' runs jobs as processes of the service."""
    jobs: int = 4
    processes: list["subprocess.Popen[bytes]"] = field(default_factory=list)
    port: int = field(default_factory=free_port)

    @property
    def base(self) -> Path:
        return self.folder / "base"

    @property
    def tokens(self) -> Path:
        return self.folder / "tokens.json"

    def token(self, name: str, at_once: int = EACH, per_hour: int = 600) -> str:
        return add(self.tokens, name, RIGHTS, at_once, per_hour)

    def serve(self, *more: object) -> "subprocess.Popen[bytes]":
        """Start the service, and wait until it answers."""
        how = ["--engine", self.database] if self.database else ["--slots", self.jobs]
        words = ["--base-dir", self.base, "--port", self.port, "--token-file", self.tokens, "--queue", 1000]
        process = self._start("serve", *how, *words, *more)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and process.poll() is None:
            with contextlib.suppress(httpx.HTTPError):
                if httpx.get(f"{self.address}/healthz").status_code == 200:
                    return process
            time.sleep(0.05)
        raise AssertionError((self.folder / "said").read_text())

    def worker(self, slots: int = 1) -> "subprocess.Popen[bytes]":
        words = ["--engine", self.database, "--store", self.base, "--slots", slots, "--lease", LEASE]
        return self._start("worker", *words)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def client(self, token: str) -> httpx.Client:
        return httpx.Client(
            base_url=self.address, headers={"authorization": f"Bearer {token}"}, timeout=PATIENCE
        )

    def ended(self) -> int:
        """Jobs that are over."""
        return len(list(self.base.glob("serve/*/jobs/*/ended.json")))

    def end(self) -> None:
        for process in self.processes:
            if process.poll() is None:
                process.terminate()
        for process in self.processes:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait(30)

    def _start(self, *words: object) -> "subprocess.Popen[bytes]":
        settings = {**SHORT, "model.base_url": self.model.base_url, "model.assumed": "openai/text"}
        options = [word for key, value in settings.items() for word in ("-c", f"{key}={as_text(value)}")]
        with (self.folder / "said").open("ab") as said:
            process = subprocess.Popen(
                [sys.executable, "-P", "-m", "vera", *map(str, words), *options],
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                env=os.environ,
            )
        self.processes.append(process)
        return process


@contextlib.contextmanager
def cluster(
    folder: Path, database: str = "", *, latency: float = 0.1, calls: int = 1, jobs: int = 4
) -> Iterator[Cluster]:
    """A service that is not started yet, with a model that answers after `latency` seconds."""
    with ScriptedServer(slowly(latency, calls)) as model:
        made = Cluster(folder, model, database, jobs)
        try:
            yield made
        finally:
            made.end()


def questions(place: Cluster, requests: int) -> list[Asked]:
    """So many requests of as many tokens as they need, each question twice."""
    found: list[Asked] = []
    for number in range(-(-requests // (2 * EACH))):
        token = place.token(f"t{number}")
        found += [
            Asked(token, f"What colour is sky number {number * EACH + n} seen from here?")
            for n in range(EACH)
            for _ in range(2)
        ]
    return found[:requests]


async def ask_all(place: Cluster, asked: Sequence[Asked]) -> None:
    """Send all of them at once and wait for each end."""
    # A connection for each request: of 200 that rest, httpcore looks at each before every request, and one
    # whose time is over it may close after it gave it to a request.
    limits = httpx.Limits(max_connections=None, max_keepalive_connections=0)
    async with httpx.AsyncClient(base_url=place.address, timeout=PATIENCE, limits=limits) as client:
        async with asyncio.timeout(PATIENCE):
            await asyncio.gather(*(ask_one(client, each) for each in asked))


async def ask_one(client: httpx.AsyncClient, asked: Asked) -> None:
    """Send a request, again where it has to wait, and follow its job to the end."""
    headers = {"authorization": f"Bearer {asked.token}"}
    asked.sent = time.time()
    while True:
        answer = await client.post("/v1/research", json={"question": asked.question}, headers=headers)
        if answer.status_code == 202:
            break
        assert answer.status_code == 503, answer.text
        assert answer.json()["error"]["code"] == "no_database", answer.text
        asked.refused += 1
        await asyncio.sleep(float(answer.headers["retry-after"]))
    asked.taken = time.time()
    asked.job, asked.shared = answer.json()["id"], answer.json()["shared"]
    async with client.stream("GET", f"/v1/jobs/{asked.job}/events", headers=headers) as stream:
        assert stream.status_code == 200, await stream.aread()
        async for line in stream.aiter_lines():
            if line.startswith("data: ") and '"id"' in line:
                asked.status = json.loads(line.removeprefix("data: "))["status"]
    asked.heard = time.time()


async def trouble(place: Cluster, steps: Sequence[tuple[int, Callable[[], object]]]) -> None:
    """Do each step as soon as so many jobs are over."""
    for count, step in steps:
        while place.ended() < count:  # noqa: ASYNC110 - other processes write the files
            await asyncio.sleep(0.05)
        await asyncio.to_thread(step)


def kill(worker: "subprocess.Popen[bytes]") -> None:
    os.kill(worker.pid, signal.SIGKILL)


@dataclass(frozen=True)
class Run:
    """The process of a job: when its attempt began and when it ended (Unix time). On a cluster it ended when
    what it printed was written: a fork ends at once, and nothing notes its end alone.

    `committed` counts results: a worker that is killed behind its commit did not write how its attempt ended.
    """

    job: str
    began: float
    ended: float
    attempts: int
    committed: int
    worker: str = ""
    task: str = ""


def settled_runs(place: Cluster) -> list[Run]:
    """The runs behind the jobs that are done, when the shared folder has the result of each. The worker
    writes it there after its commit in the database, and after a kill whoever takes the task over."""
    until = time.monotonic() + PATIENCE
    while True:
        found = runs_of(place)
        if all(run.committed for run in found):
            return found
        assert time.monotonic() < until, found
        time.sleep(0.05)


def runs_of(place: Cluster) -> list[Run]:
    """The runs behind the jobs that are done, as the files say."""
    found = []
    for folder in sorted(place.base.glob("serve/*/jobs/*")):
        if not (folder / "out.json").exists():
            continue
        if (folder / "queued.json").exists():  # it is told before its end is written
            found.append(_at_a_worker(place, folder))
        elif (folder / "ended.json").exists():
            found.append(_here(folder))
    return found


def lives(place: Cluster, notes: Path) -> list[Run]:
    """The runs with the life of their process, where the fork servers have noted it
    (benchmarks/service_load.py)."""
    lines = [line.split("\t") for line in notes.read_text().splitlines()] if notes.exists() else []
    gone = {pid: float(ts) for kind, pid, ts, *_ in lines if kind == "gone"}
    found = {}
    for kind, pid, ts, *argv in lines:
        if kind == "run" and pid in gone and "--work-dir" in argv:
            task = Path(argv[argv.index("--work-dir") + 1]).parent.name
            found[task] = (float(ts), gone[pid])
    return [
        replace(run, began=found[run.task][0], ended=found[run.task][1]) if run.task in found else run
        for run in settled_runs(place)
    ]


def _here(folder: Path) -> Run:
    ended = json.loads((folder / "ended.json").read_text())["at"]
    return Run(folder.name, (folder / "in.json").stat().st_mtime, ended, attempts=1, committed=1)


def _at_a_worker(place: Cluster, folder: Path) -> Run:
    task = place.base / "runs" / _task_of(folder / "queued.json")
    names = sorted((path for path in task.glob("attempts/*.json") if path.stem.isdigit()), key=_number)
    begun = [json.loads(path.read_text()) for path in names]
    ends = [json.loads(path.read_text())["outcome"] for path in task.glob("attempts/*.end.json")]
    return Run(
        folder.name,
        began=begun[-1]["ts"],
        ended=(folder / "out.json").stat().st_mtime,
        attempts=len(begun),
        committed=max(ends.count("committed"), int((task / "commit.json").exists())),
        worker=begun[-1]["worker"],
        task=task.name,
    )


def _number(path: Path) -> int:
    return int(path.stem)


def _task_of(path: Path) -> str:
    from vera.batch.task import task_id

    return task_id(path.read_bytes())


def times_asked(place: Cluster) -> Counter[str]:
    """Question → how often the model was asked it, from the beginning."""
    found = Counter[str]()
    for request in place.model.requests:
        text = json.dumps(request.body["messages"])
        at = text.find("What colour is sky number ")
        if at >= 0 and '"assistant"' not in text:
            found[text[at : text.index("?", at) + 1]] += 1
    return found


def gaps(runs: Sequence[Run], slots: int) -> list[float]:
    """Seconds between the end of one run and the beginning of the next one in its place: one of the slots of
    this machine, or a worker, which has one."""
    found: list[float] = []
    for worker in {run.worker for run in runs}:
        mine, width = [run for run in runs if run.worker == worker], 1 if worker else slots
        ends, begins = sorted(run.ended for run in mine), sorted(run.began for run in mine)
        found += [begin - end for begin, end in zip(begins[width:], ends, strict=False)]
    return found


def percentile(values: Sequence[float], part: float) -> float:
    """By the nearest rank; 0.0 for no values."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else 0.0


def median(values: Sequence[float]) -> float:
    return statistics.median(values) if values else 0.0
