"""The headings that stand over a line of a canonical text.

Markdown says which lines are headings, and of which level; so does a line of = or - below one. Elsewhere a
heading is told by its form: a short line without an end that stands over a longer one or over a sentence. Of
these the nearest counts, and each one above it that is of a higher rank by what it begins with: "3.2" stands
under "3", a section under a chapter, and what is in small letters under what is in capitals. The first line
of a text is its title.
"""

import re
from collections.abc import Callable

REACH = 400
"""Lines above a line in which its headings are looked for."""

_MAX_LENGTH = 90
_MAX_WORDS = 12
_MARKED = re.compile(r"\s{0,3}(?P<level>#{1,6})\s{1,4}(?P<name>\S.{0,200}?)[\s#]{0,8}\Z")
_RULE = re.compile(r"\s{0,3}(?:={3,80}|-{3,80}|~{3,80})\s{0,3}\Z")
_ENDED = re.compile(r"[.,;!?。！？…][\"'”’)\]*_]{0,3}\Z")
_SENTENCE = re.compile(r"[.!?。！？][\"'”’)\]]{0,3}(?:\s|\Z)")
_NO_HEADING = re.compile(r"\s{0,40}(?:[-*•‣+|>]\s|[{}\[\]<>\"])|.*[\t|{}=<>;]")
_DIVIDER = re.compile(
    r"\s{0,8}\|?\s{0,8}(?P<name>[^|\t\n]{3,100}?)\s{0,8}(?:(?:[|\t]\s{0,8}){1,40}|[,;]{2,40})\Z"
)
"""A row whose first cell alone has words."""
_ROW = re.compile(r"[|\t]|,.*,|;.*;|[,;]\S")

_NUMBER = re.compile(r"\s{0,8}(?P<number>[0-9]{1,3}(?:\.[0-9]{1,3}){0,4})[.):]?\s{1,8}(?=[^\W\d])")
_RANKS = (
    re.compile(
        r"(?i)\W{0,3}(?:part|chapter|annex|appendix|schedule|title|book|teil|kapitel|anhang|anlage|buch|partie"
        r"|chapitre|annexe|titre|livre|parte|cap[ií]tulo|anexo|t[ií]tulo|ap[eé]ndice|capitolo|allegato|appendice"
        r"|titolo)\s(?:[0-9]{1,3}|[IVXLC]{1,6}|[A-Z])\b|第[一二三四五六七八九十0-9]{1,4}[编章部]|附[件录表]"
    ),
    re.compile(
        r"\W{0,3}[IVXLC]{1,6}[.)]\s|[一二三四五六七八九十]{1,3}、|第[一二三四五六七八九十0-9]{1,4}节|[A-Z][.)]\s"
        r"|(?i:section|abschnitt|secci[oó]n|sezione|se[cç][cç][aã]o)\s[0-9IVX]{1,6}\b"
    ),
    re.compile(
        r"(?i)\W{0,3}(?:article|artikel|art\.|§|art[ií]culo|articolo|artigo|clause|rule)\s?[0-9]{1,4}"
        r"|[(（][一二三四五六七八九十]{1,3}[)）]|第[一二三四五六七八九十百0-9]{1,5}条"
    ),
)
"""How headings without marks begin, the highest rank first."""
_TITLE, _CAPITALS = -2, -1
_PLAIN = 9
_TRIM = " \t*_#:："


def over(line_at: Callable[[int], str], line: int) -> tuple[str, ...]:
    """The headings over line `line` (from 1), the nearest first. `line_at` gives the text of a line.

    Looks at no more than REACH lines.
    """
    found: list[str] = []
    level, rank = 7, _PLAIN + 1
    below = line_at(line)
    in_table = _ROW.search(below) is not None
    ruled = ""
    for number in range(line - 1, max(0, line - 1 - REACH), -1):
        text = line_at(number)
        marked = _MARKED.match(text)
        if marked or (ruled and _is_heading(text, text + ".")):
            depth = len(marked["level"]) if marked else (1 if ruled[0] == "=" else 2)
            if depth < level:
                level = depth
                found.append((marked["name"] if marked else text).strip(_TRIM))
            if level == 1:
                break
        elif not found and in_table and (name := divider(text)):
            found.append(name)
        elif level == 7 and _is_heading(text, below):
            own = _TITLE if number == 1 and not line_at(2).strip() else _rank_of(text)
            if own < rank:
                rank = own
                found.append(text.strip(_TRIM))
        in_table = in_table and _ROW.search(text) is not None
        ruled = text.strip() if _RULE.match(text) else ""
        if text.strip() and not ruled:
            below = text
    return tuple(name for name in found if name)


def _rank_of(text: str) -> int:
    """The rank of a heading without marks, a lower number for a higher one."""
    if any(map(str.isalpha, text)) and text.isupper():
        return _CAPITALS
    for rank, begins in enumerate(_RANKS):
        if begins.match(text.strip()):
            return rank
    found = _NUMBER.match(text)
    return len(_RANKS) + found["number"].count(".") if found else _PLAIN


def is_marked(text: str) -> bool:
    """Whether a line is a heading of Markdown."""
    return _MARKED.match(text) is not None


def divider(text: str) -> str:
    """The words of a row that divides its table, '' for any other line."""
    found = _DIVIDER.match(text)
    return found["name"].strip(_TRIM) if found and any(map(str.isalpha, found["name"])) else ""


def divider_over(line_at: Callable[[int], str], line: int) -> str:
    """The words that divide the table of line `line` and stand over it: of a row, or of a line right over
    rows with tabs, as a cell is that spans them all. '' where there are none."""
    tabs = "\t" in line_at(line)
    for number in range(line - 1, max(0, line - 1 - REACH), -1):
        text = line_at(number)
        if name := divider(text):
            return name
        if tabs and "\t" not in text and len(text) <= _MAX_LENGTH:
            return text.strip(_TRIM)
        if not _ROW.search(text):
            break
    return ""


def _is_heading(text: str, below: str) -> bool:
    """Whether a line looks like a heading of the one below it."""
    name = text.strip()
    if not name or len(name) > _MAX_LENGTH or _ENDED.search(name) or _NO_HEADING.match(text):
        return False
    if not _begins(name[0]):
        return False
    if len(name.split()) > _MAX_WORDS or not any(map(str.isalpha, name)):
        return False
    if len(below.strip()) > len(name) or _SENTENCE.search(below) is not None:
        return True
    return _rank_of(text) < _rank_of(below) < _PLAIN


def _begins(letter: str) -> bool:
    """Whether a heading may begin with a letter or mark."""
    return letter.isupper() or letter.isdigit() or letter in "*_§(" or not letter.isascii()
