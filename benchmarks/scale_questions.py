"""What one question costs, measured on this machine for scale_simulation.py."""

import asyncio
import json
import os
import statistics
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from scale_costs import Question

from support.cast import Cast, final, turn
from support.cli import records
from support.scripted_server import ScriptedServer
from vera import events
from vera.batch.children import Children, open_children
from vera.batch.running import PRELOADED
from vera.usage import SpentFold

LICENCES = Path(__file__).resolve().parents[1] / "examples" / "licences"
KINDS = ("built-in", "model, no judge", "model and judge")
ASKED = "For how many years must a written offer to provide source be valid under the GPL version 3?"
QUOTED = (
    "You may convey a covered work in object code form under the terms of sections 4 and 5, provided that "
    "you also convey the machine-readable Corresponding Source under the terms of this License, in one of "
    "these ways [ev_0002:247-250]."
)
SAID = "Under the GPL version 3 a written offer must be valid for at least three years [ev_0002:258-261]."

COUNTING = """
import atexit, os
syncs = 0
def counted(sync):
    def call(descriptor):
        global syncs
        syncs += 1
        return sync(descriptor)
    return call
os.fsync, os.fdatasync = counted(os.fsync), counted(getattr(os, "fdatasync", os.fsync))
from vera.cli import main
try:
    main(prog_name="vera")
finally:
    open(os.environ["SYNCS_FILE"], "w").write(str(syncs))
"""
"""`vera` in a process that counts how often it forces bytes to the disk."""


def questions(folder: Path, repeats: int) -> list[Question]:
    """The licence question as a worker of a batch runs it, in a fork of a process that has imported all: with
    the built-in model, with a scripted model that searches, reads and answers, and with a judge as well."""
    return [_question(folder / str(at), kind, repeats) for at, kind in enumerate(KINDS)]


def _question(folder: Path, kind: str, repeats: int) -> Question:
    folder.mkdir(parents=True)
    with _model(kind) as options:
        command = ["run", "--task", "-", "--input-dir", str(LICENCES), "--json", "-q", *options]
        used = asyncio.run(_attempts(command, folder, repeats))
        counting = [sys.executable, "-c", COUNTING, *command, "--work-dir", str(folder / "counted")]
        _cpu_of(counting, SYNCS_FILE=str(folder / "syncs"))
    root = folder / "0"
    return replace(
        _read(kind, root),
        cpu=statistics.median(used),
        syncs=int((folder / "syncs").read_text()),
        replay=_cpu_of([sys.executable, "-m", "vera", "replay", str(root)]),
    )


async def _attempts(command: Sequence[str], folder: Path, repeats: int) -> list[float]:
    """Processor seconds of attempts. One before them makes the index and holds the judge's exam, as for the
    first question of a batch; it is not counted."""
    async with open_children(fork=True, preload=PRELOADED) as children:
        await _attempt(children, command, folder / "first")
        return [await _attempt(children, command, folder / str(number)) for number in range(repeats)]


async def _attempt(children: Children, command: Sequence[str], root: Path) -> float:
    """A model's server has the prompts of the same question in its cache, so each question has a number."""
    child = children.start(
        [*command, "--work-dir", str(root)],
        stdin=ASKED if "builtin" in command else f"Question {root.name}: {ASKED}",
        stderr=root.with_suffix(".stderr"),
        stdout=root.with_suffix(".json"),
    )
    ended = await child.ended
    if ended.code:
        raise SystemExit(f"A question ended with {ended.code}: {root.with_suffix('.stderr').read_text()}")
    return ended.cpu_s


def _cpu_of(command: Sequence[str], **environment: str) -> float:
    """Processor seconds of a command that asks the question."""
    before = os.times()
    done = subprocess.run(
        command, input=ASKED, env={**os.environ, **environment}, text=True, capture_output=True, check=False
    )
    after = os.times()
    if done.returncode:
        raise SystemExit(f"{command} ended with {done.returncode}: {done.stderr}")
    return after.children_user + after.children_system - before.children_user - before.children_system


@contextmanager
def _model(kind: str) -> Iterator[list[str]]:
    quiet = ["--sandbox", "none", "--egress", "none", "-c", "verification.rounds=1"]
    if kind == "built-in":
        yield ["--model-base-url", "builtin", *quiet]
        return
    judged = kind == KINDS[2]
    turns = [
        turn("search", query="written offer valid years"),
        turn("read", path="GPL-3.txt", first=245, last=268),
        final(SAID if judged else QUOTED),
    ]
    with ScriptedServer(Cast(turns, each_session=True)) as server:
        rule = [] if judged else ["-c", "verification.rule=literal"]
        yield ["--model-base-url", server.base_url, "--protocol", "text", *quiet, *rule]


def _read(kind: str, root: Path) -> Question:
    """What the log and the folder of a session say."""
    log, fold = records(root), SpentFold()
    for record in log:
        fold.apply(record)
    calls = [record for record in log if isinstance(record, events.Model)]
    judged = sum(call.scope.startswith("verifier") for call in calls)
    tools = [record for record in log if isinstance(record, events.ToolStarted)]
    files = [path for path in root.rglob("*") if path.is_file()]
    blobs = [path for path in files if path.is_relative_to(root / "store")]
    spent = fold.now(0)
    return Question(
        name=kind,
        status=json.loads(root.with_suffix(".json").read_text())["status"],
        cpu=0.0,
        calls=len(calls) - judged,
        judge_calls=judged,
        prompt=spent.prompt_tokens,
        cached=spent.agent.cached + spent.verifier.cached,
        completion=spent.completion_tokens,
        searches=sum(tool.tool == "search" for tool in tools),
        records=len(log),
        evidence=sum(path.stat().st_size for path in blobs),
        folder=sum(path.stat().st_size for path in files),
        files=len(files),
        blobs=len(blobs),
        syncs=0,
        replay=0.0,
    )
