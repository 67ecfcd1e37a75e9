"""Long runs, many runs, many documents: what they hold does not grow, and they do not become slow."""

from collections.abc import Callable
from typing import NamedTuple

from assurance.batteries import Battery, Trial
from assurance.soaking import documents, servers, steps


class Row(NamedTuple):
    name: str
    attempt: Callable[[Trial], None]


A_LEAK_A_STEP = {"handles": 500.0, "memory, MB": 1000.0}
A_LEAK_A_RUN = {"service: handles": 50.0, "dashboard: handles": 50.0, "service: memory, MB": 500.0}
A_LEAK_A_ROUND = {"handles": 0.5, "memory, MB": 50.0}

SHORT = (
    Row("30 steps", lambda trial: steps.run_of(trial, 30, A_LEAK_A_STEP)),
    Row("6 runs", lambda trial: servers.runs_of(trial, 6, 0, A_LEAK_A_RUN)),
    Row("6 MB of documents", lambda trial: documents.indexed(trial, 6, 4, {}, A_LEAK_A_ROUND)),
)
"""With `--all`: too short for slopes, but what leaks at each step is seen."""

LONG = (
    Row(
        "5,000 steps of one run",
        lambda trial: steps.run_of(trial, 5000, {"handles": 0.2, "memory, MB": 20.0}),
    ),
    Row(
        "500 runs of one service under one dashboard in 2 hours",
        lambda trial: servers.runs_of(
            trial,
            500,
            7200,
            {
                "service: handles": 0.2,
                "dashboard: handles": 0.2,
                "service: memory, MB": 5.0,
                "dashboard: memory, MB": 10.0,
            },
        ),
    ),
    Row(
        "10 GB of documents, growing and changing",
        lambda trial: documents.indexed(
            trial,
            10_000,
            25,
            {"handles": 0.2, "memory, MB": 50.0},
            {"handles": 0.2, "memory, MB": 5.0},
        ),
    ),
)
ROWS = SHORT + LONG


def attempt(trial: Trial) -> None:
    row = ROWS[trial.number % len(ROWS)]
    trial.row = row.name
    row.attempt(trial)


BATTERY = Battery(
    "soak",
    "What a process holds does not grow with its steps, runs and rounds by more than is stated.",
    trials=len(ROWS),
    slice=len(SHORT),
    attempt=attempt,
    seconds=12 * 3600.0,
)
