"""The searches of a run are spent: what was found is read instead."""

from vera import events
from vera.gates import proposals
from vera.gates.kernel import ALLOW, Action, Facts, Gate, Refuse, Rules, State, ToolCall, Verdict
from vera.history import WEB_SEARCHES


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Refuse a search of the web once `search_budget` requests went to engines (0 is unlimited)."""
    if not isinstance(action, ToolCall) or action.tool not in WEB_SEARCHES:
        return ALLOW
    if not proposals.searches_are_spent(state, rules):
        return ALLOW
    return Refuse(
        reason=f"The {rules.search_budget} searches of this run are spent.",
        way_forward="Fetch or read a result that you have, or answer with what you know and what is missing.",
        proposal=proposals.look(),
        facts=Facts(count=proposals.searches_made(state), limit=rules.search_budget),
    )


GATE = Gate(events.PolicySearchBudget, judge)
