"""`random`: any candidate, the baseline that a judge has to beat."""

import random
from collections.abc import Sequence

from vera.selection.options import SelectionOptions
from vera.selection.selector import Judge, Option, Picked, Scene


class RandomChoice:
    """A candidate by the seed and the step: an action that was sampled twice is twice as likely."""

    judges = False

    async def select(
        self, options: Sequence[Option], scene: Scene, judge: Judge, how: SelectionOptions
    ) -> Picked:
        dice = random.Random(f"{how.seed}:{scene.step}")
        chosen = dice.choices(range(len(options)), weights=[option.votes for option in options])[0]
        return Picked(chosen=chosen, reason="drawn at random")
