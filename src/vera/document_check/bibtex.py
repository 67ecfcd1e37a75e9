"""The entries of a BibTeX file (Patashnik, BibTeXing, 1988), read as text: no command is obeyed."""

import re
from collections.abc import Iterator
from typing import NamedTuple

ENTRY_LIMIT = 5000
_VALUE_LIMIT = 4000

_ENTRY = re.compile(r"@(?P<kind>[A-Za-z]{1,40})\s{0,9}[{(]")
_NAME = re.compile(r"[\s,]*(?P<name>[A-Za-z][\w:+-]{0,60})\s{0,99}=\s{0,99}")
_BARE = re.compile(r"[^\s,{}\"#()]{0,200}")
_JOIN = re.compile(r"\s{0,99}#\s{0,99}")
_COMMAND = re.compile(r"\\(?:[A-Za-z]{1,30}\s{0,9}|[^A-Za-z])")
_NOT_WORKS = frozenset(("comment", "string", "preamble"))


class BibEntry(NamedTuple):
    """One entry: its line in the file, its kind in small letters, and its fields by name in small letters,
    without braces and TeX commands."""

    line: int
    kind: str
    fields: dict[str, str]


def entries(text: str) -> Iterator[BibEntry]:
    """The entries of `text`, at most ENTRY_LIMIT. What is not well formed ends its entry, not the file."""
    found = _ENTRY.search(text)
    line, counted = 1, 0
    for _ in range(ENTRY_LIMIT):
        if found is None:
            return
        line += text.count("\n", counted, found.start())
        counted = found.start()
        kind, position = found["kind"].lower(), found.end()
        if kind not in _NOT_WORKS:
            fields, position = _fields(text, position)
            yield BibEntry(line, kind, fields)
        found = _ENTRY.search(text, position)


def _fields(text: str, position: int) -> tuple[dict[str, str], int]:
    """The fields of the entry whose key begins at `position`, and where reading goes on."""
    fields: dict[str, str] = {}
    comma = text.find(",", position, position + 400)
    position = comma + 1 if comma >= 0 else position
    while (name := _NAME.match(text, position)) is not None:
        value, position = _value(text, name.end())
        fields.setdefault(name["name"].lower(), _plain(value))
    return fields, position


def _value(text: str, position: int) -> tuple[str, int]:
    """A value, its parts joined where `#` is between them."""
    parts: list[str] = []
    while True:
        part, position = _part(text, position)
        parts.append(part)
        join = _JOIN.match(text, position)
        if join is None or len(parts) > 20:
            return "".join(parts), position
        position = join.end()


def _part(text: str, position: int) -> tuple[str, int]:
    opening = text[position : position + 1]
    if opening not in ("{", '"'):
        bare = _BARE.match(text, position)
        return (bare[0], bare.end()) if bare else ("", position)
    depth = 0
    for place in range(position + 1, min(len(text), position + _VALUE_LIMIT)):
        character = text[place]
        if not depth and character == ("}" if opening == "{" else '"'):
            return text[position + 1 : place], place + 1
        depth += (character == "{") - (character == "}")
    return text[position + 1 : position + _VALUE_LIMIT], position + _VALUE_LIMIT


def _plain(value: str) -> str:
    said = _COMMAND.sub(lambda found: found[0][1] if found[0][1] in "&%$#_" else "", value)
    return " ".join(said.replace("{", "").replace("}", "").replace("~", " ").split())
