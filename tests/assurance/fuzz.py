"""Whatever comes from outside: no crash, no hang, no unbounded memory."""

import random
import signal

from assurance.batteries import Battery, Trial
from assurance.fuzzing import (
    document_rows,
    file_rows,
    large_rows,
    model_rows,
    request_rows,
    sandbox_rows,
    server_rows,
    settings_rows,
    text_rows,
    web_rows,
)
from assurance.fuzzing.row import Row, bounded

ROWS: tuple[Row, ...] = (
    *model_rows.ROWS,
    *server_rows.ROWS,
    *web_rows.ROWS,
    *document_rows.ROWS,
    *settings_rows.ROWS,
    *sandbox_rows.ROWS,
    *request_rows.ROWS,
    *file_rows.ROWS,
    *text_rows.ROWS,
)
RARE = large_rows.ROWS
EVERY = 500
"""Of so many trials the last is of a rare row."""

WHEEL = [row for row in ROWS for _ in range(row.share)]
random.Random(0).shuffle(WHEEL)
"""A round of trials; the order spreads the rows, so that any part of a run has all of them."""


def attempt(trial: Trial) -> None:
    row = row_of(trial.number)
    trial.row = row.name
    signal.setitimer(signal.ITIMER_REAL, row.wall, row.wall)
    with bounded(row, trial):
        row.attempt(trial)


def row_of(number: int) -> Row:
    rounds, place = divmod(number, EVERY)
    return RARE[rounds % len(RARE)] if place == EVERY - 1 else WHEEL[number % len(WHEEL)]


BATTERY = Battery(
    "fuzz",
    "Whatever comes from outside is read or refused with a reason, in bounded time and memory.",
    trials=20_000,
    slice=len(WHEEL),
    attempt=attempt,
)
