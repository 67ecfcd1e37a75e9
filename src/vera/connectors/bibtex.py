"""A BibTeX library: a `.bib` file whose entries name attached files, as Zotero, JabRef and Mendeley export
them."""

import asyncio
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from vera.connectors.attachments import Attachments
from vera.connectors.basket import Basket
from vera.connectors.reach import Reach
from vera.connectors.values import ConnectorError, Source
from vera.evidence.reading import read_regular
from vera.extraction.source import Unreadable
from vera.extras import install_command
from vera.sanitize import one_line

MAX_BYTES = 32 << 20
"""Of the `.bib` file."""

MAX_ENTRIES = 50_000
MAX_FILES = 50
"""Attachments of one entry."""


class BibTeX:
    """`bibtex:FILE.bib`: the files that the entries attach. Option: `allow`, a further folder of files."""

    version = "1"

    async def gather(self, source: Source, basket: Basket, reach: Reach) -> str:
        """Put the attached files into the basket. A library has no revision. Raises ConnectorError."""
        source.only("allow")
        path = Path(source.address).expanduser()
        try:
            data = await asyncio.to_thread(read_regular, path.parent.resolve(), path.name, MAX_BYTES)
        except Unreadable as error:
            raise ConnectorError(
                f"The connector {source.name}: {source.address} cannot be read: {error}."
            ) from None
        attachments = Attachments(source, path.parent, basket)
        await asyncio.to_thread(_take, source, data, attachments, basket)
        return ""


def _take(source: Source, data: bytes, attachments: Attachments, basket: Basket) -> None:
    entries = _entries(source, data)
    for number, entry in enumerate(entries):
        if basket.is_full or number >= MAX_ENTRIES:
            why = f"beyond {basket.ended_at or f'the limit of {MAX_ENTRIES} entries'}"
            for rest in entries[number:]:
                basket.leave_out(f"@{rest.key}", why)
            return
        fields = {name.lower(): str(field.value) for name, field in entry.fields_dict.items()}
        files = list(files_of(fields.get("file", "")))
        if not files:
            basket.leave_out(f"@{entry.key}", "the entry has no attached file")
        for path in files[:MAX_FILES]:
            attachments.take(entry.key, path, _cited(fields))
        for path in files[MAX_FILES:]:
            basket.leave_out(f"@{entry.key}/{path}", f"beyond the limit of {MAX_FILES} files of an entry")


def _entries(source: Source, data: bytes) -> list[Any]:
    """The entries of a `.bib` file in their order. Raises ConnectorError when it has none."""
    try:
        from bibtexparser.entrypoint import parse_string
    except ImportError:
        raise ConnectorError(
            f"The connector {source.name} needs the package bibtexparser. Install it: "
            f"{install_command('connectors')}"
        ) from None
    # It warns of each entry that is broken, in the words of the file.
    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    try:
        library = parse_string(data.decode("utf-8-sig", "replace"))
    except RecursionError:
        raise ConnectorError(f"The connector {source.name}: {source.address} is nested too deeply.") from None
    if not library.entries:
        raise ConnectorError(f"The connector {source.name}: {source.address} has no entry that can be read.")
    return list(library.entries)


def _cited(fields: dict[str, str]) -> str:
    """Author, title and year, as far as they are there."""
    found = (fields.get("author", ""), fields.get("title", ""), fields.get("year", fields.get("date", "")))
    words = (one_line(each.replace("{", "").replace("}", ""), 200) for each in found)
    return ", ".join(word for word in words if word)


def files_of(field: str) -> Iterator[str]:
    """The paths in a `file` field: `Title:PATH:application/pdf;…` with `\\:`, `\\;` and `\\\\` for the
    characters themselves, or a bare path."""
    for item in _split(field, ";"):
        parts = [_plain(part) for part in _split(item, ":")]
        if len(parts) >= 3 and parts[-2]:
            yield parts[-2]
        elif len(parts) < 3 and _plain(item).strip():
            yield _plain(item).strip()


def _split(text: str, mark: str) -> list[str]:
    """The pieces between unescaped marks, escapes left as they are."""
    pieces, start = [], 0
    for found in re.finditer(rf"\\.|{mark}", text, re.DOTALL):
        if found[0] == mark:
            pieces.append(text[start : found.start()])
            start = found.end()
    return [*pieces, text[start:]]


def _plain(text: str) -> str:
    plain, escaped = [], False
    for each in text:
        if each == "\\" and not escaped:
            escaped = True
            continue
        if escaped and each not in ":;\\_%&$#{}":
            plain.append("\\")
        plain.append(each)
        escaped = False
    return "".join(plain)
