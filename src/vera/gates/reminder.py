"""The verifier's feedback stays open until it is followed or replaced: the model is reminded of it."""

from vera import events
from vera.gates.kernel import ALLOW, Action, Facts, Gate, Nudge, Observed, Rules, State, Verdict


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Name the first proposed step again after each call that did not follow the feedback."""
    given, open_advice = state.lane.history.reminders, state.lane.open_advice
    if not isinstance(action, Observed) or open_advice is None or given >= rules.reminders:
        return ALLOW
    goal = open_advice.next_actions[0].goal if open_advice.next_actions else open_advice.stop_when
    return Nudge(
        reason=f"The verifier's feedback of round {open_advice.round} is still open.",
        way_forward=goal,
        facts=Facts(count=given + 1, limit=rules.reminders),
    )


GATE = Gate(events.PolicyReminder, judge)
