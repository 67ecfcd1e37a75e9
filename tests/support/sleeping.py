"""Tasks whose attempts only sleep: what they cost is what an engine costs.

A task's text says what becomes of it: `sleep 0.05 #7`, `stubborn 3 #7` (told to stop, it has a result all the
same), `crash #1`, `fail #1`, `unready #1`. As a program it is a part of a cluster that says what happens on
stdout: `worker URL STORE SLOTS LEASE` until SIGTERM, `submit URL STORE` the tasks on stdin, a text and an
endpoint a line.
"""

import asyncio
import contextlib
import signal
import sys
from collections.abc import Callable
from pathlib import Path

from vera.batch.engine import Attempt, Unfinished
from vera.batch.records import Ended, Manifest, Outcome
from vera.batch.runs import Runs
from vera.batch.status import Standing
from vera.batch.task import BatchTask, canonical_task, task_id

OUTCOMES: dict[str, tuple[Outcome, int]] = {
    "crash": ("crashed", 1),
    "fail": ("failed", 1),
    "unready": ("unready", 5),
}


def sleeping_task(text: str, endpoint: str = "builtin") -> BatchTask:
    return BatchTask(id=task_id(canonical_task("task", text)), kind="task", text=text, endpoint=endpoint)


class Heard:
    """Keeps what an engine tells, or says it on stdout."""

    def __init__(self, say: Callable[[str], None] = lambda line: None) -> None:
        self.began_: list[tuple[str, int]] = []
        self.ends: list[tuple[str, Ended, Standing]] = []
        self._news = asyncio.Event()
        self._say = say

    def began(self, task: BatchTask, attempt: Attempt) -> None:
        self.began_.append((task.text, attempt.number))
        self._news.set()
        self._say(f"began {task.text}")

    def ended(self, task: BatchTask, end: Ended, now: Standing) -> None:
        self.ends.append((task.text, end, now))
        self._say(f"{end.outcome} {task.text}")

    async def until_begun(self, count: int = 1) -> None:
        """Wait until so many attempts were begun."""
        while len(self.began_) < count:
            self._news.clear()
            await self._news.wait()

    def slowed(self, endpoint: str, allowed: int) -> None:
        """Not kept."""


async def sleep(task: BatchTask, attempt: Attempt) -> Manifest:
    """The `Handle`."""
    what, _, rest = task.text.partition(" ")
    attempt.folder.mkdir(exist_ok=True)
    if what in OUTCOMES:
        outcome, code = OUTCOMES[what]
        raise Unfinished(outcome, f"as the task wants: {what}", code)
    with contextlib.suppress(*([asyncio.CancelledError] if what == "stubborn" else [])):
        await asyncio.sleep(float(rest.split()[0]))
    return manifest_of(task, attempt)


def manifest_of(task: BatchTask, attempt: Attempt) -> Manifest:
    return Manifest(
        task=task.id,
        attempt=attempt.number,
        session=attempt.number,
        status="VERIFIED",
        reason="",
        exit_code=0,
        attestation="",
        log=(1, "0" * 64),
        steps=1,
        spent={"model_calls": 1},
    )


async def worker(url: str, store: Path, slots: int, lease: float) -> None:
    """Work until SIGTERM."""
    from vera.batch.postgres import open_postgres

    async with open_postgres(url, Runs(store), Heard(_say), lease=lease) as engine:
        working = asyncio.create_task(engine.work(sleep, slots=slots, limits={}, drain=False))
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, working.cancel)
        _say("up")
        with contextlib.suppress(asyncio.CancelledError):
            await working


async def submitter(url: str, store: Path) -> None:
    """Submit tasks and wait for them."""
    from vera.batch.postgres import open_postgres

    tasks = [sleeping_task(*line.rstrip("\n").split("\t")) for line in sys.stdin]
    async with open_postgres(url, Runs(store), Heard(_say)) as engine:
        submitted = await engine.submit(tasks)
        _say(f"queued {submitted.queued}")
        await engine.follow(tasks)
        _say("over")


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["worker", url, store, slots, lease]:
            asyncio.run(worker(url, Path(store), int(slots), float(lease)))
        case ["submit", url, store]:
            asyncio.run(submitter(url, Path(store)))
