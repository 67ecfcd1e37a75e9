"""Runs batteries for hours: `python3 run.py test --long [BATTERY …] [options]`.

Each trial is one line in RESULTS/BATTERY.jsonl, written when it ends. The same command goes on after the last
one, so a run may be interrupted at any time and be done in parts. `--only NUMBER` repeats one trial.
`--table` prints the tables of docs/assurance.md from what is in RESULTS, and runs nothing. Exit code 1: a
trial has failed.
"""

# ruff: noqa: E402 (what is imported last lies in a folder that is put on the path first)

import argparse
import json
import multiprocessing
import os
import platform
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from datetime import date
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests"))

import isolation
import parts
from assurance.batteries import Battery, Trial, batteries

RESULTS = ROOT / ".assurance"
REMINDED_AFTER = 30.0
"""Seconds after which a trial that is too long is interrupted once more."""
TEXT_CHARACTERS = 4000
"""Of a failure's text, its end."""


class Result(NamedTuple):
    """How one trial ended; `failure` is empty where the promise held."""

    number: int
    row: str
    failure: str
    figures: dict[str, float]
    seconds: float


def main(arguments: Sequence[str]) -> int:
    known = batteries()
    options = read_options(arguments, known)
    chosen = [known[name] for name in options.battery or known]
    options.results.mkdir(parents=True, exist_ok=True)
    if not options.table:
        with tempfile.TemporaryDirectory(prefix="vera-long-") as home:
            isolation.apply(isolation.private_environment(Path(home)))
            for battery in chosen:
                run(battery, options)
    failed = False
    for battery in chosen:
        results = read(options.results / f"{battery.name}.jsonl", options.seed)
        failed |= any(result.failure for result in results)
        print("\n".join(table(battery, results, options.seed)) + "\n")
    return int(failed)


def read_options(arguments: Sequence[str], known: dict[str, Battery]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python3 run.py test --long", description="\n".join(__doc__.splitlines()[2:])
    )
    parser.add_argument("battery", nargs="*", help=f"Which: {', '.join(known)}; all without a name.")
    parser.add_argument("--trials", type=int, help="How many of each, in the place of its usual number.")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="This trial alone; its folder is kept.")
    parser.add_argument("--seed", type=int, default=0, help="Another seed gives other trials.")
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1, help="Trials at the same time.")
    parser.add_argument("--results", type=Path, default=RESULTS, help="The folder with what was tried.")
    parser.add_argument("--table", action="store_true", help="Print the tables, and run nothing.")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.battery if name not in known]:
        parser.error(f"there is no battery {', '.join(unknown)}; there are: {', '.join(known)}")
    return options


def run(battery: Battery, options: argparse.Namespace) -> None:
    """Makes the trials that are not in the results yet."""
    if missing := [name for name in battery.needs if not parts.is_here(name)]:
        print(f"{battery.name}: needs {missing[0]}. To get it: {parts.PARTS[missing[0]].how_to_get}")
        return
    file = options.results / f"{battery.name}.jsonl"
    done = {result.number for result in read(file, options.seed)}
    wanted = range(options.trials if options.trials is not None else battery.trials)
    numbers = [options.only] if options.only is not None else [each for each in wanted if each not in done]
    started = time.monotonic()
    with file.open("a", encoding="utf-8") as lines:
        for count, result in enumerate(ended(battery, numbers, options), 1):
            line = {"seed": options.seed, "date": date.today().isoformat(), **result._asdict()}
            lines.write(json.dumps(line, ensure_ascii=False) + "\n")
            lines.flush()
            if result.failure:
                print(f"\n{battery.name} {result.number} ({result.row}) failed:\n{result.failure}\n")
            rate = count / (time.monotonic() - started)
            left = (len(numbers) - count) / rate / 60
            print(f"\r{battery.name}: {count} of {len(numbers)}, {left:.0f} min left ", end="", flush=True)
    print()


def ended(battery: Battery, numbers: Sequence[int], options: argparse.Namespace) -> Iterator[Result]:
    """The results as they come, with at most two trials a worker waiting, so that an end is quick.

    Where a worker dies, each trial that was under way is made again alone, to see which of them kills it."""
    coming = iter(numbers)
    waiting: dict[Future[Result], int] = {}
    while True:
        suspects = list(waiting.values())
        waiting.clear()
        for number in suspects:
            yield alone(battery, number, options)
        try:
            with pool_of(options.workers) as pool:
                while True:
                    while len(waiting) < 2 * options.workers and (number := next(coming, None)) is not None:
                        waiting[pool.submit(attempt, battery.name, number, options.seed)] = number
                    if not waiting:
                        return
                    for future in wait(waiting, return_when=FIRST_COMPLETED).done:
                        result = future.result()
                        del waiting[future]
                        yield result
        except BrokenProcessPool:
            continue


def alone(battery: Battery, number: int, options: argparse.Namespace) -> Result:
    """A trial in a process for itself, whose death is a failure like every other."""
    try:
        with pool_of(1) as pool:
            return pool.submit(attempt, battery.name, number, options.seed).result()
    except BrokenProcessPool:
        return Result(number, "the process of the trial", "It killed its process.", {}, 0.0)


def pool_of(workers: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(workers, multiprocessing.get_context("spawn"), initializer=ready)


def ready() -> None:
    """Ctrl-C ends the process that counts; its workers end with it. One of them is ended by SIGTERM."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)


def attempt(name: str, number: int, seed: int) -> Result:
    """One trial in this process. Nothing that it does is raised: a failure is a result."""
    battery = batteries()[name]
    folder = Path(tempfile.mkdtemp(prefix=f"vera-{name}-"))
    trial = Trial(number, random.Random(f"{name} {seed} {number}"), folder)
    failure = ""
    started = time.monotonic()
    before = signal.signal(signal.SIGALRM, too_long)
    signal.setitimer(signal.ITIMER_REAL, battery.seconds, REMINDED_AFTER)
    try:
        battery.attempt(trial)
    except (Exception, TooLong) as error:  # noqa: BLE001 (whatever it is, the promise did not hold)
        failure = "".join(traceback.format_exception(error))[-TEXT_CHARACTERS:] + f"\nFolder: {folder}"
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    if not failure:
        shutil.rmtree(folder, ignore_errors=True)
    return Result(number, trial.row, failure, trial.figures, round(time.monotonic() - started, 3))


class TooLong(BaseException):
    """A trial took longer than it may. No handler of errors takes it for one of its own."""


def too_long(number: int, frame: FrameType | None) -> None:
    raise TooLong("The trial took longer than its limit.")


def read(file: Path, seed: int) -> list[Result]:
    """The results of that seed, each number once: of a trial that was repeated the newest counts."""
    if not file.exists():
        return []
    found: dict[int, Result] = {}
    for line in file.read_text(encoding="utf-8").splitlines():
        try:
            fields: dict[str, Any] = json.loads(line)
        except ValueError:
            continue  # cut by a kill: that trial is made again
        if fields.pop("seed") == seed:
            fields.pop("date")
            found[fields["number"]] = Result(**fields)
    return [found[number] for number in sorted(found)]


def table(battery: Battery, results: Sequence[Result], seed: int) -> list[str]:
    """The table of a battery in Markdown: a line a row, and all together."""
    rows = {row: [each for each in results if each.row == row] for row in sorted({r.row for r in results})}
    lines = [f"**{battery.name}**: {battery.promise}", ""]
    lines += ["| what was tried | trials | failures | rate of failure, at most (95 %) |", "|---|---|---|---|"]
    lines += [table_row(row, of) for row, of in rows.items()]
    if len(rows) != 1:
        lines.append(table_row("all", results))
    names = list(dict.fromkeys(name for each in results for name in each.figures))
    if names:
        lines += ["", *measured(rows, names)]
    hours = sum(each.seconds for each in results) / 3600
    machine = f"{platform.machine()}, {os.cpu_count()} cores, Linux {platform.release()}"
    command = f"python3 run.py test --long {battery.name} --seed {seed}"
    today = date.today().isoformat()
    return [*lines, "", f"`{command}`, {hours:.1f} hours of trials, {machine}, {today}."]


def measured(rows: Mapping[str, Sequence[Result]], names: Sequence[str]) -> Iterator[str]:
    """The table of what was measured: a line a row, or a figure where there are more of these."""
    cells = [[row, *(largest(of, name) for name in names)] for row, of in rows.items()]
    cells.insert(0, ["measured, the largest", *names])
    if len(names) > len(rows):
        cells = [list(column) for column in zip(*cells, strict=True)]
    yield f"| {' | '.join(cells[0])} |"
    yield "|---" * len(cells[0]) + "|"
    yield from (f"| {' | '.join(row)} |" for row in cells[1:])


def table_row(row: str, of: Sequence[Result]) -> str:
    failures = sum(bool(each.failure) for each in of)
    return f"| {row} | {len(of):,} | {failures} | {upper_bound(failures, len(of)):.2g} |"


def largest(of: Sequence[Result], name: str) -> str:
    """The largest that was measured; empty where nothing was."""
    found = max((each.figures[name] for each in of if name in each.figures), default=None)
    if found is None:
        return ""
    return f"{found:,.0f}" if float(found).is_integer() or abs(found) >= 1000 else f"{found:.4g}"


def upper_bound(failures: int, of: int) -> float:
    """The one-sided 95 % bound of a rate (Clopper and Pearson, 1934): 1 - 0.05 ** (1 / of) for no failure."""
    if failures >= of:
        return 1.0
    low, high = failures / of, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if at_most(failures, of, middle) > 0.05:
            low = middle
        else:
            high = middle
    return high


def at_most(failures: int, of: int, rate: float) -> float:
    """The probability of at most so many failures at that rate."""
    term = (1 - rate) ** of
    total = term
    for count in range(1, failures + 1):
        term *= (of - count + 1) / count * rate / (1 - rate)
        total += term
    return total


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C: no worker goes on alone
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("\nInterrupted. The same command goes on with what is left.")
