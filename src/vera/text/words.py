"""Words as checks compare them: folded, cut to their stems.

A word is a run of letters and digits. Case and diacritics do not count, nor does a possessive 's; the dots
of an abbreviation are dropped (U.S. is US); Chinese, Japanese, Korean and Thai text, which has no spaces,
gives its overlapping pairs of characters. Stems come from suffix rules in the spirit of Porter (1980): they
are for finding and for hints, and conflate more than a proof may (`inflected` is the narrow one).
"""

import unicodedata
from collections.abc import Iterator
from functools import lru_cache

import msgspec

from vera.text.late_regex import late_regex

_QUOTES_AND_DASHES = str.maketrans(
    {
        **dict.fromkeys("‘’‚‛′`´ʼ＇", "'"),
        **dict.fromkeys("“”„‟″«»＂", '"'),
        **dict.fromkeys("‐‑‒–—―−﹘﹣－", "-"),
        **dict.fromkeys("\u00ad\u200b\u200c\u200d\u2060\ufeff", ""),
    }
)
_LETTERS = str.maketrans(
    {"ß": "ss", "æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ð": "d", "þ": "th", "ı": "i", "ʻ": ""}
)

_UNSPACED = "\u0e00-\u0eff\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_TOKEN = late_regex(
    rf"(?P<unspaced>[{_UNSPACED}]+)"
    r"|\d{1,40}(?:[.,]\d{1,40})*(?:st|nd|rd|th|s)?(?![^\W\d_])"
    r"|(?<!\w)[^\W\d_](?:\.[^\W\d_](?!\w)){1,8}"
    rf"|(?:(?![{_UNSPACED}])[^\W_])+(?:['’](?:(?![{_UNSPACED}])[^\W_])+)*"
)
_MAX_WORD_LENGTH = 64


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


STOPWORDS = _set(
    """a about above after again against all also am among an and any are around as at be because been before
    being below between both but by can could did do does doing done down during each either else ever every
    few for from further had has have having he her here hers herself him himself his how however i if in
    into is it its itself just may me might mine more most must my near neither no nor not now of off on once
    one only onto or other our ours out over own per quite rather same shall she should since so some such
    than that the their theirs them themselves then there these they this those though through thus till to
    too toward towards under until up upon very via was we were what when where whether which while who
    whom whose why will with within without would yet you your yours s t d ll m re ve"""
)
"""English words that carry no content themselves."""

_NEGATIONS = _set(
    """not no never none nobody nothing nowhere neither nor without cannot dont doesnt didnt isnt arent wasnt
    werent hasnt havent hadnt cant couldnt wont wouldnt shouldnt mustnt aint unable fail failed fails deny
    denied denies refuse refused refuses reject rejected rejects lack lacked lacks decline declined declines
    false untrue hardly barely"""
)
_HEDGES = _set(
    """may might could possibly perhaps maybe probably likely unlikely alleged allegedly alleges reportedly
    rumoured rumored rumours rumors suspected suspects expected expects planned plans planning proposed
    proposes proposal potential potentially supposedly presumably apparently appears appeared seems seemed
    believed believes scheduled intends intended hopes hoped hoping claims claimed estimated unconfirmed if
    unless would should"""
)

_NUMBER_WORDS = {
    word: str(value)
    for value, words in {
        1: "first", 2: "two second twice", 3: "three third", 4: "four fourth", 5: "five fifth",
        6: "six sixth", 7: "seven seventh", 8: "eight eighth", 9: "nine ninth", 10: "ten tenth",
        11: "eleven eleventh", 12: "twelve twelfth dozen", 13: "thirteen", 14: "fourteen", 15: "fifteen",
        16: "sixteen", 17: "seventeen", 18: "eighteen", 19: "nineteen", 20: "twenty", 30: "thirty",
        40: "forty", 50: "fifty", 60: "sixty", 70: "seventy", 80: "eighty", 90: "ninety", 100: "hundred",
    }.items()
    for word in words.split()
}  # fmt: skip

_DERIVATIONS = (
    "izational", "ication", "isation", "ization", "ational", "ically", "ation", "ition", "ator", "ement",
    "iness", "fully", "ively", "ance", "ence", "ancy", "ency", "ment", "ness", "able", "ible", "ally", "ship",
    "tion", "sion", "ical", "ity", "ism", "ist", "ion", "ive", "ful", "ous", "ary", "ory", "ery", "ant",
    "ent", "ial", "ian", "ate", "ize", "ise", "ify", "ese", "ish", "ia", "al", "ic", "er", "or", "ly", "an",
    "y", "e", "i", "a",
)  # fmt: skip
_ROOT = 4


class Word(msgspec.Struct, frozen=True):
    """One word: its folded `form`, and the characters `start` to `end` of the text where it stands."""

    form: str
    start: int
    end: int


def folded(text: str) -> str:
    """`text` in NFKC, lower case, with quotes, dashes and white space of one kind."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text).translate(_QUOTES_AND_DASHES)
    return " ".join(text.replace("`", "'").lower().split())


def words(text: str) -> Iterator[Word]:
    """The words of `text`, in order."""
    for match in _TOKEN.finditer(text):
        start, end = match.span()
        token = match.group()
        if match["unspaced"]:
            for offset, pair in enumerate(_pairs(token)):
                yield Word(pair, start + offset, min(start + offset + 2, end))
        else:
            yield Word(_form(token[:_MAX_WORD_LENGTH]), start, end)


def _pairs(run: str) -> Iterator[str]:
    """The overlapping pairs of characters of a text without spaces."""
    return (run[offset : offset + 2] for offset in range(max(1, len(run) - 1)))


def stems(text: str) -> Iterator[str]:
    """The stems of the content words of `text`, in order."""
    for match in _TOKEN.finditer(text):
        token = match.group()
        if match["unspaced"]:
            yield from map(stem, _pairs(token))
        elif (found := _content_stem(token[:_MAX_WORD_LENGTH])) is not None:
            yield found


@lru_cache(maxsize=1 << 16)
def _content_stem(token: str) -> str | None:
    """The stem of a token that is a word; None for a stop word. Indexing asks it of each word of a text."""
    form = _form(token)
    return None if form in STOPWORDS else stem(form)


def negations(text: str) -> list[Word]:
    """The words of `text` that deny: not, never, without, failed, refused, … ("No. 12" denies nothing)."""
    found = list(words(text))
    following = [word.form for word in found[1:]] + [""]
    return [
        word
        for word, after in zip(found, following, strict=False)
        if word.form in _NEGATIONS and not (word.form == "no" and after[:1].isdigit())
    ]


def hedges(text: str) -> list[Word]:
    """The words of `text` that keep it from being a plain assertion: may, alleged, planned, if, …"""
    return [
        word
        for word in words(text)
        if word.form in _HEDGES and not (word.form == "may" and word.start and text[word.start] == "M")
    ]


@lru_cache(maxsize=1 << 16)
def stem(form: str) -> str:
    """The folded word without inflection and derivation; number words become digits (third: 3)."""
    if form in _NUMBER_WORDS:
        return _NUMBER_WORDS[form]
    word = inflected(form)
    if len(word) <= _ROOT or not word.isascii() or not word.isalpha():
        return word
    for ending in _DERIVATIONS:
        if word.endswith(ending) and len(word) - len(ending) >= _ROOT:
            return word.removesuffix(ending)
    return word


@lru_cache(maxsize=1 << 16)
def inflected(form: str) -> str:
    """The folded word without the endings of plural, third person, past, participle and ordinal."""
    if _ORDINAL.fullmatch(form):
        return form.rstrip("sthndr")
    if len(form) <= 3 or not form.isascii() or not form.isalpha():
        return form
    word = _unconjugated(singular(form))
    if word.endswith("i"):
        word = word[:-1] + "y"
    return word.removesuffix("e") if len(word) > 4 else word


def _unconjugated(word: str) -> str:
    """The folded word without -ing or -ed, and without the letter that is doubled before them."""
    for ending in ("ing", "ed"):
        base = word.removesuffix(ending)
        if base != word and len(base) >= 3 and _VOWEL.search(base) and not word.endswith("eed"):
            return base[:-1] if base[-1] == base[-2] and base[-1] not in "lsz" else base
    return word


_VOWEL = late_regex(r"[aeiouy]")
_ORDINAL = late_regex(r"\d+(?:st|nd|rd|th|s)")


def singular(word: str) -> str:
    """The folded word without the s of a plural or a third person."""
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "xes", "ches", "shes", "zzes")):
        return word[:-2]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(maxsize=1 << 16)
def _form(token: str) -> str:
    """Lower case; no diacritics, possessive 's, apostrophes, dots of an abbreviation, thousands commas."""
    form = unmarked(token.replace("’", "'"))
    for ending in ("'s", "s'"):
        form = form.removesuffix(ending) if len(form) > 3 else form
    if form[:1].isdigit():
        return form.replace(",", "") if _THOUSANDS.match(form) else form
    return form.replace("'", "").replace(".", "")


_APOSTROPHE = late_regex(r"['’]s|s['’]")
_SAME_SPELLING = str.maketrans({"ß": "ss", "æ": "ae", "œ": "oe", "’": "'", "\u00ad": "", "\u200b": ""})
"""Letters that are written in two ways in one word of one language, and what is not seen."""
_THOUSANDS = late_regex(r"\d{1,3}(?:,\d{3})+(?!\d)")


def differs_in_marks(said: str, source: str) -> bool:
    """Whether a word of `said` is in `source` only with other diacritics, or with its apostrophe in another
    place: "papa" for "papà", "teachers'" for "teacher's". Such words are two words, though each finds the
    other."""
    if said.isascii() and source.isascii() and not (_APOSTROPHE.search(said) and _APOSTROPHE.search(source)):
        return False
    there = _spelled(source)
    return any(
        form in there and not spelled <= there[form] for form, spelled in _spelled(said).items() if spelled
    )


def _spelled(text: str) -> dict[str, set[str]]:
    """Folded words with the ways in which they are spelled, diacritics and apostrophes included."""
    found: dict[str, set[str]] = {}
    for match in _TOKEN.finditer(text):
        token = match.group()[:_MAX_WORD_LENGTH]
        if match["unspaced"] or (token.isascii() and token.isupper()):  # capitals may leave their accents out
            continue
        spelled = unicodedata.normalize("NFKC", token.lower()).translate(_SAME_SPELLING)
        form = _form(token)
        if spelled.endswith("s") and text[match.end() : match.end() + 1] in ("'", "’"):
            form, spelled = f"'{singular(form)}", f"{spelled}'"
        elif spelled.endswith("'s"):
            form = f"'{form}"
        found.setdefault(form, set()).add(spelled)
    return found


def unmarked(text: str) -> str:
    """Lower case without diacritics: "Überprüfung" gives "uberprufung", "Böðvarsson" "bodvarsson"."""
    if text.isascii():
        return text.lower()
    decomposed = unicodedata.normalize("NFKD", text.lower().translate(_LETTERS))
    return "".join(character for character in decomposed if not unicodedata.combining(character))
