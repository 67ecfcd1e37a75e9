"""A row of the table: one class of input, how it is tried, and what one trial may cost."""

import contextlib
import resource
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from assurance.batteries import Trial

_STATUS = Path("/proc/self/status")
_CLEAR = Path("/proc/self/clear_refs")
_FORGET_THE_PEAK = "5"
_ROOM = 2 << 30
"""Bytes of address space beside what a row may hold: threads and libraries reserve more than they use."""


@dataclass(frozen=True)
class Row:
    """One class of input.

    Attributes:
        name: As in the table.
        attempt: Makes one trial; an exception that VERA does not promise is a failure.
        seconds: Of processor time in this process, at most.
        megabytes: By which the memory of this process may grow meanwhile, at most.
        share: How many of a round of trials are of this row; 0 for a rare one, which comes once in many
            rounds (fuzz.py).
        wall: Seconds after which it is taken for hung.
    """

    name: str
    attempt: Callable[[Trial], object]
    seconds: float
    megabytes: int
    share: int = 1
    wall: float = 60.0


class TooMuch(AssertionError):
    """A trial took more than its row allows."""


@contextlib.contextmanager
def bounded(row: Row, trial: Trial) -> Iterator[None]:
    """Holds a trial to the bounds of its row, and notes what it took.

    Memory that is asked for far beyond the bound is refused by the system, so that no trial takes the machine
    with it.
    """
    began, used = time.monotonic(), time.process_time()
    before = _peak_forgotten()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if before:
        resource.setrlimit(resource.RLIMIT_AS, (_kept("VmSize") + (row.megabytes << 20) + _ROOM, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        grown = max(0, _kept("VmHWM") - before) >> 20
        seconds = time.process_time() - used
        if children := _of_children():
            trial.figures["MB of a child process"] = max(children) >> 20
        trial.figures |= {"processor s": round(seconds, 3), "MB": grown}
        trial.figures["s"] = round(time.monotonic() - began, 3)
    if seconds > row.seconds:
        raise TooMuch(f"{seconds:.1f} s of processor time, and {row.seconds:g} s are allowed")
    if grown > row.megabytes:
        raise TooMuch(f"{grown} MB more memory, and {row.megabytes} MB are allowed")


def _peak_forgotten() -> int:
    """Bytes of memory now, from which on the peak is counted; 0 where the system does not say."""
    try:
        _CLEAR.write_text(_FORGET_THE_PEAK)
        return _kept("VmRSS")
    except OSError:
        return 0


def _of_children() -> list[int]:
    """The most that each child process which still runs has held."""
    found: list[int] = []
    for task in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [_kept("VmHWM", Path(f"/proc/{pid}/status")) for pid in task.read_text().split()]
    return found


def _kept(name: str, status: Path = _STATUS) -> int:
    """Bytes by /proc/PID/status (proc(5)); 0 where there is none."""
    with contextlib.suppress(OSError):
        for line in status.read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) << 10
    return 0
