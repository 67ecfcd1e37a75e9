"""Where a run stands, in one line."""

import msgspec

from vera import events
from vera.report.standing import MODEL_FAILED
from vera.report.view.budgets import LANE
from vera.report.view.current import carried, decision_shown, newest_round
from vera.report.view.model import Header
from vera.report.view.words import limit_in, one_line
from vera.state import RunState

TASK_SHOWN = 20_000


class Counts(msgspec.Struct):
    """What the fold of a page counts for its header."""

    records: int = 0
    step: int = 0
    """The newest that the main lane asked its model at."""
    tool_calls: int = 0
    tool_errors: int = 0
    last_call: events.ToolStarted | None = None
    model_error: str = ""
    """Of the last call, when that was one to a model, and it failed."""


def header_of(
    state: RunState, counts: Counts, *, session: str, task: str, alive: bool, cost: str, last_call: str
) -> Header:
    """The header of the run. `task` is its question, `alive`: a process works on it; `cost` and `last_call`
    are in words."""
    ended, spent = state.ended, state.spent
    last = decision_shown(state)
    claims, supported = _claims(carried(state), last)
    settings = state.session.settings if state.session else {}
    roles = (("agent", spent.agent), ("verifier", spent.verifier), ("selector", spent.selector))
    lane = state.lane(LANE)
    phase = phase_of(state, alive=alive, model_error=counts.model_error)
    said = counts.model_error if phase == MODEL_FAILED else lane.status_reason
    return Header(
        session=one_line(session),
        task=one_line(task, TASK_SHOWN),
        phase=phase,
        verdict=one_line(state.status) if ended else "",
        reason=one_line(ended.reason if ended else said, 600),
        status=one_line(state.status),
        started_ts=state.started_ts,
        last_ts=state.last_ts,
        ended_ts=ended.ts if ended else None,
        step=max(state.steps, counts.step),
        max_steps=int(limit_in(settings, "run", "max_steps")),
        events=counts.records,
        rounds=len(state.rounds),
        score=last.score if last else None,
        claims=claims,
        supported=supported,
        tokens=tuple((role, each.prompt, each.cached, each.completion) for role, each in roles if each.total),
        cost=cost,
        tool_calls=counts.tool_calls,
        tool_errors=counts.tool_errors,
        searches=spent.searches,
        model=one_line(state.model_server.model or state.model_server.kind) if state.model_server else "",
        last_call=last_call,
    )


def _claims(executed: events.ExecutionVerdict | None, last: events.Verifier | None) -> tuple[int, int]:
    """How many claims the answer has, and how many of them are carried or supported."""
    if executed:
        return len(executed.claims), sum(bool(each.by) for each in executed.claims)
    return (last.claims, last.supported) if last else (0, 0)


def phase_of(state: RunState, *, alive: bool, model_error: str = "") -> str:
    """new, working, verifying, ended, stopped, or MODEL_FAILED when that is what stopped it."""
    if state.ended is not None:
        return "ended"
    if state.task is None and not state.lanes:
        return "new"
    if not alive:
        return MODEL_FAILED if model_error else "stopped"
    newest = newest_round(state)
    return "verifying" if newest is not None and newest.decision is None else "working"
