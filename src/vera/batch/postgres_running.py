"""A batch on many machines, as its commands have it: submit and wait, look, requeue and cancel, work."""

import asyncio
import signal
import sys
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import Any, TextIO, TypeVar

import msgspec

from vera.attestation.report import counted
from vera.batch.child_attempt import ChildAttempts
from vera.batch.children import Children, open_children
from vera.batch.engine import Attempt, Handle, Submitted
from vera.batch.leases import LEASE_SECONDS
from vera.batch.postgres import PostgresEngine, WorkerSeen, open_postgres
from vera.batch.progress import ProgressReporter
from vera.batch.records import Ended
from vera.batch.running import INTERRUPTED, PRELOADED, Options
from vera.batch.runs import Runs
from vera.batch.session_end import Watch
from vera.batch.status import Standing
from vera.batch.summary import Summary, summary_of
from vera.batch.task import BatchTask
from vera.batch.task_file import TaskList
from vera.config.handed import Allowed
from vera.report.printable import one_printable_line

T = TypeVar("T")

SHOWN_REASON = 300


class Access(msgspec.Struct, frozen=True, kw_only=True):
    """The way to a cluster: the database's address, the shared folder, and a password that is not in the
    address."""

    url: str
    base: Path
    password: str = ""

    def __repr__(self) -> str:
        return f"Access(base={str(self.base)!r})"


class WorkerOptions(msgspec.Struct, frozen=True, kw_only=True):
    """How a worker works: `limits` by endpoint for all workers, `allowed` what the person lets a row of the
    queue set, `lease` in seconds."""

    slots: int
    limits: Mapping[str, int]
    overrides: tuple[str, ...] = ()
    allowed: Allowed = Allowed()
    lease: float = LEASE_SECONDS
    drain: bool = False
    new_interpreter: bool = False
    quiet: bool = False
    jobs: Callable[[Children, Handle], Handle] | None = None
    """Gives a handle that also runs the jobs of the service, from one that runs tasks."""


def submit_batch(
    listed: TaskList, access: Access, options: Options, stream: TextIO, *, wait: bool
) -> tuple[int, Summary]:
    """Queue what is not done and, with `wait`, wait until it was tried; the exit code with the summary.

    Interrupted, it stops waiting: what is queued stays so. Raises BatchError and OSError.
    """
    interrupted = asyncio.run(_submit(listed, access, options, stream, wait))
    summary = summary_of(Runs(access.base), listed.tasks, live=True)
    if interrupted:
        return INTERRUPTED, summary
    return (summary.exit_code if wait else 0), summary


def look(access: Access) -> tuple[Summary, list[WorkerSeen]]:
    """Where every task in the folder stands, and who works. Raises BatchError."""

    async def ask(engine: PostgresEngine) -> list[WorkerSeen]:
        return await engine.workers()

    workers = asyncio.run(_with_engine(access, ask))
    runs = Runs(access.base)
    return summary_of(runs, list(runs.tasks()), live=True), workers


def said_of(workers: Sequence[WorkerSeen]) -> str:
    """Who works, in one line."""
    lines = [
        f"{each.name}: {each.running} of {counted(each.slots, 'slot')}, seen {each.seen:.0f} s ago"
        for each in workers
    ]
    return one_printable_line("; ".join(lines)) if lines else "no worker"


def mark(access: Access, tasks: Collection[str], kind: str) -> list[str]:
    """Requeue (`kind` "requeued") or cancel ("cancelled") tasks; those to which it applied. Raises BatchError
    and OSError."""

    async def ask(engine: PostgresEngine) -> list[str]:
        change = engine.requeue_tasks if kind == "requeued" else engine.cancel_tasks
        return await change(tasks)

    return asyncio.run(_with_engine(access, ask))


def run_worker(access: Access, options: WorkerOptions, stream: TextIO) -> int:
    """Run tasks until it is told to stop, or with `drain` until there are none; the exit code.

    Raises BatchError and OSError.
    """
    return asyncio.run(_work(access, options, stream))


async def _submit(listed: TaskList, access: Access, options: Options, stream: TextIO, wait: bool) -> bool:
    """Whether waiting was interrupted."""
    runs = Runs(access.base)
    done = sum(runs.is_done(task.id) for task in listed.tasks)
    told = ProgressReporter(stream, total=len(listed.tasks), done=done, quiet=options.quiet)
    async with open_postgres(access.url, runs, told, password=access.password) as engine:
        await engine.set_limits(options.limits)
        if options.retry_failed:
            standings = await engine.standings()
            failed = [t.id for t in listed.tasks if t.id in standings and standings[t.id].state == "failed"]
            await engine.requeue_tasks(failed)
        submitted = await engine.submit(listed.tasks)
        for sentence in listed.refused:
            told.say(f"{sentence} A worker decides for itself.")
        told.say(_said(listed, submitted))
        if not wait:
            return False
        if not await engine.workers():
            told.say("no worker is there yet; start one on each machine: vera worker")
        with told:
            return await _interruptible(engine.follow(listed.tasks), told)


async def _interruptible(following: Coroutine[Any, Any, None], told: ProgressReporter) -> bool:
    """Whether a person, or SIGTERM, ended the waiting."""
    waiting = asyncio.create_task(following)
    loop = asyncio.get_running_loop()
    for each in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(each, waiting.cancel)
    try:
        await waiting
    except asyncio.CancelledError:
        told.say("no longer waiting; what is queued stays queued, and the workers go on")
        return True
    return False


async def _work(access: Access, options: WorkerOptions, stream: TextIO) -> int:
    runs = Runs(access.base)
    told = WorkerTold(stream, quiet=options.quiet)
    async with (
        open_postgres(access.url, runs, told, password=access.password, lease=options.lease) as engine,
        open_children(fork=not options.new_interpreter, preload=PRELOADED) as children,
    ):
        handle: Handle = ChildAttempts(
            children, runs.base, options.overrides, told, engine.pushed_back, options.allowed
        )
        if options.jobs is not None:
            handle = options.jobs(children, handle)
        stopping = _Stopping(engine, told)
        told.say(f"working with {options.slots} slots; Ctrl-C ends it when what runs is done")
        await engine.work(handle, slots=options.slots, limits=options.limits, drain=options.drain)
        return INTERRUPTED if stopping.at_once else 0


class WorkerTold:
    """Says in a line what happens at this worker (`local.Listener`, `child_attempt.Glimpse`)."""

    def __init__(self, stream: TextIO, *, quiet: bool) -> None:
        self._stream = stream
        self._quiet = quiet

    def say(self, line: str) -> None:
        if not self._quiet:
            self._stream.write(one_printable_line(line) + "\n")
            self._stream.flush()

    def began(self, task: BatchTask, attempt: Attempt) -> None:
        self.say(f"{task.label}: attempt {attempt.number}")

    def ended(self, task: BatchTask, end: Ended, now: Standing) -> None:
        reason = f": {end.reason[-SHOWN_REASON:]}" if end.reason and end.outcome != "committed" else ""
        self.say(f"{task.label}: {end.outcome}, exit code {end.exit_code}, {now.state}{reason}")

    def slowed(self, endpoint: str, allowed: int) -> None:
        self.say(f"{endpoint} pushes back: at most {allowed} tasks run there from here until it goes well")

    def seen(self, task: BatchTask, watch: Watch) -> None:
        """How far an attempt is, is not told: a worker has no table."""


def silent() -> WorkerTold:
    """A listener that says nothing."""
    return WorkerTold(sys.stderr, quiet=True)


def insist_on_database(access: Access) -> None:
    """Raises BatchError unless the cluster can be used: 2 for a wrong address or folder, 5 for a database
    that does not answer."""

    async def ask(engine: PostgresEngine) -> None:
        await engine.workers()

    asyncio.run(_with_engine(access, ask))


class _Stopping:
    """First Ctrl-C: what runs is finished. Second, or SIGTERM: it is stopped, and put back for others."""

    def __init__(self, engine: PostgresEngine, told: WorkerTold) -> None:
        self.at_once = False
        self._asked = False
        self._engine = engine
        self._told = told
        self._ending: asyncio.Task[None] | None = None
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._finish)
        loop.add_signal_handler(signal.SIGTERM, self._stop)

    def _finish(self) -> None:
        if self._asked:
            self._stop()
            return
        self._asked = True
        self._told.say("ending when what runs is done; Ctrl-C again stops it and puts it back")
        self._engine.stop()

    def _stop(self) -> None:
        self._asked = self.at_once = True
        self._engine.stop()
        self._ending = asyncio.create_task(self._engine.cancel())


async def _with_engine(access: Access, ask: Callable[[PostgresEngine], Awaitable[T]]) -> T:
    async with open_postgres(access.url, Runs(access.base), silent(), password=access.password) as engine:
        return await ask(engine)


def _said(listed: TaskList, submitted: Submitted) -> str:
    parts = [counted(len(listed.tasks), "task"), *_others(submitted), f"{submitted.queued} queued"]
    return ", ".join(parts)


def _others(submitted: Submitted) -> list[str]:
    """The engine counts what waits as running."""
    names = {"running": "queued or running"}
    return [f"{count} {names.get(state, state)}" for state, count in sorted(submitted.others.items())]
