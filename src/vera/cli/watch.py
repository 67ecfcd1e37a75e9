"""`vera watch`: a run in the terminal, while it works."""

import os
import signal
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, BinaryIO, TextIO, cast

import click

from vera.cli.exit import ERROR

if TYPE_CHECKING:
    from vera.attestation.outcome import Outcome
    from vera.cli.progress import Progress
    from vera.events import Record

POLL_SECONDS = 0.1
SHOWN_SECONDS = 1.0
"""The page is made again at least this often: it says how long ago something happened."""

DEAD_SECONDS = 3.0
"""A run on which no one works for so long has ended without a word."""

SEAL_SECONDS = 10.0
"""What a process gets after the last record to seal the session."""


@click.command()
@click.argument("work_dir", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--plain", is_flag=True, help="A line for each milestone, as without a terminal.")
def watch(work_dir: Path, plain: bool) -> None:
    """Watch a run, or wait for one to begin. RUN is its folder.

    Ctrl-C ends the watching and leaves the run alone. When the run ends, its exit code is that of this
    command; 1 when its process is gone before its end.
    """
    from vera.cli.exit import INTERRUPTED, clean_errors, stop

    with clean_errors():
        from vera.session import LogBroken

        try:
            with _CtrlC() as ctrl_c:
                watching = _watch_plain if plain or not has_terminal() else _watch_live
                code = watching(work_dir, ctrl_c)
        except LogBroken as broken:
            stop(str(broken), ERROR)
        except (ValueError, OverflowError) as error:
            stop(f"the log in {work_dir} holds something that VERA does not write: {error}.", ERROR)
        except KeyboardInterrupt:
            stop("no longer watched; the run is left alone.", INTERRUPTED)
    if code is None:
        stop(
            f"no process works on this run, and it has not ended. Go on with 'vera resume {work_dir}'.", ERROR
        )
    raise SystemExit(code)


class _CtrlC:
    """Ctrl-C, kept in mind within a `with` block: Python drops a KeyboardInterrupt that comes while a weak
    reference calls back, as at the end of every import."""

    def __init__(self) -> None:
        self._pressed = False

    def __enter__(self) -> "_CtrlC":
        self._before = signal.signal(signal.SIGINT, self._press)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        signal.signal(signal.SIGINT, self._before)

    def check(self) -> None:
        """Raises KeyboardInterrupt once it was pressed."""
        if self._pressed:
            raise KeyboardInterrupt

    def _press(self, number: int, frame: FrameType | None) -> None:
        self._pressed = True
        self.check()


def has_terminal() -> bool:
    """Whether stdout is a terminal that lines can be rewritten on."""
    return sys.stdout.isatty() and os.environ.get("TERM", "dumb") != "dumb" and not os.environ.get("CI")


class Watched:
    """A run's log as it grows, folded. A log that another one took the place of is begun again."""

    def __init__(self, work_dir: Path, *listeners: "Callable[[Record], None]") -> None:
        self.work_dir = work_dir
        self.log = work_dir / "trace.jsonl"
        self._listeners = listeners
        self._seen_alive = time.monotonic()
        self._opened: BinaryIO | None = None
        self._begin()

    def _begin(self) -> None:
        from vera.report.view.fold import ViewFold
        from vera.session import Reader, load_text
        from vera.state import RunState
        from vera.store import Store

        self.state = RunState()
        self.store = Store(self.work_dir / "store")
        self.fold = ViewFold(partial(load_text, self.store))
        self._reader = Reader(self.log)

    @property
    def has_log(self) -> bool:
        return self.fold.offset > 0

    @property
    def code(self) -> int | None:
        """The run's exit code, None while it has not ended."""
        return self.state.ended.exit_code if self.state.ended else None

    def poll(self) -> bool:
        """Read on; whether there was anything. Raises LogBroken."""
        before = self.fold.offset
        try:
            if self._is_another():
                self._begin()
                before = 0
            for offset, record in self._reader.poll():
                self.state.apply(record)
                self.fold.apply(record, offset)
                for listener in self._listeners:
                    listener(record)
        except FileNotFoundError:
            return False
        return self.fold.offset != before

    def _is_another(self) -> bool:
        """Whether the log is another file than at the last look. The file that was seen stays open: while it
        is, its inode number cannot be given to its successor."""
        found = self.log.open("rb")
        before, self._opened = self._opened, found
        if before is None:
            return False
        with before:
            return not os.path.sameopenfile(before.fileno(), found.fileno())

    def outcome(self, ctrl_c: _CtrlC) -> "Outcome":
        """What the session may say, once its process has sealed it or is gone."""
        from vera.attestation.outcome import outcome_here

        until = time.monotonic() + SEAL_SECONDS
        while self.is_alive() and time.monotonic() < until:
            ctrl_c.check()
            time.sleep(POLL_SECONDS)
        return outcome_here(self.work_dir)

    def is_alive(self) -> bool:
        """Whether a process works on it."""
        from vera.dashboard.run_status import is_worked_on

        alive = is_worked_on(self.work_dir, self.log)
        if alive:
            self._seen_alive = time.monotonic()
        return alive

    def is_dead(self) -> bool:
        """Whether no one has worked for a while on a run that has begun. Call `is_alive` before."""
        return self.has_log and time.monotonic() - self._seen_alive > DEAD_SECONDS


def _watch_plain(work_dir: Path, ctrl_c: _CtrlC) -> int | None:
    """Milestones as `vera run` says them; the exit code of the run, None when it is dead."""
    from vera.cli.progress import Progress
    from vera.cli.streams import insist_on_reader

    progress = Progress(cast(TextIO, _Plain(sys.stdout)))
    watched = Watched(work_dir, lambda record: _say(progress, record))
    if not watched.log.exists():
        progress.say(f"waiting for a run to begin in {work_dir}")
    looked = 0.0
    while True:
        ctrl_c.check()
        insist_on_reader()
        watched.poll()
        if watched.code is not None:
            return _say_end(progress, watched, ctrl_c)
        if time.monotonic() - looked > SHOWN_SECONDS:
            looked = time.monotonic()
            if not watched.is_alive() and watched.is_dead():
                return None
        time.sleep(POLL_SECONDS)


def _say(progress: "Progress", record: "Record") -> None:
    """A record in words; the end waits until the session is sealed (`_say_end`)."""
    from vera import events

    match record:
        case events.Task():
            progress.say("the run has begun")
        case events.RunEnd():
            pass
        case _:
            progress(record)


def _say_end(progress: "Progress", watched: Watched, ctrl_c: _CtrlC) -> int:
    """What the session may say of its end, with the seconds that the run took; the exit code."""
    from vera.attestation.report import counted

    ended, outcome = watched.state.ended, watched.outcome(ctrl_c)
    assert ended is not None
    took = f"{counted(ended.steps, 'step')}, {ended.seconds:.1f} s"
    code = _code_of(outcome)
    progress.say(f"{outcome.word}: {outcome.reason} ({took}, exit code {code})")
    return code


def _code_of(outcome: "Outcome") -> int:
    return ERROR if outcome.exit_code is None else outcome.exit_code


class _Plain:
    """A stream that is no terminal, whatever lies behind it."""

    def __init__(self, stream: TextIO) -> None:
        self.write, self.flush = stream.write, stream.flush

    def isatty(self) -> bool:
        return False


def _watch_live(work_dir: Path, ctrl_c: _CtrlC) -> int | None:
    """A page that is rewritten in place; the exit code of the run, None when it is dead."""
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.text import Text

    from vera.cli.watch_view import view

    console = Console(highlight=False, markup=False)
    watched = Watched(work_dir)

    def page(*, alive: bool, outcome: "Outcome | None" = None) -> RenderableType:
        if not watched.has_log:
            return Text(f"Waiting for a run to begin in {work_dir} (Ctrl-C ends the waiting).")
        return view(
            watched.fold,
            watched.state,
            watched.store,
            session=str(work_dir),
            alive=alive,
            now=time.time(),
            height=console.height,
            outcome=outcome,
        )

    with Live(console=console, auto_refresh=False) as live:
        shown = 0.0
        alive = False
        while True:
            ctrl_c.check()
            news = watched.poll()
            due = time.monotonic() - shown > SHOWN_SECONDS
            if due:
                alive, shown = watched.is_alive(), time.monotonic()
            if news or due:
                live.update(page(alive=alive and watched.code is None), refresh=True)
            if watched.code is not None:
                outcome = watched.outcome(ctrl_c)
                live.update(page(alive=False, outcome=outcome), refresh=True)
                return _code_of(outcome)
            if due and watched.is_dead():
                return None
            time.sleep(POLL_SECONDS)
