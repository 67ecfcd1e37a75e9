"""A batch with boxes in which some sessions are killed and some run out of time, and what it leaves behind.

Of every ten tasks one has its process killed at its first model call, once, and one runs a command that never
ends until its time is over; the others run a command in their box and answer.
"""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from support.batches import BLUE, batch, commits, processes_of, started
from support.box_image import base_image
from support.scripted_server import ScriptedServer
from support.turns import answered_turns, turn
from vera.batch.task_file import parse_task
from vera.protocol import text
from vera.sandbox.backends.docker import LABEL

SETTINGS = {
    "model.protocol": "text",
    "egress.mode": "none",
    "verification.rule": "literal",
    "verification.rounds": 1,
    "run.max_steps": 10,
}
KILLED, ENDLESS, OF = 3, 7, 10
SECONDS = 2.0
"""The time of a task whose command never ends."""
LOOK_SECONDS = 0.5


@dataclass
class Left:
    """What there is afterwards that was not there before."""

    containers: list[str]
    processes: list[int]
    temporary: list[str]
    """Files in the folder for temporary files."""
    sockets: list[str]
    """Sockets and named pipes anywhere under its folder."""
    half_written: list[str]
    """Files of the runs that are only there while an attempt runs."""

    def nothing(self) -> bool:
        return not any(vars(self).values())


@dataclass
class Went:
    """How it went: tasks by state and by exit code, attempts in all, what it said on stderr. Counted all the
    while: open descriptors of the batch (its own process and its fork server), and boxes."""

    states: dict[str, int]
    exit_codes: dict[int, int]
    attempts: int
    seconds: float
    descriptors: list[int]
    boxes: list[int]
    said: str


def run_mixed(folder: Path, count: int, slots: int, backend: str) -> Went:
    """Run so many sessions under `folder` with TMPDIR=`folder/tmp` and the runs in `folder/base`."""
    (folder / "tmp").mkdir()
    base = folder / "base"
    killed: set[str] = set()

    def reply(index: int, body: dict[str, Any]) -> str:
        number = _number(body)
        if number % OF == KILLED and tasks[number].id not in killed:
            killed.add(tasks[number].id)
            _kill(base / "runs" / tasks[number].id)
            return BLUE
        if answered_turns(body):
            return BLUE
        command = "sleep 1000" if number % OF == ENDLESS else f"echo {number}; touch /tmp/here"
        return text.render(turn("shell", cmd=command) if backend != "none" else turn("note", text="Step."))

    with ScriptedServer(reply) as server:
        lines = [_task(number, server.base_url, backend) for number in range(count)]
        tasks = [parse_task(line.encode()) for line in lines]
        (folder / "tasks.jsonl").write_text("\n".join(lines))
        words = ("tasks.jsonl", "--slots", slots, "--json", "--base-dir", base)
        descriptors, boxes, began = list[int](), list[int](), time.monotonic()
        with started(*words, cwd=folder, TMPDIR=str(folder / "tmp")) as process, _drained(process) as out:
            while process.poll() is None:
                descriptors.append(_descriptors(process.pid))
                boxes.append(len(_containers(base)))
                time.sleep(LOOK_SECONDS)
        seconds = time.monotonic() - began
        again = batch(*words, cwd=folder, TMPDIR=str(folder / "tmp"))
    made = commits(base)
    codes = [commit["exit_code"] for commit in made.values()]
    return Went(
        states=json.loads(again.stdout)["states"],
        exit_codes={code: codes.count(code) for code in sorted(set(codes))},
        attempts=len(list(base.glob("runs/*/attempts/*.end.json"))),
        seconds=seconds,
        descriptors=[count for count in descriptors if count],
        boxes=boxes,
        said=out[1],
    )


def left_in(folder: Path) -> Left:
    """What such a batch left under its folder, and at the engine by what is mounted from there."""
    base = folder / "base"
    named = {path.name for path in base.glob("runs/*/attempts/*")}
    return Left(
        containers=_containers(base),
        processes=processes_of(folder),
        temporary=[path.name for path in (folder / "tmp").iterdir()],
        sockets=[str(path) for path in folder.rglob("*") if path.is_socket() or path.is_fifo()],
        half_written=[name for name in named if name.endswith(".stderr") or name.startswith(".new-")],
    )


def _task(number: int, base_url: str, backend: str) -> str:
    settings = {**SETTINGS, "model.base_url": base_url, "sandbox.backend": backend}
    if backend == "docker":
        settings["sandbox.base_image"] = base_image()
    if number % OF == ENDLESS and backend != "none":
        settings["budget.seconds"] = SECONDS
    return json.dumps({"task": f"What colour is sky number {number}?", "settings": settings})


def _number(body: dict[str, Any]) -> int:
    said = " ".join(str(message.get("content")) for message in body["messages"])
    return int(said.split("sky number ", 1)[1].split("?", 1)[0])


def _kill(task: Path) -> None:
    """Kill the process that writes the log of this task's session."""
    for pid in processes_of(task):
        with contextlib.suppress(OSError):
            held = [os.fspath(each.readlink()) for each in Path(f"/proc/{pid}/fd").iterdir()]
            if any(name.endswith("trace.jsonl") for name in held):
                os.kill(pid, signal.SIGKILL)


def _containers(base: Path) -> list[str]:
    """Names of our containers, running or dead, that have something of this folder mounted."""
    if shutil.which("docker") is None:
        return []
    words = [
        "docker",
        "ps",
        "--all",
        "--no-trunc",
        f"--filter=label={LABEL}",
        "--format={{.Names}} {{.Mounts}}",
    ]
    shown = subprocess.run(words, capture_output=True, text=True, timeout=60).stdout
    return [line.split()[0] for line in shown.splitlines() if str(base) in line]


def _descriptors(pid: int) -> int:
    """Open descriptors of the batch and of its fork server; 0 when it has just ended."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        return sum(len(list(Path(f"/proc/{each}/fd").iterdir())) for each in [str(pid), *children])
    except OSError:
        return 0


@contextlib.contextmanager
def _drained(process: "subprocess.Popen[str]") -> Iterator[list[str]]:
    """Both outputs of a process, complete when the block is left; a full pipe never stops it."""
    said = ["", ""]

    def read() -> None:
        said[:] = process.communicate()

    thread = threading.Thread(target=read, daemon=True)
    thread.start()
    try:
        yield said
    finally:
        thread.join(60)
