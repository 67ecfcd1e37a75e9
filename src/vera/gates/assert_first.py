"""No assert, no promotion: files stay as they are until the theses that have to hold are SUPPORTED.

What a command would change cannot be read off its text. So until then the box runs with /work mounted
read-only (`vera.runtime.place`), commands may read and compute, and the kernel refuses every write; this
gate says so, and refuses what hands files in. Where no box can hold /work read-only it refuses commands, too.
"""

from collections.abc import Iterable
from datetime import datetime

from vera import events
from vera.gates.kernel import (
    ALLOW,
    Action,
    Facts,
    Gate,
    Nudge,
    Observed,
    Proposal,
    Refuse,
    Rules,
    State,
    ToolCall,
    Verdict,
)
from vera.gates.proposals import look

SHOWN = 300
"""Characters of a thesis in a sentence."""

ANY_THESIS = "one thesis that the work rests on"


def judge(state: State, action: Action, rules: Rules) -> Verdict:
    """Refuse what changes files while a thesis that is required is not SUPPORTED. An answer may be given, and
    `verify` be asked, at any time."""
    if not isinstance(action, ToolCall | Observed):
        return ALLOW
    lacking = missing(rules, state.attestations.values(), action.ts)
    if not lacking:
        return ALLOW
    named = "; ".join(f"“{text[:SHOWN]}”" if text != ANY_THESIS else text for text in lacking)
    reason = f"Files may not be changed before a SUPPORTED attestation of {named}."
    facts = Facts(subject=lacking[0][:SHOWN], count=len(lacking))
    if isinstance(action, Observed):
        return Nudge(
            reason=reason,
            way_forward="Until then /work is read-only. Ask verify, or answer with what is missing.",
            constraint=True,
            facts=facts,
        )
    changes = ("submit",) if rules.work_locked else ("submit", "shell")
    if action.tool not in changes:
        return ALLOW
    asked = Proposal(tool="verify", args={"thesis": lacking[0]})
    return Refuse(
        reason=reason,
        way_forward="Ask verify for it, or answer with what is missing.",
        proposal=asked if lacking[0] != ANY_THESIS else look(),
        facts=facts,
    )


def missing(rules: Rules, received: Iterable[events.AttestationReceived], ts: float) -> list[str]:
    """The texts of the required theses that have no SUPPORTED attestation which stands at `ts` (Unix time);
    ANY_THESIS where one is required, whichever, and there is none."""
    held = {each.thesis_id for each in received if each.result == "SUPPORTED" and _stands(each, ts)}
    lacking = [each.text for each in rules.required if each.thesis_id not in held]
    if rules.one_required and not rules.required and not held:
        lacking.append(ANY_THESIS)
    return lacking


def _stands(received: events.AttestationReceived, ts: float) -> bool:
    """Whether it has not expired. One whose end is no time does not stand: a log may come from anyone."""
    if not received.expires_at:
        return True
    try:
        return datetime.fromisoformat(received.expires_at).timestamp() > ts
    except (ValueError, OverflowError):
        return False


GATE = Gate(events.PolicyAssertFirst, judge)
