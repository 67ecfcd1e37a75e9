"""The headings that stand over a line of a canonical text.

Markdown says which lines are headings, and of which level. Elsewhere a heading is told by its form: a short
line without an end that stands over a longer one or over a sentence. Such a line has no level, so of these
only the nearest counts.
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

_TRIM = " \t*_#:："


def over(line_at: Callable[[int], str], line: int) -> tuple[str, ...]:
    """The headings over line `line` (from 1), the nearest first. `line_at` gives the text of a line.

    Looks at no more than REACH lines.
    """
    found: list[str] = []
    level = 7
    below = line_at(line)
    in_table = _ROW.search(below) is not None
    for number in range(line - 1, max(0, line - 1 - REACH), -1):
        text = line_at(number)
        if marked := _MARKED.match(text):
            if len(marked["level"]) < level:
                level = len(marked["level"])
                found.append(marked["name"].strip(_TRIM))
            if level == 1:
                break
        elif not found and (name := (in_table and divider(text)) or _is_heading(text, below)):
            found.append(name.strip(_TRIM))
        in_table = in_table and _ROW.search(text) is not None
        if text.strip() and not _RULE.match(text):
            below = text
    return tuple(name for name in found if name)


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


def _is_heading(text: str, below: str) -> str:
    """The line where it looks like a heading of the one below it, '' where it does not."""
    name = text.strip()
    if not name or len(name) > _MAX_LENGTH or _ENDED.search(name) or _NO_HEADING.match(text):
        return ""
    if not (name[0].isupper() or name[0].isdigit() or name[0] in "*_§(" or not name[0].isascii()):
        return ""
    if len(name.split()) > _MAX_WORDS or not any(map(str.isalpha, name)):
        return ""
    return text if len(below.strip()) > len(name) or _SENTENCE.search(below) else ""
