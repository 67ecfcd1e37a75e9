"""One batch on one machine, from its file to its summary."""

import asyncio
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TextIO

import msgspec

from vera.attestation.report import counted
from vera.batch.child_attempt import ChildAttempts
from vera.batch.children import Children, open_children
from vera.batch.engine import Submitted
from vera.batch.errors import BatchError
from vera.batch.local import LocalEngine
from vera.batch.progress import ProgressReporter
from vera.batch.runs import Runs
from vera.batch.status import standing
from vera.batch.summary import Summary, summary_of
from vera.batch.task_file import TaskList, read_tasks
from vera.batch.task_settings import TaskSettings
from vera.config.handed import Allowed

INTERRUPTED = 130

PRELOADED = (
    *(f"vera.cli.{name}" for name in ("run", "resume", "verify", "execute", "verify_thesis")),
    *("vera.agent.effort", "vera.config.loading", "vera.model.connect"),
    *(
        "vera.runtime.execute",
        "vera.report.answer",
        "vera.verification.feedback",
        "vera.verification.verifier",
    ),
    *("cryptography.hazmat.primitives.asymmetric.ed25519", "cryptography.hazmat.primitives.serialization"),
    *("anyio._backends._asyncio", "anyio.streams.tls", "anyio.to_thread", "h11", "httpcore", "httpx"),
    *("certifi", "jinja2.sandbox", "vera.runtime.warmup:rehearse"),
)
"""Modules that an attempt needs, by name only: what runs them is `python -m vera`; last, a function."""


class Options(msgspec.Struct, frozen=True, kw_only=True):
    """How a batch runs: `limits` by endpoint, `overrides` the texts of `-c` for all tasks, `allowed` what the
    person lets a task set."""

    slots: int
    limits: Mapping[str, int]
    overrides: tuple[str, ...] = ()
    allowed: Allowed = Allowed()
    retry_failed: bool = False
    new_interpreter: bool = False
    quiet: bool = False


def read(path: Path, overrides: Sequence[str], allowed: Allowed) -> TaskList:
    """The tasks of a file, each held against the settings. Raises BatchError (2)."""
    return read_tasks(path, TaskSettings(overrides, allowed).endpoint)


def run_batch(listed: TaskList, base: Path, options: Options, stream: TextIO) -> tuple[int, Summary]:
    """Run what is not done, and return the exit code with the summary of all tasks.

    Raises BatchError when the folder is in use or a cluster's, or a limit is for no endpoint, and OSError.
    """
    endpoints = {task.endpoint for task in listed.tasks}
    if strangers := [name for name in options.limits if name not in endpoints]:
        raise BatchError(
            f"No task asks {strangers[0]}, which --limit names. They ask: {', '.join(sorted(endpoints))}.", 2
        )
    runs = Runs(base)
    with runs.lock() as lock:
        runs.refuse_cluster()
        interrupted = asyncio.run(_run(listed, runs, options, stream, lock))
        summary = summary_of(runs, listed.tasks)
    return (INTERRUPTED if interrupted else summary.exit_code), summary


async def _run(listed: TaskList, runs: Runs, options: Options, stream: TextIO, lock: int) -> bool:
    """Whether it was interrupted."""
    if options.retry_failed:
        for task in listed.tasks:
            if standing(runs.history(task.id)).state == "failed":
                runs.set_mark(task.id, "requeued")
    done = sum(runs.is_done(task.id) for task in listed.tasks)
    told = ProgressReporter(stream, total=len(listed.tasks), done=done, quiet=options.quiet)
    engine = LocalEngine(runs, told)
    submitted = await engine.submit(listed.tasks)
    for sentence in listed.refused:
        told.say(sentence)
    told.say(_submitted(listed, submitted))
    if not submitted.queued:
        return False
    async with open_children(lock=lock, fork=not options.new_interpreter, preload=PRELOADED) as children:
        handle = ChildAttempts(
            children, runs.base, options.overrides, told, engine.pushed_back, options.allowed
        )
        stopping = _Stopping(engine, children, told)
        with told:
            await engine.work(handle, slots=options.slots, limits=options.limits, drain=True)
        if stopping.asked:
            told.say("interrupted; the same command goes on from here")
        return stopping.asked > 0


class _Stopping:
    """First Ctrl-C: running attempts end the step that runs. Second, or SIGTERM: they are stopped."""

    def __init__(self, engine: LocalEngine, children: Children, told: ProgressReporter) -> None:
        self.asked = 0
        self._engine = engine
        self._children = children
        self._told = told
        self._ending: asyncio.Task[None] | None = None
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        loop.add_signal_handler(signal.SIGTERM, self._stop)

    def _interrupt(self) -> None:
        if self.asked:
            self._stop()
            return
        self.asked += 1
        self._told.say("ending the steps that run; Ctrl-C again stops at once")
        self._engine.stop()
        self._children.finish_all()

    def _stop(self) -> None:
        self.asked += 1
        self._engine.stop()
        self._ending = asyncio.create_task(self._engine.cancel())


def _submitted(listed: TaskList, submitted: Submitted) -> str:
    parts = [counted(len(listed.tasks), "task")]
    if listed.repeated:
        parts.append(f"{counted(listed.repeated, 'line')} repeated")
    parts += [f"{count} {state}" for state, count in sorted(submitted.others.items())]
    return f"{', '.join(parts)}, {submitted.queued} to run"
