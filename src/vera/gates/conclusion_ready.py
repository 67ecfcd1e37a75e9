"""A negative claim that has its sources and has used its budget is concluded.

What was found in them is not for a gate to say: it sees no text.
"""

from vera import events
from vera.gates.checked_domains import checked
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
from vera.gates.sources import needs_sources, sources
from vera.gates.warning import can_be_ended


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """End the run once a share of its steps, or a number of them, is used and the source minimums are met.
    It is told one step before, and has had a turn to answer since: a thing may have been found after all."""
    if not isinstance(action, Observed | NextTurn) or not needs_sources(state, rules):
        return ALLOW
    past = state.lane.history
    used, enough = state.lane.step - past.reopened_step, _budget(rules)
    if used < enough - 1 or not sources(state, rules).enough:
        return ALLOW
    told, facts = past.last_spoke(events.PolicyConclusionReady), Facts(count=used, limit=enough)
    if isinstance(action, Observed):
        if told:
            return ALLOW
        return Nudge(
            reason=f"{used} steps are used and the sources that “none” needs are reached.",
            way_forward=(
                "Answer in your next turn: what you found, or that nothing was found in them. The run ends "
                "after it."
            ),
            facts=facts,
        )
    if used < enough or not can_be_ended(state, told):
        return ALLOW
    return End(
        reason=(
            f"stopped without a verified answer; {_count(len(past.reached))} read. Official: "
            f"{checked(state, official=True)}. Independent: {checked(state, official=False)}."
        ),
        facts=facts,
    )


def _count(sources: int) -> str:
    return f"{sources} source{'s' if sources != 1 else ''}"


def _budget(rules: Rules) -> int:
    """Steps after which a negative claim may conclude."""
    if not rules.max_steps:
        return rules.negative_max_steps
    share = int(rules.negative_threshold_pct * rules.max_steps)
    return max(1, min(share, rules.negative_max_steps))


GATE = Gate(events.PolicyConclusionReady, judge)
