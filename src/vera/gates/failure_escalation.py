"""When the same kind of failure comes again and again, another way to get at the thing is demanded."""

from vera import events
from vera.gates.kernel import ALLOW, Action, Facts, Gate, Nudge, Observed, Rules, State, Verdict


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """A constraint while the last `failure_escalation_limit` calls failed in the same way."""
    failed = state.lane.history.failures
    limit = rules.failure_escalation_limit
    if not isinstance(action, Observed) or not limit or failed.count < limit:
        return ALLOW
    render = ", or have the page rendered (fetch with render)" if rules.can_render else ""
    return Nudge(
        reason=f"{failed.count} calls in a row failed in the same way ({failed.key}).",
        way_forward=f"Get at it in another way: another domain, another interface or tool{render}.",
        constraint=True,
        facts=Facts(subject=failed.key, count=failed.count, limit=limit),
    )


GATE = Gate(events.PolicyFailureEscalation, judge)
