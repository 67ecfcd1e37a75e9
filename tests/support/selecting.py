"""Candidates, options and judges to select with."""

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from vera import events
from vera.protocol import Action, Parsed, Turn, text
from vera.selection import pipeline
from vera.selection.options import SelectionOptions
from vera.selection.registry import selector
from vera.selection.selector import ActionCluster, Judge, SelectionContext, SelectorChoice, SelectorReply

T = TypeVar("T")

UNREADABLE = "I would rather talk."
HERE = SelectionContext(task="What is in the folder?", step=1)


def wait_for(awaited: Coroutine[Any, Any, T]) -> T:
    return asyncio.run(awaited)


def candidate(command: str, thought: str = "Look.") -> events.Candidate:
    """A candidate that runs a command."""
    return of(Turn(thought=thought, action=Action(tool="shell", args={"cmd": command})))


def of(turn: Turn) -> events.Candidate:
    return events.Candidate(content=text.render(turn))


def read(each: events.Candidate) -> Parsed:
    return text.parse(str(each.content))


def entries(*commands: str, rejected: Sequence[int] = ()) -> list[pipeline.CheckedCandidate]:
    """Candidates that run these commands; '' is one that cannot be read. Some are rejected by a check."""
    made = []
    for index, command in enumerate(commands):
        each = candidate(command) if command else events.Candidate(content=UNREADABLE)
        entry = pipeline.entry(read(each), str(each.content))
        if index in rejected:
            entry = pipeline.CheckedCandidate(
                form=entry.form, shown=entry.shown, text=entry.text, rejected="policy_x", reason="No."
            )
        made.append(entry)
    return made


def options(*sizes_and_votes: tuple[int, int]) -> list[ActionCluster]:
    """An option for each (size, votes)."""
    return [
        ActionCluster(index=index, votes=votes, action=f"shell\n{'x' * (size - 6)}", text="", size=size)
        for index, (size, votes) in enumerate(sizes_and_votes)
    ]


def says(*replies: str) -> Judge:
    """A judge that gives these replies one after the other, the last again and again."""
    left = list(replies)

    async def judge(scene: SelectionContext, shown: Sequence[ActionCluster]) -> SelectorReply:
        return SelectorReply(content=left.pop(0) if len(left) > 1 else left[0])

    return judge


def prefers(key: Callable[[ActionCluster], float], *, bias: float = 0.0) -> Judge:
    """A judge that names the option of the highest key; the one that is shown first has `bias` more."""

    async def judge(scene: SelectionContext, shown: Sequence[ActionCluster]) -> SelectorReply:
        values = [key(option) + (bias if place == 0 else 0.0) for place, option in enumerate(shown)]
        return SelectorReply(content=f"FINAL: {values.index(max(values)) + 1}")

    return judge


async def nobody(scene: SelectionContext, shown: Sequence[ActionCluster]) -> SelectorReply:
    raise AssertionError("no judge was to be asked")


def choose(
    made: Sequence[pipeline.CheckedCandidate],
    name: str,
    judge: Judge | None = nobody,
    scene: SelectionContext = HERE,
    **how: Any,
) -> events.Selection:
    """The pipeline with a selector of this name."""
    chosen_by = selector(name) if name else None
    told = SelectionOptions(selector=name, **how)
    return wait_for(pipeline.select(scene.step, made, chosen_by, scene, judge, told))


def pick(
    name: str, shown: Sequence[ActionCluster], judge: Judge = nobody, step: int = 1, **how: Any
) -> SelectorChoice:
    """What a selector says by itself."""
    scene = SelectionContext(task="t", step=step)
    return wait_for(selector(name).select(shown, scene, judge, SelectionOptions(selector=name, **how)))
