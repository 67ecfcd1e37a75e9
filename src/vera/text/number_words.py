"""Numbers that are spelled out: "twenty-five", "three hundred thousand", "two dozen", "the twenty-first"."""

import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Literal, NamedTuple

from vera.text.units import ARITHMETIC

_SMALL_NAMES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen "
    "sixteen seventeen eighteen nineteen"
)
_TENS_NAMES = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINAL_NAMES = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
)
_SMALL = {word: value for value, word in enumerate(_SMALL_NAMES.split())}
_TENS = {word: 10 * value for value, word in enumerate(_TENS_NAMES.split(), 2)}
_ORDINALS = {word: value for value, word in enumerate(_ORDINAL_NAMES.split(), 1)}
_ORDINALS |= {word.removesuffix("y") + "ieth": value for word, value in _TENS.items()}
_DENOMINATORS = {
    "half": 2,
    "halves": 2,
    "quarter": 4,
    "quarters": 4,
    **{word: value for word, value in _ORDINALS.items() if 3 <= value <= 10},
    **{word + "s": value for word, value in _ORDINALS.items() if 3 <= value <= 10},
}
SCALES = {
    "hundred": 100,
    "thousand": 1_000,
    "lakh": 100_000,
    "million": 1_000_000,
    "crore": 10_000_000,
    "billion": 1_000_000_000,
    "trillion": 1_000_000_000_000,
}
"""Scale word → factor."""

_ADDED = _SMALL | _TENS
_MULTIPLIED = {**SCALES, "dozen": 12}

NUMBER_WORDS = frozenset({*_SMALL, *_TENS, *_ORDINALS, *SCALES, "dozen", "half"})
"""Every word, in lower case, with which a number that is spelled out can begin."""

FOREIGN_NUMBERS = {
    "de": {
        "zwei": 2, "drei": 3, "vier": 4, "fünf": 5, "sechs": 6, "sieben": 7, "acht": 8, "neun": 9,
        "zehn": 10, "elf": 11, "zwölf": 12, "dreizehn": 13, "vierzehn": 14, "fünfzehn": 15, "sechzehn": 16,
        "siebzehn": 17, "achtzehn": 18, "neunzehn": 19,
        "zwanzig": 20, "dreißig": 30, "vierzig": 40, "fünfzig": 50, "sechzig": 60,
        "siebzig": 70, "achtzig": 80, "neunzig": 90, "hundert": 100, "tausend": 1000,
    },
    "fr": {
        "deux": 2, "trois": 3, "quatre": 4, "cinq": 5, "six": 6, "sept": 7, "huit": 8, "neuf": 9,
        "dix": 10, "onze": 11, "douze": 12, "treize": 13, "quatorze": 14, "quinze": 15, "seize": 16,
        "vingt": 20, "trente": 30, "quarante": 40, "cinquante": 50, "soixante": 60,
        "cent": 100, "mille": 1000,
    },
    "es": {
        "dos": 2, "tres": 3, "cuatro": 4, "cinco": 5, "seis": 6, "siete": 7, "ocho": 8, "nueve": 9,
        "diez": 10, "once": 11, "doce": 12, "trece": 13, "catorce": 14, "quince": 15, "dieciséis": 16,
        "diecisiete": 17, "dieciocho": 18, "diecinueve": 19,
        "veinte": 20, "treinta": 30, "cuarenta": 40, "cincuenta": 50, "sesenta": 60,
        "setenta": 70, "ochenta": 80, "noventa": 90, "cien": 100, "mil": 1000,
    },
    "it": {
        "due": 2, "tre": 3, "quattro": 4, "cinque": 5, "sette": 7, "otto": 8, "nove": 9,
        "dieci": 10, "undici": 11, "dodici": 12, "tredici": 13, "quattordici": 14, "quindici": 15,
        "sedici": 16, "diciassette": 17, "diciotto": 18, "diciannove": 19,
        "venti": 20, "trenta": 30, "quaranta": 40, "cinquanta": 50, "sessanta": 60,
        "settanta": 70, "ottanta": 80, "novanta": 90, "cento": 100, "mille": 1000,
    },
    "pt": {
        "dois": 2, "duas": 2, "três": 3, "quatro": 4, "cinco": 5, "seis": 6, "sete": 7, "oito": 8, "nove": 9,
        "dez": 10, "onze": 11, "doze": 12, "treze": 13, "catorze": 14, "quatorze": 14, "quinze": 15,
        "dezesseis": 16, "dezessete": 17, "dezoito": 18, "dezenove": 19,
        "vinte": 20, "trinta": 30, "quarenta": 40, "cinquenta": 50, "sessenta": 60,
        "setenta": 70, "oitenta": 80, "noventa": 90, "cem": 100, "mil": 1000,
    },
}  # fmt: skip
"""Number words of other languages, which mean them in a text of that language only. The Italian "sei" is left
out: it is "you are", too."""

_GERMAN_START = tuple(sorted({word[:3] for word in FOREIGN_NUMBERS["de"]} | {"ein", "hun"}))


def may_be_foreign_number(word: str, spoken: str) -> bool:
    """Whether a number may begin with a word, in lower case, in the language `spoken`."""
    if word in FOREIGN_NUMBERS.get(spoken, ()) or word in _ONE.get(spoken, ()):
        return True
    return spoken == "de" and ("und" in word or "hundert" in word) and word.startswith(_GERMAN_START)


_FOREIGN_SHARES = {
    "de": {"hälfte": 2, "drittel": 3, "viertel": 4, "fünftel": 5, "sechstel": 6, "achtel": 8, "zehntel": 10},
    "fr": {"moitié": 2, "tiers": 3, "quart": 4, "quarts": 4, "cinquième": 5, "dixième": 10},
}
"""Words for a part of a whole: a third, a quarter."""

_ONE = {"de": frozenset(("ein", "einem", "eines", "die", "der")), "fr": frozenset(("un", "le", "la"))}
_GERMAN_COMPOUND = re.compile(
    r"(?:(?P<hundreds>[a-zäöüß]{3,6}|)hundert)?(?:(?P<ones>[a-zäöüß]{3,6})und)?(?P<rest>[a-zäöüß]{2,9})?\Z"
)
_FOREIGN_NEXT = re.compile(r"[ -](?:et[ -])?(?P<word>[^\W\d_]{2,9})(?![^\W\d_])")


def foreign_number(text: str, start: int, end: int, spoken: str) -> tuple[Decimal | None, int]:
    """The number that begins with the word from `start` to `end`, and where it ends: einundzwanzig, vingt et
    un, huit cents. None for no number of this language."""
    word, known = text[start:end].lower(), FOREIGN_NUMBERS.get(spoken, {})
    if word in _ONE.get(spoken, ()) and foreign_share(text, end, Decimal(1), spoken):
        return Decimal(1), end
    value = known.get(word)
    if value is None and spoken == "de":
        value = _german_compound(word, known)
    if value is None:
        return None, end
    while spoken == "fr" and (following := _FOREIGN_NEXT.match(text, end)):
        added = _french_next(value, following["word"].lower(), known)
        if added is None:
            break
        value, end = added, following.end()
    return Decimal(value), end


def _german_compound(word: str, known: Mapping[str, int]) -> int | None:
    found = _GERMAN_COMPOUND.match(word)
    if found is None or not (found["hundreds"] is not None or found["ones"]):
        return None
    ones = {**known, "ein": 1, "": 1}
    hundreds = 0 if found["hundreds"] is None else 100 * ones.get(found["hundreds"], 0)
    if found["hundreds"] is not None and not 0 < hundreds < 1000:
        return None
    rest = known.get(found["rest"] or "", 0 if not found["rest"] else -1)
    one = ones.get(found["ones"], -1) if found["ones"] else 0
    if rest < 0 or one < 0 or (found["ones"] and not (one < 10 and 20 <= rest < 100)):
        return None
    return hundreds + rest + one


def _french_next(value: int, word: str, known: Mapping[str, int]) -> int | None:
    """A number with its next word: cent for hundreds, and what is added to tens and hundreds."""
    if word in ("cent", "cents") and value < 100:
        return 100 * value
    added = 1 if word in ("un", "une") else known.get(word, 0)
    if word in ("vingts", "vingt") and value == 4:
        return 80
    fits = (value % 100 == 0 and added < 100) or (20 <= value % 100 <= 80 and value % 10 == 0 and added < 20)
    return value + added if added and fits else None


def foreign_share(text: str, end: int, value: Decimal, spoken: str) -> tuple[Decimal, int] | None:
    """The part of a whole of which the number that ends at `end` says how many: zwei Drittel, un quart."""
    following = _FOREIGN_NEXT.match(text, end)
    parts = _FOREIGN_SHARES.get(spoken, {}).get(following["word"].lower()) if following else None
    if following is None or parts is None or value >= parts:
        return None
    return ARITHMETIC.divide(value, Decimal(parts)), following.end()


RECURRING = {
    "twice": (2, ""), "thrice": (3, ""), "zweimal": (2, ""), "dreimal": (3, ""),
    "biennial": (2, "year"), "biennially": (2, "year"), "biennal": (2, "year"),
    "triennial": (3, "year"), "triennially": (3, "year"), "quadrennial": (4, "year"),
}  # fmt: skip
"""Words for how many times, or how often: the number, and of what. Yearly, monthly and daily are left out: a
yearly report is no backing for "12 months"."""

_VAGUE = re.compile(r"(?:several|few|many|some|couple of|per|every|each|last|past)\s{1,3}\Z", re.IGNORECASE)
_WORD = re.compile(r"(?P<and>\s{1,3}and\s{1,3}|\s{1,3}|-)?(?P<word>[A-Za-z]{2,12})(?![A-Za-z])")
_HALF = re.compile(r"half(?:(?:\s{1,3}|-)an?(?:\s{1,3}|-)(?P<scale>[a-z]{5,8})\b)?", re.IGNORECASE)
_MAX_WORDS = 16


class Spelled(NamedTuple):
    """A number in words that ends before `end`; `step` is what one more of its last word would add."""

    value: Decimal
    step: Decimal
    end: int
    form: Literal["number", "ordinal", "fraction"]


def spelled(text: str, start: int) -> Spelled | None:
    """The number that begins with the word at `start`, None when it is not a number ("several hundred")."""
    half = _HALF.match(text, start)
    if half is None:
        return _Reader(text, start).read()
    scale = _MULTIPLIED.get((half["scale"] or "").lower())
    if scale is None:
        return Spelled(Decimal("0.5"), Decimal("0.01"), start + 4, "fraction")
    return Spelled(Decimal(scale // 2), Decimal(max(1, scale // 10)), half.end(), "number")


class _Reader:
    """One walk along the words of a number, from the largest scale to the smallest."""

    def __init__(self, text: str, start: int) -> None:
        self._text = text
        self._start = start
        self._end = start
        self._total = 0
        self._current: int | None = None
        self._scale = 0
        self._step = 1
        self._form: Literal["number", "ordinal"] = "number"

    def read(self) -> Spelled | None:
        for _ in range(_MAX_WORDS):
            match = _WORD.match(self._text, self._end)
            if match is None or not self._takes(match["word"].lower(), (match["and"] or "").strip() == "and"):
                break
            self._end = match.end()
            if self._form != "number":
                break
        if self._end == self._start:
            return None
        value = Decimal(self._total + (self._current or 0))
        if self._form != "ordinal" and (fraction := self._fraction(value)):
            return fraction
        return Spelled(value, Decimal(self._step), self._end, self._form)

    def _takes(self, word: str, joined: bool) -> bool:
        """Whether the number goes on with `word`, which is then part of it."""
        if joined and not (self._total or (self._current or 0) >= 100):
            return False
        if word in _ADDED:
            return self._adds(_ADDED[word])
        if word in _ORDINALS and not joined:
            if not self._adds(_ORDINALS[word]):
                return False
            self._form = "ordinal"
            return True
        return not joined and self._multiplies(word)

    def _fits(self, value: int) -> bool:
        current = self._current or 0
        if current >= 100 and current % 100 == 0:
            return value < 100
        return current % 100 >= 20 and current % 10 == 0 and 1 <= value <= 9

    def _adds(self, value: int) -> bool:
        if self._current is not None and not self._fits(value):
            return False
        self._current = (self._current or 0) + value
        self._step = 1
        return True

    def _multiplies(self, word: str) -> bool:
        factor = _MULTIPLIED.get(word)
        begun = self._current is not None or self._total > 0
        if factor is None or (not begun and _VAGUE.search(self._text, max(0, self._start - 12), self._start)):
            return False
        return self._counts_by(factor) if word in ("hundred", "dozen") else self._scales(factor)

    def _counts_by(self, factor: int) -> bool:
        """Whether what was read last is so many hundreds or dozens."""
        if self._current is not None and not 1 <= self._current <= 99:
            return False
        self._current = (self._current or 1) * factor
        return True

    def _scales(self, scale: int) -> bool:
        """Whether what was read last is so many thousands, millions, …"""
        if (self._scale and scale >= self._scale) or (self._total and self._current is None):
            return False
        self._total += (self._current or 1) * scale
        self._current = None
        self._scale = self._step = scale
        return True

    def _fraction(self, value: Decimal) -> Spelled | None:
        """A fraction whose numerator was read: "two thirds", "one half"."""
        match = _WORD.match(self._text, self._end)
        denominator = _DENOMINATORS.get(match["word"].lower(), 0) if match else 0
        if match is None or not denominator or not 0 < value < denominator:
            return None
        plural = match["word"].lower().endswith("s")
        if plural != (value > 1):
            return None
        return Spelled(
            ARITHMETIC.divide(value, Decimal(denominator)), Decimal("0.01"), match.end(), "fraction"
        )
