"""What metrics are made of, between the fold and its exposition."""

from collections.abc import Mapping


class Distribution:
    """A histogram's series: how many observations fell into each bucket (the last is infinite), and their
    sum."""

    __slots__ = ("counts", "sum")

    def __init__(self, buckets: int) -> None:
        self.counts = [0] * (buckets + 1)
        self.sum = 0.0


Values = Mapping[str, Mapping[tuple[str, ...], float]]
"""Name → values of the family's labels, in its order → value."""

Distributions = Mapping[str, Mapping[tuple[str, ...], Distribution]]
"""The same of histograms."""
