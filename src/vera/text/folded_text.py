"""A text in a folded form, with the way back: what is set otherwise becomes the same, what is said does not.

Folded are white space, the kinds of quotation marks and dashes, ligatures and compatibility letters,
invisible characters, hyphens at line ends, marks of emphasis and of footnotes. Letters, digits, superscripts
and fractions are kept.
"""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Callable, Iterator
from functools import lru_cache

_TRIES = 500

STRIDE = 4096
_QUOTES = "'\"‘’‚‛“”„‟′″«»‹›「」『』＇＂"
_DASHES = "\u2010-\u2015\u2212\ufe58\ufe63\uff0d"
_INVISIBLE = "\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff\x02\ufffe"
_ACCENTS = "\u0300-\u036f\u1dc0-\u1dff\u20d0-\u20ff\u3099\u309a"
# Compatibility characters that are the same letter or digit set otherwise. Superscripts and fractions are not
# among them: 10² is no 102.
_COMPATIBLE = (
    "\u00b5\u2080-\u208e\u2116\u2126\u212a\u212b\u2160-\u217f\u2f00-\u2fd5\uf900-\ufaff\ufb00-\ufb4f"
    "\ufb50-\ufdff\ufe70-\ufefc\uff01\uff03-\uff06\uff08-\uff0c\uff0e-\uff5e\uff66-\uff9f\U0001d400-\U0001d7ff"
)
_SPACE = rf"(?P<space>(?! [^\s{_INVISIBLE}])[\s{_INVISIBLE}]+)"
_TYPOGRAPHY = (
    rf"(?P<quote>''|[{_QUOTES}])|(?P<dash>--+|[{_DASHES}]+)|(?P<dots>…)|(?P<compatible>[{_COMPATIBLE}])"
)
_HYPHEN = r"(?P<hyphen>(?<=[^\W\d_])[-\u2010\u00ad][ \t]*\n\s*(?=[^\W\d_]))"
_LAYOUT = (
    rf"(?P<blank>(?:[\s{_INVISIBLE}]"
    r"|\[(?:[0-9]{1,3}|[a-z]|note [0-9]{1,2}|citation needed)\]"
    r"|(?<!\w)(?:\*{1,3}|_{1,2})(?=[\w(\[`])|(?<=[\w.,;:!?)\]`])(?:\*{1,3}|(?<!_)_{1,2})(?!\w)|`{1,3}"
    r"|^(?:>[> ]{0,8}|#{1,6} ))++)"
)
CJK = "\u3000-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff00-\uffef"

CJK_CHARACTER = re.compile(f"[{CJK}]")

Pieces = Callable[[str], Iterator[tuple[int, int, str]]]
"""The pieces of a text that a form writes otherwise: from, to, and what it writes instead."""


def as_written(text: str) -> Iterator[tuple[int, int, str]]:
    yield from ()


def typography(text: str) -> Iterator[tuple[int, int, str]]:
    """White space of one kind, and one kind of quotation marks, dashes, letters."""
    for piece in _pattern("typography", _has_accents(text)).finditer(text):
        yield piece.start(), piece.end(), _folded(piece)


def squeezed(text: str) -> Iterator[tuple[int, int, str]]:
    """As `typography`; white space not between letters or digits is dropped, and so are marks of layout."""
    for piece in _pattern("layout", _has_accents(text)).finditer(text):
        kept = piece.lastgroup == "blank" and _spaced(piece, _is_letter)
        yield piece.start(), piece.end(), " " if kept else _folded(piece)


def squeezed_loose(text: str) -> Iterator[tuple[int, int, str]]:
    """As `squeezed`; white space is kept between digits only."""
    for piece in _pattern("layout", _has_accents(text)).finditer(text):
        kept = piece.lastgroup == "blank" and _spaced(piece, str.isdigit)
        yield piece.start(), piece.end(), " " if kept else _folded(piece)


@lru_cache
def _pattern(form: str, accents: bool) -> re.Pattern[str]:
    head = _SPACE if form == "typography" else f"{_HYPHEN}|{_LAYOUT}"
    marked = rf"|(?P<accents>[^\W\d_][{_ACCENTS}]+)" if accents else ""
    return re.compile(f"{head}|{_TYPOGRAPHY}{marked}", re.MULTILINE)


@lru_cache(maxsize=1)
def _accents() -> re.Pattern[str]:
    return re.compile(f"[{_ACCENTS}]")


def _has_accents(text: str) -> bool:
    return not text.isascii() and _accents().search(text) is not None


def _is_letter(char: str) -> bool:
    return char.isalnum() and not CJK_CHARACTER.match(char)


def _spaced(piece: re.Match[str], joins: Callable[[str], bool]) -> bool:
    """Whether the piece holds white space and stands between two characters that it keeps apart."""
    before, after = (
        piece.string[piece.start() - 1 : piece.start()],
        piece.string[piece.end() : piece.end() + 1],
    )
    return bool(before and after) and joins(before) and joins(after) and any(map(str.isspace, piece.group()))


def _folded(piece: re.Match[str]) -> str:
    match piece.lastgroup:
        case "space":
            return " " if any(map(str.isspace, piece.group())) else ""
        case "quote":
            return "'"
        case "dash":
            return "-"
        case "dots":
            return "..."
        case "compatible" | "accents":
            return unicodedata.normalize("NFKC", piece.group())
    return ""


class FoldedText:
    """A text in a folded form, and where each of its characters came from. In one that is `glued` words run
    into each other, so that only the original tells where they end."""

    def __init__(self, text: str, pieces: Pieces, *, glued: bool = False) -> None:
        self._pieces = pieces
        self._original = text
        self._glued = glued
        chunks: list[str] = []
        self._at, self._from, length, position = [0], [0], 0, 0
        for start, end, instead in pieces(text):
            chunks += (text[position:start], instead)
            length += start - position
            self._at += (length, length + len(instead))
            self._from += (start, end)
            length += len(instead)
            position = end
        chunks.append(text[position:])
        self.text = "".join(chunks)

    def fold(self, quote: str) -> str:
        """`quote` in the same form."""
        out: list[str] = []
        position = 0
        for start, end, instead in self._pieces(quote):
            out += (quote[position:start], instead)
            position = end
        return "".join([*out, quote[position:]]).strip()

    def find(self, wanted: str, *, cut: bool = False) -> tuple[int, int] | None:
        """Start and end, in characters of the original, of the first place where `wanted` stands as whole
        words, or, when `cut`, from or to the middle of one."""
        found = self.find_folded(wanted, cut=cut)
        return self.original(*found) if found else None

    def find_folded(self, wanted: str, position: int = 0, *, cut: bool = False) -> tuple[int, int] | None:
        """The same in characters of the folded text, from `position`."""
        for _ in range(_TRIES if wanted else 0):
            start = self.text.find(wanted, position)
            if start < 0:
                return None
            end = start + len(wanted)
            if self._begins(start) and self._begins(end) and self._apart(start, end, cut=cut):
                return start, end
            position = start + 1
        return None

    def _apart(self, start: int, end: int, *, cut: bool) -> bool:
        """Whether no word or number goes on beyond the passage."""
        if any(_joined(self._original, at, cut=cut) for at in self.original(start, end)):
            return False
        return self._glued or not any(_joined(self.text, at, cut=cut) for at in (start, end))

    def original(self, start: int, end: int) -> tuple[int, int]:
        """The characters of the original that stand for the folded ones from `start` to `end`."""
        return self._source(start, last=True), self._source(end, last=False)

    def _source(self, offset: int, *, last: bool) -> int:
        """Where a folded offset came from. Dropped characters stand at one offset with what follows them: a
        passage begins after them (`last`) and ends before them."""
        index = bisect_right(self._at, offset) - 1
        if not last:
            while index > 0 and self._at[index - 1] == offset:
                index -= 1
        return self._from[index] + (offset - self._at[index])

    def _begins(self, offset: int) -> bool:
        """Whether no character of the original was folded to characters on both sides of `offset`."""
        index = bisect_right(self._at, offset) - 1
        inside = self._at[index] < offset
        return not inside or index % 2 == 0 or index + 1 >= len(self._at)


def _joined(text: str, at: int, *, cut: bool) -> bool:
    """Whether what stands before and after `at` is one word, or one number ("1" of "1.5", "5" of "-5"); two
    letters are let through when `cut`."""
    if not 0 < at < len(text):
        return False
    before, after = text[at - 1], text[at]
    if CJK_CHARACTER.match(before) or CJK_CHARACTER.match(after):
        return before.isdigit() and after.isdigit()
    if unicodedata.combining(after):
        return True
    if before.isalnum() and after.isalnum():
        return not (cut and before.isalpha() and after.isalpha())
    if before in "'’" and after.isalpha():
        return text[max(0, at - 2) : at - 1].isalnum()
    if after.isdigit() and before in ".,":
        return text[max(0, at - 2) : at - 1].isdigit()
    if after.isdigit() and before in "-+":
        return not text[max(0, at - 2) : at - 1].strip()
    return before.isdigit() and (after == "%" or (after in ".," and text[at + 1 : at + 2].isdigit()))
