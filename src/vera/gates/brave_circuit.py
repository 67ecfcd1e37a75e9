"""Brave's circuit breaker: after too many answers 429 in a row it is left alone for a while."""

import math

from vera import events
from vera.gates.brave import BRAVE_TOOLS, rests_for, without_brave
from vera.gates.kernel import ALLOW, Action, Facts, Gate, Refuse, Rules, State, ToolCall, Verdict


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Refuse Brave's tools until the cool-down is over and name the next engine."""
    if not isinstance(action, ToolCall) or action.tool not in BRAVE_TOOLS:
        return ALLOW
    seconds = rests_for(state, action.ts)
    if not seconds:
        return ALLOW
    way, proposal = without_brave(state, rules, action.aim.query)
    return Refuse(
        reason=f"Brave refused too many calls and is left alone for {math.ceil(seconds)} s more.",
        way_forward=way,
        proposal=proposal,
        facts=Facts(subject="brave"),
    )


GATE = Gate(events.PolicyBraveCircuit, judge)
