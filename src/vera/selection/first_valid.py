"""`first_valid`: the first candidate that can be read. No check and no vote comes before it."""

from collections.abc import Sequence

from vera.selection.options import SelectionOptions
from vera.selection.selector import Judge, Option, Picked, Scene


class FirstValid:
    """The first of the options, which without preparation are the readable candidates in order."""

    judges = False
    prepared = False

    async def select(
        self, options: Sequence[Option], scene: Scene, judge: Judge, how: SelectionOptions
    ) -> Picked:
        return Picked(chosen=0, reason="the first that can be read")
