"""A batch as a person runs it: a file of tasks, the command as a process, and the folder to look into."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from support.scripted_server import Slow
from support.turns import answered_turns, final, turn
from vera.batch.records import Begun, Ended
from vera.batch.runs import Runs
from vera.config.handed import as_text
from vera.protocol import text

SHORT = {
    "model.protocol": "text",
    "sandbox.backend": "none",
    "egress.mode": "none",
    "verification.rule": "literal",
    "verification.rounds": 1,
    "run.max_steps": 10,
    "policy.stuck_limit": 0,
}
"""Settings of a task that takes a fraction of a second."""

HELD = ("model.base_url=", "verification.rule=", "sandbox.base_image=")
"""What tasks set here and only the person may set otherwise."""

BLUE = text.render(final("The sky is blue today."))
WAIT_SECONDS = 120.0


def slowly(seconds: float, calls: int = 1, together: int = 0) -> Callable[[int, dict[str, Any]], Any]:
    """A model that notes `calls - 1` times before it answers, each time after `seconds`; the first ones when
    `together` requests have been asked at the same time."""

    def reply(index: int, body: dict[str, Any]) -> Any:
        step = answered_turns(body) + 1
        said = BLUE if step >= calls else text.render(turn("note", text=f"Step {step}."))
        return Slow(seconds, said, together=together)

    return reply


def write_tasks(path: Path, base_url: str, count: int, **settings: Any) -> Path:
    """A file of so many short questions for this server."""
    lines = [question(n, base_url, **settings) for n in range(count)]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    return path


def question(number: int, base_url: str, **settings: Any) -> dict[str, Any]:
    return {
        "task": f"What colour is sky number {number}?",
        "name": f"sky {number}",
        "settings": {**SHORT, "model.base_url": base_url, **settings},
    }


def batch(*arguments: object, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run `vera batch ARGUMENTS` to its end."""
    with started(*arguments, cwd=cwd, **environment) as process:
        out, err = process.communicate(timeout=240)
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def allowed(tasks: Path) -> list[str]:
    """Options by which the person lets the tasks of this file set what they set."""
    lines = [json.loads(line) for line in tasks.read_text().splitlines() if line.strip()]
    wanted = {f"{key}={as_text(value)}" for line in lines for key, value in line.get("settings", {}).items()}
    return [f"--allow={text}" for text in sorted(wanted) if text.startswith(HELD)]


def _allowances(arguments: Sequence[object], cwd: Path) -> list[str]:
    first = cwd / str(arguments[0]) if arguments else cwd
    return allowed(first) if first.suffix == ".jsonl" and first.is_file() else []


@contextmanager
def started(*arguments: object, cwd: Path, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """`vera batch ARGUMENTS` under way, in a process group of its own as in a terminal. The person allows the
    tasks of the file what they set."""
    process = subprocess.Popen(
        [sys.executable, "-m", "vera", "batch", *map(str, arguments), *_allowances(arguments, cwd)],
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        env={**os.environ, **environment},
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            process.communicate(timeout=60)


@contextmanager
def worker(url: str, store: Path, *options: object, **environment: str) -> Iterator[subprocess.Popen[str]]:
    """A worker until the block ends, whose person allows what the tasks of the file set; what it says goes to
    a file in its folder."""
    tasks = store / "tasks.jsonl"
    words = ["worker", "--engine", url, "--store", store, "--lease", 6, *options]
    words += allowed(tasks) if tasks.exists() else []
    with (store / "worker.stderr").open("a") as told:
        process = subprocess.Popen(
            [sys.executable, "-m", "vera", *map(str, words)],
            cwd=store,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=told,
            text=True,
            env={**os.environ, **environment},
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.terminate()
            process.wait(60)


Found = TypeVar("Found")


def until(holds: Callable[[], Found], what: str = "it") -> Found:
    """Wait until something holds, and return it; fails after two minutes."""
    for _ in range(int(WAIT_SECONDS / 0.02)):
        if found := holds():
            return found
        time.sleep(0.02)
    raise AssertionError(f"{what} did not come about in {WAIT_SECONDS:.0f} s")


async def soon(holds: Callable[[], object], what: str = "it") -> None:
    """As `until`, where an event loop runs."""
    for _ in range(int(WAIT_SECONDS / 0.01)):
        if holds():
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{what} did not come about in {WAIT_SECONDS:.0f} s")


def commits(base: Path) -> dict[str, dict[str, Any]]:
    """Task id → its commit record."""
    return {path.parent.name: json.loads(path.read_bytes()) for path in (base / "runs").glob("*/commit.json")}


def trail(base: Path) -> list[tuple[Begun, Ended | None]]:
    """Every attempt, with its end where it has one, in the order in which they began."""
    runs = Runs(base)
    rows = []
    for task in runs.tasks():
        history = runs.history(task.id)
        rows += [(begun, history.ended.get(begun.number)) for begun in history.begun]
    return sorted(rows, key=lambda row: row[0].ts)


def outcomes(base: Path) -> list[str]:
    """How each attempt ended, '' where it did not, in the order in which they began."""
    return [end.outcome if end else "" for _, end in trail(base)]


def most_at_once(rows: Sequence[tuple[Begun, Ended | None]]) -> int:
    """How many attempts ran at the same time, at most."""
    moments = [(begun.ts, 1) for begun, _ in rows] + [(end.ts, -1) for _, end in rows if end]
    most = running = 0
    for _, change in sorted(moments):
        running += change
        most = max(most, running)
    return most


def said(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    """What `--json` printed."""
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


def processes_of(base: Path) -> list[int]:
    """Live processes that name this folder among their arguments, or work under it (not this one)."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                words = (entry / "cmdline").read_bytes()
                held = [str(each.readlink()) for each in (entry / "fd").iterdir()]
            except OSError:
                continue
            if os.fsencode(base) in words or any(each.startswith(str(base)) for each in held):
                found.append(int(entry.name))
    return found
