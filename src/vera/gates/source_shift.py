"""When sources of one class fail again and again, another class is asked for."""

from vera import events
from vera.gates.kernel import ALLOW, Action, Facts, Gate, Nudge, Observed, Rules, State, Verdict

CLASSES = {
    "official": "the subject's own site",
    "regulatory": "a public body",
    "registry": "a registry",
    "primary_literature": "papers",
    "commentary": "press and encyclopedias",
}
"""Class of a source → what it is called."""


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """A constraint while the last `source_shift_limit` fetches failed, all on sources of one class."""
    failed = state.lane.history.class_failures
    limit = rules.source_shift_limit
    if not isinstance(action, Observed) or not limit or failed.count < limit:
        return ALLOW
    said = CLASSES.get(failed.key, failed.key)
    others = ", ".join(other for name, other in CLASSES.items() if name != failed.key)
    return Nudge(
        reason=f"{failed.count} sources in a row failed, all of one class: {said}.",
        way_forward=f"Use a source of another class: {others}.",
        constraint=True,
        facts=Facts(subject=failed.key, count=failed.count, limit=limit),
    )


GATE = Gate(events.PolicySourceShift, judge)
