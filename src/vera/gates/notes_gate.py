"""A lane writes down what it learns: after some steps without a note, other tools wait for one.

A NOTE line on the turn is a note, so no tool is ever out of reach. An answer needs none.
"""

from vera import events
from vera.gates.kernel import ALLOW, Action, Facts, Gate, Proposal, Refuse, Rules, State, ToolCall, Verdict

WRITING = ("note", "submit")


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Refuse a call once `notes_interval` steps have passed since the last note.

    Before the first call there is nothing to note.
    """
    if not isinstance(action, ToolCall) or action.noted or action.tool in WRITING:
        return ALLOW
    since = action.step - 1 - state.lane.history.noted_step
    if not rules.notes_interval or since < rules.notes_interval or not state.lane.history.calls:
        return ALLOW
    return Refuse(
        reason=f"{since} steps have passed without a note.",
        way_forward=(
            "Write the same turn again with a NOTE line that says what you have learnt (or call note): old "
            "observations leave your view, notes stay."
        ),
        proposal=Proposal(tool="note", args={"text": "What was learnt so far: …"}),
        facts=Facts(count=since, limit=rules.notes_interval),
    )


GATE = Gate(events.PolicyNotesGate, judge)
