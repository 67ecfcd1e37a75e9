"""A row of the table: one class of input, how it is tried, and what one trial may cost."""

import contextlib
import gc
import resource
import sys
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
        share: How many of a round of trials are of this row.
        wall: Seconds after which it is taken for hung.
    """

    name: str
    attempt: Callable[[Trial], object]
    seconds: float
    megabytes: int
    share: int = 1
    wall: float = 120.0


class TooMuch(AssertionError):
    """A trial took more than its row allows."""


@contextlib.contextmanager
def bounded(row: Row, trial: Trial) -> Iterator[None]:
    """Holds a trial to the bounds of its row, and notes what it took.

    Memory that is asked for far beyond the bound is refused by the system, so that no trial takes the machine
    with it.
    """
    began, used = time.monotonic(), time.process_time()
    before, of_children = _peak_forgotten(), _children()
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    if before:
        resource.setrlimit(resource.RLIMIT_AS, (_kept("VmSize") + (row.megabytes << 20) + _ROOM, hard))
    try:
        with _nothing_left_open():
            yield
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        grown = max(0, _kept("VmHWM") - before) >> 20
        seconds = time.process_time() - used
        grew = (peak - of_children.get(pid, 0) for pid, peak in _children(forget=False).items())
        trial.figures |= {
            "processor s": round(seconds, 3),
            "allowed s": row.seconds,
            "MB": grown,
            "allowed MB": row.megabytes,
            "MB of a child process": max([0, *grew]) >> 20,
            "s": round(time.monotonic() - began, 3),
            "hung after s": row.wall,
        }
    if seconds > row.seconds:
        raise TooMuch(f"{seconds:.1f} s of processor time, and {row.seconds:g} s are allowed")
    if grown > row.megabytes:
        raise TooMuch(f"{grown} MB more memory, and {row.megabytes} MB are allowed")


@contextlib.contextmanager
def _nothing_left_open() -> Iterator[None]:
    """Objects that fail as they are deleted, such as a pipe that outlived its loop: AssertionError."""
    failed: list[str] = []
    before, sys.unraisablehook = sys.unraisablehook, lambda found: failed.append(repr(found.exc_value))
    gc.freeze()  # what is older need not be looked at
    try:
        yield
        gc.collect()
    finally:
        sys.unraisablehook = before
    assert not failed, failed


def _peak_forgotten() -> int:
    """Bytes of memory now, from which on the peak is counted; 0 where the system does not say."""
    try:
        _CLEAR.write_text(_FORGET_THE_PEAK)
        return _kept("VmRSS")
    except OSError:
        return 0


def _children(forget: bool = True) -> dict[int, int]:
    """The most that each child process which runs has held, counted from now on where that is wanted."""
    found: dict[int, int] = {}
    for task in Path("/proc/self/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for pid in map(int, task.read_text().split()):
                if forget:
                    Path(f"/proc/{pid}/clear_refs").write_text(_FORGET_THE_PEAK)
                found[pid] = _kept("VmHWM", Path(f"/proc/{pid}/status"))
    return found


def _kept(name: str, status: Path = _STATUS) -> int:
    """Bytes by /proc/PID/status (proc(5)); 0 where there is none."""
    with contextlib.suppress(OSError):
        for line in status.read_text().splitlines():
            if line.startswith(f"{name}:"):
                return int(line.split()[1]) << 10
    return 0
