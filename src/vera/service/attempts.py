"""A job of the service at a worker: one attempt as a process, whose output goes back by the shared folder.

The worker decides for itself: its settings choose model and sandbox, its `--allow-input` the folders that can
be read, its egress how much of the web. A job that wants more is refused here, whatever the service allowed.
"""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from pathlib import Path
from typing import Any

import msgspec

from vera.batch.child_attempt import FINISH_STEP, end_of, followed, unfinished
from vera.batch.children import Children
from vera.batch.engine import Attempt, Handle, Unfinished
from vera.batch.records import Manifest
from vera.batch.runs import Runs
from vera.batch.session_end import RESULTS, Watch, how_it_stands
from vera.batch.task import JOB, BatchTask
from vera.batch.task_settings import handed_of
from vera.config import ConfigError, Settings, load
from vera.config.handed import Allowed, Handed
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.service import bodies
from vera.service.problems import Refused
from vera.service.processes import EXTRA_SECONDS
from vera.service.queued_task import SECONDS, Named, NotQueued, named
from vera.service.records import BODY, MAX_OUT_BYTES, sync_printed
from vera.service.terms import Terms, insist_on_isolation
from vera.service.work import REPORT, Work, work_of
from vera.session.session import sweep
from vera.store import replace_file

TIMED_OUT = "the job took longer than the service allows"
USAGE, NOT_READY = 2, 5
"""Exit codes (`docs/reference/exit-codes.md`)."""


class Prepared(msgspec.Struct, frozen=True, kw_only=True):
    """What starts an attempt: the words after `vera` and standard input; its session, and the number of the
    attempt that began that; its seconds."""

    argv: Sequence[str]
    stdin: str
    session: Path
    number: int
    seconds: float


class JobAttempts:
    """The `Handle` of a worker that also runs jobs; other tasks go to `others`.

    `base` is the shared folder, `overrides` the texts of `-c` of the worker, `allowed` what its person lets a
    row of the queue set.
    """

    def __init__(
        self, children: Children, base: Path, overrides: Sequence[str], allowed: Allowed, others: Handle
    ) -> None:
        self._children = children
        self._base = base
        self._runs = Runs(base)
        self._overrides = tuple(overrides)
        self._allowed = allowed
        self._others = others

    def __call__(self, task: BatchTask, attempt: Attempt) -> Coroutine[Any, Any, Manifest]:
        """What runs the attempt. Settings are read at once, while the beginning goes to the disk."""
        if task.kind != JOB:
            return self._others(task, attempt)
        preparing = asyncio.ensure_future(asyncio.to_thread(self._prepared, task, attempt))
        preparing.add_done_callback(lambda done: done.cancelled() or done.exception())
        return self._run(task, attempt, preparing)

    async def _run(
        self, task: BatchTask, attempt: Attempt, preparing: "asyncio.Future[Prepared]"
    ) -> Manifest:
        """Run the attempt. Raises Unfinished."""
        prepared = await preparing
        watch = Watch(prepared.session)
        out = self._runs.output(task.id, attempt.number)
        stderr = out.with_suffix(".stderr")
        try:
            child = self._children.start(
                prepared.argv, stdin=prepared.stdin, stdout=out, stderr=stderr, finish=FINISH_STEP
            )
            async with asyncio.timeout(prepared.seconds + EXTRA_SECONDS) as limit:
                ended = await followed(child, watch.look)
            printed, said = await asyncio.to_thread(_left_by, out, stderr)
        finally:
            stderr.unlink(missing_ok=True)
        if limit.expired():
            raise Unfinished("failed", TIMED_OUT, 1, session=prepared.number, spent=watch.spent)
        watch.look()
        if ended.code in RESULTS and printed is not None and printed["exit_code"] == ended.code:
            return _manifest(task, attempt, prepared.number, printed, watch)
        raise unfinished(ended, said, watch, prepared.number)

    def _prepared(self, task: BatchTask, attempt: Attempt) -> Prepared:
        """What to start. Raises Unfinished for a job that this worker does not run."""
        try:
            job = named(task, self._base)
            asked = {key: value for key, value in task.settings.items() if key != SECONDS}
            within = msgspec.structs.replace(task, settings=asked)  # of its seconds the fewer count
            settings = load(self._overrides, handed=handed_of(within, self._allowed)).settings
            insist_on_isolation(settings)
            seconds = min(job.reach.seconds, settings.budget.seconds or job.reach.seconds)
            reach = msgspec.structs.replace(job.reach, seconds=seconds)
            place = job.place(attempt.folder)
            data = read_regular(place.folder, BODY, bodies.MAX_BYTES)
            work = work_of(job.kind, data, self._terms(settings, reach.seconds), reach)
            if work.report:
                replace_file(place.folder / REPORT, work.report.encode())
        except (NotQueued, ConfigError, Refused) as refused:
            reason = " ".join(str(refused).split())
            raise Unfinished("failed", reason, USAGE) from None
        except (Unreadable, OSError) as error:
            reason = f"the shared folder cannot be read here: {error}"
            raise Unfinished("unready", reason, NOT_READY) from None
        if attempt.earlier and job.kind == "research":
            number, session = attempt.earlier[0]
            if (went_on := self._resumed(work, job, session)) is not None:
                stdin, argv = went_on
                return Prepared(argv=argv, stdin=stdin, session=session, number=number, seconds=reach.seconds)
        return Prepared(
            argv=work.arguments(place),
            stdin=work.stdin,
            session=attempt.folder,
            number=attempt.number,
            seconds=reach.seconds,
        )

    def _resumed(self, work: Work, job: Named, session: Path) -> tuple[str, list[str]] | None:
        """Standard input and words that go on with the session of a lost attempt; None where it cannot be."""
        watch = Watch(session)
        watch.look()
        if how_it_stands(watch) != "resumable":
            sweep(session)
            return None
        handed = msgspec.structs.replace(msgspec.json.decode(work.stdin, type=Handed), text="")
        reach = work.reach
        folder = str(reach.folder) if reach.folder else "null"
        fixed = (
            *(f"run.input_dir={folder}", f"run.base_dir={job.base}"),
            *(f"budget.seconds={reach.seconds:g}", f"egress.mode={reach.egress}"),
        )
        options = [word for text in (*self._overrides, *fixed) for word in ("--config", text)]
        return handed.encode(), ["resume", str(session), "--handed", "--json", "--quiet", *options]

    def _terms(self, settings: Settings, seconds: float) -> Terms:
        return Terms(base=self._base, settings=settings, overrides=self._overrides, seconds=seconds)


def with_jobs(base: Path, overrides: Sequence[str], allowed: Allowed) -> Callable[[Children, Handle], Handle]:
    """What makes a worker's handle run jobs, too (`vera.batch.postgres_running.WorkerOptions`)."""

    def made(children: Children, others: Handle) -> Handle:
        return JobAttempts(children, base, overrides, allowed, others)

    return made


def _left_by(out: Path, stderr: Path) -> tuple[dict[str, Any] | None, str]:
    """What a process printed, on the disk before it is a result, and the end of what it said."""
    sync_printed(out)
    return printed_in(out), end_of(stderr)


def printed_in(path: Path) -> dict[str, Any] | None:
    """The JSON object that an attempt printed; None where that is no whole one with an exit code."""
    try:
        found = msgspec.json.decode(read_regular(path.parent, path.name, MAX_OUT_BYTES))
    except (Unreadable, ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and isinstance(found.get("exit_code"), int) else None


def _manifest(
    task: BatchTask, attempt: Attempt, session: int, printed: dict[str, Any], watch: Watch
) -> Manifest:
    return Manifest(
        task=task.id,
        attempt=attempt.number,
        session=session,
        status=str(printed.get("status") or ""),
        reason=str(printed.get("reason") or ""),
        exit_code=printed["exit_code"],
        attestation=str(printed.get("attestation") or ""),
        log=watch.head,
        steps=watch.step,
        spent=watch.spent,
    )
