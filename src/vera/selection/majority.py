"""`majority`: the action that was sampled most often.

Self-consistency (Wang et al. 2023, arXiv:2203.11171), over actions instead of answers.
"""

from collections.abc import Sequence

from vera.selection.options import SelectionOptions
from vera.selection.selector import ActionCluster, Judge, SelectionContext, SelectorChoice


class Majority:
    """Most votes; equal ones are tied."""

    judges = False

    async def select(
        self, options: Sequence[ActionCluster], scene: SelectionContext, judge: Judge, how: SelectionOptions
    ) -> SelectorChoice:
        most = max(option.votes for option in options)
        best = tuple(place for place, option in enumerate(options) if option.votes == most)
        total = sum(option.votes for option in options)
        return SelectorChoice(chosen=best[0], tied=best, reason=f"{most} of {total} candidates take it")
