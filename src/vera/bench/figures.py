"""Shares, means and ratios, with their 95 % intervals."""

import math
import random
from collections.abc import Sequence

RESAMPLES = 1000
Z = 1.959964
"""The two-sided 95 % point of the normal distribution."""

Interval = tuple[float, float]


def share(count: int, of: int) -> float | None:
    """`count` of `of`, None for nothing of nothing."""
    return round(count / of, 4) if of else None


def wilson(count: int, of: int) -> Interval | None:
    """The 95 % interval of a share (Wilson, 1927), None for nothing of nothing."""
    if not of:
        return None
    part, square = count / of, Z * Z
    middle = (part + square / (2 * of)) / (1 + square / of)
    half = Z / (1 + square / of) * math.sqrt(part * (1 - part) / of + square / (4 * of * of))
    return round(max(0.0, middle - half), 4), round(min(1.0, middle + half), 4)


def bootstrap(values: Sequence[float], seed: int) -> Interval | None:
    """The 95 % interval of the mean by the percentile bootstrap (Efron, 1979); None of nothing.

    The same seed gives the same interval.
    """
    return ratio_bootstrap([(value, 1) for value in values], seed)


def ratio_bootstrap(parts: Sequence[tuple[float, float]], seed: int) -> Interval | None:
    """The same of a ratio whose numerator and denominator are sums of such parts; None where the second are
    all 0."""
    dice = random.Random(seed)
    ratios = []
    for _ in range(RESAMPLES if any(below for _, below in parts) else 0):
        drawn = dice.choices(parts, k=len(parts))
        if below := sum(each for _, each in drawn):
            ratios.append(sum(each for each, _ in drawn) / below)
    middle = middle_of(sorted(ratios))
    return None if middle is None else (round(middle[0], 4), round(middle[1], 4))


def middle_of(ordered: Sequence[float]) -> Interval | None:
    """From the 2.5th to the 97.5th percentile of values in order, None of nothing."""
    if not ordered:
        return None
    last = len(ordered) - 1
    return ordered[round(0.025 * last)], ordered[round(0.975 * last)]
