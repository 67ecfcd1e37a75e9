"""A model that cannot keep the form of a turn ends its run; what it noted is kept."""

from vera import events
from vera.gates.kernel import ALLOW, Action, End, Facts, Gate, NextTurn, Rules, State, Verdict
from vera.state import LaneState


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """End the run after `limit_of` broken turns in a row; one that repeats the turn before counts twice."""
    count = state.lane.parse_errors
    limit = limit_of(state.lane, rules)
    if not isinstance(action, NextTurn) or not limit or count < limit:
        return ALLOW
    return End(
        reason=f"{state.lane.broken} turns in a row broke the format",
        facts=Facts(count=count, limit=limit),
    )


def limit_of(lane: LaneState, rules: Rules) -> int:
    """How many broken turns in a row end the run: `first_turns_limit` while no turn was whole, unless the
    last one was only cut off, else `parse_error_limit`; 0 means no limit."""
    at_first = rules.first_turns_limit and not lane.acted and not lane.history.cut_turns
    return min(rules.first_turns_limit, rules.parse_error_limit) if at_first else rules.parse_error_limit


GATE = Gate(events.PolicyParseError, judge)
