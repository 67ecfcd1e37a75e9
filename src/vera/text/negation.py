"""Whether a statement denies: says that something is not so, does not exist or has not happened."""

import re
from typing import Literal

from vera.text.late_regex import late_regex
from vera.text.quotation import without_quotations

TEXT_LIMIT = 4000
"""The characters of a statement that are read."""

DENIES = late_regex(
    r"\b(?:not|never|none|nobody|nothing|nowhere|neither|cannot|no[ -]one|\w{2,8}n['’]t)\b"
    r"|\bno\b(?=\s+[^\W\d]|\s*[.,;:!]|\s*$)"
    r"|\b(?:has|have|had|is|are|was|were)\s+yet\s+to\b|\blacks?\b|\bnon-?existent\b"
    r"|\b(?:kein(?:e[rnms]?)?|nicht|niemals?|niemand|nichts)\b|\b(?:aucune?|jamais)\b"
    r"|\bn['’ ]?(?:a|ont|est|sont|y a)\s+(?:\w+\s+){0,2}pas\b|\b(?:nunca|jamás|ning[uú]n[oa]?|nadie)\b"
    r"|\b(?:não|nenhuma?|nessun[oa]?)\b|没有|沒有|並未|并未|尚未|从未|從未|未曾|不是|无人|ありません|ていない|なかった",
    re.IGNORECASE,
)
"""The words by which something is denied, in a few languages."""

# Turns of phrase that hold such a word and deny nothing, or only that all are so.
_HARMLESS = late_regex(
    r"\bnot\s+(?:only|just|merely|least|until|necessarily|all|every|everyone|always|to mention|surprisingly"
    r"|unlike|uncommon|unusual)\b"
    r"|\b(?:no|not|none)\s+(?:less|more|fewer|later|earlier|sooner|greater|smaller|higher|lower|longer|other)"
    r"\s+than\b|\bnothing\s+(?:but|less|more|other)\b|\bno\s+(?:doubt|wonder|matter)\b"
    r"|\bnot-|\bnot\s+\w{1,20}\s+until\b|[,—–]\s*not\s+(?:the|an?|in|on|at|by|for|to|its|his|her|their)\b"
    r"|\b(?:or|if|why|whether or)\s+not\b|\bno\.?\s*\d",
    re.IGNORECASE,
)
# A clause that hangs on another: what it denies is not what is stated.
_SUBORDINATE = late_regex(
    r"\([^()]{0,400}\)|\b(?:because|although|though|whereas|while|when|if|unless|until|since|as|after|before|who"
    r"|whom|whose|which|where|so that|in order|despite|rather than|instead of)\b[^,;.!?]{0,400}",
    re.IGNORECASE,
)
# An order to the reader: no subject before it.
_ORDER = late_regex(
    r"(?:^|[.;:,!?–—(]\s{0,4}|\b(?:and|but|please|then|or|also)\s{1,4})"
    r"(?:please\s+)?(?:(?:do not|don['’]t)\s+(?:[a-z]+)"
    r"|never\s+(?!has|have|had|was|were|is|are|did|does|do|will|would|before|again)[a-z]+)[^.;!?\n]{0,400}",
    re.IGNORECASE,
)

MAX_BRACKETED_WORDS = 4
"""Words in brackets that may stand for one: "must (or may not)". More of them are a remark."""

_OPENED = "([{（［｛【〔〈《「『⟨«»‹›"
_CLOSED = ")]}）］｝】〕〉》」』⟩»«›‹"
"""Brackets of several scripts, and the angled marks that a word is put between."""
_BRACKETS = late_regex(
    "|".join(
        rf"{re.escape(opened)}([^{re.escape(opened + closed)}\n]{{1,80}}){re.escape(closed)}"
        for opened, closed in zip(_OPENED, _CLOSED, strict=True)
    )
    + r"|<(?=\S)([^<>\n]{1,80})(?<=\S)>"
)
_UNCLOSED = late_regex(r"[(\[{（［【〔«](?P<inside>[^()\[\]{}（）［］【】〔〕«»\n]{1,400})\Z")
_GONE = (
    r"(?:repealed|revoked|superseded|deleted|withdrawn|rescinded|abolished|annulled|obsolete|scrapped|"
    r"struck (?:out|down)|cancell?ed|invalidated|overturned|(?:null and )?void|"
    r"(?:(?:ruled|held|declared) )?unconstitutional|expired|"
    r"no longer (?:in force|valid|applicable|applies|apply|holds?|true)|aufgehoben|gestrichen|weggefallen|"
    r"außer kraft|abrogée?s?|supprimée?s?|abolie?s?)"
)
_TAKEN_BACK = (
    r"(?:(?:has|have|had|is|are|was|were|been|now|since|later|formally|partly|largely|wholly|entirely) ){0,3}"
    rf"{_GONE}(?: and (?:replaced|re-?enacted))?"
    r"(?:\W{0,3}\Z|[\s,;:]{1,3}(?:\d|(?:by|in|on|from|since|with|as|per|wurde|wird|ist|sind|durch|am|seit|par|"
    r"le|en|depuis)\b))"
)
_WITHDRAWN = late_regex(
    r"\W{0,3}(?:(?:(?:this|the|that|whole|entire|all) ){1,2}(?:(?!not\b|never\b)\w{1,20} )?"
    rf"|(?:act|law|rule|section|clause|article|paragraph|provision) )?{_TAKEN_BACK}",
    re.IGNORECASE,
)
"""What says in brackets that the words beside it are not in force any more."""
_WITHDRAWN_BEHIND = late_regex(
    r"(?:(?:[;–—]\s?|\s-{1,3}\s)|(?:[,;–—]|\s--?)\s?"
    r"(?:(?:but|and|although|though|yet|a|an|the|aber|jedoch|doch|mais) ){0,2}"
    r"(?:\w{1,20} )?"
    r"(?:which|that|this|it|they|since|now|later|die|der|das|was|dies|inzwischen|seither|qui|depuis)"
    rf" (?:(?:a|ont) été )?){_TAKEN_BACK}"
    rf"|,\s{_GONE}(?:\s(?:in|on|by|since)?\s?\d[^,;]{{0,30}})?\W{{0,3}}\Z",
    re.IGNORECASE,
)
"""The same in a clause behind them: ", which was abolished", "; repealed in 2019"."""
_UNTRUE = rf"(?:{_GONE}|not|false|untrue|wrong|incorrect|falsch|unwahr|faux)"
_LABELLED = late_regex(
    rf"\A[\W_]{{0,8}}(?:{_UNTRUE}|hidden|removed|omitted|crossed out)[*_]{{0,3}}\s?:[*_]{{0,3}}\s"
    r"(?=(?:\S{1,40}\s{1,4}){3}\S)",
    re.IGNORECASE,
)
"""The same before them: "Repealed: tenants must …". With fewer words behind it, it is a field."""
_STRUCK = late_regex(r"(?<!~)~~(?!~)|<(?:del|s|strike)>", re.IGNORECASE)
_DENIED_HEAD = late_regex(
    r"(?:\bfollowing\b[^.:]{0,60}\b(?:is|are|was|were|been|has|have|does|do) (?:\w{1,12} )?"
    rf"{_UNTRUE}\b[^.:]{{0,40}}[.:]|\b(?:not|never) (?:true|so|the case|correct)(?: that)?\s?:"
    rf"|\A[\W_]{{0,8}}(?:(?:it|this|that|what follows) (?:is|was) (?:\w{{1,12}} )?)?{_UNTRUE}\s?:"
    r"|\A[\W_]{0,8}(?:no|nein|non)\s?:"
    r"|\b(?:none|neither|nothing|no part) of (?:the following|these|this)\b[^.:]{0,60}[.:]"
    r"|\b(?:wrong|mistakes?|errors?|myths?|misconceptions?|falsehoods?|lies)\b[^.:]{0,40}:)[*_]{0,3}\s{0,4}\Z",
    re.IGNORECASE,
)
_SAID_OF_IT = late_regex(
    rf"\A\W{{0,4}}(?:(?:this|that|the (?:above|foregoing|preceding|previous)|diese[rs]?|cet(?:te)?|ce)\b"
    rf"(?: (?!not\b|never\b)\w{{1,20}}){{0,3}} (?:is|was|were|are|has been|have been|wurde|ist|est|a été|fut)"
    rf" (?:\w{{1,20}} ){{0,2}}{_UNTRUE}\b|not (?:true|so|any more)\b)|\A\W{{0,8}}{_TAKEN_BACK}",
    re.IGNORECASE,
)
_TURNS = late_regex(
    r"\b(?:not|never|no|nor|cannot|without|n[’']t|nicht|nie|niemals|kein\w{0,2}|ohne|ne|pas|jamais|aucune?|sans|"
    r"must|may|might|shall|should|can|could|will|would|muss|müssen|darf|dürfen|kann|können|soll|sollen|"
    r"doit|doivent|peut|peuvent)\b|^\W*(?:or|nor|oder|ou)\b",
    re.IGNORECASE,
)
_PREFIX = late_regex(r"(?:un|in|im|il|ir|non|dis)-?", re.IGNORECASE)
_TURN = r"(?:not|never|no|nor|cannot|nicht|nie|niemals|kein\w{0,2}|pas|jamais)"
_DOUBTED = late_regex(
    rf"(?<!\w)[\"“”„‘’'`]{_TURN}[\"“”‘’'`](?!\w)|\b{_TURN}\s?\?|\([?!]{{1,3}}\)|（[？！]{{1,3}}）",
    re.IGNORECASE,
)
"""A denial that is only mentioned or is doubted: must "not" be, must not (?) be."""
_DENIED_ALONE = late_regex(
    r"\W*(?:[不没沒未无無非勿莫否]\w?|ない|しない|ません|なし|안|아님)\W*", re.IGNORECASE
)
"""All of a bracket in Chinese, Japanese or Korean that denies."""
_DENYING_REMARK = late_regex(rf"\W*{_TURN}\b", re.IGNORECASE)
_UNTICKED = late_regex(
    r"[☐✗✘✕✖❌□▢◻◽⬜❏❐❑❒◯⭘🞎🗆]|(?<![\w\]])\[[ \u00a0]\](?=\s|\Z)"
    r"|\A[\s*•+|-]{0,12}(?:\d{1,3}[.)]\s)?(?:\[_?\]|\([ \u00a0_]\))(?=\s|\Z)"
)
"""A box that is not ticked, or a cross: what is said beside it was not chosen. A crossed box was. A small
circle begins items of lists, and is not a box."""
State = Literal["", "head", "items"]
"""Whether the block before was a head that denies, or an item of its list."""
UNTICKED = "☐ "
"""What is read before a sentence under a head that denies what it introduces."""


def is_negative(text: str) -> bool:
    """Whether a statement says that something is not so, does not exist or has not happened.

    "Not all", "no later than", "No. 12" and the like deny nothing that would need a search; neither do orders
    ("do not use Wikipedia") and words in quotation marks.
    """
    return DENIES.search(asserted(text)) is not None


def doubtful_turns(text: str) -> tuple[str, ...]:
    """What a sentence may be read with and without, folded: "not" in "must (not) be" and in 'must "not" be',
    "or may" in brackets, "un" in "(un)lawful"; and what takes the sentence back: "(repealed)", ", which was
    abolished", "Repealed:" before it, a box that is not ticked, marks that strike out. A sentence with one
    of these proves neither reading. A bracket that is never closed counts by the turn that it begins with.
    """
    text = text[:TEXT_LIMIT]
    found = []
    for match in _BRACKETS.finditer(text):
        inside = next(filter(None, match.groups()))
        if _is_doubtful(inside, text[match.end() : match.end() + 1]):
            found.append(inside)
    unclosed = _UNCLOSED.search(text)
    if unclosed and (turn := _TURNS.match(unclosed["inside"].lstrip())):
        found.append(turn.group())
    for pattern in (_DOUBTED, _WITHDRAWN_BEHIND, _LABELLED, _STRUCK, _UNTICKED):
        found += [match.group() for match in pattern.finditer(text)]
    return tuple(" ".join(each.lower().split()) for each in found)


def _is_doubtful(inside: str, following: str) -> bool:
    """Whether a sentence may be read without what is inside its brackets, or is taken back by that."""
    if following.isalpha() and _PREFIX.fullmatch(inside):
        return True
    if len(inside.split()) <= MAX_BRACKETED_WORDS and _TURNS.search(inside):
        return True
    return _DENIED_ALONE.fullmatch(inside) is not None or _WITHDRAWN.match(inside) is not None


def box_of(text: str) -> str:
    """The box that is not ticked at the beginning of a text, '' where there is none: it is for all of it."""
    found = _UNTICKED.match(text[:TEXT_LIMIT].lstrip(" \t-*•+"))
    return f"{found.group()} " if found else ""


def is_box(text: str) -> bool:
    """Whether a line is only a box that is not ticked: it is for the next line."""
    text = text.strip(" \t-*•+|")
    return len(text) <= len("[ ]") and _UNTICKED.fullmatch(text) is not None


def is_remark(text: str) -> bool:
    """Whether a text only takes back what is said before it: "(Repealed.)"."""
    text = text[:TEXT_LIMIT].strip()
    bracket = _BRACKETS.match(text)
    if bracket is None or text[bracket.end() :].strip(" ."):
        return False
    inside = next(filter(None, bracket.groups()))
    return _WITHDRAWN.match(inside) is not None or _DENYING_REMARK.match(inside) is not None


def takes_back(text: str) -> bool:
    """Whether a sentence says of the one before it that it is not so, or not in force any more: "This clause
    was deleted in 2020."."""
    return _SAID_OF_IT.match(text[:TEXT_LIMIT]) is not None


def below(block: str, state: State, *, item: bool) -> tuple[str, State]:
    """What to read before the sentences of a block, and the state after it, given the state before it.

    Under a head that says of what it introduces that it is not so, or not in force any more, that is a box
    that is not ticked: for the items of its list, or for the one paragraph that follows.
    """
    if not block.strip():
        return "", state
    if _DENIED_HEAD.search(block[-400:].strip()):
        return "", "head"
    if state and item:
        return UNTICKED, "items"
    return (UNTICKED if state == "head" else ""), ""


def asserted(text: str) -> str:
    """What a text itself states: without quotations, orders, subordinate clauses and harmless turns of
    phrase."""
    text = without_quotations(text[:TEXT_LIMIT])
    return _SUBORDINATE.sub(" ", _ORDER.sub(" ", _HARMLESS.sub(" ", text)))
