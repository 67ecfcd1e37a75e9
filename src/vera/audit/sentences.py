"""Where a sentence of an answer ends."""

import re
from collections.abc import Collection, Iterator, Mapping

from vera.text.late_regex import late_regex
from vera.text.lexicon import FUNCTION_WORDS, word_set
from vera.text.stopwords import GERMAN

_STOP = late_regex(
    r"(?P<stop>[.!?…]{1,12})[\"'”’»)\]*_`]{0,6}(?=\s|\Z|[\[【])"
    r"|(?P<wide>[。！？]{1,8}[」』”’\"]{0,2})"
    r"|(?P<line>\n)"
)
_SPACE = late_regex(r"\s*")
_NEXT_WORD = late_regex(r"[\"'“”‘’(*_]{0,6}([^\W\d_]{1,40})")
_LAST_TOKEN = late_regex(r"[^\s(\[{“”\"‘*_]{1,24}\Z")
_INITIALS = late_regex(r"(?:[^\W\d_]\.){0,6}[^\W\d_]")
_ELIDED = late_regex(r"\A[a-z]{1,5}['’]")
_ROMAN = late_regex(r"[IVXLC]{1,8}\b")
_MONTH = late_regex(
    r"(?:Jan|Feb|Mar|Mär|Apr|May|Mai|Jun|Jul|Aug|Sep|O[ck]t|Nov|De[cz])[a-zä]{0,7}\b|Jahrhunderts?\b",
    re.IGNORECASE,
)
"""What goes on behind the stop of "3. Mai" and "19. Jahrhundert"."""

_DAY = late_regex(r"(?:[0-2]?[0-9]|3[01])\.(?:0?[1-9]|1[0-2])")
"""A day as German writes it without a year, but for its last stop: 15.03."""

_NEVER_LAST = word_set("""
    approx bzw ca capt cf col dr e.g eg fr gen gov hon i.e ie lt mr mrs ms mt prof rep resp rev sen sgt
    st vs z.b d.h
    """)
_BEFORE_NUMBERS = word_set("abs art ch eq fig figs no nos nr p para pp sec ver vol")
_MONTHS = word_set("""
    apr aug avr dec déc dez feb févr jan janv juil jul jun mar mär nov oct okt sep sept
    """)
_MAYBE_LAST = _MONTHS | word_set("""
    al bros co corp dept dist ed eds est etc ft inc jr llc ltd mio mme mrd ph.d plc sr std str tsd univ usw
    """)
_OPENERS = (FUNCTION_WORDS | GERMAN) - {"da", "von"}
"""Words that begin a sentence and no name; behind an initial only English ones: "K. Das"."""

_BEFORE_ORDINAL = late_regex(
    r"(?:\(|\b(?:de[rmns]|das|die|im|ins|(?<!\bi\s)am|ans|vom|zu[mr]|beim|jede[rmns]?|eine?[rmns]?)\s{1,4}"
    r"(?:[0-9]{1,2}\.\s{1,4}(?:und|oder|bis|–|-)\s{1,4})?)\Z",
    re.IGNORECASE,
)
"""What stands before the number of "im 2. Stock" and "der 1. und 2. Absatz"."""


def sentences(
    text: str, start: int, end: int, citations: Mapping[int, int], ends: Collection[int]
) -> Iterator[tuple[int, int]]:
    """The sentences of `text[start:end]`, as places in it that together cover it.

    `citations` maps where a citation begins to where it ends, and `ends` holds where they end. Those after a
    full stop belong to the sentence before it. A line ends a sentence when a citation or a colon ends the
    line. Linear in the length.
    """
    begun = start
    for match in _STOP.finditer(text, start, end):
        if match.start() < begun:
            continue
        after = _past_citations(text, match.end(), end, citations)
        follows = _SPACE.match(text, after, end)
        following = follows.end() if follows else after
        if following >= end:
            continue
        if _ends(text, match, begun, after, following, ends):
            yield begun, after
            begun = after
    if begun < end:
        yield begun, end


def _past_citations(text: str, position: int, end: int, citations: Mapping[int, int]) -> int:
    """Where the citations that follow a full stop end, with a second full stop after them."""
    past = position
    while (space := _SPACE.match(text, past, end)) is not None and space.end() in citations:
        past = citations[space.end()]
        if text.startswith(".", past) and past < end:
            past += 1
    return past


def _ends(
    text: str, match: re.Match[str], begun: int, after: int, following: int, ends: Collection[int]
) -> bool:
    """Whether the sentence that began at `begun` ends here, the next beginning at `following`."""
    if match["wide"]:
        return True
    if text[following].islower():
        return False
    if match["line"]:
        return after == match.end() and _closes_line(text, begun, match.start(), ends)
    return match["stop"] != "." or _ends_with_dot(text, match.start(), begun, following, after > match.end())


def _closes_line(text: str, begun: int, newline: int, ends: Collection[int]) -> bool:
    last = newline
    while last > begun and text[last - 1].isspace():
        last -= 1
    return last > begun and (last in ends or text[last - 1] in ":：")


def _ends_with_dot(text: str, dot: int, begun: int, following: int, cited: bool) -> bool:
    found = _LAST_TOKEN.search(text, max(begun, dot - 25), dot)
    token = found[0] if found else ""
    lowered = _ELIDED.sub("", token.lower())
    if token.isdigit():
        return not _is_ordinal(text[begun : dot - len(token)], token, text, following)
    if lowered in _NEVER_LAST or (_DAY.fullmatch(token) and text[following].isdigit()):
        return False
    if lowered in _BEFORE_NUMBERS:
        return not (text[following].isdigit() or _ROMAN.match(text, following))
    is_initial = _INITIALS.fullmatch(token) is not None
    is_abbreviation = is_initial or lowered in _MAYBE_LAST
    if is_abbreviation and text[following] == ")":
        return False
    if cited or not is_abbreviation:
        return True
    if lowered in _MONTHS and text[following].isdigit():
        return False
    return _begins_sentence(text, following, FUNCTION_WORDS if is_initial else _OPENERS)


def _begins_sentence(text: str, at: int, openers: Collection[str]) -> bool:
    """Whether what follows an abbreviation begins a sentence: no word, or one such as "The"."""
    word = _NEXT_WORD.match(text, at)
    return word is None or word[1].lower() in openers


def _is_ordinal(before: str, number: str, text: str, following: int) -> bool:
    """Whether the dot of a number makes it that of an item, a day or century, or of a thing: "3. Mai", "im
    2. Stock"."""
    if not before.strip('*_("“ \n'):
        return True
    if len(number) > 2:
        return False
    if _MONTH.match(text, following):
        return True
    return _BEFORE_ORDINAL.search(before[-40:]) is not None and not _begins_sentence(
        text, following, _OPENERS
    )
