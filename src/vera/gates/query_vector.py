"""Before a negative claim, the search is made with more than one intent."""

from vera import events
from vera.gates import proposals
from vera.gates.kernel import ALLOW, Action, Facts, Gate, Refuse, Rules, State, ToolCall, Verdict
from vera.history import WEB_SEARCHES


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Refuse a search of the web with the last one's intent while fewer than `query_vector_min` intents were
    used, where another is available."""
    past = state.lane.history
    if not isinstance(action, ToolCall) or action.tool not in WEB_SEARCHES:
        return ALLOW
    asked = action.aim.vector
    if asked != past.last_vector or not proposals.open_intents(state, rules):
        return ALLOW
    other = proposals.search(state, rules, action.aim.query)
    if other is None or other.tool not in WEB_SEARCHES:
        return ALLOW
    words = other.args.get("query") or other.args.get("q")
    return Refuse(
        reason=f"“None” may be the answer, and so far the search had one intent only ({asked}).",
        way_forward=(
            "Search with another intent: the official source, the context, or in general; for example "
            f"“{words}”."
        ),
        proposal=other,
        facts=Facts(subject=asked, count=len(past.vectors), limit=rules.query_vector_min),
    )


GATE = Gate(events.PolicyQueryVector, judge)
