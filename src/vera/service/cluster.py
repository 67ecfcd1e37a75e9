"""The engine of a cluster: jobs are queued in Postgres, and workers on any machine run them.

What a job came to is taken from the folder that all share (`vera.batch.runs`): the attempt that was
committed, its output and its session. A server that starts again queues nothing twice, as the task of a job
is kept.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from vera.batch.cancelling import end_tasks
from vera.batch.errors import BatchError
from vera.batch.postgres import PostgresEngine, open_postgres
from vera.batch.postgres_notices import BEGINS, result_of
from vera.batch.postgres_records import Known
from vera.batch.postgres_running import Access, silent
from vera.batch.records import Commit, History
from vera.batch.runs import Runs
from vera.batch.status import Standing, standing
from vera.batch.task import BatchTask
from vera.batch.task_settings import TaskSettings
from vera.batch.trouble import database_errors
from vera.service.attempts import TIMED_OUT, printed_in
from vera.service.engine import Active
from vera.service.problems import Refused, TryLater
from vera.service.processes import Processes
from vera.service.queued_task import NotQueued, kept, task_of
from vera.service.records import BODY, CANCELLED, OUT, SAID, Ended
from vera.service.terms import Terms
from vera.service.work import work_of
from vera.session.session import TRACE
from vera.store import replace_file

LOOK_SECONDS = 2.0
"""Between two looks at every job, beside what the workers tell at once."""

AGAIN_SECONDS = 1.0
"""Between two tries to queue a job while the database is away."""

AWAY_SECONDS = 5.0
"""What whoever asks is told to wait while the database is away."""


logger = logging.getLogger(__name__)


class _Watched(msgspec.Struct, kw_only=True, eq=False):
    """A job in the queue. `folder` is what the folder of runs knew about it, `over` what became of it."""

    task: BatchTask
    folder: Mapping[str, History]
    active: Active
    over: "asyncio.Future[Ended]"
    is_queued: bool = False
    is_withdrawn: bool = False


class Cluster:
    """`Engine` for many machines."""

    def __init__(self, terms: Terms, access: Access, *, clock: Callable[[], float] = time.time) -> None:
        self._terms = terms
        self._access = access
        self._clock = clock
        self._runs = Runs(access.base)
        self._of_before = Processes(terms)
        self._settings = TaskSettings((*terms.overrides, *(f"{k}={v}" for k, v in terms.flags.items())))
        self._watched: dict[str, _Watched] = {}
        self._tasks: dict[str, str] = {}
        self._is_away = False
        self._looking = asyncio.Lock()
        self._helpers: list[asyncio.Task[None]] = []
        self._opened = contextlib.AsyncExitStack()
        self._engine: PostgresEngine | None = None

    async def open(self) -> None:
        """Raises BatchError as `open_postgres` does."""
        opened = open_postgres(self._access.url, self._runs, silent(), password=self._access.password)
        self._engine = await self._opened.enter_async_context(opened)
        self._helpers = [asyncio.create_task(self._hear()), asyncio.create_task(self._look_often())]

    async def close(self) -> None:
        """What is queued stays so, and the workers go on."""
        await end_tasks(self._helpers)
        await self._opened.aclose()

    def insist_on_ready(self) -> None:
        if self._is_away:
            sentence = "The database of the queue does not answer. Jobs that were taken are not lost."
            raise TryLater(503, "no_database", sentence, AWAY_SECONDS)

    def health(self) -> dict[str, str]:
        return {"database": "down" if self._is_away else "up"}

    def has_room(self, running: int) -> bool:
        """The workers have the slots."""
        return True

    def goes_on(self, active: Active) -> bool:
        return True

    async def run(self, active: Active) -> Ended | None:
        if self._of_before.goes_on(active):  # by a server without --engine, on this machine
            return await self._of_before.run(active)
        task, folder = await asyncio.to_thread(self._written, active)
        over = asyncio.get_running_loop().create_future()
        watched = _Watched(task=task, folder=folder, active=active, over=over)
        self._watched[task.id] = watched
        self._tasks[active.job.id] = task.id
        try:
            await self._queue(watched)
            return await watched.over
        except BatchError as error:
            logger.error("%s", error)
            raise Refused(503, "no_database", "The queue of this service refuses the job.") from None
        finally:
            del self._watched[task.id], self._tasks[active.job.id]

    async def cancel(self, active: Active) -> None:
        task = self._tasks.get(active.job.id)
        if task is None:
            await self._of_before.cancel(active)
        elif not self._is_away:  # else when it answers again
            await self._look([task])

    def session(self, active: Active) -> Path:
        """That of the attempt that wrote last."""
        task = self._tasks.get(active.job.id)
        if task is None:
            return active.place.session
        logs = [path for path in self._runs.folder(task).glob(f"*/{TRACE}") if path.parent.name.isdigit()]
        with contextlib.suppress(OSError, ValueError):  # it was just taken away
            return max(logs, key=lambda path: path.stat().st_mtime_ns).parent
        return active.place.session

    def _written(self, active: Active) -> tuple[BatchTask, dict[str, History]]:
        """The task of a job, in the folder of runs. Raises Refused, OSError."""
        assert self._engine is not None
        task = self._task(active)
        return task, self._engine.written([task])

    def _task(self, active: Active) -> BatchTask:
        """The job as a task: as it was queued before, or by what is allowed now. Raises Refused, OSError."""
        place = active.place
        try:
            if (before := kept(place, "")) is not None:
                return msgspec.structs.replace(before, endpoint=self._settings.endpoint(before)[0])
            reach = (
                active.reach
                or work_of(active.job.kind, (place.folder / BODY).read_bytes(), self._terms).reach
            )
            task = task_of(active.job.kind, place, reach, "")
            return msgspec.structs.replace(task, endpoint=self._settings.endpoint(task)[0])
        except (NotQueued, ValueError) as error:
            raise Refused(400, "invalid_request", str(error)) from None

    async def _queue(self, watched: _Watched) -> None:
        """Put a job into the queue, as often as the database needs. Raises BatchError where it refuses."""
        assert self._engine is not None
        while not watched.is_queued:
            try:
                (state,) = await self._engine.submit_written([watched.task], watched.folder, soon=True)
                watched.is_queued = True
                self._is_away = False
                if state is None:
                    return
            except database_errors() as error:
                self._engine.insist_on_passing(error)
                self._is_away = True
                await asyncio.sleep(AGAIN_SECONDS)
        await self._look([watched.task.id])

    async def _hear(self) -> None:
        """Look at once at what the workers tell."""
        assert self._engine is not None
        async with contextlib.aclosing(self._engine.moves()) as moves:
            async for told in moves:
                if told is None:
                    self._is_away = True
                elif not told:
                    await self._look(list(self._watched))
                elif result := result_of(told):
                    await self._take(result)
                elif watched := self._watched.get(told.removeprefix(BEGINS)):
                    if told.startswith(BEGINS):
                        watched.active.state = "running"
                    else:
                        await self._look([told])

    async def _take(self, result: Commit) -> None:
        """Settle a job by what its worker tells, which saves a look. Whoever may connect to the database may
        tell something, so it is believed only where the shared folder has what such a run printed."""
        if result.task not in self._watched:
            return
        printed = await asyncio.to_thread(printed_in, self._runs.output(result.task, result.attempt))
        if printed is None or printed["exit_code"] != result.exit_code:
            await self._look([result.task])
            return
        async with self._looking:
            watched = self._watched.get(result.task)
            if watched is not None and watched.is_queued and not watched.over.done():
                await self._settle(watched, History(commit=result))

    async def _look_often(self) -> None:
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            await self._look(list(self._watched))

    async def _look(self, tasks: list[str]) -> None:
        """See how far some jobs are, and settle those that are over."""
        assert self._engine is not None
        async with self._looking:
            try:
                found = await self._engine.look(tasks)
                for task, known in found.items():
                    watched = self._watched.get(task)
                    if watched is not None and watched.is_queued and not watched.over.done():
                        await self._see(watched, known)
                self._is_away = False
            except BatchError as error:
                logger.error("%s", error)
                self._is_away = True
            except database_errors():  # before OSError, which a TimeoutError is too
                self._is_away = True
            except (OSError, ValueError) as error:  # the next look tries again
                logger.error("the shared folder cannot be used: %s", error)

    async def _see(self, watched: _Watched, known: Known) -> None:
        assert self._engine is not None
        now = standing(known.history, live=True)
        if now.state == "open" and not known.is_active and not _is_given_up(known.history):
            folder = await asyncio.to_thread(self._engine.written, [watched.task])
            await self._engine.submit_written([watched.task], folder)  # a crash of the server took it back
            return
        cancelled = watched.active.place.folder / CANCELLED
        if known.is_active and not watched.is_withdrawn and cancelled.exists():
            await self._engine.cancel_tasks([watched.task.id])
            watched.is_withdrawn = True
            known = (await self._engine.look([watched.task.id]))[watched.task.id]
            now = standing(known.history, live=True)
        watched.active.state = "running" if now.state == "running" else "queued"
        if _is_over(now, known):
            await self._settle(watched, known.history)

    async def _settle(self, watched: _Watched, history: History) -> None:
        """Keep what a job came to that is over, and tell it. What cannot be kept is tried again at the next
        look."""
        now = standing(history, live=True)
        try:
            watched.over.set_result(await asyncio.to_thread(self._settled, watched, history, now))
        except OSError as error:
            logger.error("what a job came to cannot be kept: %s", error.strerror or error)

    def _settled(self, watched: _Watched, history: History, now: Standing) -> Ended:
        """Put what a job came to where the service keeps it. Can be done twice. Raises OSError."""
        place, task = watched.active.place, watched.task.id
        last = max((begun.number for begun in history.begun), default=0)
        number = history.commit.attempt if history.commit else last
        end = history.ended.get(number)
        session = history.commit.session if history.commit else (end.session if end else number) or number
        ran = self._runs.session(task, session)
        if ran.is_dir() and not place.session.exists():
            ran.rename(place.session)
        if now.state == "cancelled":
            replace_file(place.folder / CANCELLED, b"")
        elif self._runs.output(task, number).is_file():
            self._runs.output(task, number).replace(place.folder / OUT)
        if now.state != "done":
            replace_file(place.folder / SAID, now.reason.encode("utf-8", "replace"))
        watched.active.has_result = now.state == "done" and (place.folder / OUT).is_file()
        for printed in self._runs.output(task, number).parent.glob("*.out"):
            printed.unlink(missing_ok=True)
        return Ended(
            exit_code=history.commit.exit_code if history.commit else (end.exit_code if end else None),
            at=self._clock(),
            timed_out=now.state == "failed" and now.reason == TIMED_OUT,
        )


def _is_over(now: Standing, known: Known) -> bool:
    """Whether a task is done, or neither runs nor waits for a worker."""
    return now.state == "done" or (now.state != "running" and not known.is_active)


def _is_given_up(history: History) -> bool:
    """Whether the last attempt could not be run yet, as others before it: then only a person's word queues
    the task again."""
    last = history.begun[-1].number if history.begun else 0
    return last in history.ended and history.ended[last].outcome == "unready"
