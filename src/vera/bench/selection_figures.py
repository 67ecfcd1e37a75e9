"""Means over things that were drawn or chosen, with their intervals."""

import random
from collections.abc import Sequence
from statistics import fmean

from vera.bench.figures import RESAMPLES, Interval

_Z = 1.959964
"""The two-sided 95 % point of the normal distribution."""


def mean(values: Sequence[float]) -> float | None:
    """The mean, None of nothing."""
    return round(fmean(values), 4) if values else None


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
    if not ratios:
        return None
    ratios.sort()
    last = len(ratios) - 1
    return round(ratios[round(0.025 * last)], 4), round(ratios[round(0.975 * last)], 4)


def paired(values: Sequence[float], others: Sequence[float]) -> tuple[float, Interval]:
    """The mean of `values` less that of `others`, pair by pair (at least two), and its 95 % interval by the
    normal approximation."""
    differences = [one - other for one, other in zip(values, others, strict=True)]
    middle = fmean(differences)
    squares = sum((each - middle) ** 2 for each in differences)
    half = _Z * (squares / (len(differences) - 1) / len(differences)) ** 0.5
    return round(middle, 4), (round(middle - half, 4), round(middle + half, 4))
