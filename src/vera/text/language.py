"""Which language a text is in, by its small words: enough to compare two texts, and to read 1.250.

A guess from function words. A text with too few of them, or in a language that is not listed, is `""`:
what rests on the language is then not decided.
"""

from collections import Counter
from functools import lru_cache

from vera.text.late_regex import late_regex

_LOOKED_AT = 20_000
"""Characters from the beginning: more of a text does not change the guess."""

_MIN_WORDS = 2
"""Small words, and by how many more than of any other language."""

_WORD = late_regex(r"[^\W\d_]{1,12}")

_SMALL = {
    "en": "the of and to is that for with was are this by from which not be has have it an on as or at must",
    "de": "der die das und ist nicht ein eine einer eines einem einen mit von zu den dem des für auf wird "
    "sind werden oder auch nach bei aus wenn darf muss kann beträgt betragen betrug betrugen wurde wurden "
    "millionen milliarden",
    "fr": "le la les des et est une du dans pour que qui ne pas sur par avec sont aux au cette ou il "
    "doit peut",
    "es": "el la los las y es una del en para que no por con se son al como o su debe puede",
    "it": "il lo gli della di e è una che per non con sono dei nel alla come o si deve",
    "pt": "o os as da do e é uma que para não com por são dos na como ou se deve",
    "nl": "de het een en is van niet met voor op zijn aan dat die te worden of ook moet",
}
_LANGUAGES: dict[str, list[str]] = {}
for _name, _words in _SMALL.items():
    for _word in _words.split():
        _LANGUAGES.setdefault(_word, []).append(_name)

DECIMAL_COMMA = frozenset(("de", "fr", "es", "it", "pt", "nl"))
"""Languages that write 1.250 for a thousand and a quarter of one."""

_SCRIPTS = (
    ("han", late_regex(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")),
    ("hangul", late_regex(r"[\uac00-\ud7af]")),
    ("cyrillic", late_regex(r"[\u0400-\u052f]")),
    ("arabic", late_regex(r"[\u0600-\u06ff\u0750-\u077f]")),
    ("hebrew", late_regex(r"[\u0590-\u05ff]")),
    ("greek", late_regex(r"[\u0370-\u03ff]")),
    ("devanagari", late_regex(r"[\u0900-\u097f]")),
    ("thai", late_regex(r"[\u0e00-\u0e7f]")),
)


def language(text: str) -> str:
    """The language of a text as a code of two letters, or the name of its script; `""` when unsure."""
    return _of_head(text[:_LOOKED_AT])


@lru_cache(maxsize=256)
def _of_head(head: str) -> str:
    letters = sum(map(str.isalpha, head))
    if not head.isascii():
        for name, pattern in _SCRIPTS:
            if 2 * len(pattern.findall(head)) > letters:
                return name
    counts: Counter[str] = Counter()
    for word in _WORD.findall(head.lower()):
        counts.update(_LANGUAGES.get(word, ()))
    ranked = counts.most_common(2)
    if not ranked or ranked[0][1] < _MIN_WORDS:
        return ""
    return ranked[0][0] if len(ranked) == 1 or ranked[0][1] > ranked[1][1] else ""


def differ(one: str, other: str) -> bool:
    """Whether two texts are, as far as one can tell, in different languages or scripts."""
    first, second = language(one), language(other)
    return bool(first and second) and first != second
