"""What of a run a page shows: which round, which answer."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import TypeVar, cast

from vera import events
from vera.state import Round, RunState

K = TypeVar("K")
V = TypeVar("V")


def newest_round(state: RunState) -> Round | None:
    """The round that was begun last; None before there is one."""
    return _last(state.rounds)


def shown_round(state: RunState) -> Round | None:
    """The round whose claims a page shows: that of the chosen answer, else the newest."""
    chosen = state.rounds.get(state.chosen.round) if state.chosen is not None else None
    return chosen or newest_round(state)


def decision_shown(state: RunState) -> events.Verifier | None:
    """The verdict of the chosen answer, else the newest there is."""
    shown = shown_round(state)
    if shown is None or shown.decision is not None:
        return shown.decision if shown else None
    return next((each.decision for each in reversed([*state.rounds.values()]) if each.decision), None)


def last_answer(state: RunState) -> events.Answer | None:
    """The chosen answer, else the newest; None before there is one."""
    chosen = state.answers.get(state.chosen.answer_seq) if state.chosen is not None else None
    return chosen or _last(state.answers)


def carried(state: RunState) -> events.ExecutionVerdict | None:
    """The verdict on an execution, when it is about the answer that a page shows."""
    answer, executed = last_answer(state), state.execution
    return executed if executed is not None and answer and executed.answer_seq == answer.seq else None


def _last(mapping: Mapping[K, V]) -> V | None:
    """The value that was added last: a state gives views of dictionaries, which keep that order."""
    view = cast("MappingProxyType[K, V]", mapping)
    return view[next(reversed(view))] if view else None
