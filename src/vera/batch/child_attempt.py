"""One attempt as its own process: `vera run`, `vera verify` or `vera resume`, watched by its log."""

import asyncio
import signal
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Protocol

from vera.batch.children import Child, Children, Exit
from vera.batch.engine import Attempt, Unfinished
from vera.batch.probe_cache import Assumptions
from vera.batch.records import Manifest, Outcome
from vera.batch.session_end import Watch, how_it_stands, manifest_of
from vera.batch.task import BatchTask
from vera.batch.task_settings import handed_of
from vera.config.handed import Allowed
from vera.session.session import sweep

LOOK_SECONDS = 0.5
"""How often the log of a running attempt is looked at."""
ENDING_SECONDS = 15.0
"""How long an attempt that was told to stop has for it."""
SAID_BYTES = 4000
"""Of what an attempt said on stderr, the end that is kept when it failed."""

FINISH_STEP = signal.SIGUSR1
"""Tells a run to do the step that runs to its end, and stop; a look-up of a thesis has no steps."""

TOLD_TO_STOP = (signal.SIGINT, signal.SIGTERM, FINISH_STEP)
"""Signals that end a process which had not yet come so far as to listen to them."""

OUTCOMES: dict[int, Outcome] = {1: "failed", 2: "failed", 5: "unready", 130: "interrupted"}


class Glimpse(Protocol):
    """Is told how far a running attempt is."""

    def seen(self, task: BatchTask, watch: Watch) -> None:
        """The log of the attempt was looked at."""


class ChildAttempts:
    """The `Handle` of one machine: an attempt at a task is a child process.

    `base` is the base folder, `overrides` the texts of `-c` that hold for all tasks, `allowed` what the
    person lets a task set. The task's text and its settings go by standard input: on the command line they
    would be the person's word. `pushed_back` is called once for each look at a log that found calls which the
    endpoint pushed back.
    """

    def __init__(
        self,
        children: Children,
        base: Path,
        overrides: Sequence[str],
        glimpse: Glimpse,
        pushed_back: Callable[[BatchTask], None],
        allowed: Allowed,
    ) -> None:
        self._children = children
        self._base = base
        self._overrides = tuple(overrides)
        self._glimpse = glimpse
        self._pushed_back = pushed_back
        self._assumed = Assumptions()
        self._allowed = allowed

    async def __call__(self, task: BatchTask, attempt: Attempt) -> Manifest:
        """Run the attempt; or take the result of an earlier one whose process died before it was committed,
        or go on with an earlier one. Raises Unfinished."""
        number, folder, argv = attempt.number, attempt.folder, self._new(task, attempt.folder)
        began_ts = time.time()
        if attempt.earlier:
            number_before, before = attempt.earlier[0]
            watch = Watch(before)
            await asyncio.to_thread(watch.look)
            match how_it_stands(watch):
                case "finished":
                    made = manifest_of(watch, task, attempt.number, number_before, 0.0)
                    assert made is not None
                    return made
                case "resumable":
                    number, folder, argv, began_ts = number_before, before, self._resumed(before), 0.0
                case "neither":
                    await asyncio.to_thread(sweep, before)
        stderr = folder.parent / "attempts" / f"{attempt.number}.stderr"
        watch = Watch(folder)
        try:
            ended = await self._watched(task, argv, stderr, watch)
            said = await asyncio.to_thread(end_of, stderr)
        finally:
            stderr.unlink(missing_ok=True)
        made = manifest_of(watch, task, attempt.number, number, began_ts)
        if made is not None and ended.code == made.exit_code:
            return made
        self._assumed.forget(task)
        raise unfinished(ended, said, watch, number)

    async def _watched(self, task: BatchTask, argv: Sequence[str], stderr: Path, watch: Watch) -> Exit:
        """Start the process and follow its log to the end. Cancelled, it ends the process first."""
        said = handed_of(task, self._allowed, "" if argv[0] == "resume" else task.text).encode()
        finish = FINISH_STEP if task.kind == "task" else signal.SIGINT
        child = self._children.start(argv, stdin=said, stderr=stderr, finish=finish)
        return await followed(child, lambda: self._look(task, watch))

    def _look(self, task: BatchTask, watch: Watch) -> None:
        before = watch.pushed_back
        watch.look()
        if watch.pushed_back > before:
            self._pushed_back(task)
        self._assumed.learn(task, watch.state)
        self._glimpse.seen(task, watch)

    def _new(self, task: BatchTask, folder: Path) -> list[str]:
        """The words after `vera`."""
        command = "run" if task.kind == "task" else "verify"
        words = [command, "--handed", "--work-dir", str(folder), "--base-dir", str(self._base), "--quiet"]
        said = self._overrides
        if found := self._assumed.of(task):
            said = (*said, f"model.assumed={found}")
        return [*words, *_options(said)]

    def _resumed(self, folder: Path) -> list[str]:
        """The settings of a session are in its log, but for keys; what is said for all tasks now wins."""
        return ["resume", str(folder), "--handed", "--quiet", *_options(self._overrides)]


def _options(overrides: Sequence[str]) -> list[str]:
    """The overrides as options. In the long form: click looks at every option before it takes a short one."""
    return [word for override in overrides for word in ("--config", override)]


async def followed(child: Child, look: Callable[[], None]) -> Exit:
    """Follow a process to its end, and look now and then. Cancelled, it ends the process first."""
    try:
        while not child.ended.done():
            await asyncio.wait([child.ended], timeout=LOOK_SECONDS)
            look()
    except asyncio.CancelledError:
        await _end(child)
        look()
        return Exit(code=130)
    return child.ended.result()


async def _end(child: Child) -> None:
    """Stop a process so that its session can be gone on with; kill one that does not stop."""
    child.terminate()
    await asyncio.wait([child.ended], timeout=ENDING_SECONDS)
    if not child.ended.done():
        child.kill()
        await asyncio.wait([child.ended], timeout=ENDING_SECONDS)


def unfinished(ended: Exit, said: str, watch: Watch, session: int) -> Unfinished:
    """Why an attempt has no result."""
    if ended.error:
        outcome: Outcome = "crashed"
        reason = f"its process could not run: {ended.error}"
    elif -ended.code in TOLD_TO_STOP:
        outcome, reason = "interrupted", "stopped"
    elif ended.code < 0:
        outcome, reason = "crashed", f"its process was killed by signal {-ended.code}"
    else:
        outcome = OUTCOMES.get(ended.code, "failed")
        reason = "stopped" if outcome == "interrupted" else said or watch.broken or "it said nothing"
    begun = session if watch.state.session is not None else 0
    code = ended.code if ended.code > 0 else 1
    return Unfinished(outcome, reason, code, session=begun, spent=watch.spent if begun else {})


def end_of(path: Path) -> str:
    """The end of what a process said, without `vera: ` in front."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - SAID_BYTES))
            text = file.read(SAID_BYTES).decode("utf-8", "replace").strip()
    except OSError:
        return ""
    return text.removeprefix("vera: ")
