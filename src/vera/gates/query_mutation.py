"""A query that brought nothing is asked in materially different words, not again."""

from vera import events
from vera.gates import proposals
from vera.gates.kernel import (
    ALLOW,
    SEARCHING,
    Action,
    Facts,
    Gate,
    Proposal,
    Refuse,
    Rules,
    State,
    ToolCall,
    Verdict,
)


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Refuse a family of queries that was asked `query_mutation_budget` times without lines to cite since.

    A page whose address carries a query (`/wiki/Fuel_cell`) is counted for itself, by domain: reading it is
    what a search for the same words is for. The text of a command says too little to be judged.
    """
    limit = rules.query_mutation_budget
    if not isinstance(action, ToolCall) or not action.aim.family or not limit:
        return ALLOW
    if action.tool in SEARCHING:
        times = state.lane.history.tried(action.aim.family)
    elif action.tool == "fetch" and action.aim.targets:
        times = state.lane.history.tried(action.aim.family, action.aim.targets[0].domain)
    else:
        return ALLOW
    if times < limit:
        return ALLOW
    other = proposals.search(state, rules, action.aim.query, tool="search" if action.tool == "search" else "")
    return Refuse(
        reason=f"This query, or one hardly different, was asked {times} times and brought nothing to cite.",
        way_forward=_way(other),
        proposal=other or proposals.look(),
        facts=Facts(subject=action.aim.family, count=times, limit=limit),
    )


def _way(other: Proposal | None) -> str:
    if other is None:
        return "Read a result that you have, or say what could not be found."
    words = other.args.get("query") or other.args.get("q")
    return f"Ask with materially different words, for example “{words}”, or read a result that you have."


GATE = Gate(events.PolicyQueryMutation, judge)
