"""An answer before anything was looked at is asked once whether it needs to look."""

from vera import events
from vera.gates.kernel import (
    ALLOW,
    Action,
    Facts,
    FinalAnswer,
    Gate,
    Nudge,
    Rules,
    State,
    Verdict,
    is_among_the_last,
)


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Send the first answer without a tool call back; the next one is taken as it is, and so is one for which
    no further turn is left."""
    given = state.lane.history.times(events.PolicyPreToolNudge)
    if not isinstance(action, FinalAnswer) or state.lane.history.calls or given >= rules.pre_tool_nudges:
        return ALLOW
    if is_among_the_last(action, rules, 1) or not any(tool in rules.tools for tool in rules.gathering):
        return ALLOW
    return Nudge(
        reason="You have looked at nothing yet, and what is not cited is not verified.",
        way_forward="Use a tool first. If the answer needs no source, give it again.",
        facts=Facts(count=given + 1, limit=rules.pre_tool_nudges),
    )


GATE = Gate(events.PolicyPreToolNudge, judge)
