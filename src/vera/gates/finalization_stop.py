"""A run that writes the same final-like file again and again ends with what is there, once it is verified."""

from vera import events
from vera.gates.kernel import (
    ALLOW,
    Action,
    End,
    Facts,
    Gate,
    NextTurn,
    Nudge,
    Observed,
    Rules,
    State,
    Verdict,
)


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Hand the file in after it was written `finalization_limit` times without a new result in between, and
    say so one time before."""
    drafts, limit = state.lane.history.drafts, rules.finalization_limit
    if not limit or not drafts.count:
        return ALLOW
    reason = f"{drafts.key} was written {drafts.count} times without a new result in between."
    facts = Facts(subject=drafts.key, count=drafts.count, limit=limit)
    if isinstance(action, Observed) and drafts.count >= limit - 1:
        return Nudge(
            reason=reason,
            way_forward="If it is done, hand it in or give the answer. Written once more, it is handed in.",
            constraint=True,
            facts=facts,
        )
    if not isinstance(action, NextTurn) or drafts.count < limit:
        return ALLOW
    return End(reason=reason, submit=drafts.key, facts=facts)


GATE = Gate(events.PolicyFinalizationStop, judge)
