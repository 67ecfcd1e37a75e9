"""What a command and its scripts say outright: numbers and words that they did not have to compute.

A value that is in the program was put there, however it is dressed: in quotes, taken apart by quotes, in
hexadecimal, as escapes, in base64, backwards. What this does not see is a value made of harmless pieces by
arithmetic; a program that does that without reading its input shows by its constants (`constants`).
"""

import base64
import binascii
import re
from collections.abc import Iterator
from decimal import Decimal
from functools import cached_property

from vera.text.late_regex import late_regex
from vera.text.words import folded, stems

STRUCTURAL = frozenset(map(Decimal, (0, 1, 2, 10, 100, 1000)))
"""Numbers that say nothing about a value: a program without any is hardly one."""

MAX_TOKENS = 5000
"""Words of a program that are looked at as base64."""

_NUMBER = late_regex(
    r"(?<![\w.])(?:0[xX](?P<hex>[0-9a-fA-F]{1,16})"
    r"|(?P<plain>[0-9][0-9_]{0,30}(?:\.[0-9]{1,30})?|\.[0-9]{1,30})(?:[eE](?P<exponent>[+-]?[0-9]{1,2}))?)"
    r"(?![0-9A-Za-z_])"
)
_THOUSANDS = late_regex(r"(?<![\w.,])[0-9]{1,3}(?:,[0-9]{3}){1,6}(?:\.[0-9]{1,30})?(?![\w,])")
# Places where a number is no value: fields ($2), subscripts (row[2]), descriptors (2>&1), number formats
# (%.3f, :.2f) and names of encodings.
_FORM = late_regex(
    r"\$[0-9]{1,2}(?![0-9])|\$\{[0-9]{1,2}\}|(?<=[\w\])])\[-?[0-9]{1,2}\]|[0-9]?>&[0-9]|(?<![\w.])[0-9](?=>)"
    r"|[%:],?[0-9]{0,2}\.?[0-9]{1,2}[a-z%](?![\w])|(?i:utf-?(?:8|16|32)|latin-?[0-9]|iso-?8859-[0-9]{1,2})"
)
_OPTION = late_regex(r"(?<=\s)-[A-Za-z]?[0-9](?![0-9A-Za-z.])")
_JOINING = late_regex(r"['\"\\]")
_ESCAPE = late_regex(r"\\(?:x(?P<hex>[0-9a-fA-F]{2})|u(?P<wide>[0-9a-fA-F]{4})|0?(?P<octal>[0-7]{2,3}))")
_BASE64 = late_regex(r"(?<![A-Za-z0-9+/=])[A-Za-z0-9+/]{2,4096}={0,2}(?![A-Za-z0-9+/=])")
_BACKWARDS = late_regex(r"\brev\b|\[::-1\]|\breversed?\b")
_TEXT_TO_NUMBER = late_regex(
    r"\b(?:len|ord|int|hash|length|count|index|find|sum|bytes|hex)\s{0,4}\(|\$\{#|\b(?:wc|md5sum|sha\d+sum|cksum|od|xxd)\b"
)
_DATA = late_regex(
    r"'([^'\"\n(){}=;$]{1,4000})'|\"([^'\"\n(){}=;$]{1,4000})\""
    r"|\b(?:echo|printf)[ \t]{1,8}(?:-\w{1,4}[ \t]{1,8})?([^\n|;&<>\"'$]{1,4000})"
)

_DIGITS = r"[0-9][0-9_]{0,30}(?:\.[0-9]{1,30})?"
_OPERAND = late_regex(
    rf"(?:\$\w{{1,20}}|[)\]]|\b[A-Za-z_]\w{{0,40}})[ \t]{{0,3}}[*+%][ \t]{{0,3}}({_DIGITS})(?![\w\]])"
    rf"|(?:\$\w{{1,20}}|[)\]]|\b[A-Za-z_])[ \t]{{0,3}}-[ \t]{{0,3}}({_DIGITS})(?![\w\]])"
    rf"|(?:\$\w{{1,20}}|\)|\w[ \t])[ \t]{{0,3}}/[ \t]{{0,3}}({_DIGITS})(?![\w/\]])"
    rf"|(?<![\w.\[-])({_DIGITS})[ \t]{{0,3}}[*+-][ \t]{{0,3}}(?:[$(]|[A-Za-z_]\w{{0,40}}\b(?!\.\w))"
)
_WIDTH = late_regex(r"%[-0+ ]?([0-9]{2,9})[sdc]")
"""The width of a printed text, whose length may be counted."""

_SED = late_regex(r"\b(?:sed|perl|ruby)\b")
_SUBSTITUTES = late_regex(
    r"(?<![A-Za-z])s(?P<mark>[/|#,@!:;~])(?:\\.|(?!(?P=mark))[^\n]){1,300}(?P=mark)"
    r"(?P<new>(?:\\.|(?!(?P=mark))[^\n]){0,300})(?P=mark)"
    r"|(?<=['\"0-9$/ ])[aic]\\[ \t\n]{0,8}(?P<line>[^'\"\n]{1,300})"
)
_REPLACES = late_regex(
    r"\bg?(?:en)?sub\([^,\n]{1,300},\s{0,4}[\"']([^\"'\n]{0,300})[\"']"
    r"|\.replace\([^,\n]{1,300},\s{0,4}[\"']([^\"'\n]{0,300})[\"']"
)
_TR = late_regex(r"\btr[ \t]{1,8}(?!-d\b|-s\b|-cd\b)(?:-\w{1,3}[ \t]{1,8})?\S{1,80}[ \t]{1,8}\S{1,80}")
_CASES = late_regex(r"\[:(?:upper|lower|space|blank|punct):\]|A-Z|a-z|\\[nrt]|^tr\s+'?\W{1,8}\s")
_PRINTS = late_regex(r"\b(?:echo|printf|print|g?awk|python[0-9.]{0,5}|perl|ruby|node|php)\b|<<")


class Program:
    """The text of one command and of the scripts that it runs. Each property is found when asked for."""

    def __init__(self, text: str) -> None:
        self.text = text

    @cached_property
    def numbers(self) -> frozenset[Decimal]:
        """Every number that is in it, in any dress; a number in a structural place does not."""
        plain = _OPTION.sub(" ", _FORM.sub(" ", self.text))
        return frozenset(number for text in _readings(plain) for number in _numbers(text))

    @cached_property
    def constants(self) -> frozenset[Decimal]:
        """The numbers that a calculation rests on: all but those in structural places and STRUCTURAL."""
        widths = frozenset(map(Decimal, _WIDTH.findall(self.text))) if self.measures else frozenset()
        return (frozenset(_numbers(_FORM.sub(" ", self.text))) | widths) - STRUCTURAL

    @cached_property
    def measures(self) -> bool:
        """Whether it turns text into numbers: `len(…)`, `ord(…)`, `wc`."""
        return _TEXT_TO_NUMBER.search(self.text) is not None

    @cached_property
    def operands(self) -> frozenset[Decimal]:
        """The constants with which it calculates: `$1*707`, `s+3035`."""
        found = [next(filter(None, match.groups())) for match in _OPERAND.finditer(self.text)]
        if self.measures:
            found += _WIDTH.findall(self.text)
        return frozenset(number for written in found for number in _numbers(written)) & self.constants

    @cached_property
    def rewritten(self) -> frozenset[str]:
        """The stems of words that it puts in the place of others: with sed, tr, gsub, replace."""
        found = [next(filter(None, match.groups()), "") for match in _REPLACES.finditer(self.text)]
        if _SED.search(self.text):
            found += [match["new"] or match["line"] or "" for match in _SUBSTITUTES.finditer(self.text)]
        return frozenset(stem for text in found for stem in stems(_JOINING.sub(" ", text)))

    @cached_property
    def turns_letters(self) -> bool:
        """Whether it exchanges letters one by one (`tr ab 42`), other than their case."""
        return any(not _CASES.search(match[0]) for match in _TR.finditer(self.text))

    @cached_property
    def written(self) -> frozenset[str]:
        """The stems of words that it may print by itself: `rewritten`, and pieces of text in it, but for what
        a search looks for."""
        prints = _PRINTS.search(self.text) is not None
        pieces = (next(filter(None, match.groups())) for match in _DATA.finditer(self.text)) if prints else ()
        return self.rewritten | {stem for piece in pieces for stem in stems(piece)}

    @cached_property
    def stems(self) -> frozenset[str]:
        """The stems of every word that is in it, in any dress."""
        return frozenset(stem for text in _readings(self.text) for stem in stems(text))

    @cached_property
    def folded(self) -> str:
        return folded("\n".join(_readings(self.text)))

    @cached_property
    def measured_text(self) -> tuple[str, ...]:
        """Pieces of text that it may turn into numbers, as `len("…")` and `echo … | wc -c` do."""
        if not self.measures:
            return ()
        pieces = (next(filter(None, match.groups())) for match in _DATA.finditer(self.text))
        return tuple(piece.strip() for piece in pieces if any(map(str.isalnum, piece)) and len(piece) > 1)


def _readings(text: str) -> list[str]:
    """The text as it stands, and with its dresses taken off."""
    readings = [text, _JOINING.sub("", text), _ESCAPE.sub(_unescaped, text), *_decoded(text)]
    return [*readings, *(reading[::-1] for reading in readings)] if _BACKWARDS.search(text) else readings


def _numbers(text: str) -> Iterator[Decimal]:
    for match in _NUMBER.finditer(text):
        if match["hex"]:
            yield Decimal(int(match["hex"], 16))
            continue
        number = Decimal(match["plain"].replace("_", ""))
        yield number.scaleb(int(match["exponent"])) if match["exponent"] else number
    for match in _THOUSANDS.finditer(text):
        yield Decimal(match[0].replace(",", ""))


def _unescaped(match: re.Match[str]) -> str:
    if match["octal"]:
        return chr(int(match["octal"], 8))
    return chr(int(match["hex"] or match["wide"], 16))


def _decoded(text: str) -> Iterator[str]:
    """The words that are base64 of printable text, decoded."""
    for number, match in enumerate(_BASE64.finditer(text)):
        if number == MAX_TOKENS:
            return
        token = match[0].rstrip("=")
        try:
            data = base64.b64decode(token + "=" * (-len(token) % 4), validate=True).decode("ascii")
        except (binascii.Error, UnicodeDecodeError):
            continue
        if data.strip().isprintable():
            yield data
