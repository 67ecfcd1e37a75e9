"""Whether what a command printed stands so in its input: whole sentences or cells, and no word cut out.

A command can drop a "not", cut a sentence before its "unless", or join the halves of two, and print only
words that it has read. A line of prose that it prints proves what it says only where a file of the input has
it.
"""

import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from vera.text.whole_sentences import runs_on
from vera.text.words import folded

MAX_BYTES = 64 << 20
"""Of a larger input nothing is said."""

MAX_LINES = 200
"""Printed lines that are looked for."""

PROSE_WORDS = 4
"""A printed line of fewer words is a value or a name."""

_WORD = re.compile(r"[^\W\d_]+")
_WHERE = re.compile(r"(?:[\w./-]{1,200}[:-])?(?:\s{0,12}[0-9]{1,9}[:\t -]\s{0,8})?")
"""What grep -n, nl and uniq -c put before a line."""
_TRIM = " \t-*•\"'“”"
_BEGINS = re.compile(r"(?:\A|[.!?:;,|\t\"'“”()\[\]{}>])[\s\-*•\"'“”]*\Z")
_ENDS = re.compile(r"[\s\"'“”]*(?:\Z|[.!?:;,|\t\"'“”()\[\]{}<])")


def altered_lines(printed: Mapping[int, str], folder: Path) -> tuple[int, ...]:
    """The numbers of the lines of prose that no text file of the folder has as they were printed; ()
    where the folder is too large to tell. Raises OSError."""
    asked = {
        number: line
        for number, line in list(printed.items())[:MAX_LINES]
        if len(_WORD.findall(line)) >= PROSE_WORDS
    }
    if not asked:
        return ()
    texts = _texts(folder)
    if texts is None:
        return ()
    blocks = [block for text in texts for block in _blocks(text.splitlines())]
    return tuple(number for number, line in asked.items() if not _stands(line, blocks))


def _stands(line: str, blocks: Iterable[str]) -> bool:
    wanted = {_plain(line), _plain(line[_end_of_mark(line) :])} - {""}
    return any(_is_whole(each, block) for block in blocks for each in wanted)


def _end_of_mark(line: str) -> int:
    found = _WHERE.match(line)
    return found.end() if found else 0


def _plain(text: str) -> str:
    return folded(text).strip(_TRIM).rstrip(".")


def _is_whole(wanted: str, block: str) -> bool:
    """Whether a block has the words from the beginning of a sentence or cell to the end of one."""
    start = block.find(wanted)
    while start >= 0:
        end = start + len(wanted)
        begins = start == 0 or _BEGINS.search(block[max(0, start - 8) : start])
        if begins and _ENDS.match(block, end):
            return True
        start = block.find(wanted, start + 1)
    return False


def _blocks(lines: Iterable[str]) -> Iterator[str]:
    """The lines as they are read: those through which a sentence runs as one."""
    held = ""
    for line in lines:
        if held and runs_on(held.rpartition("\n")[2], line):
            held = f"{held}\n{line}"
            continue
        if held.strip():
            yield folded(held)
        held = line
    if held.strip():
        yield folded(held)


def _texts(folder: Path) -> list[str] | None:
    """The text files of a folder; None where they are too large together."""
    found: list[str] = []
    room = MAX_BYTES
    for place, _, names in os.walk(folder):
        for name in names:
            path = Path(place, name)
            known = path.lstat()
            if not stat.S_ISREG(known.st_mode):
                continue
            room -= known.st_size
            if room < 0:
                return None
            data = path.read_bytes()
            if b"\0" not in data[:4096]:
                found.append(data.decode("utf-8", "replace"))
    return found
