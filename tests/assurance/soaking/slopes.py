"""Whether something grows over time: the slope of a series, with its 95 % interval.

The slope is that of Theil (1950) and Sen (1968), the median of the slopes between all pairs of points, which
single outliers do not move. Points of one process are not independent of each other, so the interval comes
from a bootstrap over blocks of residuals that follow each other (Künsch, 1989).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

POINTS = 120
"""More than so many are put together by medians of neighbours."""
RESAMPLES = 1000
Numbers = NDArray[np.float64]


class Slope(NamedTuple):
    """By how much y grows where x grows by one, and the 95 % interval of that."""

    value: float
    low: float
    high: float


def slope(x: Sequence[float], y: Sequence[float], seed: int = 0) -> Slope:
    """The slope of a series of at least three points."""
    xs, ys = thinned(np.asarray(x, np.float64)), thinned(np.asarray(y, np.float64))
    pairs = np.triu_indices(len(xs), 1)
    run = xs[pairs[1]] - xs[pairs[0]]
    kept = run != 0

    def of(values: Numbers) -> float:
        rise = values[pairs[1]] - values[pairs[0]]
        return float(np.median(rise[kept] / run[kept]))

    value = of(ys)
    line = value * xs
    residuals = ys - line
    residuals -= np.median(residuals)
    dice = np.random.default_rng(seed)
    found = [of(line + in_blocks(residuals, dice)) for _ in range(RESAMPLES)]
    low, high = np.percentile(found, (2.5, 97.5))
    return Slope(value, float(low), float(high))


def thinned(values: Numbers) -> Numbers:
    """At most POINTS values, each the median of neighbours."""
    if len(values) <= POINTS:
        return values
    return np.array([np.median(part) for part in np.array_split(values, POINTS)])


def in_blocks(residuals: Numbers, dice: np.random.Generator) -> Numbers:
    """As many residuals, drawn in blocks as long as the square root of their number."""
    length = max(1, round(len(residuals) ** 0.5))
    starts = dice.integers(0, len(residuals) - length + 1, -(-len(residuals) // length))
    return np.concatenate([residuals[start : start + length] for start in starts])[: len(residuals)]
