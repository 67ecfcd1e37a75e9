"""Sentences that say only that the sources do not tell: no statement about the world.

A closed grammar: what is not surely such a sentence is a statement, and needs evidence. Nothing may ride
along, so that no numbers, quotations, further clauses or reasons are allowed in what is missing.
"""

import re
from functools import cache

from vera.audit.checkable import checkable
from vera.text.lexicon import has_verb, word_set

_ADJECTIVE = (
    r"(?:(?:provided|available|given|supplied|cited|searched|retrieved|uploaded|input|local|other|search) )"
)
_NOUN = (
    r"(?:documents?|sources?|files?|pages?|texts?|records?|articles?|reports?|materials?|results?|evidence"
    r"|passages?|excerpts?|folder|corpus|archives?)"
)
_READ = r"(?: (?:that )?(?:I|we) (?:searched|read|found|checked|looked at|was given|were given)| provided)?"
_SOURCES = rf"(?:(?:any of )?(?:the|these|those|my|your) )?{_ADJECTIVE}{{0,2}}{_NOUN}{_READ}"
_TELL = (
    r"(?:state|say|mention|give|contain|specify|tell|report|name|list|provide|indicate|include|describe"
    r"|disclose|address|cover|answer|show|discuss|explain|define|identify|record|reveal)"
)
_TOLD = (
    r"(?:stated|said|mentioned|given|specified|told|reported|named|listed|provided|indicated|included"
    r"|described|disclosed|addressed|covered|answered|shown|discussed|explained|defined|identified|recorded"
    r"|revealed|found)"
)
_THING = r"(?P<thing>[^.!?,;:()\[\]“”\"«»—–]{1,160}?)"
_IN = rf"(?: (?:in|from|by|anywhere in) {_SOURCES})"
_FORMS = (
    rf"{_SOURCES} (?:do|does|did)(?: not|n't|n’t) {_TELL} {_THING}",
    rf"(?:no|none of the|neither of the|nothing in(?: the)?) {_ADJECTIVE}{{0,2}}{_NOUN}{_READ}"
    rf" {_TELL}(?:e?s)? {_THING}",
    rf"(?:I|we) (?:found|could find|can find|see|have found) (?:no|nothing (?:about|on)) {_THING}{_IN}?",
    rf"(?:I|we) (?:could|did|can)(?: ?not|n't|n’t) (?:find|determine|establish) {_THING}{_IN}?",
    rf"(?:I|we) (?:was|were|am|are) unable to (?:find|determine|establish) {_THING}{_IN}?",
    r"there (?:is|was) no (?:mention|information|record|statement|indication) (?:of|on|about)"
    rf" {_THING}{_IN}?",
)
_NOT_TOLD = (
    rf"(?P<thing>(?:the|its|their|any|this) [^.!?,;:()\[\]“”\"«»—–]{{1,120}}?)"
    rf" (?:is|are|was|were)(?: not|n't|n’t) {_TOLD}{_IN}"
)
_MAX_LENGTH = 300
_MAX_WORDS = 14
_ASSERTS = word_set("""
    although as because but despite except given however just merely nor only since so still that
    therefore though thus unless whereas while whose whom why without yet he i it she they we you was
    were is are am be been has have had will would can could may might must shall should did does do
    even who which always never surely obviously known fact actually really too
    """)
_IN_QUESTIONS = word_set("was were is are has have had will would can could may must should did does do")
_ASKS = re.compile(r"(?:when|where|who|what|which|whether|if|how (?:many|much|long|often|far|old|large)) ")
_JOINS = re.compile(r"\b(?:and|or)\b")
_LAST_NOUN = re.compile(
    r" (?P<joined>(?:and|or(?: [^\W\d_]{1,30}){0,2}?) (?:the |a |an |any |its |their )?[^\W\d_]{1,30})\Z"
)


def is_absence(text: str) -> bool:
    """Whether a sentence (without markup) says only that the sources do not tell something."""
    if len(text) > _MAX_LENGTH:
        return False
    for form in _FORMS:
        if found := _pattern(form).fullmatch(text):
            return _asserts_nothing(found["thing"])
    found = _pattern(_NOT_TOLD).fullmatch(text)
    return found is not None and not _JOINS.search(found["thing"]) and _asserts_nothing(found["thing"])


def compile_all() -> None:
    """Compile every pattern now, for a process whose forks then find them."""
    for form in (*_FORMS, _NOT_TOLD):
        _pattern(form)


@cache
def _pattern(form: str) -> re.Pattern[str]:
    """The form as a sentence. These patterns are expensive to compile, so none is before it is needed."""
    return re.compile(form + r"[.!]?", re.IGNORECASE)


def _asserts_nothing(thing: str) -> bool:
    """Whether what is missing is a bare noun phrase or an indirect question."""
    if " - " in thing or "--" in thing or any(each.kind != "name" for each in checkable(thing)):
        return False
    asked = _ASKS.match(thing)
    rest = thing[asked.end() :] if asked else thing
    words = rest.lower().replace("’", "'").split()
    asserting = _ASSERTS - _IN_QUESTIONS if asked else _ASSERTS
    return len(words) <= _MAX_WORDS and asserting.isdisjoint(words) and _joins_nouns(rest)


def _joins_nouns(thing: str) -> bool:
    """Whether an "and" or "or" only joins a noun that ends the phrase, never a second clause."""
    joins = len(_JOINS.findall(thing))
    last = _LAST_NOUN.search(thing)
    return joins == 0 or (joins == 1 and last is not None and not has_verb(last["joined"]))
