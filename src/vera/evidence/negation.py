"""Whether a statement denies: says that something is not so, does not exist or has not happened."""

import re

from vera.evidence.quotation import find_quotations

TEXT_LIMIT = 4000
"""The characters of a statement that are read."""

DENIES = re.compile(
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
_HARMLESS = re.compile(
    r"\bnot\s+(?:only|just|merely|least|until|necessarily|all|every|everyone|always|to mention|surprisingly"
    r"|unlike|uncommon|unusual)\b"
    r"|\b(?:no|not|none)\s+(?:less|more|fewer|later|earlier|sooner|greater|smaller|higher|lower|longer|other)"
    r"\s+than\b|\bnothing\s+(?:but|less|more|other)\b|\bno\s+(?:doubt|wonder|matter)\b"
    r"|\bnot-|\bnot\s+\w{1,20}\s+until\b|[,—–]\s*not\s+(?:the|an?|in|on|at|by|for|to|its|his|her|their)\b"
    r"|\b(?:or|if|why|whether or)\s+not\b|\bno\.?\s*\d",
    re.IGNORECASE,
)
# A clause that hangs on another: what it denies is not what is stated.
_SUBORDINATE = re.compile(
    r"\([^()]{0,400}\)|\b(?:because|although|though|whereas|while|when|if|unless|until|since|as|after|before|who"
    r"|whom|whose|which|where|so that|in order|despite|rather than|instead of)\b[^,;.!?]{0,400}",
    re.IGNORECASE,
)
# An order to the reader: no subject before it.
_ORDER = re.compile(
    r"(?:^|[.;:,!?–—(]\s{0,4}|\b(?:and|but|please|then|or|also)\s{1,4})"
    r"(?:please\s+)?(?:(?:do not|don['’]t)\s+(?:[a-z]+)"
    r"|never\s+(?!has|have|had|was|were|is|are|did|does|do|will|would|before|again)[a-z]+)[^.;!?\n]{0,400}",
    re.IGNORECASE,
)

MAX_BRACKETED_WORDS = 4
"""Words in brackets that may stand for one: "must (or may not)". More of them are a remark."""

_BRACKETS = re.compile(r"\(([^()\n]{1,80})\)|\[([^\[\]\n]{1,80})\]|\{([^{}\n]{1,80})\}")
_TURNS = re.compile(
    r"\b(?:not|never|no|nor|cannot|without|n[’']t|nicht|nie|niemals|kein\w{0,2}|ohne|ne|pas|jamais|aucune?|sans|"
    r"must|may|might|shall|should|can|could|will|would|muss|müssen|darf|dürfen|kann|können|soll|sollen|"
    r"doit|doivent|peut|peuvent)\b|^\W*(?:or|nor|oder|ou)\b",
    re.IGNORECASE,
)
_PREFIX = re.compile(r"(?:un|in|im|il|ir|non|dis)-?", re.IGNORECASE)


def is_negative(text: str) -> bool:
    """Whether a statement says that something is not so, does not exist or has not happened.

    "Not all", "no later than", "No. 12" and the like deny nothing that would need a search; neither do orders
    ("do not use Wikipedia") and words in quotation marks.
    """
    return DENIES.search(asserted(text)) is not None


def bracketed_turns(text: str) -> tuple[str, ...]:
    """What a sentence may be read with and without, folded: "not" in "must (not) be", "or may", "un" in
    "(un)lawful". A sentence with such brackets says two things, and proves neither.
    """
    found = []
    for match in _BRACKETS.finditer(text[:TEXT_LIMIT]):
        inside = next(filter(None, match.groups()))
        fused = _PREFIX.fullmatch(inside) and text[match.end() : match.end() + 1].isalpha()
        short = len(inside.split()) <= MAX_BRACKETED_WORDS
        if fused or (short and _TURNS.search(inside)):
            found.append(" ".join(inside.lower().split()))
    return tuple(found)


def asserted(text: str) -> str:
    """What a text itself states: without quotations, orders, subordinate clauses and harmless turns of
    phrase."""
    text = text[:TEXT_LIMIT]
    for quotation in reversed(find_quotations(text)):
        text = f"{text[: quotation.start]} … {text[quotation.end :]}"
    return _SUBORDINATE.sub(" ", _ORDER.sub(" ", _HARMLESS.sub(" ", text)))
