"""`first_valid`: the first candidate that can be read. No check and no vote comes before it."""

from collections.abc import Sequence

from vera.selection.options import SelectionOptions
from vera.selection.selector import ActionCluster, Judge, SelectionContext, SelectorChoice


class FirstValid:
    """The first of the options, which without preparation are the readable candidates in order."""

    judges = False
    prepared = False

    async def select(
        self, options: Sequence[ActionCluster], scene: SelectionContext, judge: Judge, how: SelectionOptions
    ) -> SelectorChoice:
        return SelectorChoice(chosen=0, reason="the first that can be read")
