"""A step at which several actions were sampled, and a judge who errs, made by lot. No model is asked.

Of `ACTIONS` possible actions one is good. The policy samples it with probability `good`, and the others by
Zipf's law, so that where `good` is small a bad action is its favourite. The judge sees an action's worth (1
for the good one, 0 for the others) with normal noise, and one that is shown first with a bias beside: the
noisy comparison of Thurstone (1927) with the position bias that judges have (Zheng et al. 2023,
arXiv:2306.05685). All of it is an assumption; that selection pays with a real model is not shown by it.
"""

import math
import random
from collections.abc import Sequence

import msgspec

from vera.selection.selector import ActionCluster, Judge, SelectionContext, SelectorReply

ACTIONS = 6
MAX_LENGTH = 40
"""Characters of the longest action. How long one is says nothing of its worth."""


class Setting(msgspec.Struct, frozen=True, kw_only=True):
    """What a policy and a judge are like.

    `noise` is the standard deviation of the judge's error, `bias` what the first place is worth; the distance
    of a good and a bad action is 1. `lasting` is the share of the error's variance that an action keeps
    through all questions of a step, 0 for a judge who errs again each time, 1 for one who errs always alike.
    """

    good: float
    candidates: int
    noise: float
    bias: float = 0.5
    lasting: float = 0.0

    @property
    def shares(self) -> tuple[float, ...]:
        """How often each action is sampled, the good one first."""
        weights = [1 / rank for rank in range(1, ACTIONS)]
        return (self.good, *((1 - self.good) * weight / sum(weights) for weight in weights))

    @property
    def is_mode_right(self) -> bool:
        """Whether the action that the policy samples most often is the good one."""
        return self.good > max(self.shares[1:])


class Step(msgspec.Struct, frozen=True):
    """The candidates of one step by the number of their action, 0 being the good one; each action's length in
    characters; and the judge's lasting error about it."""

    number: int
    actions: tuple[int, ...]
    lengths: tuple[int, ...]
    errors: tuple[float, ...]

    def shown(self, index: int) -> str:
        """A candidate's action as a judge sees it: its number, and as many characters as it is long."""
        action = self.actions[index]
        return f"{action} ".ljust(self.lengths[action], "x")


def steps(setting: Setting, count: int, seed: int) -> list[Step]:
    """Steps drawn by lot, the same for the same seed."""
    dice = random.Random(f"{seed}:{setting}")
    lasting = setting.noise * math.sqrt(setting.lasting)
    return [
        Step(
            number,
            tuple(dice.choices(range(ACTIONS), setting.shares, k=setting.candidates)),
            tuple(dice.randint(4, MAX_LENGTH) for _ in range(ACTIONS)),
            tuple(dice.gauss(0, lasting) for _ in range(ACTIONS)),
        )
        for number in range(1, count + 1)
    ]


class NoisyJudge:
    """The judge of one step. `lot` names the stream of its errors; `calls` counts how often it was asked."""

    def __init__(self, setting: Setting, step: Step, lot: str) -> None:
        self.calls = 0
        self._step = step
        self._bias = setting.bias
        self._noise = setting.noise * math.sqrt(1 - setting.lasting)
        self._dice = random.Random(lot)

    def score(self, action: int) -> float:
        """What it says an action is worth that it sees alone."""
        self.calls += 1
        return self._seen(action)

    def best(self, actions: Sequence[int]) -> int:
        """The place that it names of actions shown in this order."""
        self.calls += 1
        seen = [self._seen(action) for action in actions]
        seen[0] += self._bias
        return seen.index(max(seen))

    def as_judge(self) -> Judge:
        """The same as `vera.selection` asks it."""

        async def judge(_scene: SelectionContext, options: Sequence[ActionCluster]) -> SelectorReply:
            place = self.best([int(option.action.partition(" ")[0]) for option in options])
            return SelectorReply(content=f"FINAL: {place + 1}")

        return judge

    def _seen(self, action: int) -> float:
        return (action == 0) + self._step.errors[action] + self._dice.gauss(0, self._noise)
