"""An unresolved run that brings nothing new must run a tool before it may answer.

It may answer again once something new has come, or after `FORCED_CALLS` calls that were honestly tried: where
nothing is to be found, that can be said. An answer that it gives as often without a call
between is taken, too.
"""

from vera import events
from vera.gates import proposals
from vera.gates.kernel import (
    ALLOW,
    Action,
    Facts,
    FinalAnswer,
    Gate,
    Nudge,
    Observed,
    Refuse,
    Rules,
    State,
    Verdict,
    is_among_the_last,
)
from vera.history import FORCED_CALLS


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Demand a tool call after `stagnation_limit` unresolved turns in a row without anything new. An answer
    that comes too late for the calls is taken."""
    past = state.lane.history
    limit = rules.stagnation_limit
    if not limit or set(rules.tools).isdisjoint(rules.gathering):
        return ALLOW
    if is_among_the_last(action, rules, FORCED_CALLS + 1):
        return ALLOW
    if isinstance(action, FinalAnswer) and (past.forced or past.idle >= limit):
        return _answer(state, rules)
    if isinstance(action, Observed) and past.idle >= limit and not past.forced:
        return Nudge(
            reason=_idle(state),
            way_forward=(
                f"Only tool calls are accepted until one brings new evidence, or {FORCED_CALLS} were tried."
            ),
            facts=Facts(count=past.idle, limit=limit),
        )
    return ALLOW


def _answer(state: State, rules: Rules) -> Verdict:
    """Refuse an answer. After `FORCED_CALLS` that were sent back without a call between it is taken."""
    past = state.lane.history
    if past.sent_back >= FORCED_CALLS:
        return ALLOW
    return Refuse(
        reason=_idle(state),
        way_forward=(
            "Run a tool that brings new evidence before you answer. "
            f"{past.forced or FORCED_CALLS} honest attempts are enough."
        ),
        proposal=proposals.gather(state, rules),
        facts=Facts(count=past.idle, limit=rules.stagnation_limit),
    )


def _idle(state: State) -> str:
    return f"{state.lane.history.idle} unresolved turns in a row brought no new evidence."


GATE = Gate(events.PolicyStagnation, judge)
