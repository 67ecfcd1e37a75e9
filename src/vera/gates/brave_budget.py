"""The calls to Brave that a run may make are spent."""

from vera import events
from vera.gates.brave import BRAVE_TOOLS, calls_spent, without_brave
from vera.gates.kernel import ALLOW, Action, Facts, Gate, Refuse, Rules, State, ToolCall, Verdict


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Refuse Brave's tools after `brave_max_calls` requests and name the next engine."""
    if not isinstance(action, ToolCall) or action.tool not in BRAVE_TOOLS or not calls_spent(state, rules):
        return ALLOW
    way, proposal = without_brave(state, rules, action.aim.query)
    return Refuse(
        reason=f"The {rules.brave_max_calls} calls to Brave of this run are spent.",
        way_forward=way,
        proposal=proposal,
        facts=Facts(count=state.engines["brave"].calls, limit=rules.brave_max_calls),
    )


GATE = Gate(events.PolicyBraveBudget, judge)
