"""A page that came without its text is rendered before it is given up."""

import msgspec

from vera import events
from vera.gates.kernel import ALLOW, Action, Facts, Gate, Nudge, Observed, Rules, State, Verdict


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Name `fetch --render` for the first page of a call whose text is too little, where that is possible."""
    if not isinstance(action, Observed) or not action.low_signal or not rules.can_render:
        return ALLOW
    url, why = action.low_signal[0]
    call = msgspec.json.encode({"tool": "fetch", "args": {"url": url, "render": True}}).decode("utf-8")
    return Nudge(
        reason=f"{url} came without the text that a reader would see: {why.rstrip('.')}.",
        way_forward=f"Before you give it up, have it rendered: {call} (in the shell: fetch --render URL).",
        facts=Facts(subject=url, count=len(action.low_signal)),
    )


GATE = Gate(events.PolicyRenderNudge, judge)
