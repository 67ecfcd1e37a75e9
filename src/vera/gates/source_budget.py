"""A run that has reached many domains and verified nothing ends, and says what it checked."""

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
from vera.gates.warning import can_be_ended


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """End the run once `source_budget` registrable domains have answered with content. It is told one domain
    before, and has had a turn to answer since."""
    past, limit = state.lane.history, rules.source_budget
    if not limit or not isinstance(action, Observed | NextTurn):
        return ALLOW
    reached, told = len(past.reached) - past.read_before, past.last_spoke(events.PolicySourceBudget)
    facts = Facts(count=reached, limit=limit)
    if isinstance(action, Observed):
        if told or not reached or reached < limit - 1:
            return ALLOW
        return Nudge(
            reason=f"{reached} of the {limit} domains that this run may read are read.",
            way_forward="Answer now with what you have and what is missing: the run ends after that.",
            facts=facts,
        )
    if reached < limit or not can_be_ended(state, told):
        return ALLOW
    return End(
        reason=(
            f"{reached} domains were read and nothing is verified. Official: "
            f"{checked(state, official=True)}. Others: {checked(state, official=False)}."
        ),
        facts=facts,
    )


GATE = Gate(events.PolicySourceBudget, judge)
