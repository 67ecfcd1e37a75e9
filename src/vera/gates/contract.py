"""The epistemic contract: what is demanded of a turn and of a negative claim, and the state that follows.

A run is IN_PROGRESS, BLOCKED or UNRESOLVED until an attestation gives it its word
(`vera.headline`). Missing evidence fails nothing: it stands open as a constraint until it is there.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from vera import events
from vera.gates.kernel import Rules, State
from vera.gates.sources import needs_sources, sources
from vera.headline import HEADLINES

EVIDENCE_USED, OFFICIAL, INDEPENDENT, INTENTS = (
    "evidence_used",
    "official_sources",
    "independent_sources",
    "search_intents",
)
IDS_SHOWN = 8
REASON_SHOWN = 300
ACQUIRING = ("fetch", "web_search", "brave_search", "brave_news", "read", "search")
"""Tools whose failure blocks: what was wanted is not available in this way."""

_SAID = re.compile(
    r"\s*(IN_PROGRESS|BLOCKED|UNRESOLVED)\b(?:\s*\(([^()]*)\)?|[\s:.,;–—-]*(.*))", re.IGNORECASE | re.DOTALL
)


def unknown_ids(used: Sequence[str], known: Collection[str]) -> str:
    """The constraint that EVIDENCE_USED leaves open: ids that name nothing; '' when all do."""
    unknown = [name for name in dict.fromkeys(used) if name not in known]
    if not unknown:
        return ""
    more = f" and {len(unknown) - IDS_SHOWN} more" if len(unknown) > IDS_SHOWN else ""
    named = ", ".join(name[:40] for name in unknown[:IDS_SHOWN])
    return f"EVIDENCE_USED names no evidence with {named}{more}: use ids that an observation gave you."


def negative_constraints(state: State, rules: Rules) -> Mapping[str, str]:
    """What a negative claim still needs, by key; '' for what it has. Empty for any other question."""
    if not needs_sources(state, rules):
        return {}
    have = sources(state, rules)
    intents = max(0, rules.query_vector_min - len(state.lane.history.vectors))
    return {
        OFFICIAL: _reach(have.official_missing, "official", have.official_needed),
        INDEPENDENT: _reach(have.independent_missing, "independent", have.independent_needed),
        INTENTS: _search_for(intents),
    }


def _search_for(intents: int) -> str:
    if not intents:
        return ""
    return (
        f"Search with {intents} more intent{'s' if intents > 1 else ''} (the official source, the context, "
        "in general)."
    )


def _reach(missing: int, kind: str, needed: int) -> str:
    if not missing:
        return ""
    return (
        f"“None” may be the answer: reach {missing} more {kind} domain{'s' if missing > 1 else ''} with "
        f"content before you say so ({needed} needed)."
    )


def after_turn(state: State, said: str) -> tuple[str, str] | None:
    """The status and its reason after a turn's STATUS_UPDATE; None when it stays.

    A model may say that it is blocked or that the question is unresolved (`BLOCKED: why`, `BLOCKED(why)`),
    never that it is verified; an unresolved question stays so until something new is found, and what is
    blocked until a call works.
    """
    found, now = _SAID.match(said[: 10 * REASON_SHOWN]), state.lane.status
    if not found or now in HEADLINES or found[1].upper() in (now, "IN_PROGRESS"):
        return None
    reason = " ".join((found[2] or found[3] or "").split())
    return found[1].upper(), reason[:REASON_SHOWN] or "by the agent's own account"


def after_call(state: State, move: events.Move, evidence: str, rules: Rules) -> tuple[str, str] | None:
    """The status and its reason after a call; None when it stays."""
    now = state.lane.status
    if move.fresh:
        return None if now == "IN_PROGRESS" else ("IN_PROGRESS", f"new evidence {evidence}".strip())
    stuck = move.outcome == "failed" and move.tool in ACQUIRING
    if now == "IN_PROGRESS" and stuck:
        return "BLOCKED", f"{move.tool} failed: {move.failure_type}"
    if now == "BLOCKED" and move.outcome == "ok" and move.tool in rules.gathering:
        return "IN_PROGRESS", f"{move.tool} worked"
    return None
