"""A verdict as a sentence for the person."""

import re

from vera import events
from vera.attestation.report import counted
from vera.headline import Headline
from vera.report.view.verdicts import WHY

NOTHING_STATED = "the answer states nothing that could be verified"

_KEY = re.compile(r"\bc([0-9]{1,5})\b")


def reason(word: Headline, decision: events.Verifier) -> str:
    """Why an answer came to its word, in half a sentence."""
    match word:
        case "VERIFIED":
            score = f", score {points(decision.score)} of 4" if decision.score else ""
            return f"a judge read that the cited lines support {_claims(decision)}{score}"
        case "QUOTED":
            return f"the cited lines hold the words of {_claims(decision)}; no judge has read them"
        case _:
            return _unproved(decision)


def _claims(decision: events.Verifier) -> str:
    return "its claim" if decision.claims == 1 else f"all {decision.claims} claims"


def _unproved(decision: events.Verifier) -> str:
    if not decision.claims and not decision.hard:
        return NOTHING_STATED
    why = WHY.get(decision.reason, "nothing supports it")
    if decision.result == "DISPUTED":
        why = "its sources contradict each other"
    count = decision.claims + decision.unchecked
    parts = [f"{why} ({decision.supported} of {count} claims supported)" if decision.supported else why]
    if decision.hard:
        parts.append(counted(decision.hard, "hard finding"))
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
