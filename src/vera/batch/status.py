"""Where a task stands: a pure function of what is written about it."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from vera.batch.records import Ended, History

MAX_ATTEMPTS = 5
"""Attempts that may die with their process before the task is held: it may be what kills them."""

State = Literal["open", "running", "done", "failed", "held", "cancelled"]
STATES: tuple[State, ...] = ("done", "open", "running", "failed", "held", "cancelled")


class Standing(msgspec.Struct, frozen=True, kw_only=True):
    """`open`: to be run, or gone on with. `reason` says why it is not done."""

    state: State
    reason: str = ""


def standing(history: History, *, live: bool = False) -> Standing:
    """Where the task stands; `live` says that attempts without an end may still be running.

    An attempt that died with its process counts against the task, one that was stopped in order does not.
    """
    if history.commit is not None:
        return Standing(state="done")
    mark = history.mark
    if mark is not None and mark.kind == "cancelled":
        return Standing(state="cancelled", reason="cancelled")
    first = mark.after + 1 if mark is not None else 1
    ends = [history.ended.get(begun.number) for begun in history.begun if begun.number >= first]
    if not ends:
        return Standing(state="open")
    if live and ends[-1] is None:
        return Standing(state="running")
    return _at_rest(ends)


def _at_rest(ends: Sequence[Ended | None]) -> Standing:
    """The state of a task that is not done and does not run, by the ends of its attempts (at least one)."""
    last = ends[-1]
    died = [end for end in ends if _died(end)]
    if len(died) >= MAX_ATTEMPTS:
        return Standing(state="held", reason=f"{len(died)} attempts died with their process: {_why(last)}")
    if last is not None and last.outcome == "failed":
        return Standing(state="failed", reason=last.reason)
    return Standing(state="open", reason=_why(last))


def _died(end: Ended | None) -> bool:
    return end is None or end.outcome == "crashed"


def _why(end: Ended | None) -> str:
    return end.reason if end is not None else "the batch was killed while it ran"
