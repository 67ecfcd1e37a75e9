"""Names and texts that look alike and are written with other characters: аlpha.example for alpha.example.

After the skeletons of Unicode Technical Standard 39 ("Unicode Security Mechanisms", section 4), cut down to
letters that are taken for Latin ones. Two names with one skeleton count as one publisher. That also joins a
few names that differ for good (mail and mall), which only ever asks for one more source.
"""

import unicodedata

_LETTERS = {
    "a": "аαɑ", "b": "Ьƅ", "c": "сϲᴄ", "d": "ԁɗ", "e": "еҽ℮", "f": "ƒſ", "g": "ɡց", "h": "һհ", "j": "јϳ",
    "k": "кκᴋ", "l": "ӏіιıɩ|1!iі", "m": "мᴍ", "n": "ոռ", "o": "оοσօ0ᴏ", "p": "рρ", "q": "ԛզ", "r": "гᴦ",
    "s": "ѕꜱ", "t": "тτᴛ", "u": "υսᴜ", "v": "νѵᴠ", "w": "ԝωᴡ", "x": "хχ×", "y": "уγʏ", "z": "ᴢ",
}  # fmt: skip
_LATIN = str.maketrans({other: letter for letter, others in _LETTERS.items() for other in others})
_OTHERS = {code: letter for code, letter in _LATIN.items() if code > 127}
_PAIRS = (("rn", "m"), ("vv", "w"))


def latin(text: str) -> str:
    """The text in lower case, without marks on its letters, and with Latin letters for others that look like
    them. What is ASCII stays."""
    plain = unicodedata.normalize("NFKD", text.lower())
    return "".join(each for each in plain if not unicodedata.combining(each)).translate(_OTHERS)


def skeleton(domain: str) -> str:
    """What a domain in the ASCII form of IDNA looks like."""
    plain = unicodedata.normalize("NFKD", _unicode(domain).lower())
    shape = "".join(each for each in plain if not unicodedata.combining(each)).translate(_LATIN)
    for pair, letter in _PAIRS:
        shape = shape.replace(pair, letter)
    return shape


def _unicode(domain: str) -> str:
    try:
        return domain.encode("ascii").decode("idna")
    except UnicodeError:
        return domain
