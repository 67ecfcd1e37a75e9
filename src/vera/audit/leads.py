"""What stands over a statement of an answer and is part of what it says: the lead-in of a list that denies or
limits its items, and the head of a column that gives its cells a unit or sets them aside."""

import re

from vera.audit.checkable import has_digit
from vera.audit.checks.set_aside import is_aside
from vera.text.late_regex import late_regex
from vera.text.negation import below, doubtful_turns, is_negative
from vera.text.units import units_in
from vera.text.words import hedges

_ANYTHING = "it is so as is said"
_NUMBER = late_regex(r"[<>~≈±+−-]?\s?[0-9][0-9.,'’ \u00a0\u202f]{0,30}")
_UNIT = late_regex(r"[(\[](?P<bracketed>[^()\[\]]{1,20})[)\]]\s{0,3}\Z|\b(?:in|en|em)\s(?P<last>\S{1,20})\Z")
_TURNING = late_regex(
    r"\b(?:if|unless|except|excluding|only|without|forbid\w{0,5}|prohibit\w{0,4}|banned|refus\w{1,4}|reject\w{0,4}"
    r"|false|wrong|untrue|myths?|falls|wenn|sofern|nur|außer|ohne|kein\w{0,2}|nicht|verboten\w{0,2}|untersagt|falsch"
    r"|abgelehnt\w{0,2}|si|sauf|seulement|sans|ne|pas|interdit\w{0,2}|faux|refusée?s?|rejetée?s?"
    r"|salvo|excepto|solo|sólo|sin|no|prohibid[oa]s?|fals[oa]s?|rechazad[oa]s?"
    r"|exceto|apenas|somente|só|sem|não|proibid[oa]s?|recusad[oa]s?|rejeitad[oa]s?"
    r"|tranne|soltanto|senza|non|vietat[oaie]|rifiutat[oaie]|respint[oaie])\b|[不没非勿]|禁止|除了|如果|只有",
    re.IGNORECASE,
)
"""What denies, forbids, limits or sets a condition, for all that follows a colon."""


def turns_items(lead: str) -> bool:
    """Whether a lead-in changes what its items say."""
    state = below(lead, "", item=False)[1]
    return (
        state == "head" or is_negative(lead) or is_aside(lead) or bool(hedges(lead) or _TURNING.search(lead))
    )


def headed(head: str, cell: str) -> str:
    """A cell with the head of its column, where that is part of what it says."""
    if _NUMBER.fullmatch(cell) and any(units_in(head)) and (unit := _unit(head)):
        return f"{head}: {cell} {unit}"
    turned = has_digit(head) or is_aside(head) or bool(doubtful_turns(f"{head}: {_ANYTHING}"))
    return f"{head}: {cell}" if turned else cell


def _unit(head: str) -> str:
    """The unit that a head names: "Weight in pounds", "Height (m)"."""
    found = _UNIT.search(head)
    if found:
        return found["bracketed"] or found["last"] or ""
    return next((word for word in reversed(head.split()) if any(units_in(word))), "")
