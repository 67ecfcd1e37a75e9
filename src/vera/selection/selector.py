"""What a selector gets, and what it gives back.

A class of one's own is named by its dotted path (`action_verifier.verifier_class`), takes no arguments and
has `judges` and `select`.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol

import msgspec

from vera.selection.options import SelectionOptions


class ActionCluster(msgspec.Struct, frozen=True, kw_only=True):
    """A cluster of equal actions: `index` is its first candidate (from 0), `votes` how many it has.

    `action` is the action as it is shown to a judge, `text` that candidate's whole turn, which a judge sees
    only when it is asked for. `size` is the length of the action in characters.
    """

    index: int
    votes: int
    action: str
    text: str
    size: int


class PastStep(msgspec.Struct, frozen=True, kw_only=True):
    """A step that is over: its action without the words around it, and what was observed."""

    step: int
    action: str
    observation: str


class SelectionContext(msgspec.Struct, frozen=True, kw_only=True):
    """What there is to judge by: the task, the last steps, and the evidence as one line each."""

    task: str
    step: int = 0
    steps: tuple[PastStep, ...] = ()
    evidence: tuple[str, ...] = ()


class SelectorReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a judge said. `problem` is a stable word on why it said nothing, `reason` says it in half a
    sentence."""

    content: str = ""
    problem: str = ""
    reason: str = ""


Judge = Callable[[SelectionContext, Sequence[ActionCluster]], Awaitable[SelectorReply]]
"""Asks the model to choose among these options, shown in this order. Logged; it raises nothing of a model."""


class SelectorChoice(msgspec.Struct, frozen=True, kw_only=True):
    """A selector's verdict: the position in the options it was given, None when it could not decide.

    `tied` are positions that are as good as it, itself among them. `problem` is a stable word on why nothing
    was decided (`vera.selection.verdict`), `reason` a sentence for the person. `scores` has one for each
    option, `order` the positions as they were shown.
    """

    chosen: int | None = None
    tied: tuple[int, ...] = ()
    problem: str = ""
    reason: str = ""
    order: tuple[int, ...] = ()
    scores: tuple[float, ...] = ()
    replies: tuple[str, ...] = ()


class Selector(Protocol):
    """Chooses among clusters of equal actions.

    `judges` says whether it asks a model: then agreement of the candidates spares the question, and there
    has to be one.
    """

    judges: bool

    async def select(
        self, options: Sequence[ActionCluster], scene: SelectionContext, judge: Judge, how: SelectionOptions
    ) -> SelectorChoice:
        """Choose among two options or more. Deterministic for `how.seed`, `scene.step` and the replies."""
        ...
