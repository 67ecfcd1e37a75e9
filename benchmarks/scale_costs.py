"""What a question costs and what a part can hold, for scale_simulation.py: from measured figures to a plan.

Times are in seconds, sizes in bytes, money in US dollars.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import Any, NamedTuple

from scale_queues import (
    SLOT,
    Growth,
    Passed,
    Simulation,
    Visit,
    constant,
    exponential,
    poisson,
    quantile,
    sampled,
    slowest,
)

DAY = 86_400.0


@dataclass(frozen=True, kw_only=True)
class Question:
    """What one question costs: processor seconds of an attempt, calls of the agent's model and of the judge,
    tokens, searches, records of the log, bytes, files and blobs it leaves, how often bytes are forced to the
    disk, and processor seconds of a replay."""

    name: str
    status: str
    cpu: float
    calls: int
    judge_calls: int
    prompt: int
    cached: int
    completion: int
    searches: int
    records: int
    evidence: int
    folder: int
    files: int
    blobs: int
    syncs: int
    replay: float


@dataclass(frozen=True, kw_only=True)
class Queue:
    """One Postgres with so many connections: jobs a second that are put, that are claimed and committed;
    processor seconds of the database, rows, bytes and bytes of its log for a job."""

    connections: int
    put: float
    work: float
    cpu: float
    rows: float
    bytes: float
    wal: float

    @property
    def seconds(self) -> float:
        """The whole of a Postgres that one job takes."""
        return 1 / self.put + 1 / self.work


@dataclass(frozen=True, kw_only=True)
class Store:
    """One folder: forced writes a second of so many threads together."""

    threads: int
    puts: float


@dataclass(frozen=True, kw_only=True)
class Index:
    """One index on one machine. `query` is the growth of a question's processor seconds with the documents,
    `samples` the seconds of single questions at the largest size, whose median is `median`."""

    document_bytes: float
    build: float
    share: float
    query: Growth
    samples: tuple[float, ...]

    @property
    def median(self) -> float:
        return quantile(self.samples, 0.5)


def _given(value: float, says: str, source: str) -> Any:
    return field(default=value, metadata={"says": says, "source": source})


VLLM = (
    "vLLM 0.21.0, Llama 3.1 8B on one H100, 16 calls at once, short prompts, measured 2026-05-16 at "
    "yobitelcomm.github.io/bench"
)
AWS = "list price of AWS, us-east-1"
NANO = "openai/gpt-5.4-nano at openrouter.ai, read 2026-11"


@dataclass(frozen=True, kw_only=True)
class Given:
    """What is not measured here: limits and prices, each with its meaning and source."""

    peak: float = _given(3.0, "questions a second at the peak, times the mean of the day", "assumed")
    full: float = _given(
        0.7, "a part is full at this share of its measured limit", "assumed: waits grow fast above"
    )
    patience: float = _given(10.0, "seconds for a worker, at most, of 95 in 100 questions", "assumed")
    processors: float = _given(2, "processors of a machine", "the machine that was measured")
    slots: float = _given(8, "questions at once on a worker", "as in benchmarks/batch.py")
    disk: float = _given(4e12, "bytes of the disk of one index", "assumed")
    build_seconds: float = _given(DAY, "seconds in which one index must be built", "assumed")
    search_seconds: float = _given(1.0, "processor seconds of a search in one index, at most", "assumed")
    files: float = _given(2.0**32, "files of one file system", "the format of ext4")
    first_token: float = _given(0.042, "seconds to the first token of a model call", VLLM)
    each_token: float = _given(0.0109, "seconds for each token that a model writes", VLLM)
    at_once: float = _given(16, "calls at once of one model server", VLLM)
    machine_hour: float = _given(
        0.0816, "dollars an hour of a machine", f"m7g.large on demand, {AWS}, 2026-06"
    )
    disk_gb_month: float = _given(0.08, "dollars a GB and month of an index's disk", f"EBS gp3, {AWS}")
    object_gb_month: float = _given(0.023, "dollars a GB and month of kept sessions", f"S3 Standard, {AWS}")
    prompt_price: float = _given(0.20, "dollars for a million tokens of prompt", NANO)
    cached_price: float = _given(
        0.02, "dollars for a million of them from a cache", "a tenth, as OpenAI has it"
    )
    completion_price: float = _given(1.25, "dollars for a million tokens that a model writes", NANO)


@dataclass(frozen=True, kw_only=True)
class Costs:
    """All that was measured, and what is given."""

    queue: Queue
    store: Store
    index: Index
    given: Given

    def rate(self, day: float) -> float:
        """Questions a second at the peak."""
        return day * self.given.peak / DAY

    def model_seconds(self, question: Question) -> float:
        """Seconds of one call to a model or judge."""
        calls = question.calls + question.judge_calls
        tokens = question.completion / calls if calls else 0.0
        return self.given.first_token + self.given.each_token * tokens if tokens else 0.0

    def shards(self, documents: float) -> int:
        """Indexes that so many documents need, each built in its time and on its disk."""
        return max(1, math.ceil(documents / self.most_documents()))

    def most_documents(self) -> float:
        """What one index holds: built within its time, with its text on its disk, searched soon enough."""
        built = self.given.build_seconds * self.index.build
        size = min(self.given.disk / (1 + self.index.share), built)
        return min(size / self.index.document_bytes, self.index.query.reaches(self.given.search_seconds))

    def searching(self, question: Question, day: float, documents: float) -> float:
        """How much of the processors of one machine the searches take at the peak, over so many documents."""
        seconds = self.rate(day) * question.searches * self.index.query.at(documents)
        return seconds / self.given.processors

    def loads(self, question: Question, day: float, documents: float) -> dict[str, float]:
        """How much of one of each part is used at the peak: 1 is all of it, 2 needs two."""
        rate, given = self.rate(day), self.given
        calls = question.calls + question.judge_calls
        return {
            "queue": rate * self.queue.seconds,
            "store": rate * question.syncs / self.store.puts,
            "index": max(self.searching(question, day, documents), documents / self.most_documents()),
            "model": rate * calls * self.model_seconds(question) / given.at_once
            if question.completion
            else 0.0,
        }


class Planned(NamedTuple):
    """A scenario with enough of each part: how many, what the simulation showed, what is full first and how
    much of one such part would be used, what it stores and costs a day."""

    parts: Mapping[str, int]
    passed: Passed
    first: str
    load: float
    bytes_a_day: float
    machines: float
    disks: float
    tokens: float

    @property
    def dollars(self) -> float:
        return self.machines + self.disks + self.tokens


def way(costs: Costs, question: Question, documents: float, shards: int) -> list[Visit]:
    """The visits of one question: queue, a worker's slot, searches, model and judge with the worker's
    processor and the store between them, commit."""
    queue, index = costs.queue, costs.index
    calls = question.calls + question.judge_calls
    rounds = calls if question.completion else max(1, question.searches)
    factor = index.query.at(documents / shards) / index.median
    forced = question.syncs * costs.store.threads / costs.store.puts
    search = [Visit("index", sampled(index.samples, factor))]
    if shards > 1:
        search.append(Visit("merging", slowest(index.samples, factor, shards)))
    visits = [Visit("queue", exponential(queue.connections / queue.put)), Visit(SLOT, constant(0.0))]
    visits.append(Visit("queue", exponential(queue.connections / queue.work / 2)))
    for number in range(rounds):
        if question.completion:
            visits.append(Visit("model", exponential(costs.model_seconds(question))))
        visits.append(Visit("worker", constant(question.cpu / rounds)))
        if number < question.searches:
            visits += search
        visits.append(Visit("store", exponential(forced / rounds)))
    visits.append(Visit("queue", exponential(queue.connections / queue.work / 2)))
    return visits


class Simulated(NamedTuple):
    """How much is simulated: so many minutes of the peak, and at least so many questions of a day."""

    minutes: float
    least: int
    seed: int

    def questions(self, day: float, rate: float) -> int:
        return int(min(day, max(self.least, rate * 60 * self.minutes)))


def plan(costs: Costs, question: Question, day: float, documents: float, simulated: Simulated) -> Planned:
    """As many workers and parts as keep each below `full` and the wait for a slot below `patience` at p95."""
    given, rate = costs.given, costs.rate(day)
    loads, shards = costs.loads(question, day, documents), costs.shards(documents)
    parts = needed(costs, question, day, documents)
    visits = way(costs, question, documents, shards)
    while True:
        random = Random(simulated.seed)
        arrivals = poisson(rate, simulated.questions(day, rate), random)
        passed = Simulation(visits, servers(costs, parts, shards), random).run(arrivals)
        is_soon = quantile(passed.waits, 0.95) <= given.patience
        if is_soon and max(passed.used["worker"], passed.used[SLOT]) <= given.full + 0.1:
            break
        parts["worker"] = math.ceil(parts["worker"] * 1.2)
    first = max(loads, key=lambda name: loads[name])
    stored = day * (question.folder + costs.queue.bytes)
    indexed = parts["index"] // shards * documents * costs.index.document_bytes * (1 + costs.index.share)
    machines = parts["worker"] + parts["queue"] + parts["store"] + parts["index"]
    return Planned(
        parts=parts,
        passed=passed,
        first=first,
        load=loads[first],
        bytes_a_day=stored,
        machines=machines * 24 * given.machine_hour,
        disks=(365 * stored * given.object_gb_month + indexed * given.disk_gb_month) / 1e9 / 30,
        tokens=day * price(question, given),
    )


def needed(costs: Costs, question: Question, day: float, documents: float) -> dict[str, int]:
    """How many of each part, by their loads; each shard of the index as often as its searches need."""
    given, shards = costs.given, costs.shards(documents)
    loads = costs.loads(question, day, documents)
    parts = {name: max(1, math.ceil(load / given.full)) for name, load in loads.items()}
    searching = costs.searching(question, day, documents / shards)
    parts["index"] = shards * max(1, math.ceil(searching / given.full))
    parts["model"] *= bool(question.completion)
    working = costs.rate(day) * question.cpu / given.processors
    return parts | {"worker": max(1, math.ceil(working / given.full))}


def servers(costs: Costs, parts: Mapping[str, int], shards: int) -> dict[str, float]:
    """The servers of each station. All shards get each search: one of them and its copies are simulated."""
    given = costs.given
    return {
        "queue": parts["queue"] * costs.queue.connections,
        "store": parts["store"] * costs.store.threads,
        "index": parts["index"] // shards * given.processors,
        "model": max(1, parts["model"] * given.at_once),
        "worker": parts["worker"] * given.processors,
        SLOT: parts["worker"] * given.slots,
        "merging": math.inf,
    }


def price(question: Question, given: Given) -> float:
    """What the tokens of one question cost."""
    fresh = question.prompt - question.cached
    return (
        fresh * given.prompt_price
        + question.cached * given.cached_price
        + question.completion * given.completion_price
    ) / 1e6
