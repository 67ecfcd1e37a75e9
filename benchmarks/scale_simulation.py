"""Where VERA is full, past one machine: measured on this one, then simulated.

    .venv/bin/python benchmarks/scale_simulation.py                        # half an hour, 10 GB of disk
    .venv/bin/python benchmarks/scale_simulation.py --write docs/scale.md  # and put the tables into the page
    .venv/bin/python benchmarks/scale_simulation.py --given peak=5 --given machine_hour=0.05

First the limits of each part are measured: the queue in Postgres, the store, the index, what a question costs
with and without a model and a judge, a replay. Then questions that arrive at random pass through these parts
in a discrete-event simulation, for 1,000 to a million of them a day over 100,000 to a thousand million
documents. It is held against a formula (M/M/c) and against a real batch on this machine. What is not measured
is given (`--given NAME=VALUE`), with its source in the last table.

Needs Linux, Postgres, and the packages of the tests (`python3 run.py test --version` installs them).
"""

import argparse
import math
import os
import platform
import re
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import fields, replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

import scale_measures as measures
import scale_questions
from scale_costs import DAY, Costs, Given, Planned, Question, Simulated, plan, price
from scale_queues import SLOT, Simulation, Visit, constant, exponential, fitted, mean_wait, poisson, quantile

import batch
import isolation

DAYS = (1e3, 1e4, 1e5, 1e6)
DOCUMENTS = (1e5, 1e6, 1e7, 1e8, 1e9)
PARTS = {"queue": "the queue", "store": "the store", "index": "the index", "model": "model and judge"}
CHECK_SERVERS, CHECK_LOAD = 4, 0.8
CHECKED = 100
"""Times as many questions as a scenario has at least."""
BEGIN, END = "<!-- made by benchmarks/scale_simulation.py: begin -->", "<!-- end -->"
Row = Sequence[object]


def table(title: str, head: Row, rows: Sequence[Row], column: str = "---:|") -> str:
    lines = [f"### {title}", "", f"| {' | '.join(map(str, head))} |", f"|---|{column * (len(head) - 1)}"]
    return "\n".join([*lines, *(f"| {' | '.join(map(str, row))} |" for row in rows)])


def number(value: float) -> str:
    """Three digits that say something."""
    if value == 0 or not math.isfinite(value):
        return "0" if value == 0 else "–"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{round(value, digits):,.{min(digits, 6)}f}" if value < 1000 else f"{float(f'{value:.3g}'):,.0f}"


def seconds(value: float) -> str:
    return f"{value:.1f}"


def share(load: float) -> str:
    """Of one part: 0.3 is 30%, 3 is ×3."""
    return f"{load:.0%}" if load < 1 else f"×{number(load)}"


class Measured:
    """Everything that was measured in this run."""

    def __init__(self, options: argparse.Namespace, given: Given) -> None:
        self.load = [os.getloadavg()[0]]
        with tempfile.TemporaryDirectory(prefix="vera-scale-", dir=options.dir) as name:
            folder = Path(name)
            folder.chmod(0o755)  # Postgres runs as another user
            tell("questions")
            self.questions = scale_questions.questions(folder / "questions", options.repeats)
            tell("queue")
            queue, self.queue_rows = measures.queue(
                folder / "queue", options.jobs, options.rounds, options.workers
            )
            tell("index")
            index, self.index_rows = measures.index(folder / "index", options.index_mb)
            tell("batch")
            self.free = measures.free_processors(os.cpu_count() or 1)
            self.calls, self.latency = options.calls, options.latency
            self.tasks, self.slots = options.tasks, options.slots
            self.batch = batch.throughput(
                self.tasks, self.slots, self.calls, self.latency, [], alone=options.repeats
            )
            self.load.append(os.getloadavg()[0])
            tell("store")
            size = round(statistics.mean(q.evidence / max(1, q.blobs) for q in self.questions))
            store, self.store_rows = measures.store(
                folder / "store", options.blobs, options.puts, size, options.store_seconds
            )
            self.blob_bytes = size
            tell("removing")
        self.load.append(os.getloadavg()[0])
        self.costs = Costs(queue=queue, store=store, index=index, given=given)

    @property
    def judged(self) -> Question:
        return self.questions[-1]


def tell(what: str) -> None:
    print(f"… {what}, load {os.getloadavg()[0]:.1f}", file=sys.stderr, flush=True)


def machine(found: Measured) -> str:
    load = ", ".join(f"{value:.1f}" for value in found.load)
    return (
        f"{datetime.now(UTC):%Y-%m-%d}, {os.cpu_count()} processors, of which other work left "
        f"{found.free:.1f}; load {load} at the beginning, in the middle and at the end; Linux "
        f"{platform.release()}, Python {platform.python_version()}."
    )


def parts_measured(found: Measured) -> str:
    queue, index = found.costs.queue, found.costs.index
    rows: list[Row] = []
    for each in found.queue_rows:
        rows.append((f"queue: jobs a second put, with {each.before:,} done", f"{each.put:,.0f}"))
        rows.append(("queue: claimed and committed", f"{each.work:,.0f}"))
    rows += [
        ("queue: rows, bytes, bytes of write-ahead log a job",
         f"{queue.rows:.1f}, {queue.bytes:,.0f}, {queue.wal:,.0f}"),
        ("queue: processor ms of Postgres a job", f"{queue.cpu * 1000:.1f}"),
    ]  # fmt: skip
    rows += [
        (f"store: puts a second with {each.blobs:,} blobs, 1 thread, {measures.THREADS} threads",
         f"{each.one:,.0f}, {each.many:,.0f}")
        for each in found.store_rows
    ]  # fmt: skip
    for each in found.index_rows:
        rows.append(
            (f"index: MB/s in, {each.documents:,} documents, {each.megabytes:,.0f} MB", f"{each.build:.1f}")
        )
        rows.append(("index: ms of a question p50, p95; processor ms p50",
                     f"{each.p50:.0f}, {each.p95:.0f}; {each.cpu:.0f}"))  # fmt: skip
    rows += [
        ("index: bytes a document, of the index beside the text",
         f"{index.document_bytes:,.0f}, {index.share:.0%}"),
        ("index: growth of processor time", f"with the documents to the power of {index.query.power:.2f}"),
    ]  # fmt: skip
    return table("What each part does here", ("part", "measured"), rows)


def questions_measured(found: Measured) -> str:
    asked = found.questions
    rows: list[Row] = [
        ("word", *(q.status for q in asked)),
        ("processor seconds", *(f"{q.cpu:.2f}" for q in asked)),
        ("records of the log", *(q.records for q in asked)),
        ("searches", *(q.searches for q in asked)),
        ("calls of the model, of the judge", *(f"{q.calls}, {q.judge_calls}" for q in asked)),
        ("tokens of prompts, of them cached", *(f"{q.prompt:,}, {q.cached:,}" for q in asked)),
        ("tokens written", *(f"{q.completion:,}" for q in asked)),
        ("seconds of a model call, as given below", *(f"{found.costs.model_seconds(q):.2f}" for q in asked)),
        ("bytes of evidence and objects, of the folder", *(f"{q.evidence:,}, {q.folder:,}" for q in asked)),
        ("files, times that bytes are forced to the disk", *(f"{q.files}, {q.syncs}" for q in asked)),
        ("processor seconds of a replay", *(f"{q.replay:.2f}" for q in asked)),
        ("dollars of its tokens", *(f"{price(q, found.costs.given):.5f}" for q in asked)),
    ]
    return table("What a question costs", ("", *(q.name for q in asked)), rows)


def limits(found: Measured) -> str:
    """The questions a day at which one of each part is full."""
    costs, given, judged = found.costs, found.costs.given, found.judged
    measured = found.index_rows[-1].documents
    one = costs.loads(judged, 1.0, measured)
    worker = costs.rate(1.0) * judged.cpu / given.processors
    a_day = {
        "queue: one Postgres": given.full / one["queue"],
        "store: one folder, by its puts": given.full / one["store"],
        "store: one file system, full of files in a year": given.files / judged.files / 365,
        f"index: one machine's processors, {measured:,} documents": given.full
        / costs.searching(judged, 1.0, measured),
        "model and judge: one model server": given.full / one["model"],
        "worker: one machine's processors": given.full / worker,
    }
    rows: list[Row] = [(part, f"{number(full)} questions a day") for part, full in a_day.items()]
    replays = given.full * given.processors * DAY / judged.replay
    rows.append(("replay: one machine's processors", f"{number(replays)} sessions a day"))
    built = "index: one machine, built, searched in time, on its disk"
    rows.insert(3, (built, f"{number(costs.most_documents())} documents"))
    return table("Where one of each is full", ("part, with a model and a judge", "full at"), rows)


def used(planned: Planned, part: str, station: str) -> str:
    count = planned.parts[part]
    return f"{count:,} · {planned.passed.used[station]:.0%}" if count else "–"


def scenario(planned: Planned, day: float, documents: float) -> Row:
    took = planned.passed.seconds
    busier = max(("worker", SLOT), key=lambda name: planned.passed.used[name])
    return (
        f"{day:,.0f}", f"{documents:,.0f}", used(planned, "worker", busier), used(planned, "queue", "queue"),
        used(planned, "store", "store"), used(planned, "index", "index"), used(planned, "model", "model"),
        seconds(quantile(took, 0.5)), seconds(quantile(took, 0.95)),
        f"{PARTS[planned.first]}, {share(planned.load)}",
        f"{number(planned.bytes_a_day / 1e9)}, {number(planned.bytes_a_day * 365 / 1e12)}",
        f"{number(planned.machines)}, {number(planned.disks)}, {number(planned.tokens)}",
        number(planned.dollars / day),
    )  # fmt: skip


HEAD = (
    "questions a day", "documents", "workers", "queues", "stores", "indexes", "model servers", "p50 s",
    "p95 s", "full first", "GB a day, TB a year", "$ a day: machines, disks, tokens", "$ a question",
)  # fmt: skip


def scenarios(found: Measured, simulated: Simulated) -> Iterator[str]:
    judged = [
        scenario(plan(found.costs, found.judged, day, documents, simulated), day, documents)
        for day in DAYS
        for documents in DOCUMENTS
    ]
    yield table("With a model and a judge", HEAD, judged)
    others = [
        (asked.name, *scenario(plan(found.costs, asked, day, 1e6, simulated), day, 1e6))
        for asked in found.questions
        for day in (DAYS[0], DAYS[-1])
    ]
    yield table("With less, over a million documents", ("who answers", *HEAD), others)


def checks(found: Measured, simulated: Simulated) -> str:
    random = Random(simulated.seed)
    rate = CHECK_SERVERS * CHECK_LOAD
    visits = [Visit("station", exponential(1.0))]
    passed = Simulation(visits, {"station": CHECK_SERVERS}, random).run(
        poisson(rate, CHECKED * simulated.least, random)
    )
    rows: list[Row] = [
        (f"mean seconds at a station of {CHECK_SERVERS} servers, {CHECK_LOAD:.0%} used (M/M/c)",
         f"{statistics.mean(passed.seconds):.3f}", f"{1 + mean_wait(rate, 1.0, CHECK_SERVERS):.3f}"),
        (f"seconds of a batch here: {found.tasks} questions of {found.calls} calls, {found.slots} slots, "
         f"{found.latency:g} s a call",
         f"{simulated_batch(found):.1f}", f"{found.batch.seconds:.1f}"),
    ]  # fmt: skip
    *smaller, largest = found.index_rows
    if len(smaller) > 1:
        growth = fitted([(each.documents, each.cpu) for each in smaller])
        rows.append(
            (f"processor ms of a search in {largest.documents:,} documents, foretold by the smaller indexes",
             f"{growth.at(largest.documents):.0f}", f"{largest.cpu:.0f}")
        )  # fmt: skip
    return table("Is the simulation right?", ("", "simulated", "formula, or measured"), rows)


def simulated_batch(found: Measured) -> float:
    """The same batch in the simulation, on the processors that other work left."""
    processors = os.cpu_count() or 1
    slower = processors / found.free
    calls = found.batch.asked // found.tasks
    cpu = found.batch.session / calls + found.batch.server
    visits = [Visit(SLOT, constant(0.0))]
    for _ in range(calls):
        visits += [Visit("worker", constant(cpu * slower)), Visit("model", constant(found.latency))]
    servers = {SLOT: found.slots, "worker": processors, "model": found.slots}
    passed = Simulation(visits, servers, Random(0), warm=0.0).run([0.0] * found.tasks)
    return max(passed.seconds)


def what_is_given(given: Given) -> str:
    rows = [
        (f"`{each.name}`", number(getattr(given, each.name)), each.metadata["says"], each.metadata["source"])
        for each in fields(given)
    ]
    return table("What is given", ("name", "value", "meaning", "source"), rows, "---|")


def report(found: Measured, simulated: Simulated) -> str:
    tables = [
        machine(found),
        parts_measured(found),
        questions_measured(found),
        limits(found),
        *scenarios(found, simulated),
        checks(found, simulated),
        what_is_given(found.costs.given),
    ]
    return "\n\n".join(tables)


def write(page: Path, made: str) -> None:
    """Put the tables between the marks of the page."""
    text = page.read_text(encoding="utf-8")
    found = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)
    if not found.search(text):
        raise SystemExit(f"{page} has no place for the tables: {BEGIN} … {END}")
    page.write_text(found.sub(lambda _: f"{BEGIN}\n\n{made}\n\n{END}", text), encoding="utf-8")


def given_of(texts: Sequence[str]) -> Given:
    known = {each.name for each in fields(Given)}
    values = {}
    for text in texts:
        name, _, value = text.partition("=")
        if name not in known:
            raise SystemExit(f"--given {name}: no such name. There are: {', '.join(sorted(known))}.")
        values[name] = float(value)
    return replace(Given(), **values)


def read(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--jobs", type=int, default=1000, help="of the queue, in a round")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--workers", type=int, default=4, help="processes that take jobs")
    parser.add_argument("--blobs", type=int, nargs="*", default=[0, 100_000, 1_000_000])
    parser.add_argument("--puts", type=int, default=500)
    parser.add_argument("--store-seconds", type=float, default=600.0, help="for filling the folder")
    parser.add_argument("--index-mb", type=float, nargs="*", default=[20, 80, 320])
    parser.add_argument("--repeats", type=int, default=5, help="of each question")
    parser.add_argument("--tasks", type=int, default=48, help="of the batch")
    parser.add_argument("--calls", type=int, default=10)
    parser.add_argument("--slots", type=int, default=8)
    parser.add_argument("--latency", type=float, default=0.2)
    parser.add_argument("--minutes", type=float, default=10.0, help="of the peak that are simulated")
    parser.add_argument("--least", type=int, default=2000, help="questions of a simulation, at least")
    parser.add_argument("--seed", type=int, default=20261126)
    parser.add_argument("--given", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--dir", help="where to measure: the disk of this folder")
    parser.add_argument("--write", type=Path, metavar="PAGE")
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> str:
    options = read(arguments)
    given = given_of(options.given)
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # a person's Python keeps what it has compiled
    with tempfile.TemporaryDirectory() as home:
        before = isolation.apply(isolation.private_environment(Path(home)))
        try:
            found = Measured(options, given)
        finally:
            isolation.apply(before)
    made = report(found, Simulated(options.minutes, options.least, options.seed))
    if options.write:
        write(options.write, made)
    return made


if __name__ == "__main__":
    print(main())
