"""What a step costs beside its model: time, CPU, memory, bytes; and how soon the first question is asked.

    python3 run.py build && .venv/bin/python benchmarks/overhead.py
    python benchmarks/overhead.py --peer DIR              beside a checkout of the VERA prototype
    python benchmarks/overhead.py --peer-python PYTHON    beside the mini-swe-agent of that interpreter

A scripted model server on loopback answers at once; each step runs a command with 0.4 kB of output. The time
of a step is from the model's answer sent until the next request received, of real `vera run` processes. All
of them run the same script on the same machine, one after another. Needs Linux.
"""

import argparse
import os
import platform
import statistics
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import isolation
import parts
from support import overhead, overhead_peers
from support.overhead import Cost

BOXES = ("docker", "bubblewrap")
STEPS = (10, 50, 200)
STARTS = 5
MB = 1_000_000

PUBLISHED = "prototype, published"
"""Of the VERA prototype: measured on 2026-11-21 on a machine of this kind, with this script."""

Row = tuple[object, ...]


def table(title: str, head: Row, rows: list[Row]) -> None:
    print(f"\n{title}\n\n| {' | '.join(map(str, head))} |\n|---|{'---:|' * (len(head) - 1)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)


def ms(seconds: float | None) -> str:
    return "" if seconds is None else f"{seconds * 1000:.1f}"


def step_row(name: str, cost: Cost) -> Row:
    between = len(cost.gaps)
    p90 = statistics.quantiles(cost.gaps, n=10)[-1]
    engine = None if cost.engine_cpu is None else cost.engine_cpu / between
    rss = f"{cost.peak / MB:.0f}"
    return (
        *(name, len(cost.prompts), ms(statistics.median(cost.gaps)), ms(p90)),
        *(ms(cost.cpu / between), ms(engine), rss),
    )


def prompt_row(name: str, cost: Cost) -> Row:
    sizes = cost.prompts
    at = [f"{sizes[step - 1]:,}" if step <= len(sizes) else "" for step in STEPS]
    total = sum(sizes)
    cached = f"{cost.cached:.1%}" if cost.cached else ""
    return (name, *at, f"{total:,}", f"{total // 4:,}", cached)


def steps_and_bytes(
    folder: Path, boxes: list[str], steps: list[int], peers: list[overhead_peers.Peer]
) -> None:
    rows: list[Row] = []
    longest: dict[str, Cost] = {}
    for count in steps:
        for box in boxes:
            name = f"VERA, {box}"
            longest[name] = overhead.session(folder / f"{box}-{count}", count, box)
            rows.append(step_row(name, longest[name]))
        for peer in peers:
            longest[peer.name] = overhead_peers.session(peer, folder / f"{peer.key}-{count}", count)
            rows.append(step_row(peer.name, longest[peer.name]))
    first = f"VERA, {boxes[0]}"
    differing = f"{first}, outputs differ"
    root = folder / "differing"
    longest[differing] = overhead.session(root, max(steps), boxes[0], command=overhead.DIFFERING)
    rows.append(step_row(differing, longest[differing]))
    rows += [
        (PUBLISHED, 50, "163 to 184", "about 220", "19 to 21", "28 to 45", "35"),
        (PUBLISHED, 200, "197", "", "19 to 21", "28 to 45", "41 to 49"),
        ("**wanted of VERA**", "", "**16.3**", "", "", "", "**120**"),
    ]
    head = ("", "steps", "p50 ms", "p90 ms", "its CPU ms a step", "the engine's", "peak memory MB")
    table("A step, from the model's answer sent to the next request received", head, rows)

    prompts: list[Row] = [prompt_row(name, cost) for name, cost in longest.items()]
    prompts += [
        (PUBLISHED, "16,946", "44,627", "167,543", "17,500,000", "4,375,000", ""),
        ("**wanted of VERA**", "", "", "**96,000**", "", "", ""),
    ]
    head = ("bytes on the wire", *(f"step {step}" for step in STEPS), "sum", "as tokens", "cached")
    table("Prompts", head, prompts)
    files(longest[first], longest[differing])


def files(cost: Cost, differing: Cost) -> None:
    count = len(cost.prompts)
    names = list(dict.fromkeys([*differing.folder, *cost.folder]))
    rows: list[Row] = [
        (name, *(f"{each.folder.get(name, 0) / count:,.0f}" for each in (cost, differing))) for name in names
    ]
    rows += [
        ("**the whole folder**", f"**{cost.bytes_per_step:,.0f}**", f"{differing.bytes_per_step:,.0f}"),
        (f"{PUBLISHED}, its trace alone", "24,150", ""),
        ("**wanted of VERA**", "**8,050**", ""),
    ]
    head = ("bytes a step", "the same output at each", "outputs differ")
    table(f"The session folder after {count} steps", head, rows)


def starting(folder: Path, ways: list[str], rounds: int, peers: list[overhead_peers.Peer]) -> None:
    """In each round every way has its turn; the first warms them and does not count."""
    starts: dict[str, Callable[[Path], Cost]] = {
        f"VERA, {way}": partial(overhead.session, steps=2, sandbox=way) for way in ways
    }
    starts |= {peer.name: partial(overhead_peers.session, peer, steps=2) for peer in peers}
    found: dict[str, list[Cost]] = {name: [] for name in starts}
    for number in range(rounds + 1):
        for place, (name, start) in enumerate(starts.items()):
            cost = start(folder / f"start-{place}-{number}")
            if number:
                found[name].append(cost)
    rows: list[Row] = []
    for name, costs in found.items():
        seconds = [cost.first_turn for cost in costs]
        cpu = statistics.median(cost.start_cpu for cost in costs)
        rows.append((name, *(f"{of(seconds):.2f}" for of in (statistics.median, min, max)), f"{cpu:.2f}"))
    rows += [(PUBLISHED, "", "3.3", "4.6", ""), ("**wanted of VERA**", "**1.00**", "", "", "")]
    head = ("seconds", "median", "least", "most", "CPU of its processes")
    table(f"From the command's start to its first question to the model, {rounds} starts", head, rows)


def flood(folder: Path, boxes: list[str], peers: list[overhead_peers.Peer]) -> None:
    rows: list[Row] = []
    costs = {
        f"VERA, {box}": overhead.session(folder / f"flood-{box}", 4, box, "true", overhead.FLOOD)
        for box in boxes
    }
    costs |= {
        peer.name: overhead_peers.session(peer, folder / f"flood-{peer.key}", 4, "true", overhead.FLOOD)
        for peer in peers
    }
    for name, cost in costs.items():
        rows.append((name, f"{cost.peak / MB:.0f}", f"{cost.peak_of_all / MB:.0f}"))
    rows += [(PUBLISHED, "613", ""), ("**wanted of VERA**", "**120**", "**120**")]
    head = ("MB", "the process itself", "with all it started on this side")
    table("Peak memory with one command that prints 300 MB", head, rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--steps", type=int, nargs="*", default=list(STEPS))
    parser.add_argument("--starts", type=int, default=STARTS)
    parser.add_argument("--peer", type=Path, help="checkout of the VERA prototype (with its Python packages)")
    parser.add_argument("--peer-python", type=Path, help="interpreter that has mini-swe-agent")
    given = parser.parse_args()
    boxes = [name for name in BOXES if parts.is_here(name)]
    if not boxes:
        raise SystemExit("There is neither Docker nor bubblewrap here, and a step is a command in a box.")
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a person's Python keeps what it has compiled
    load = ", ".join(f"{value:.1f}" for value in os.getloadavg())
    print(f"{datetime.now(UTC):%Y-%m-%d} · {os.cpu_count()} processors, load {load} · Linux "
          f"{platform.release()} · Python {platform.python_version()}")  # fmt: skip
    peers, left_out = overhead_peers.found(given.peer, given.peer_python)
    print("\n".join(left_out))
    with tempfile.TemporaryDirectory(prefix="vera-overhead-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # a box is not run by this user
        isolation.apply(isolation.private_environment(folder / "home"))
        starting(folder, [*boxes, "none"], given.starts, peers)
        steps_and_bytes(folder, boxes, sorted(given.steps), peers)
        flood(folder, boxes, peers)


if __name__ == "__main__":
    main()
