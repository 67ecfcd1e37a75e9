"""With a key for Brave, a web task begins with a search: one attempt, before other web access."""

from vera import events
from vera.evidence.queries import is_package_index
from vera.gates import proposals
from vera.gates.brave import BRAVE_TOOLS, calls_spent, rests_for
from vera.gates.kernel import (
    ALLOW,
    Action,
    Connection,
    Facts,
    Gate,
    Refuse,
    Rules,
    State,
    ToolCall,
    Verdict,
)

IN_WORDS = "the question in a few words"


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Refuse `fetch` and the box's connections while nothing was searched. An attempt is enough, also one
    that failed; where Brave cannot be asked (breaker, budgets), or nothing is left to ask it, none is
    demanded."""
    if not (rules.brave and rules.brave_discovery_required and rules.web_task):
        return ALLOW
    if not _is_access(action) or state.lane.history.searched or not _askable(state, action, rules):
        return ALLOW
    first = proposals.search(state, rules, rules.subject or IN_WORDS, tool=BRAVE_TOOLS[0])
    if first is None:
        return ALLOW
    return Refuse(
        reason="Nothing was searched yet.",
        way_forward=f"Search once first, with {' or '.join(BRAVE_TOOLS)}; then fetch what was found.",
        proposal=first,
        facts=Facts(limit=1),
    )


def _is_access(action: Action) -> bool:
    if isinstance(action, Connection):
        return not is_package_index(action.host)
    return isinstance(action, ToolCall) and action.tool == "fetch"


def _askable(state: State, action: Action, rules: Rules) -> bool:
    if BRAVE_TOOLS[0] not in rules.tools or proposals.searches_are_spent(state, rules):
        return False
    return not calls_spent(state, rules) and not rests_for(state, action.ts)


GATE = Gate(events.PolicyBraveDiscovery, judge)
