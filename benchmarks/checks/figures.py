"""Figures about a check that may reject claims, with their intervals.

A claim is *wrong* when people say that it is not fully supported: to reject it is right. Precision, recall
and F1 are those of rejecting; balanced accuracy is the mean of recall and the share of right claims that
pass.
"""

import random
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple, TypeVar

from vera.bench.figures import RESAMPLES, Interval, middle_of, share, wilson

Figures = Mapping[str, float | None]
"""Name → value between 0 and 1, None where nothing was there to divide by."""
Item = TypeVar("Item")


class Outcome(NamedTuple):
    """One claim: whether it is wrong, whether a hard finding was raised, and whether any was."""

    wrong: bool
    hard: bool
    found: bool


def rejecting(outcomes: Iterable[Outcome]) -> Figures:
    """The figures of hard findings alone (`hard_…`, where `hard_false_veto` is the share of right claims with
    one) and of all findings."""
    return _figures(Counter(outcomes))


def baselines(outcomes: Sequence[Outcome]) -> Mapping[str, Figures]:
    """What one gets without looking: by rejecting no claim, and by rejecting every one."""
    return {
        name: {
            key: value
            for key, value in rejecting(Outcome(each.wrong, found, found) for each in outcomes).items()
            if not key.startswith("hard_")
        }
        for name, found in (("never_reject", False), ("always_reject", True))
    }


def intervals(outcomes: Sequence[Outcome], seed: int) -> Mapping[str, Interval | None]:
    """The 95 % interval of each figure of `rejecting`, by the percentile bootstrap over claims (Efron, 1979).
    The same seed gives the same intervals."""
    return _bootstrap(outcomes, _figures, seed)


def share_interval(flags: Sequence[bool], seed: int) -> Interval | None:
    """The same for the share of true flags. One of 0 or 1 never varies in resampling; it gets Wilson's."""
    if len(set(flags)) < 2:
        return wilson(sum(flags), len(flags))
    return _bootstrap(flags, lambda counts: {"share": share(counts[True], counts.total())}, seed)["share"]


def _bootstrap(
    items: Sequence[Item], measure: Callable[[Counter[Item]], Figures], seed: int
) -> Mapping[str, Interval | None]:
    drawn = random.Random(seed)
    values: dict[str, list[float]] = {name: [] for name in measure(Counter(items))}
    for _ in range(RESAMPLES if items else 0):
        for name, value in measure(Counter(drawn.choices(items, k=len(items)))).items():
            if value is not None:
                values[name].append(value)
    return {name: middle_of(sorted(found)) for name, found in values.items()}


def _figures(counts: Counter[Outcome]) -> Figures:
    hard = _Table(counts, lambda outcome: outcome.hard)
    found = _Table(counts, lambda outcome: outcome.found)
    return {
        "hard_precision": share(hard.right_rejections, hard.rejections),
        "hard_recall": share(hard.right_rejections, hard.wrong),
        "hard_false_veto": share(hard.rejections - hard.right_rejections, hard.right),
        "precision": share(found.right_rejections, found.rejections),
        "recall": share(found.right_rejections, found.wrong),
        "f1": share(2 * found.right_rejections, found.rejections + found.wrong),
        "balanced_accuracy": found.balanced_accuracy(),
    }


class _Table:
    """The four counts of one way to reject."""

    def __init__(self, counts: Counter[Outcome], rejected: Callable[[Outcome], bool]) -> None:
        self.wrong = sum(count for outcome, count in counts.items() if outcome.wrong)
        self.right = counts.total() - self.wrong
        self.rejections = sum(count for outcome, count in counts.items() if rejected(outcome))
        self.right_rejections = sum(
            count for outcome, count in counts.items() if outcome.wrong and rejected(outcome)
        )

    def balanced_accuracy(self) -> float | None:
        if not self.wrong or not self.right:
            return None
        passed = self.right - (self.rejections - self.right_rejections)
        return round((self.right_rejections / self.wrong + passed / self.right) / 2, 4)
