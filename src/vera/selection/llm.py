"""`llm`: a judge sees all actions at once and names one (listwise)."""

from collections.abc import Sequence

from vera.selection import verdict
from vera.selection.options import SelectionOptions
from vera.selection.selector import ActionCluster, Judge, SelectionContext, SelectorChoice


def rotated(count: int, seed: int, step: int) -> tuple[int, ...]:
    """The places 0 to `count` - 1, beginning at one that moves on with each step.

    Judges favour places (Wang et al. 2023, arXiv:2305.17926): so none is favoured always.
    """
    start = (seed + step) % count
    return (*range(start, count), *range(start))


class Listwise:
    """One question; the reply is read by `vera.selection.verdict`."""

    judges = True

    async def select(
        self, options: Sequence[ActionCluster], scene: SelectionContext, judge: Judge, how: SelectionOptions
    ) -> SelectorChoice:
        order = rotated(len(options), how.seed, scene.step)
        reply = await judge(scene, [options[place] for place in order])
        if reply.problem:
            return SelectorChoice(
                problem=reply.problem, reason=reply.reason, order=order, replies=(reply.content,)
            )
        read = verdict.read(
            reply.content, len(options), index_base=how.selection_index_base, pattern=how.selection_regex
        )
        if read.place is None:
            reason = verdict.REASONS[read.problem]
            return SelectorChoice(problem=read.problem, reason=reason, order=order, replies=(reply.content,))
        return SelectorChoice(
            chosen=order[read.place], reason="the judge chose it", order=order, replies=(reply.content,)
        )
