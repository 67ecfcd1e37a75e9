"""What a word is: the same rule for the text that is indexed and for the query.

SQLite's `unicode61` tokenizer with Porter stemming splits at everything that is neither letter nor digit.
Scripts that write no spaces between words get one round each character, and a word of such a script is
then searched as the phrase of its characters: 验证 is found in 研究即验证, 模型 is not found in 模的型.
"""

import re
import string

from vera.text.late_regex import late_regex

TOKENIZER = "porter unicode61 remove_diacritics 2"

_UNSPACED = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u0f00-\u109f"  # Tibetan, Myanmar
    "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"  # Hangul
    "\u1780-\u17ff"  # Khmer
    "\u2e80-\u2fdf\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Han
    "\U00020000-\U0003ffff"  # Han, later planes
    "\u3040-\u30ff\u31f0-\u31ff\uff66-\uff9f"  # Hiragana, Katakana
)
_UNSPACED_CHARACTER = late_regex(f"([{_UNSPACED}])")
_UNSPACED_RUN = late_regex(f"[{_UNSPACED}]+")
_PUNCTUATION = string.punctuation + "“”„‘’‚«»‹›…–—。、，！？；：（）「」『』【】《》・"


_ASCII = bytes(range(128))
_LEADING_BYTES = re.compile(rb"[\xe0\xe1\xe3-\xed\xef\xf0]|\xe2[\xba-\xbf]")


def needs_spaces(utf8: bytes) -> bool:
    """Whether `spaced` could change this text; a quick look at the bytes, which says yes rather too often."""
    return not utf8.isascii() and _LEADING_BYTES.search(utf8.translate(None, _ASCII)) is not None


def spaced(text: str) -> str:
    """The text with spaces round each character of a script that writes none between words."""
    if text.isascii() or not _UNSPACED_CHARACTER.search(text):
        return text
    return " ".join(_UNSPACED_CHARACTER.split(text))  # five times as fast as `sub`


def words(text: str) -> list[str]:
    """The words of a query, in order, each to be searched as one phrase.

    What stands between spaces is a word (`foo.bar`, `ERR_CONN-42`); a run of an unspaced script gives its
    overlapping pairs of characters, since where its words end cannot be known without a dictionary.
    """
    found: list[str] = []
    for piece in text.split():
        position = 0
        for run in _UNSPACED_RUN.finditer(piece):
            found.append(piece[position : run.start()])
            characters = run.group()
            found += [characters[i : i + 2] for i in range(max(len(characters) - 1, 1))]
            position = run.end()
        found.append(piece[position:])
    stripped = (word.strip(_PUNCTUATION) for word in found)
    return [word for word in stripped if any(character.isalnum() for character in word)]


_NAME_AND_NUMBER = late_regex(r"([^\W\d_]+?)[-_ ]?v?(\d+(?:\.\d+)*)", re.ASCII)


def forms(word: str) -> tuple[str, ...]:
    """The ways in which a word is written: `GPLv3`, `GPL-3` and `GPL3` are one and the same."""
    match = _NAME_AND_NUMBER.fullmatch(word)
    if match is None:
        return (word,)
    name, number = match.groups()
    return tuple(dict.fromkeys((word, f"{name}{number}", f"{name} {number}", f"{name}v{number}")))


def parts(word: str) -> list[str]:
    """The pieces of a compound word, for one that is nowhere as a whole."""
    return re.findall(r"[^\W_]+", word)


_JOINT = late_regex(r"(?<=[a-z])(?=[A-Z0-9])|(?<=[0-9])(?=[A-Za-z])")
_NAME_CHARACTERS = 300
_HEAD_CHARACTERS = 240
_HEAD_LINES = 3
_TELLING_LINE = late_regex(r"^(?:[^\w\n]|_)*[^\W_].*", re.MULTILINE)


def name_text(path: str, title: str, text: bytes) -> str:
    """What a file is known by: its path (`relNotes2.md` also as `rel Notes 2 md`), title and first lines."""
    path = path[-_NAME_CHARACTERS:]
    start = text[: 4 * _HEAD_CHARACTERS].decode(errors="ignore")
    lines = _TELLING_LINE.findall(start, 0, 2 * _HEAD_CHARACTERS)[:_HEAD_LINES]
    head = " / ".join(" ".join(line.split()) for line in lines)[:_HEAD_CHARACTERS]
    titled = () if title in head else (title,)
    return "\n".join(dict.fromkeys((path, _JOINT.sub(" ", path), *titled, head)))
