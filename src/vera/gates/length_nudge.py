"""A model whose turns are cut off again and again is told to be shorter, and gets more room once."""

from vera import events
from vera.gates.kernel import ALLOW, Action, BrokenTurn, Facts, Gate, Nudge, Rules, State, Verdict


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Speak when `length_nudges` turns in a row were cut, once until a whole turn; the loop doubles the room
    after the first time."""
    past = state.lane.history
    if not isinstance(action, BrokenTurn) or not action.cut or past.cut_turns != rules.length_nudges:
        return ALLOW
    said_now = past.last_spoke(events.PolicyLengthNudge) == action.step
    is_first = past.times(events.PolicyLengthNudge) == said_now
    more_room = " From now on a turn has twice the room." if is_first else ""
    return Nudge(
        reason=f"{past.cut_turns} turns in a row were cut off at the limit of one turn.",
        way_forward=(
            "Write a much shorter turn: one line of thought, then the action. Long texts go into a file "
            f"under /work, part by part.{more_room}"
        ),
        facts=Facts(count=past.cut_turns, limit=rules.length_nudges),
    )


GATE = Gate(events.PolicyLengthNudge, judge)
