"""What is told while a batch runs: a live table on a terminal, one line for each milestone elsewhere."""

import time
from typing import TYPE_CHECKING, TextIO

import msgspec

from vera.batch.engine import Attempt
from vera.batch.records import Ended
from vera.batch.session_end import Watch
from vera.batch.status import Standing
from vera.batch.task import BatchTask
from vera.report.printable import one_printable_line, printable

if TYPE_CHECKING:
    from rich.live import Live
    from rich.table import Table

SHOWN_LABEL = 48
SHOWN_REASON = 300
A_SECOND = 2
"""How often the table is drawn."""


class _Running(msgspec.Struct, kw_only=True):
    task: BatchTask
    began: float
    attempt: int
    step: int = 0
    tokens: int = 0


class ProgressReporter:
    """Listens to an engine and to the attempts (`local.Listener`, `child_attempt.Glimpse`)."""

    def __init__(self, stream: TextIO, *, total: int, done: int, quiet: bool = False) -> None:
        self._stream = stream
        self._quiet = quiet
        self._total = total
        self._done = done
        self._others: dict[str, int] = {}
        self._running: dict[str, _Running] = {}
        self._slow: dict[str, int] = {}
        self._began = time.monotonic()
        self._live: Live | None = None

    def __enter__(self) -> "ProgressReporter":
        if self._stream.isatty() and not self._quiet:
            from rich.console import Console
            from rich.live import Live

            console = Console(file=self._stream)
            self._live = Live(
                console=console,
                get_renderable=self._table,
                refresh_per_second=A_SECOND,
                transient=True,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._live is not None:
            self._live.stop()
            self._live = None

    def say(self, line: str) -> None:
        """A line that stays."""
        if self._quiet:
            return
        if self._live is not None:
            from rich.text import Text

            self._live.console.print(Text(printable(line)), soft_wrap=True)
            return
        self._stream.write(printable(line) + "\n")
        self._stream.flush()

    def began(self, task: BatchTask, attempt: Attempt) -> None:
        self._running[task.id] = _Running(task=task, began=time.monotonic(), attempt=attempt.number)

    def seen(self, task: BatchTask, watch: Watch) -> None:
        """How far a running attempt is."""
        if (row := self._running.get(task.id)) is not None:
            row.step, row.tokens = watch.step, watch.state.spent.tokens

    def ended(self, task: BatchTask, end: Ended, now: Standing) -> None:
        row = self._running.pop(task.id, None)
        took = f", {time.monotonic() - row.began:.1f} s" if row else ""
        label = one_printable_line(task.label[:SHOWN_LABEL])
        if now.state == "done":
            self._done += 1
            self.say(f"{self._done}/{self._total} {label}: exit code {end.exit_code}{took}")
            return
        reason = one_printable_line(end.reason[-SHOWN_REASON:])
        self._others[now.state] = self._others.get(now.state, 0) + 1
        self.say(f"{label}: {end.outcome} in attempt {end.number}{took}, {_then(now)}: {reason}")

    def slowed(self, endpoint: str, allowed: int) -> None:
        self._slow[endpoint] = allowed
        self.say(f"{endpoint} pushes back: at most {allowed} tasks run there until it goes well again")

    def _table(self) -> "Table":
        from rich.table import Table

        minutes, seconds = divmod(int(time.monotonic() - self._began), 60)
        others = "".join(f", {count} {state}" for state, count in sorted(self._others.items()))
        title = f"{self._done} of {self._total} done, {len(self._running)} running{others}"
        table = Table(title=f"{title}, {minutes}:{seconds:02}", title_justify="left", expand=False)
        for name in ("task", "attempt", "step", "tokens", "seconds"):
            table.add_column(name, justify="left" if name == "task" else "right", no_wrap=True)
        for row in sorted(self._running.values(), key=lambda row: row.began):
            table.add_row(
                one_printable_line(row.task.label[:SHOWN_LABEL]),
                *map(str, (row.attempt, row.step, row.tokens)),
                f"{time.monotonic() - row.began:.0f}",
            )
        return table


def _then(now: Standing) -> str:
    """What becomes of the task."""
    return {
        "open": "to be gone on with",
        "held": "held after too many of these",
        "cancelled": "cancelled",
    }.get(now.state, "not tried again")
