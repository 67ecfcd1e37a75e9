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

_ID = r"ev_[0-9]{1,9}"
_BEHIND_A_NOUN = re.compile(rf"(?<=source) {_ID}\b(?!:[0-9])|(?<=sources) {_ID}(?:, {_ID})*\b(?!:[0-9])")
_PLACE = re.compile(rf"(?<!evidence )\b{_ID}(?P<lines>:[0-9]{{1,9}}(?:-[0-9]{{1,9}})?)?")


def for_reader(finding: str) -> str:
    """What is wrong, as a sentence, without the names that only the log has (`ev_0002`)."""
    at = _order_at(finding)
    said = finding if at < 0 else f"{finding[:at]}."
    said = _BEHIND_A_NOUN.sub("", said)
    said = _PLACE.sub(lambda found: f"{(found['lines'] and 'a cited place') or 'a cited source'}", said)
    return said[:1].upper() + said[1:]


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
