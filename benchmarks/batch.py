"""Throughput of `vera batch` over a scripted model server with latency, and what the engine itself costs.

.venv/bin/python benchmarks/batch.py [--tasks N] [--slots N] [--latency S] [--calls N ...]
.venv/bin/python benchmarks/batch.py --leftovers 500 [--sandbox docker]

The ideal rate is slots / (model calls of a task x latency): as if nothing but the server took time. What is
measured is from the first model call that the server gets to the last commit, so the start of the command
stands in a column of its own. In the numerator stand the calls that the tasks needed and no others: questions
about the server, the start and end of each session, and waiting for a processor count against the rate. So
does the scripted server's own time, which runs on the same processors (its column). Processor time of a task
is that of all processes of the command, its start included, over the tasks; "session" is that of an attempt
alone, the median of some that ran one after the other at a server without latency. The engine alone is
measured with attempts that do nothing.

With --leftovers so many sessions run, one in ten of them killed and one in ten out of time, and it is counted
what is there afterwards that was not there before.
"""

import argparse
import asyncio
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import isolation
from support.batches import allowed
from support.leftovers import left_in, run_mixed
from support.scripted_server import ScriptedServer, Slow
from support.turns import answered_turns, final, turn
from vera.batch.children import open_children
from vera.batch.engine import Attempt
from vera.batch.local import LocalEngine
from vera.batch.records import Ended, Manifest
from vera.batch.running import PRELOADED
from vera.batch.runs import Runs
from vera.batch.status import Standing
from vera.batch.task import BatchTask
from vera.batch.task_file import parse_task
from vera.config.handed import as_text
from vera.protocol import text

SETTINGS = {
    "model.protocol": "text",
    "sandbox.backend": "none",
    "egress.mode": "none",
    "verification.rule": "literal",
    "verification.rounds": 1,
    "run.max_steps": 60,
    "policy.stuck_limit": 0,
}

ALONE = 21
"""Sessions of which the processor time is taken."""


class Nobody:
    """Is told everything and says nothing."""

    def began(self, task: BatchTask, attempt: Attempt) -> None: ...

    def ended(self, task: BatchTask, end: Ended, now: Standing) -> None: ...

    def slowed(self, endpoint: str, allowed: int) -> None: ...


class Clocked:
    """A model that notes `calls - 1` times and then answers, each time after `latency` seconds."""

    def __init__(self, calls: int, latency: float) -> None:
        self.calls = calls
        self.latency = latency
        self.first = 0.0

    def __call__(self, index: int, body: dict[str, Any]) -> Any:
        self.first = self.first or time.monotonic()
        step = answered_turns(body) + 1
        said = turn("note", text=f"Step {step}.") if step < self.calls else final("The sky is blue today.")
        return Slow(self.latency, text.render(said))


def cpu_of_children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


@dataclass(frozen=True, kw_only=True)
class Measured:
    """A batch: model calls that were asked, seconds from the first of them to the last commit, seconds of the
    start of the command, processor seconds of a session alone, of a task, and of the server for a call."""

    asked: int
    seconds: float
    start: float
    session: float
    task: float
    server: float


def throughput(
    tasks: int, slots: int, calls: int, latency: float, extra: list[str], alone: int = ALONE
) -> Measured:
    model = Clocked(calls, latency)
    with tempfile.TemporaryDirectory() as name, ScriptedServer(model) as server:
        folder = Path(name)
        settings = {**SETTINGS, "model.base_url": server.base_url}
        lines = [json.dumps({"task": f"What colour is sky {n}?", "settings": settings}) for n in range(tasks)]
        (folder / "tasks.jsonl").write_text("\n".join(lines))
        command = [sys.executable, "-m", "vera", "batch", "tasks.jsonl", f"--slots={slots}", "--base-dir=b"]
        command += allowed(folder / "tasks.jsonl")
        before, own, began = cpu_of_children(), time.process_time(), time.monotonic()
        done = subprocess.run([*command, "--quiet", "--json", *extra], cwd=folder, capture_output=True)
        ended, cpu, own = time.monotonic(), cpu_of_children() - before, time.process_time() - own
        asked = len(server.requests)
        commits = [path.stat().st_mtime for path in (folder / "b").glob("runs/*/commit.json")]
    assert len(commits) == tasks, done.stderr.decode()
    seconds = max(commits) - time.time() + time.monotonic() - model.first
    return Measured(
        asked=asked,
        seconds=seconds,
        start=ended - began - seconds,
        session=asyncio.run(sessions_alone(calls, extra, alone)),
        task=cpu / tasks,
        server=own / asked,
    )


def show(tasks: int, slots: int, latency: float, measured: Measured) -> None:
    ideal = measured.asked * latency / slots
    print(
        f"{measured.asked / tasks:>5.0f}{tasks:>7}{slots:>7}{ideal:>9.1f}{measured.seconds:>9.1f}"
        f"{ideal / measured.seconds:>9.0%}{measured.session * 1000:>12.0f}{measured.task * 1000:>10.0f}"
        f"{measured.server * 1000:>14.1f}{measured.start:>9.1f}"
    )


async def sessions_alone(calls: int, extra: list[str], count: int) -> float:
    """Seconds of processor time of an attempt, its calls answered at once: the median."""
    used = []
    with tempfile.TemporaryDirectory() as name, ScriptedServer(Clocked(calls, 0.0)) as server:
        settings = {**SETTINGS, "model.base_url": server.base_url, "model.assumed": "openai/text"}
        words = [word for key, value in settings.items() for word in ("-c", f"{key}={as_text(value)}")]
        async with open_children(fork=not extra, preload=PRELOADED) as children:
            for n in range(count):
                argv = ["run", "--task", "-", "--work-dir", f"{name}/{n}", "--base-dir", name, "-q", *words]
                child = children.start(argv, stdin="What colour is the sky?", stderr=Path(name, "stderr"))
                used.append((await child.ended).cpu_s)
    return statistics.median(used)


def leftovers(count: int, slots: int, backend: str) -> None:
    with tempfile.TemporaryDirectory(prefix="vera-leftovers-") as name:
        went = run_mixed(Path(name), count, slots, backend)
        left = left_in(Path(name))
    states, codes = json.dumps(went.states), json.dumps(went.exit_codes)
    print(f"{count} sessions (sandbox {backend}) in {went.seconds:.0f} s: {went.attempts} attempts")
    print(f"tasks by state {states}, results by exit code {codes}")
    print(f"boxes at once: at most {max(went.boxes)}")
    parts = [went.descriptors[len(went.descriptors) * n // 4] for n in range(4)] + went.descriptors[-1:]
    print(f"descriptors of the batch at the start, each quarter and the end: {parts}")
    print("left: " + ", ".join(f"{len(found)} {what}" for what, found in vars(left).items()))


def engine_alone(tasks: int, slots: int) -> None:
    """What the engine costs for a task: attempts that come to a result at once."""

    async def handle(task: BatchTask, attempt: Attempt) -> Manifest:
        return Manifest(
            task=task.id,
            attempt=attempt.number,
            session=attempt.number,
            status="VERIFIED",
            reason="",
            exit_code=0,
            attestation="",
            log=(1, ""),
            steps=1,
            spent={},
        )

    async def whole(runs: Runs) -> None:
        engine = LocalEngine(runs, Nobody())
        await engine.submit([parse_task(json.dumps({"task": f"Number {n}?"}).encode()) for n in range(tasks)])
        await engine.work(handle, slots=slots, limits={}, drain=True)

    with tempfile.TemporaryDirectory() as name:
        began, cpu = time.monotonic(), time.process_time()
        asyncio.run(whole(Runs(Path(name))))
        wall, cpu = (time.monotonic() - began) / tasks, (time.process_time() - cpu) / tasks
    print(f"engine alone, {tasks} tasks: {wall * 1000:.2f} ms a task, {cpu * 1000:.2f} ms processor time")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--tasks", type=int, default=48)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--calls", type=int, nargs="*", default=[2, 10, 40])
    parser.add_argument("--new-interpreter", action="store_true")
    parser.add_argument("--leftovers", type=int, metavar="N")
    parser.add_argument("--sandbox", default="docker")
    given = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a person's Python keeps what it has compiled
    with tempfile.TemporaryDirectory() as home:
        isolation.apply(isolation.private_environment(Path(home)))
        if given.leftovers:
            leftovers(given.leftovers, given.slots, given.sandbox)
            return
        engine_alone(500, given.slots)
        print(f"latency {given.latency:g} s, {os.cpu_count()} processors")
        print(
            f"{'calls':>5}{'tasks':>7}{'slots':>7}{'ideal s':>9}{'took s':>9}{'of ideal':>9}"
            f"{'session ms':>12}{'task ms':>10}{'server ms/call':>14}{'start s':>9}"
        )
        extra = ["--new-interpreter"] if given.new_interpreter else []
        for calls in given.calls:
            measured = throughput(given.tasks, given.slots, calls, given.latency, extra)
            show(given.tasks, given.slots, given.latency, measured)


if __name__ == "__main__":
    main()
