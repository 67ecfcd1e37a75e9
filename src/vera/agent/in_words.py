"""A verdict as a sentence for the person."""

import re

from vera import events
from vera.report.view.verdicts import WHY

_KEY = re.compile(r"\bc([0-9]{1,5})\b")


def verified(decision: events.Verifier, rule: str) -> str:
    """Why an answer is verified, and by what."""
    count = "its claim stands" if decision.claims == 1 else f"all {decision.claims} claims stand"
    if rule == "literal":
        unjudged = "no model judged whether they answer the question"
        return f"as quoted: {count} in the cited lines; {unjudged}"
    score = f", score {points(decision.score)} of 4" if decision.score else ""
    return f"{count} on cited lines{score}"


def unresolved(decision: events.Verifier) -> str:
    """Why an answer is not verified, with what is behind it."""
    if not decision.claims and not decision.hard:
        return "the answer states nothing that could be verified"
    why = WHY.get(
        decision.reason, "it is disputed" if decision.result == "DISPUTED" else "it is not verified"
    )
    if decision.result == "DISPUTED":
        why = "its sources contradict each other"
    parts = [f"{why} ({decision.supported} of {decision.claims} claims supported)"]
    if decision.hard:
        parts.append(f"{decision.hard} hard finding{'s' if decision.hard > 1 else ''}")
    if decision.score is not None and decision.reason == "SCORE":
        parts.append(f"score {points(decision.score)} of 4")
    caps = (_KEY.sub(r"claim \1", cap).removesuffix(".") for cap in decision.caps)
    parts += [cap[:1].lower() + cap[1:] for cap in caps]
    return "; ".join(parts)


def points(hundredths: int | None) -> str:
    """A score in hundredths as people write it: 350 → 3.5."""
    if hundredths is None:
        return "none"
    return f"{hundredths / 100:.2f}".rstrip("0").rstrip(".")
