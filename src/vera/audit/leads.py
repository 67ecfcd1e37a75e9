"""What stands over a statement and is part of what it says: the lead-in of a list or paragraph that denies,
limits or disputes what follows, and the head of a column that gives its cells a unit or sets them aside."""

import re

from vera.audit.checkable import has_digit
from vera.audit.checks.set_aside import is_aside
from vera.text.headings import is_marked
from vera.text.late_regex import late_regex
from vera.text.negation import below, doubtful_turns, is_negative
from vera.text.sentences import END
from vera.text.span import Lines
from vera.text.units import units_in
from vera.text.whole_sentences import line, runs_on
from vera.text.words import hedges

REACH = 60
"""Lines above a line in which its lead may stand."""

_LEAD_LINES = 4
_ITEM = late_regex(
    r"\s{0,24}(?:[-*•‣+·]\s|\(?(?:[0-9]{1,3}(?:\.[0-9]{1,2}){0,3}|[A-Za-z]|[ivxIVX]{2,5})[.)]\s"
    r"|[一二三四五六七八九十]{1,3}、|[①-⑳])"
)
_CLAUSE = late_regex(r"(\s{0,24})(?:§{1,2}\s?)?([A-Z]?)[0-9]{1,3}((?:\.[0-9]{1,3}){0,4})([.)]?)\s")
"""The number of a clause, in parts that clauses beside each other share."""

_LEADS = late_regex(r"[:：][\s*_\"'”»)]{0,4}\Z")
_ALLEGED = late_regex(
    r"\b(?:alleg\w{1,7}|contend\w{0,2}|claims?(?=:| that)|submits?|submitted|supposedly|rumou?rs?|hoax(?:es)?"
    r"|legends|wrongly|falsely|mistakenly|disput\w{1,3}|false|untrue|incorrect|invented|made[- ]up|fictitious"
    r"|fictional|imaginary|behaupte\w{1,3}|angeblich\w{0,2}|tr[äa]g(?:t|en) vor|gerüchte?|erfunden\w{0,2}"
    r"|falsch\w{0,2}|unwahr\w{0,2}|soutien\w{1,4}|allègue\w{0,2}|prétend\w{0,4}|rumeurs?|inventée?s?|fausses?"
    r"|faux|imaginaires?|fictifs?|fictives?|alega\w{0,2}|sostien\w{1,3}|rumores|inventad[oa]s?|fals[oaie]s?"
    r"|ficticios?|ficticias?|afferma|sostengono|dicerie|inventat[oaie]|fittizi[ae]?|sustenta\w{0,2}|boatos?"
    r"|fictíci[oa]s?)\b|不属?实|诉称|辩称|据称|声称|据传|谣言|传[闻言]|虚[构假]|捏造|编造",
    re.IGNORECASE,
)
"""What gives all that follows a colon to somebody who may be wrong."""

_ANYTHING = "it is so as is said"
_NUMBER = late_regex(r"[<>~≈±+−-]?\s?[0-9][0-9.,'’ \u00a0\u202f]{0,30}")
_UNIT = late_regex(r"[(\[](?P<bracketed>[^()\[\]]{1,20})[)\]]\s{0,3}\Z|\b(?:in|en|em)\s(?P<last>\S{1,20})\Z")
_TURNING = late_regex(
    r"\b(?:if|unless|except|excluding|only|without|forbid\w{0,5}|prohibit\w{0,4}|banned|refus\w{1,4}|reject\w{0,4}"
    r"|false|wrong|untrue|myths?|falls|wenn|sofern|nur|außer|ohne|kein\w{0,2}|nicht|verboten\w{0,2}|untersagt|falsch"
    r"|abgelehnt\w{0,2}|si(?= (?:l[aeo]s?|el|une?|una|vous|on|hay|se|es|est)\b| l['’])|sauf|seulement|sans|ne"
    r"|pas|interdit\w{0,2}|faux|refusée?s?|rejetée?s?"
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


def disputes(lead: str) -> bool:
    """Whether the lead of lines of a source leaves open whether that source means them."""
    return is_negative(lead) or is_aside(lead) or is_alleged(lead)


def is_alleged(text: str) -> bool:
    """Whether a text gives what it is said of to somebody who may be wrong."""
    return _ALLEGED.search(text) is not None


def lead_over(lines: Lines, number: int) -> str:
    """What leads into a line: the sentence with a colon at its end over its paragraph, or the last one over
    the list that it is an item of; '' for nothing. Lines count from 1."""
    here = line(lines, number)
    is_item = _ITEM.match(here) is not None
    in_list = _is_in_list(here)
    has_gap = False
    for above in range(number - 1, max(0, number - 1 - REACH), -1):
        text = line(lines, above)
        if is_marked(text):
            break
        if not text.strip():
            has_gap = True
        elif _LEADS.search(text) and not _leads_own(lines, above, number):
            return _whole(lines, above)
        elif in_list and _is_in_list(text):
            has_gap = False
        elif has_gap:
            break
        elif is_item and not _continues_item(lines, above):
            return _whole(lines, above)
    return ""


def _is_in_list(text: str) -> bool:
    """Whether a line is an item of a list or indented as what goes on one."""
    return text[:1].isspace() or _ITEM.match(text) is not None


def _leads_own(lines: Lines, lead: int, number: int) -> bool:
    """Whether a clause leads into lines that are its own, and `number` is the next clause of its level."""
    here = line(lines, number)
    between = (line(lines, each) for each in range(lead + 1, number))
    has_own = any(text.strip() and not _are_siblings(text, here) for text in between)
    return has_own and _are_siblings(line(lines, lead), here)


def _are_siblings(text: str, other: str) -> bool:
    """Whether two lines begin clauses of one level: what 4.1 leads into is not in 4.2."""
    level = _level(text)
    return level is not None and level == _level(other)


def _level(text: str) -> tuple[str, str, int, str] | None:
    """How the number of a clause is written at the begin of a line; None where there is none."""
    found = _CLAUSE.match(text)
    return (found[1], found[2], found[3].count("."), found[4]) if found else None


def _continues_item(lines: Lines, number: int) -> bool:
    """Whether a line without a mark goes on the item above it."""
    for above in range(number - 1, max(0, number - 1 - _LEAD_LINES), -1):
        if not runs_on(line(lines, above), line(lines, above + 1)):
            return False
        if _ITEM.match(line(lines, above)):
            return True
    return False


def _whole(lines: Lines, last: int) -> str:
    """The sentence that ends with a line."""
    first = last
    while first > 1 and last - first < _LEAD_LINES and runs_on(line(lines, first - 1), line(lines, first)):
        first -= 1
    said = " ".join(line(lines, number).strip() for number in range(first, last + 1))
    return [said[start:] for start in (0, *(end.end() for end in END.finditer(said[:-1])))][-1]


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
