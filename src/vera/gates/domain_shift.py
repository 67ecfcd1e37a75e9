"""A negative claim that lacks sources does not hammer one domain."""

from vera import events
from vera.evidence.queries import is_package_index
from vera.gates import proposals
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
from vera.gates.sources import needs_sources, sources


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Refuse a domain that was visited `domain_shift_limit` times in a row while sources are missing."""
    domain, limit = _domain(action), rules.domain_shift_limit
    past = state.lane.history
    if not domain or domain != past.on_domain.key or not needs_sources(state, rules):
        return ALLOW
    have = sources(state, rules)
    if not limit or past.on_domain.count < limit or have.enough:
        return ALLOW
    return Refuse(
        reason=(
            f"{domain} was visited {past.on_domain.count} times in a row, and before “none” can be said "
            f"{have.missing} must be reached."
        ),
        way_forward="Go to another domain: search for one, or fetch another result.",
        proposal=proposals.gather(state, rules),
        facts=Facts(subject=domain, count=past.on_domain.count, limit=limit),
    )


def _domain(action: Action) -> str:
    match action:
        case ToolCall(tool="fetch"):
            return action.aim.targets[0].domain if action.aim.targets else ""
        case Connection() if not is_package_index(action.host):
            return action.target.domain
        case _:
            return ""


GATE = Gate(events.PolicyDomainShift, judge)
