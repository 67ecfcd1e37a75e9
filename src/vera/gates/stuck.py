"""A lane that brings nothing new is told once what it tried and what else is possible, and then ends.

It counts whatever the status is, and also where steps are unlimited: a model that repeats itself would go on
for ever.
"""

from vera import events
from vera.gates import proposals, stagnation
from vera.gates.kernel import (
    ALLOW,
    Action,
    BrokenTurn,
    End,
    Facts,
    FinalAnswer,
    Gate,
    NextTurn,
    Nudge,
    Observed,
    Proposal,
    Refuse,
    Rules,
    State,
    ToolCall,
    Verdict,
)


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """End the lane after `stuck_limit` turns in a row without a line not seen before; tell it once after a
    third of them."""
    past, limit = state.lane.history, rules.stuck_limit
    if not limit or isinstance(action, FinalAnswer):
        return ALLOW
    count = past.idle_turns
    facts = Facts(count=count, limit=limit)
    if isinstance(action, NextTurn):
        if count < limit:
            return ALLOW
        return End(reason=f"{count} turns in a row brought nothing new", facts=facts)
    was_told = past.new_step < past.last_spoke(events.PolicyStuck) < action.step
    if not isinstance(action, Observed | ToolCall | BrokenTurn) or was_told or count < -(-limit // 3):
        return ALLOW
    tried = "; ".join(past.attempts)
    return Nudge(
        reason=f"{count} turns in a row brought nothing new. Tried: {tried}.",
        way_forward=(
            f"Do one of these instead: {' Or '.join(_ways(state, action, rules))} The run ends after "
            f"{limit - count} more such turns."
        ),
        facts=facts,
    )


def _ways(state: State, action: Action, rules: Rules) -> tuple[str, str]:
    """Two different things to do that are possible now."""
    answer = 'answer now ({"tool": null, "final": "…"}): what your lines say, or that they do not say it.'
    ways = [_called(each) for each in proposals.untried(state, rules)]
    if not isinstance(stagnation.judge(state, FinalAnswer(ts=action.ts, step=action.step), rules), Refuse):
        ways.insert(1, answer)
    ways.append(_called(proposals.look()))
    ways.append("call note with what you know and what is missing.")
    return ways[0], ways[1]


def _called(proposal: Proposal) -> str:
    (value,) = proposal.args.values()
    return f"{proposal.tool} “{value}”."


GATE = Gate(events.PolicyStuck, judge)
