"""Text that a plain file keeps and takes back: what a diff takes out, an unresolved conflict of a merge, text
between marks of a deletion, and settings and rows that are commented out."""

import re
from collections.abc import Iterator, Sequence

from vera.extraction.canonical.commented import commented
from vera.extraction.marks import STRUCK, Mark, bounded, joined

_HUNK = re.compile(rb"@@ -[0-9]{1,9}(?:,(?P<old>[0-9]{1,9}))? \+[0-9]{1,9}(?:,(?P<new>[0-9]{1,9}))? @@")
_IN_HUNK = (b" ", b"+", b"-", b"\\")
_SIGNATURE = re.compile(rb"-- ?\n?\Z")
"""What stands over the signature of a mail, which may hold a diff."""

_CONFLICT = re.compile(rb"^(?:(?P<opens><)<{6}(?: [^\n]*)?|={7}|(?P<ends>>)>{6}(?: [^\n]*)?)$", re.MULTILINE)
_LONGEST = 4000
_WORDS = (
    "(?i:deleted|struck(?: out)?|stricken|removed|gestrichen|entfernt|eliminad[oa]s?|suprimid[oa]s?"
    "|tachad[oa]s?|eliminat[oaie]|soppress[oaie]|apagad[oa]s?|exclu(?:i|í)d[oa]s?|gel(?:ö|Ö)scht"
    "|(?:supprim|biff|ray)(?:é|É)e?s?)|(?:已)?删除"
)
_SIGN = f"\\[\\s?(?:{_WORDS})(?:\\s|\u00a0)?(?::|：)"
_DELETED = re.compile(
    (
        r"`[^`\n]{1,400}`"
        rf"|(?P<inline>{_SIGN}(?:[^\[\]]|\[[^\[\]]{{0,400}}\]){{1,{_LONGEST}}}+\])"
        rf"|{_SIGN}\][ \t]{{0,8}}\n?(?P<line>[^\[\n]{{1,{_LONGEST}}})"
        rf"|(?<!\{{)\{{(?P<critic>--(?:(?!--\}}|\{{--|\n[ \t]*\n)[\s\S]){{1,{_LONGEST}}}--)\}}"
        rf"|\{{~~(?P<old>(?:(?!~>|~~\}}|\{{~~|\n[ \t]*\n)[\s\S]){{1,{_LONGEST}}})~>"
    ).encode()
)
"""[Deleted: …], a line behind [Deleted:], and {--…--} and {~~…~>…~~} as CriticMarkup has them, none
within another of its kind, so that each is looked through once. Code has none."""
_PROSE = ("", ".txt", ".text", ".md", ".markdown", ".rst", ".adoc", ".org")
"""Suffixes of files that may have CriticMarkup: in some languages of programs its signs are others."""


def taken_out(text: bytes, suffix: str, media_type: str = "text/plain") -> tuple[Mark, ...]:
    """The marks of a plain text whose file's name ends with `suffix`."""
    found = [*_of_diff(text), *conflicts(text), *deleted(text, suffix), *commented(text, suffix, media_type)]
    return united(text, found)


def united(text: bytes, found: Sequence[Mark]) -> tuple[Mark, ...]:
    """Marks in order, none over another: of two the one that begins first keeps what both have."""
    apart: list[Mark] = []
    for mark in sorted(found, key=lambda each: (each.start, -each.end)):
        start = max(mark.start, apart[-1].end if apart else 0)
        if start < mark.end:
            apart.append(mark._replace(start=start))
    return bounded(joined(text, apart))


def conflicts(text: bytes) -> Iterator[Mark]:
    """Both sides of each unresolved conflict of a merge."""
    start, has_sides = -1, False
    for found in _CONFLICT.finditer(text) if b"<<<<<<<" in text else ():
        if found["opens"]:
            start, has_sides = found.start(), False
        elif not found["ends"]:
            has_sides = start != -1
        elif has_sides:
            yield Mark(STRUCK, start, found.end())
            start, has_sides = -1, False


def deleted(text: bytes, suffix: str, start: int = 0, end: int | None = None) -> Iterator[Mark]:
    """What stands between marks of a deletion from `start` to `end`."""
    for found in _DELETED.finditer(text, start, len(text) if end is None else end):
        kind = found.lastgroup or ""
        if kind in ("inline", "line") or (kind and suffix in _PROSE):
            yield Mark(STRUCK, *found.span(kind))


def _of_diff(text: bytes) -> Iterator[Mark]:
    """The lines that a unified diff takes out. Behind as many lines as the head of a hunk says, it goes on as
    long as lines begin as those of a hunk do."""
    if b"@@ -" not in text:
        return
    lines = text.splitlines(keepends=True)
    position = old = new = 0
    is_diff = in_hunk = False
    for number, line in enumerate(lines):
        if head := _HUNK.match(line) if is_diff else None:
            old, new, in_hunk = int(head["old"] or 1), int(head["new"] or 1), True
        elif in_hunk and ((old, new) > (0, 0) or line.startswith(_IN_HUNK)) and not _begins(lines, number):
            is_out = line.startswith(b"-") and not _SIGNATURE.match(line)
            if is_out:
                yield Mark(STRUCK, position, position + len(line.rstrip(b"\n")))
            old, new = _left(old, is_out or not line.startswith((b"+", b"-"))), _left(new, not is_out)
        else:
            in_hunk = False
            is_diff = is_diff or _begins(lines, number)
        position += len(line)


def _left(count: int, counts: bool) -> int:
    return max(0, count - counts)


def _begins(lines: Sequence[bytes], number: int) -> bool:
    """Whether the head of a file's diff begins with a line: `--- `, `+++ ` and `@@ `."""
    begins = (b"--- ", b"+++ ", b"@@ ")
    return [line[: len(begin)] for line, begin in zip(lines[number : number + 3], begins, strict=False)] == [
        *begins
    ]
