"""A page that came without its text is rendered before it is given up, or looked for in an archive."""

import msgspec

from vera import events
from vera.evidence.domains import unwrap
from vera.gates.kernel import ALLOW, Action, Facts, Gate, Nudge, Observed, Rules, State, Verdict

ARCHIVE = "https://web.archive.org/web/"
"""Before an address: the newest copy of its page that the Internet Archive has."""


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Name `fetch --render` for the first page of a call whose text is too little; where nothing can be
    rendered, another source and an archived copy, which is often a copy with its text."""
    if not isinstance(action, Observed) or not action.low_signal:
        return ALLOW
    url, why = action.low_signal[0]
    if not rules.can_render and ("fetch" not in rules.tools or unwrap(url) != url):
        return ALLOW
    if rules.can_render:
        call = _fetch(url=url, render=True)
        way = f"Before you give it up, have it rendered: {call} (in the shell: fetch --render URL)."
    else:
        copy = _fetch(url=ARCHIVE + url)
        way = f"Pages cannot be rendered here. Look in another source, or for a copy: {copy}."
    return Nudge(
        reason=f"{url} came without the text that a reader would see: {why.rstrip('.')}.",
        way_forward=way,
        facts=Facts(subject=url, count=len(action.low_signal)),
    )


def _fetch(**args: object) -> str:
    return msgspec.json.encode({"tool": "fetch", "args": args}).decode("utf-8")


GATE = Gate(events.PolicyRenderNudge, judge)
