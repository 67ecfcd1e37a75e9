"""Where in a file a problem is, for programs that show it there: line, columns, address."""

import os
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import quote

from vera.cli.check_text import is_difference

if TYPE_CHECKING:
    from vera.document_check.findings import Problem

_WORDS = re.compile(r"\S+(?:\s+\S+){0,2}")


class Region(NamedTuple):
    """A line of a file from 1 on, and columns in UTF-16 code units from 1 on, the end exclusive; 0: the
    whole line."""

    line: int
    column: int = 0
    end_column: int = 0


def region(problem: "Problem", lines: Sequence[str]) -> Region:
    """The value that a problem is about, else its statement, else its line. `lines` are those of the file."""
    if not 0 < problem.line <= len(lines):
        return Region(max(1, problem.line))
    line = lines[problem.line - 1].rstrip()
    start, end = _statement(problem.claim, line)
    if problem.detail and not is_difference(problem.detail):
        value = re.compile(rf"(?<!\w){re.escape(problem.detail)}(?!\w)")
        found = value.search(line, max(start, 0)) or value.search(line)
        if found is not None:
            start, end = found.span()
    if start < 0:
        return Region(problem.line)
    return Region(problem.line, _units(line[:start]) + 1, _units(line[:end]) + 1)


def _statement(claim: str, line: str) -> tuple[int, int]:
    """Where a statement is in a line: whole, or from its first words to the line's end; -1 for nowhere."""
    start = line.find(claim) if claim else -1
    if start >= 0:
        return start, start + len(claim)
    words = _WORDS.match(claim)
    return (line.find(words[0]) if words else -1), len(line)


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def relative(document: str) -> str | None:
    """A document's path below the working folder, with `/`; None for one that is elsewhere."""
    try:
        return absolute(document).relative_to(Path.cwd()).as_posix()
    except ValueError:
        return None


def absolute(document: str) -> Path:
    """A document's whole path without `..`; a link is not followed, for it is the link that was given."""
    return Path(os.path.normpath(Path.cwd() / document))


def uri(path: str) -> str:
    """A relative path as a URI reference (RFC 3986)."""
    return quote(os.fsencode(path), safe="/")
