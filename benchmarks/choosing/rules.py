"""Rules that choose among the candidates of a simulated step: those of `vera.selection`, and its peers'.

The peers' are those of the best-of-N forks of mini-swe-agent: `listwise` shows a judge all candidates, equal
ones as often as they were sampled, in one question and in the order in which they came; `pointwise` asks for
a score of each and takes the highest, the first among equals. Neither counts votes nor turns the order.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from choosing.simulation import NoisyJudge, Setting, Step
from vera.selection import pipeline
from vera.selection.options import SelectionOptions
from vera.selection.registry import selector
from vera.selection.selector import SelectionContext


class Chosen(NamedTuple):
    """Whether the good action was chosen, and how many questions that took."""

    good: bool
    calls: int


Rule = Callable[[Setting, Step, str], Awaitable[Chosen]]
"""Chooses at one step; the text names the stream of the judge's errors."""


def ours(how: SelectionOptions) -> Rule:
    """The pipeline of `vera.selection` with these options; with no selector the first candidate runs."""
    chosen_by = selector(how.selector) if how.selector else None

    async def rule(setting: Setting, step: Step, lot: str) -> Chosen:
        shown = [step.shown(index) for index in range(len(step.actions))]
        entries = [pipeline.CheckedCandidate(form=each, shown=each) for each in shown]
        judge = NoisyJudge(setting, step, lot).as_judge()
        scene = SelectionContext(task="", step=step.number)
        found = await pipeline.select(step.number, entries, chosen_by, scene, judge, how)
        return Chosen(step.actions[found.selected] == 0, found.judge_calls)

    return rule


async def listwise(setting: Setting, step: Step, lot: str) -> Chosen:
    """One question about all candidates."""
    judge = NoisyJudge(setting, step, lot)
    return Chosen(step.actions[judge.best(step.actions)] == 0, judge.calls)


async def pointwise(setting: Setting, step: Step, lot: str) -> Chosen:
    """A question for each candidate."""
    judge = NoisyJudge(setting, step, lot)
    scores = [judge.score(action) for action in step.actions]
    return Chosen(step.actions[scores.index(max(scores))] == 0, judge.calls)


async def oracle(_setting: Setting, step: Step, _lot: str) -> Chosen:
    """Who knows the good action: whether it is among the candidates."""
    return Chosen(0 in step.actions, 0)


OURS = "pairwise"
PEERS = ("majority", "listwise", "pointwise")
"""What `OURS` is measured against."""


def rules(how: SelectionOptions) -> Mapping[str, Rule]:
    """All rules by their names, ours with these options but for the selector."""
    types = ("random", "shortest", "majority")
    return {
        "first": ours(_with(how, "")),
        **{name: ours(_with(how, name)) for name in types},
        "listwise": listwise,
        "pointwise": pointwise,
        **{name: ours(_with(how, name)) for name in ("llm", OURS)},
        "oracle": oracle,
    }


def _with(how: SelectionOptions, name: str) -> SelectionOptions:
    return replace(how, selector=name)
