"""Queues in time for scale_simulation.py: questions that pass through stations with a number of servers.

A discrete-event simulation with a heap of events. A question visits stations one after the other; from one
visit on until its end it holds a worker's slot. Times are in seconds.
"""

import heapq
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import count
from random import Random
from typing import NamedTuple

SLOT = "slot"
"""The station whose server a question keeps until it ends."""

Draw = Callable[[Random], float]


class Visit(NamedTuple):
    """One stay of a question at a station, and how long a server of it works on that."""

    station: str
    draw: Draw


def constant(seconds: float) -> Draw:
    return lambda random: seconds


def exponential(mean: float) -> Draw:
    """More variable than what was measured, so that waits are estimated too long, not too short."""
    return lambda random: random.expovariate(1 / mean) if mean > 0 else 0.0


def sampled(samples: Sequence[float], factor: float = 1.0) -> Draw:
    """One of the measured times, stretched."""
    return lambda random: factor * random.choice(samples)


def slowest(samples: Sequence[float], factor: float, shards: int) -> Draw:
    """How much longer the slowest of so many shards takes than the median one."""
    ordered = sorted(samples)
    median = ordered[len(ordered) // 2]

    def draw(random: Random) -> float:
        quantile = random.random() ** (1 / shards)
        return factor * max(0.0, ordered[min(len(ordered) - 1, int(quantile * len(ordered)))] - median)

    return draw


class Passed(NamedTuple):
    """What a simulation shows: how long questions took, how long they waited for a slot, which share of its
    servers each station used."""

    seconds: tuple[float, ...]
    waits: tuple[float, ...]
    used: Mapping[str, float]


class _Line:
    """The free servers of a station, and who waits for one."""

    __slots__ = ("busy", "free", "waiting")

    def __init__(self, servers: float) -> None:
        self.free = servers
        self.waiting: deque[tuple[int, int]] = deque()
        self.busy = 0.0


def poisson(rate: float, questions: int, random: Random) -> Iterator[float]:
    """The times at which so many questions arrive."""
    now = 0.0
    for _ in range(questions):
        now += random.expovariate(rate)
        yield now


class Simulation:
    """`servers` has the number at each station; `visits` with the station SLOT take one for the rest of the
    question's way. The first part `warm` of the arrivals is not counted."""

    def __init__(
        self, visits: Sequence[Visit], servers: Mapping[str, float], random: Random, warm: float = 0.2
    ) -> None:
        self._visits = visits
        self._servers = servers
        self._random = random
        self._warm = warm
        self._lines = {name: _Line(number) for name, number in servers.items()}
        self._events: list[tuple[float, int, int, int]] = []
        self._tie = count()
        self._began: list[float] = []
        self._slot_at: dict[int, float] = {}
        self._slot_since: dict[int, float] = {}
        self._ended: dict[int, float] = {}
        self._window = (0.0, 0.0)

    def run(self, arrivals: Iterable[float]) -> Passed:
        self._began = list(arrivals)
        first = int(self._warm * len(self._began))
        self._window = (self._began[first], self._began[-1])
        for question, at in enumerate(self._began):
            self._events.append((at, next(self._tie), question, -1))
        heapq.heapify(self._events)
        while self._events:
            now, _, question, visit = heapq.heappop(self._events)
            if visit >= 0:
                self._leave(now, self._visits[visit].station)
            self._go_on(now, question, visit + 1)
        counted = range(first, len(self._began))
        return Passed(
            tuple(self._ended[n] - self._began[n] for n in counted),
            tuple(self._slot_since[n] - self._slot_at[n] for n in counted if n in self._slot_at),
            {name: self._share(name) for name in self._servers},
        )

    def _share(self, name: str) -> float:
        length = self._window[1] - self._window[0]
        servers = self._servers[name]
        return self._lines[name].busy / (servers * length) if length and math.isfinite(servers) else 0.0

    def _go_on(self, now: float, question: int, visit: int) -> None:
        if visit == len(self._visits):
            self._ended[question] = now
            if question in self._slot_since:
                self._count(SLOT, self._slot_since[question], now)
                self._leave(now, SLOT)
            return
        station = self._visits[visit].station
        if station == SLOT:
            self._slot_at[question] = now
        line = self._lines[station]
        if line.free >= 1:
            line.free -= 1
            self._serve(now, question, visit)
        else:
            line.waiting.append((question, visit))

    def _serve(self, now: float, question: int, visit: int) -> None:
        station, draw = self._visits[visit]
        if station == SLOT:
            self._slot_since[question] = now
            self._go_on(now, question, visit + 1)
            return
        ends = now + draw(self._random)
        self._count(station, now, ends)
        heapq.heappush(self._events, (ends, next(self._tie), question, visit))

    def _leave(self, now: float, station: str) -> None:
        line = self._lines[station]
        if line.waiting:
            self._serve(now, *line.waiting.popleft())
        else:
            line.free += 1

    def _count(self, station: str, begins: float, ends: float) -> None:
        """Only what falls into the window counts."""
        first, last = self._window
        self._lines[station].busy += max(0.0, min(ends, last) - max(begins, first))


def mean_wait(rate: float, seconds: float, servers: int) -> float:
    """The mean time in the queue of M/M/c, by Erlang's C formula. Raises ValueError when it is full."""
    offered = rate * seconds
    if offered >= servers:
        raise ValueError("more arrives than can be served")
    blocked = 1.0  # Erlang's B by its recursion, which does not overflow
    for number in range(1, servers + 1):
        blocked = offered * blocked / (number + offered * blocked)
    waits = blocked / (1 - (offered / servers) * (1 - blocked))
    return waits * seconds / (servers - offered)


class Growth(NamedTuple):
    """A power law: `factor * size ** power`."""

    factor: float
    power: float

    def at(self, size: float) -> float:
        return self.factor * size**self.power

    def reaches(self, value: float) -> float:
        """The size at which it has this value."""
        return (value / self.factor) ** (1 / self.power) if self.power else math.inf


def fitted(points: Sequence[tuple[float, float]]) -> Growth:
    """The power law through measured (size, value), by least squares of the logarithms; it never falls."""
    logs = [(math.log(size), math.log(value)) for size, value in points]
    mean_x, mean_y = (sum(each[at] for each in logs) / len(logs) for at in (0, 1))
    spread = sum((x - mean_x) ** 2 for x, _ in logs)
    slope = sum((x - mean_x) * (y - mean_y) for x, y in logs) / spread if spread else 0.0
    power = max(0.0, slope)
    return Growth(math.exp(mean_y - power * mean_x), power)


def quantile(values: Sequence[float], part: float) -> float:
    """By the nearest rank."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))]
