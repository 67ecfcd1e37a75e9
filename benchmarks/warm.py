"""What a task of `vera batch` waits for its box, with and without the warm pool, on the real Docker engine.

python3 run.py build && .venv/bin/python benchmarks/warm.py [--slots N…] [--rounds N]

Prints a Markdown table. A scripted model server answers each call after `--latency` seconds. The ways take
turns. Of each batch the first task of every slot is left out, as nothing can wait for it. "own" is processor
time of all VERA processes and docker clients, "engine" that of dockerd and containerd; what the kernel and
the short-lived helpers of the engine take is in neither.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from support.batches import SHORT, allowed, slowly
from support.scripted_server import ScriptedServer
from vera.batch.runs import Runs

TICK = os.sysconf("SC_CLK_TCK")
ENGINE = ("dockerd", "containerd")
TASKS_A_SLOT = 4
WARM = (0, 2)

Row = dict[str, float]


def engine_seconds() -> float:
    """Processor time of the engine's own processes and of their children that have ended."""
    total = 0.0
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and (entry / "comm").read_text().strip() in ENGINE:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                total += sum(map(int, fields[11:15])) / TICK
        except OSError:
            continue
    return total


def own_seconds() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def moments(log: Path) -> dict[str, float]:
    """Kind of a record → when the first of that kind was written."""
    found: dict[str, float] = {}
    for line in log.read_text().splitlines():
        record = json.loads(line)
        found.setdefault(record["type"], record["ts"])
    return found


def batch(slots: int, warm: int, calls: int, latency: float) -> tuple[list[Row], Row]:
    """One batch: what each task waited for, and what a task cost."""
    tasks = slots * TASKS_A_SLOT
    with tempfile.TemporaryDirectory() as name, ScriptedServer(slowly(latency, calls)) as server:
        folder = Path(name)
        boxed: dict[str, Any] = {"sandbox.backend": "docker", "run.max_steps": calls + 10}
        settings = {**SHORT, **boxed, "model.base_url": server.base_url}
        lines = [json.dumps({"task": f"What colour is sky {n}?", "settings": settings}) for n in range(tasks)]
        (folder / "tasks.jsonl").write_text("\n".join(lines))
        words = ["batch", "tasks.jsonl", f"--slots={slots}", f"--warm={warm}", "--base-dir=b", "--quiet"]
        words += allowed(folder / "tasks.jsonl")
        own, engine, began = own_seconds(), engine_seconds(), time.monotonic()
        done = subprocess.run([sys.executable, "-m", "vera", *words], cwd=folder, capture_output=True)
        cost = {
            "wall": time.monotonic() - began,
            "own": (own_seconds() - own) / tasks,
            "engine": (engine_seconds() - engine) / tasks,
        }
        runs, rows = Runs(folder / "b"), []
        histories = [runs.history(task.id) for task in runs.tasks()]
        for history in sorted(histories, key=lambda history: history.begun[0].ts)[slots:]:
            begun, at = history.begun[0], moments(runs.session(history.begun[0].task, 1) / "trace.jsonl")
            if "sandbox" not in at:
                raise SystemExit(f"A task had no box. Type: vera doctor\n{done.stderr.decode()[-500:]}")
            rows.append(
                {
                    "box": at["sandbox"] - at["session"],
                    "call": at["model"] - latency - begun.ts,
                    "whole": history.ended[1].ts - begun.ts,
                }
            )
    return rows, cost


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--slots", type=int, nargs="*", default=[1, 2, 4, 8])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--calls", type=int, default=8)
    parser.add_argument("--latency", type=float, default=0.4)
    given = parser.parse_args()
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a person's Python keeps what it has compiled
    print(f"{os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}, latency {given.latency:g} s\n")
    print("| slots | --warm | session to box, s | begin to first call, s | whole task, s | batch, s "
          "| own CPU s a task | engine CPU s a task |")  # fmt: skip
    print("|---:|---:|---:|---:|---:|---:|---:|---:|")
    for slots in given.slots:
        found: dict[int, list[tuple[list[Row], Row]]] = {warm: [] for warm in WARM}
        for _ in range(given.rounds):
            for warm in WARM:
                found[warm].append(batch(slots, warm, given.calls, given.latency))
        for warm, batches in found.items():
            rows = [row for each, _ in batches for row in each]
            costs = [cost for _, cost in batches]
            waited = [f"{statistics.median(row[k] for row in rows):.2f}" for k in ("box", "call", "whole")]
            spent = [f"{statistics.median(cost[k] for cost in costs):.2f}" for k in ("wall", "own", "engine")]
            print(f"| {slots} | {warm} | {' | '.join([*waited, *spent])} |", flush=True)


if __name__ == "__main__":
    main()
