"""`random`: any candidate, the baseline that a judge has to beat."""

import random
from collections.abc import Sequence

from vera.selection.options import SelectionOptions
from vera.selection.selector import ActionCluster, Judge, SelectionContext, SelectorChoice


class RandomChoice:
    """A candidate by the seed and the step: an action that was sampled twice is twice as likely."""

    judges = False

    async def select(
        self, options: Sequence[ActionCluster], scene: SelectionContext, judge: Judge, how: SelectionOptions
    ) -> SelectorChoice:
        dice = random.Random(f"{how.seed}:{scene.step}")
        chosen = dice.choices(range(len(options)), weights=[option.votes for option in options])[0]
        return SelectorChoice(chosen=chosen, reason="drawn at random")
