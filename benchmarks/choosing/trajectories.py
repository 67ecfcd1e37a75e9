"""Choosing one of the trajectories of a task without a model: a rule gives each a number, and the least is
chosen."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from typing import Any

from choosing.attempts import Attempt
from choosing.figures import mean, success
from vera.bench.figures import bootstrap, ratio_bootstrap

Task = Sequence[Attempt]
"""The trajectories of one task, by their names; each with a label."""

Measure = Callable[[int, Attempt], float]
"""The number of a trajectory, from its place and itself; less is better."""

RULES: Mapping[str, Measure] = {
    "random": lambda place, attempt: 0,
    "first": lambda place, attempt: place,
    "shortest": lambda place, attempt: attempt.steps,
    "fewest_characters": lambda place, attempt: attempt.characters,
    "oracle": lambda place, attempt: not attempt.passed,
}
"""`random` is pass@1, `first` takes the first by the file's name, `shortest` the one of the fewest turns."""


def measure(attempts: Iterable[Attempt], seed: int) -> dict[str, Any]:
    """The figures of each rule over the tasks, and of its preference in pairs.

    `success` is the mean over tasks of whether the choice passed, `gain` what it has more than `random`.
    `pairwise` is the share of the mixed pairs of a task (one passed, one did not) of which the rule takes the
    one that passed, an equal number counting half. Intervals are bootstrapped over tasks. Trajectories
    without a label or a task are left out and counted as `unlabelled`.
    """
    by_task: dict[str, list[Attempt]] = {}
    unlabelled = 0
    for each in attempts:
        if each.passed is None or not each.task:
            unlabelled += 1
        else:
            by_task.setdefault(each.task, []).append(each)
    tasks = list(by_task.values())
    chance = [_success(task, RULES["random"]) for task in tasks]
    return {
        "tasks": len(tasks),
        "trajectories": sum(map(len, tasks)),
        "per_task": sorted({len(task) for task in tasks}),
        "unlabelled": unlabelled,
        "pass_at_1": mean(chance),
        "mixed_pairs": sum(len(_pairs(task)) for task in tasks),
        "rules": {name: _figures(tasks, chance, rule, seed) for name, rule in RULES.items()},
    }


def _figures(tasks: Sequence[Task], chance: Sequence[float], rule: Measure, seed: int) -> dict[str, Any]:
    successes = [_success(task, rule) for task in tasks]
    gains = [one - other for one, other in zip(successes, chance, strict=True)]
    wins = [_wins(task, rule) for task in tasks]
    pairs = sum(of for _, of in wins)
    return {
        "success": mean(successes),
        "interval": bootstrap(successes, seed),
        "gain": mean(gains),
        "gain_interval": bootstrap(gains, seed),
        "pairwise": round(sum(won for won, _ in wins) / pairs, 4) if pairs else None,
        "pairwise_interval": ratio_bootstrap(wins, seed),
    }


def _success(task: Task, rule: Measure) -> float:
    numbers = [rule(place, attempt) for place, attempt in enumerate(task)]
    return success(numbers, [bool(attempt.passed) for attempt in task])


def _pairs(task: Task) -> list[tuple[int, int]]:
    """The places of each trajectory that passed with each that did not."""
    passed = [place for place, attempt in enumerate(task) if attempt.passed]
    failed = [place for place, attempt in enumerate(task) if not attempt.passed]
    return list(product(passed, failed))


def _wins(task: Task, rule: Measure) -> tuple[float, int]:
    """How many mixed pairs the rule gets right, and how many there are."""
    numbers = [rule(place, attempt) for place, attempt in enumerate(task)]
    pairs = _pairs(task)
    won = sum(
        1.0 if numbers[one] < numbers[other] else 0.5 * (numbers[one] == numbers[other])
        for one, other in pairs
    )
    return won, len(pairs)
