"""An unresolved run that repeats one move is told to make another."""

from vera import events
from vera.gates.kernel import ALLOW, Action, Facts, Gate, Nudge, Observed, Rules, State, Verdict


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """A constraint while the run is unresolved and its last `move_repeat_limit` moves were the same."""
    same = state.lane.history.same_move
    limit = rules.move_repeat_limit
    if not isinstance(action, Observed) or not limit or same.count < limit:
        return ALLOW
    return Nudge(
        reason=f"The same move was made {same.count} times and left the question unresolved.",
        way_forward="Reformulate the query, or go to another source.",
        constraint=True,
        facts=Facts(subject=same.key, count=same.count, limit=limit),
    )


GATE = Gate(events.PolicyMoveChange, judge)
