"""`shortest`: the action of the fewest characters, a baseline that is hard to beat for what it costs."""

from collections.abc import Sequence

from vera.selection.options import SelectionOptions
from vera.selection.selector import ActionCluster, Judge, SelectionContext, SelectorChoice


class Shortest:
    """The least size; equal ones are tied."""

    judges = False

    async def select(
        self, options: Sequence[ActionCluster], scene: SelectionContext, judge: Judge, how: SelectionOptions
    ) -> SelectorChoice:
        least = min(option.size for option in options)
        best = tuple(place for place, option in enumerate(options) if option.size == least)
        return SelectorChoice(chosen=best[0], tied=best, reason=f"its {least} characters are the fewest")
