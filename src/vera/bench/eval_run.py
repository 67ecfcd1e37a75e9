"""The sessions of an evaluation: a folder for each question, made once, gone on with when interrupted.

Each question is run by `python -m vera run` in its own process. What has ended is only read.
"""

import asyncio
import contextlib
import hashlib
import re
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import Any

import msgspec

from vera.bench.eval_data import DataError, Question
from vera.bench.eval_sessions import Outcome, outcome_of, read_state
from vera.state import RunState

DEADLINE_S = 3600.0
"""How long one run may take; then it is stopped, and gone on with the next time."""

_STOPPING_S = 20.0
_MESSAGE_BYTES = 4000
_NO_PLACE = ("work_dir", "base_dir", "input_dir")

Tell = Callable[[str], None]


class Sessions:
    """The sessions of an evaluation under `folder`, asked with the settings `overrides` (texts of `-c`).

    `settings` are those settings as a log shows them: a question that was asked under others is another one.
    """

    def __init__(self, folder: Path, overrides: Sequence[str], settings: dict[str, Any]) -> None:
        self._folder = folder
        self._overrides = tuple(overrides)
        run = {name: value for name, value in settings.get("run", {}).items() if name not in _NO_PLACE}
        self._settings = {**settings, "run": run}

    def root(self, question: Question) -> Path:
        """The session folder of a question: its id, and a hash of what is asked, of what, and how."""
        asked = [question.question, question.input_dir, self._settings]
        asked += [question.claim] if question.claim else []
        digest = hashlib.sha256(msgspec.json.encode(asked, order="sorted")).hexdigest()[:12]
        name = re.sub(r"[^A-Za-z0-9._-]+", "-", question.id)[:60].strip(".-") or "question"
        return self._folder / f"{name}-{digest}"

    def _newest(self, question: Question) -> tuple[Path, RunState | None]:
        """The session of a question and its log, None before it has one. After a run that was stopped before
        its task was written, with which nothing can go on, a new folder."""
        first = self.root(question)
        for number in count(1):
            root = first if number == 1 else first.with_name(f"{first.name}-{number}")
            state = read_state(root)
            if state is None or state.task is not None or state.ended is not None:
                break
        return root, state

    async def outcome(self, question: Question) -> Outcome:
        """What came of a question: read when its session has ended, else run or gone on with first.

        Raises DataError when the run ends without a result, with what it said.
        """
        root, state = await asyncio.to_thread(self._newest, question)
        if state is None or state.ended is None:
            await self._run(question, root, resumed=state is not None)
            state = await asyncio.to_thread(read_state, root)
        if state is None or state.ended is None:
            raise DataError(f"{root}: the run of {question.id} ended without a result. Run it again.")
        return await asyncio.to_thread(outcome_of, question, root, state)

    async def _run(self, question: Question, root: Path, *, resumed: bool) -> None:
        chosen = [part for text in self._overrides for part in ("-c", text)]
        place = ["--input-dir", question.input_dir] if question.input_dir else []
        new = ["verify", "--fresh", "--thesis", "-"] if question.claim else ["run", "--task", "-"]
        words = ["resume", str(root)] if resumed else [*new, "--work-dir", str(root), *place]
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "vera", *words, *chosen, "--quiet",
            stdin=PIPE, stdout=DEVNULL, stderr=PIPE, start_new_session=True,
        )  # fmt: skip
        try:
            async with asyncio.timeout(DEADLINE_S):
                said = await _finish(process, question.claim or question.question)
        except TimeoutError:
            raise DataError(
                f"{question.id}: the run took more than {DEADLINE_S:g} s. Run it again."
            ) from None
        finally:
            await _end(process)
        if process.returncode in (1, 2, 5, 130):
            raise DataError(f"{question.id}: {said or f'the run ended with exit code {process.returncode}.'}")


async def _finish(process: Process, task: str) -> str:
    """Wait for a process that is given the question; its last words on stderr."""
    assert process.stdin is not None and process.stderr is not None
    with contextlib.suppress(ConnectionError):
        process.stdin.write(task.encode("utf-8", "replace"))
        await process.stdin.drain()
    process.stdin.close()
    last = b""
    while data := await process.stderr.read(1 << 16):
        last = (last + data)[-_MESSAGE_BYTES:]
    await process.wait()
    lines = last.decode("utf-8", "replace").strip().splitlines()
    return lines[-1].removeprefix("vera: ") if lines else ""


async def _end(process: Process) -> None:
    """Stop a process that still runs, so that its session can be resumed."""
    if process.returncode is not None:
        return
    with contextlib.suppress(ProcessLookupError):
        process.send_signal(signal.SIGTERM)
        try:
            async with asyncio.timeout(_STOPPING_S):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()


async def collect(questions: Sequence[Question], sessions: Sessions, slots: int, tell: Tell) -> list[Outcome]:
    """The outcome of every question, in their order; `slots` runs at a time.

    The first run that fails ends it, the others under way are stopped: all of them go on the next time.
    """
    waiting = iter(enumerate(questions))
    found: dict[int, Outcome] = {}

    async def work() -> None:
        for number, question in waiting:
            found[number] = outcome = await sessions.outcome(question)
            tell(f"{len(found)} of {len(questions)}: {question.id} {outcome.status}")

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(slots, len(questions))):
                group.create_task(work())
    except* DataError as failed:
        raise failed.exceptions[0] from None
    return [found[number] for number in range(len(questions))]
