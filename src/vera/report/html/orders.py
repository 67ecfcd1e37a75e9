"""A finding in two: what is wrong, for a reader, and what the agent was told to do about it.

The audit writes one sentence for both (`evidence.finding`): `"five years" is nowhere in the cited source:
give the value that is there, or drop it.`
"""

import re

_ORDER = re.compile(
    r"[.;:] (?:A hint: |so |or |if it is a quotation, )?"
    r"(?:add|answer|check|cite|compute|drop|give|keep|make|name|quote|read|say|state)\b",
    re.IGNORECASE,
)


def for_reader(finding: str) -> str:
    """What is wrong, as a sentence."""
    at = _order_at(finding)
    return finding if at < 0 else f"{finding[:at]}."


def for_agent(finding: str) -> str:
    """What the agent was told to do, as a sentence; '' for nothing."""
    at = _order_at(finding)
    told = finding[at + 1 :].strip() if at >= 0 else ""
    return told[:1].upper() + told[1:]


def _order_at(finding: str) -> int:
    """Where the order begins, -1 without one; words that are quoted from a document give none."""
    for found in _ORDER.finditer(finding):
        rest = finding[found.start() :]
        if rest.count("“") == rest.count("”") and rest.count('"') % 2 == 0:
            return found.start()
    return -1
