"""What of a sentence can be checked: its numbers, names, dates and quotations."""

import re
from collections.abc import Collection, Iterator
from typing import Literal, NamedTuple

from vera.text.late_regex import late_regex
from vera.text.lexicon import FUNCTION_WORDS, is_verb, word_set

Kind = Literal["number", "name", "date", "quotation"]

_MASS_NOUNS = word_set(
    """
    access content data documentation evidence everybody everyone everything information research someone
    something support
    """
)
_SHOUTED = frozenset(("A", "I", "OK", "NOTE", "TL", "DR", "TLDR", "FAQ", "IMPORTANT", "WARNING", "NB", "PS"))
_SMALL_NUMBERS = "two three four five six seven eight nine ten eleven twelve"
_LARGE_NUMBERS = (
    "thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy "
    "eighty ninety hundreds? thousands? millions? billions? trillions? dozens? half twice thrice percent"
)
_SMALL = late_regex(rf"\b(?:{_SMALL_NUMBERS.replace(' ', '|')})\b", re.IGNORECASE)
_LARGE = late_regex(rf"\b(?:{_LARGE_NUMBERS.replace(' ', '|')})\b|[%‰]", re.IGNORECASE)
_DIGITS = late_regex(r"\d[\d.,:/–-]{0,40}|[¼-¾⅐-⅞²³¹⁰-⁹₀-₉Ⅰ-ⅿ①-⓿❶-➓㈠-㈩㉈-㉟㊀-㊉㊱-㊿🄀-🄌🔟]")
_DATE = late_regex(
    r"\b(?:January|February|March|April|June|July|August|September|October|November|December"
    r"|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|centur(?:y|ies)|(?:[0-9]{1,2} )May|May [0-9]{1,4}"
    r"|(?:1[0-9]|20)[0-9]{2}s?|[0-9]{1,2}[./][0-9]{1,2}[./][0-9]{2,4})\b"
)
_QUOTATION = late_regex(r"“[^”]{1,4000}|„[^“”]{1,4000}|«[^»]{1,4000}|[「『][^」』]{1,4000}|\"[^\"]{1,4000}\"")
_WORD = late_regex(r"[^\W_](?:[\w'’&-]{0,60}[\w])?")


class Checkable(NamedTuple):
    """One thing that can be checked: its kind, and the words themselves."""

    kind: Kind
    text: str


def checkable(text: str, known: Collection[str] = (), *, small_numbers: bool = True) -> list[Checkable]:
    """The first number, name, date and quotation of a sentence, at most one of each kind.

    A name is a capitalised word that does not begin the sentence; or begins it, and stands alone, before
    another one or before a verb, is written in capitals, or is one of `known`: names of the same answer.
    The rules are for English; languages that capitalise nouns give more, those without capitals none.
    `small_numbers`: whether "two" to "twelve" in words count.
    """
    found: list[Checkable] = []
    if number := (_DIGITS.search(text) or _LARGE.search(text) or (small_numbers and _SMALL.search(text))):
        found.append(Checkable("number", number[0].rstrip(".,:/–-")))
    if date := _DATE.search(text):
        found.append(Checkable("date", date[0]))
    if name := next(names(text, known), None):
        found.append(Checkable("name", name))
    if quotation := next((each for each in _QUOTATION.finditer(text) if _WORD.search(each[0])), None):
        found.append(Checkable("quotation", quotation[0].strip('“”„«»「」『』"')))
    return found


def has_digit(text: str) -> bool:
    """Whether a number in digits is in `text`."""
    return _DIGITS.search(text) is not None


def names(text: str, known: Collection[str] = ()) -> Iterator[str]:
    """The capitalised words of a sentence that are names, as `checkable` has it, in order."""
    words = list(_WORD.finditer(text))
    for place, match in enumerate(words):
        word = _bare(match[0])
        if not _is_capitalised(word):
            continue
        if place or _is_marked(word) or word in known or _opens_as_name(words, text):
            yield word


def _opens_as_name(words: list[re.Match[str]], text: str) -> bool:
    """Whether the first word stands alone, before another capitalised one, or as the subject of a verb."""
    if len(words) == 1:
        return True
    between = text[words[0].end() : words[1].start()]
    if between in (" ", ". ") and _is_capitalised(_bare(words[1][0])):
        return True
    first = words[0][0].lower()
    alone = not first.endswith("s") and first not in _MASS_NOUNS
    return alone and between == " " and words[1][0] != "are" and is_verb(words[1][0])


def _bare(word: str) -> str:
    return word.removesuffix("'s").removesuffix("’s")


def _is_capitalised(word: str) -> bool:
    if word.lower().replace("’", "'") in FUNCTION_WORDS or word in _SHOUTED:
        return False
    return word[0].isupper() or (_is_marked(word) and word[0].isalpha())


def _is_marked(word: str) -> bool:
    """Capitals within: NASA, GitHub, iPhone."""
    return any(char.isupper() for char in word[1:])
