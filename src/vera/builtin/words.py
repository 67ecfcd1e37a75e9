"""Words: how text becomes tokens, and how nearly two tokens are the same word.

English inflections and a few derivations are stripped by small suffix rules in the spirit of Porter (1980),
in two depths: the `stem` undoes inflection (years, offered), the `root` also derivation (termination,
terminate). Other scripts match by the plain token; Chinese, Japanese and Korean by overlapping pairs of
characters (bigrams), which need no dictionary.
"""

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from vera.builtin.lexicon import BRITISH, FOREIGN_ENDINGS, IRREGULAR, NUMBER_WORDS
from vera.text.late_regex import late_regex

_CJK = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = late_regex(rf"[{_CJK}]+|\d+(?:[.,:]\d+)+|(?:(?![{_CJK}])[^\W_])+")
_CJK_RUN = late_regex(rf"[{_CJK}]")
_MAX_WORD_LENGTH = 64
MIN_SHARED = 4
"""Letters that two forms of a German or French word begin with."""
PARTICIPLE = "ge"
"""What a German participle begins with: "geprüft" of "prüfen"."""
_VOWEL = late_regex(r"[aeiouy]")

# Endings as they are after the stem lost its final e.
_DERIVATIONS = (
    ("ization", ""), ("isation", ""), ("fication", "f"), ("ation", ""), ("ition", "it"), ("ssion", "ss"),
    ("ction", "ct"), ("ption", "pt"), ("tion", "t"), ("sion", "s"), ("ability", ""), ("ibility", ""),
    ("ivity", ""), ("ement", ""), ("ment", ""), ("iness", ""), ("ness", ""), ("abl", ""), ("ibl", ""),
    ("anc", ""), ("enc", ""), ("ancy", ""), ("ency", ""), ("ity", ""), ("iv", ""), ("ful", ""), ("less", ""),
    ("ally", ""), ("ial", ""), ("al", ""), ("ant", ""), ("ent", ""), ("ery", ""), ("er", ""), ("or", ""),
    ("ly", ""), ("at", ""), ("iz", ""), ("is", ""), ("y", ""), ("e", ""),
)  # fmt: skip


class Word(msgspec.Struct, frozen=True):
    """One token: `form` folded (case and diacritics), its `stem` and `root`, and where it stood."""

    form: str
    stem: str
    root: str
    start: int
    end: int


@lru_cache(maxsize=32768)
def fold(text: str) -> str:
    """Case and diacritics folded, as a full-text index does: "Überprüfung" and "uberprufung" are equal."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(char for char in decomposed if not unicodedata.combining(char))


@lru_cache(maxsize=32768)
def stem(form: str) -> str:
    """The folded word without English inflection; words of other scripts are returned as they are."""
    if form in IRREGULAR:
        return _shortened(IRREGULAR[form])
    if len(form) <= 3 or not form.isascii() or not form.isalpha():
        return form
    word = _singular(form)
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) >= 3 and _VOWEL.search(base) and word[-3:] != "eed":
            word = _restored(base)
            break
    return _shortened(word)


def _shortened(word: str) -> str:
    """The base form as all its forms share it: American spelling, no silent e."""
    word = BRITISH.get(word, word)
    return word.removesuffix("e") if len(word) > 4 else word


def _singular(word: str) -> str:
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


def _restored(base: str) -> str:
    if base[-1] == base[-2] and base[-1] not in "lsz":
        return base[:-1]
    return base[:-1] + "y" if base.endswith("i") else base


@lru_cache(maxsize=32768)
def root(stemmed: str) -> str:
    """The stem without its derivational ending, at least four letters long."""
    if len(stemmed) <= 4 or not stemmed.isascii() or not stemmed.isalpha():
        return stemmed
    for ending, replacement in _DERIVATIONS:
        if stemmed.endswith(ending) and len(stemmed) - len(ending) >= (3 if ending == "ment" else 4):
            return stemmed.removesuffix(ending) + replacement
    return stemmed


def words(text: str) -> Iterator[Word]:
    """The tokens of a text in order; a run of Chinese, Japanese or Korean gives its character pairs."""
    for match in _TOKEN.finditer(text):
        token = match.group()
        if _CJK_RUN.match(token):
            pairs = [token[i : i + 2] for i in range(len(token) - 1)] or [token]
            for offset, pair in enumerate(pairs):
                start = match.start() + offset
                yield Word(pair, pair, pair, start, start + len(pair))
            continue
        form = fold(token[:_MAX_WORD_LENGTH])
        stemmed = stem(form)
        yield Word(form, stemmed, root(stemmed), match.start(), match.end())


def inflects(one: str, other: str) -> bool:
    """Whether two folded words are forms of one German or French word: "fragt" and "fragen"."""
    if one.startswith(PARTICIPLE) != other.startswith(PARTICIPLE):
        one, other = one.removeprefix(PARTICIPLE), other.removeprefix(PARTICIPLE)
    size = next(
        (at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )
    return size >= MIN_SHARED and {one[size:], other[size:]} <= FOREIGN_ENDINGS


def is_cjk(form: str) -> bool:
    """Whether a token is written in Chinese, Japanese or Korean characters."""
    return bool(_CJK_RUN.match(form))


def affinity(wanted: Word, seen: Word) -> float:
    """How nearly `seen` is the wanted word: 1 the same form, 0.95 the same stem, 0.75 the same root, …

    A long word that begins or ends with the other counts half: compounds of German and its like
    ("Frist", "Kündigungsfrist"), identifiers ("timeout", "timeoutseconds").
    """
    if wanted.form == seen.form:
        return 1.0
    if wanted.stem == seen.stem:
        return 0.95
    if is_cjk(wanted.form):
        return 0.0
    if wanted.root == seen.root:
        return 0.75
    value = NUMBER_WORDS.get(wanted.form)
    if value is not None:
        return float(seen.form == str(value))
    if wanted.form.isdigit():
        return float(NUMBER_WORDS.get(seen.form) == int(wanted.form[:9]))
    short, long = sorted((wanted.stem, seen.stem), key=len)
    if len(short) >= 5 and (long.startswith(short) or long.endswith(short)):
        return 0.5
    return 0.0
