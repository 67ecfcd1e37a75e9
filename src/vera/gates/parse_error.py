"""A model that cannot keep the form of a turn ends its run; what it noted is kept."""

from vera import events
from vera.gates.kernel import ALLOW, Action, End, Facts, Gate, NextTurn, Rules, State, Verdict


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """End the run after `parse_error_limit` broken turns in a row; one in the words of the turn before it
    counts twice."""
    count = state.lane.parse_errors
    limit = rules.parse_error_limit
    if not isinstance(action, NextTurn) or not limit or count < limit:
        return ALLOW
    return End(
        reason=f"{count} turns in a row broke the format",
        facts=Facts(count=count, limit=limit),
    )


GATE = Gate(events.PolicyParseError, judge)
