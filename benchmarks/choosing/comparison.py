"""The rules that choose among candidates, each on the same simulated steps."""

import asyncio
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any

from choosing.rules import OURS, PEERS, Chosen, Rule, rules
from choosing.simulation import Setting, Step, steps
from vera.bench.figures import Interval, Z, share, wilson
from vera.selection.options import SelectionOptions

STEPS = 4000

NOISES = {"low": 0.5, "moderate": 1.0, "high": 1.5, "very high": 2.0}
"""Standard deviations of the judge's error: without bias it names the better one of a pair in 92, 76, 68 and
64 of a hundred questions."""

POLICIES = ((0.6, 4), (0.6, 8), (0.8, 4), (0.4, 4), (0.3, 4), (0.2, 4))
"""How often the good action is sampled, and how many candidates there are."""

SETTINGS = (
    *(
        Setting(good=good, candidates=count, noise=noise)
        for noise in NOISES.values()
        for good, count in POLICIES
    ),
    *(
        Setting(good=good, candidates=4, noise=NOISES["moderate"], lasting=0.5)
        for good in (0.6, 0.4, 0.2)
    ),
    *(Setting(good=good, candidates=4, noise=NOISES["moderate"], bias=1.5) for good in (0.6, 0.4, 0.2)),
)  # fmt: skip


def measure(
    settings: Sequence[Setting] = SETTINGS,
    count: int = STEPS,
    seed: int = 0,
    how: SelectionOptions | None = None,
) -> dict[str, Any]:
    """The figures of each setting, from `count` steps of it that all rules share.

    `success` is the share of steps at which the good action was chosen, `calls` the questions to the judge a
    step. `against` is what `OURS` has more than each peer, paired, with its interval; `verdict` says `better`
    or `worse` where that interval leaves out 0, else `even`.
    """
    told = how or SelectionOptions(seed=seed)
    return {
        "steps": count,
        "seed": seed,
        "options": {
            name: getattr(told, name)
            for name in ("vote_weight", "max_compared", "stop_on_agreement", "agreement_threshold")
        },
        "rows": [_row(setting, count, seed, rules(told)) for setting in settings],
    }


def _row(setting: Setting, count: int, seed: int, by_name: Mapping[str, Rule]) -> dict[str, Any]:
    drawn = steps(setting, count, seed)
    found = {
        name: asyncio.run(_choose(rule, setting, drawn, f"{seed}:{name}")) for name, rule in by_name.items()
    }
    return {
        "good": setting.good,
        "candidates": setting.candidates,
        "noise": setting.noise,
        "bias": setting.bias,
        "lasting": setting.lasting,
        "mode_right": setting.is_mode_right,
        "rules": {name: _figures(chosen) for name, chosen in found.items()},
        "against": {name: _against(found[OURS], found[name]) for name in PEERS},
    }


async def _choose(rule: Rule, setting: Setting, drawn: Sequence[Step], lot: str) -> list[Chosen]:
    return [await rule(setting, step, f"{lot}:{step.number}") for step in drawn]


def _figures(chosen: Sequence[Chosen]) -> dict[str, Any]:
    good = sum(each.good for each in chosen)
    return {
        "success": share(good, len(chosen)),
        "interval": wilson(good, len(chosen)),
        "calls": round(sum(each.calls for each in chosen) / len(chosen), 2),
    }


def _against(chosen: Sequence[Chosen], others: Sequence[Chosen]) -> dict[str, Any]:
    more, (low, high) = paired([each.good for each in chosen], [each.good for each in others])
    verdict = "better" if low > 0 else "worse" if high < 0 else "even"
    return {"difference": more, "interval": (low, high), "verdict": verdict}


def paired(values: Sequence[float], others: Sequence[float]) -> tuple[float, Interval]:
    """The mean of `values` less that of `others`, pair by pair (at least two), and its 95 % interval by the
    normal approximation."""
    differences = [one - other for one, other in zip(values, others, strict=True)]
    middle = fmean(differences)
    squares = sum((each - middle) ** 2 for each in differences)
    half = Z * (squares / (len(differences) - 1) / len(differences)) ** 0.5
    return round(middle, 4), (round(middle - half, 4), round(middle + half, 4))
