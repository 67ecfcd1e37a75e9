"""What a battery is, and the list of all of them.

A battery tries one promise of VERA many times, each time in another way that its seed decides. A slice of
each runs with `--all`; `python3 run.py test --long` runs as many trials as you have hours for (runner.py).
A new battery is one module beside this one, with a `BATTERY`, and one entry in `MODULES`.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

MODULES: tuple[str, ...] = ("crash", "tamper", "fuzz", "soak")
"""The modules with a battery, in the order of the tables in docs/assurance.md."""


@dataclass
class Trial:
    """One try: its number decides everything that is drawn, so a failure can be repeated alone."""

    number: int
    random: random.Random
    folder: Path
    """An empty folder, kept when the trial fails."""
    row: str = ""
    """The row of the table that this trial counts in: the attempt sets it before anything can fail."""
    figures: dict[str, float] = field(default_factory=dict)
    """What the attempt measured; the table has the largest of each row."""


@dataclass(frozen=True)
class Battery:
    """Trials of one promise.

    Attributes:
        name: One word, as typed after `--long`.
        promise: What holds after every trial, a sentence.
        trials: How many a long run makes.
        slice: How many run with `--all`.
        attempt: Makes one trial; an exception of any kind is a failure, and its text is kept.
        seconds: A trial that takes longer is a failure.
        needs: Parts of tests/parts.py without which no trial can be made.
    """

    name: str
    promise: str
    trials: int
    slice: int
    attempt: Callable[[Trial], None]
    seconds: float = 120.0
    needs: tuple[str, ...] = ()


def batteries() -> dict[str, Battery]:
    """Every battery by its name."""
    found = [import_module(f"assurance.{module}").BATTERY for module in MODULES]
    return {battery.name: battery for battery in found}
