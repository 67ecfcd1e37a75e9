"""An axis of time: round steps from the beginning of a run."""

import itertools
import math

_STEPS = (
    *(0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0),
    *(60.0, 120.0, 300.0, 600.0, 900.0, 1800.0),
    *(3600.0, 7200.0, 10_800.0, 21_600.0, 43_200.0),
    *(86_400.0, 172_800.0, 604_800.0),
)
_UNITS = ((86_400.0, "d"), (3600.0, "h"), (60.0, "min"), (1.0, "s"))


def ticks(seconds: float, most: int = 8) -> list[tuple[float, str]]:
    """At most `most` moments behind the first, each with its label: (300.0, '5 min')."""
    if not 0 < seconds < math.inf:
        return []
    step = next((each for each in _STEPS if seconds / each <= most), seconds / most)
    return [(number * step, _label(number * step)) for number in range(1, int(seconds / step) + 1)][:most]


def duration(seconds: float) -> str:
    """A length of time as people say it, in at most two units: `3.2 s`, `4 min 12 s`, `2 h 5 min`."""
    if not 0 < seconds < math.inf:
        return "0 s"
    if seconds < 10:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    for (large, name), (small, less) in itertools.pairwise(_UNITS):
        if whole >= large:
            rest = int(whole % large // small)
            return f"{int(whole // large)} {name}" + (f" {rest} {less}" if rest else "")
    return f"{whole} s"


def _label(seconds: float) -> str:
    return duration(seconds).replace(".0 s", " s")
