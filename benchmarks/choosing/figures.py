"""What a rule is expected to reach that gives each of several things a number and takes the least.

Of equal ones each counts alike: the figure is that of drawing equals by lot, and does not depend on their
order.
"""

from collections.abc import Sequence
from statistics import fmean


def mean(values: Sequence[float]) -> float | None:
    """The mean, None of nothing."""
    return round(fmean(values), 4) if values else None


def success(numbers: Sequence[float], good: Sequence[bool]) -> float:
    """The share of good ones among those with the least number."""
    least = min(numbers)
    return fmean(is_good for number, is_good in zip(numbers, good, strict=True) if number == least)
