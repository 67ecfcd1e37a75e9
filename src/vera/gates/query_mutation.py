"""A query that brought nothing is asked in materially different words, not again."""

from vera import events
from vera.gates import proposals
from vera.gates.kernel import (
    ALLOW,
    SEARCHING,
    Action,
    Connection,
    Facts,
    Gate,
    Proposal,
    Refuse,
    Rules,
    State,
    ToolCall,
    Verdict,
)
from vera.history import in_shell


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Refuse a family of queries that was asked `query_mutation_budget` times without lines to cite since.

    A page whose address carries a query (`/wiki/Fuel_cell`) is counted for itself, by domain: reading it is
    what a search for the same words is for. The text of a command says too little to be judged: its
    connections are.
    """
    limit = rules.query_mutation_budget
    if not limit:
        return ALLOW
    if isinstance(action, Connection) and action.family:
        return _connection(state, action, rules)
    if not isinstance(action, ToolCall) or not action.aim.family:
        return ALLOW
    times = _times(state, action)
    if times < limit:
        return ALLOW
    other = proposals.search(state, rules, action.aim.query, tool="search" if action.tool == "search" else "")
    return Refuse(
        reason=f"This query, or one hardly different, was asked {times} times and brought no line to cite.",
        way_forward=_way(other),
        proposal=other or proposals.look(),
        facts=Facts(subject=action.aim.family, count=times, limit=limit),
    )


def _times(state: State, action: ToolCall) -> int:
    """How often the family of a call was asked without lines to cite since; 0 where it is not judged."""
    past, aim = state.lane.history, action.aim
    if action.tool in SEARCHING:
        return past.tried(aim.family)
    if action.tool == "fetch" and aim.targets:
        return past.tried(aim.family, aim.targets[0].domain)
    return 0


def _connection(state: State, action: Connection, rules: Rules) -> Verdict:
    """The same of what a command asks a site. Its page by `fetch` is another try: that one can be cited."""
    past, limit, domain = state.lane.history, rules.query_mutation_budget, action.target.domain
    times = past.tried(action.family, in_shell(domain))
    if times < limit:
        return ALLOW
    if "fetch" in rules.tools and past.tried(action.family, domain) < limit:
        page = Proposal(tool="fetch", args={"url": action.target.url})
        way, other = f"Get its page with fetch {action.target.url}, which can be cited.", page
    else:
        search = proposals.search(state, rules, action.query)
        way, other = _way(search), search or proposals.look()
    return Refuse(
        reason=f"{domain} was asked this, or hardly different, {times} times and brought no line to cite.",
        way_forward=way,
        proposal=other,
        facts=Facts(subject=action.family, count=times, limit=limit),
    )


def _way(other: Proposal | None) -> str:
    if other is None:
        return "Read a result that you have, or say what could not be found."
    words = other.args.get("query") or other.args.get("q")
    return f"Ask with materially different words, for example “{words}”, or read a result that you have."


GATE = Gate(events.PolicyQueryMutation, judge)
