"""What processes hold over time, and whether they hold more and more."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from assurance.batteries import Trial
from assurance.soaking.slopes import slope

WARM_UP = 0.2
"""Of the points, the first share is left out: what is loaded and remembered once is no growth."""
MB = 1_000_000


class Series:
    """Numbers by their names, each noted at the same places of one axis, whose `unit` is a word."""

    def __init__(self, unit: str) -> None:
        self.unit = unit
        self._at: list[float] = []
        self._values: dict[str, list[float]] = {}

    def note(self, at: float, measured: Mapping[str, float]) -> None:
        self._at.append(at)
        for name, value in measured.items():
            self._values.setdefault(name, []).append(value)

    def judge(self, trial: Trial, allowed: Mapping[str, float]) -> None:
        """Put the slopes among the figures of the trial.

        Raises AssertionError where the upper end of a slope's interval is above what is allowed of it.
        """
        begin = int(len(self._at) * WARM_UP)
        too_much: list[str] = []
        for name, values in self._values.items():
            found = slope(self._at[begin:], values[begin:])
            label = f"{name}, slope for {self.unit}"
            trial.figures |= {name: max(values), label: found.value}
            trial.figures |= {f"{label}, from": found.low, f"{label}, to": found.high}
            if (most := allowed.get(name)) is None:
                continue
            trial.figures[f"{label}, allowed"] = most
            if found.high > most:
                too_much.append(f"{label}: up to {found.high:.4g}, and {most:g} is allowed: {values}")
        assert not too_much, "\n".join(too_much)


def held(prefix: str, *processes: psutil.Process) -> dict[str, float]:
    """Resident memory and open files of these processes together."""
    return {
        f"{prefix}memory, MB": sum(each.memory_info().rss for each in processes) / MB,
        f"{prefix}handles": sum(each.num_fds() for each in processes),
    }


def family(pid: int | None = None) -> Sequence[psutil.Process]:
    """A process, this one by default, and those that it has started and that still run."""
    parent = psutil.Process(pid)
    return [parent, *parent.children(recursive=True)]


def disk(folder: Path) -> float:
    """MB of all files in a folder, as they lie on the disk."""
    found = 0
    for path in folder.rglob("*"):
        try:
            found += 512 * path.lstat().st_blocks
        except FileNotFoundError:
            continue
    return found / MB
