"""A Zotero data folder: `zotero.sqlite`, opened read-only, and the files below `storage/`."""

import asyncio
import re
import sqlite3
from collections.abc import Iterable, Iterator
from pathlib import Path
from urllib.parse import quote

import msgspec

from vera.connectors.attachments import Attachments
from vera.connectors.basket import Basket
from vera.connectors.reach import Reach
from vera.connectors.values import ConnectorError, Source
from vera.sanitize import one_line

MAX_ROWS = 200_000
"""Attachments that are looked at."""

MAX_TEXT = 1 << 20
"""Bytes of one value."""

MAX_TEXTS = 32 << 20
"""Characters of all names and titles together."""

_TABLES = ("itemAttachments", "items", "deletedItems", "itemData", "fields", "itemDataValues")
_INSTRUCTIONS = 10_000
"""Of SQLite's machine, after which the time is looked at."""

_EXTRA_KEY = re.compile(r"(?im)^citation key:[ \t]{0,10}(\S{1,200})[ \t]{0,10}$")
_KEY = re.compile(r"[A-Z0-9]{8}")
_STORED, _LINKED = "storage:", "attachments:"
_ATTACHMENTS = """
SELECT attached.key, coalesce(parent.itemID, attached.itemID), coalesce(parent.key, attached.key), file.path
FROM itemAttachments AS file
JOIN items AS attached ON attached.itemID = file.itemID
LEFT JOIN items AS parent ON parent.itemID = file.parentItemID
WHERE file.path IS NOT NULL
AND attached.itemID NOT IN (SELECT itemID FROM deletedItems)
AND (parent.itemID IS NULL OR parent.itemID NOT IN (SELECT itemID FROM deletedItems))
ORDER BY parent.key, attached.key LIMIT ?
"""
_FIELDS = """
SELECT fields.fieldName, itemDataValues.value FROM itemData
JOIN fields ON fields.fieldID = itemData.fieldID
JOIN itemDataValues ON itemDataValues.valueID = itemData.valueID
WHERE itemData.itemID = ? AND fields.fieldName IN ('citationKey', 'extra', 'title', 'date')
LIMIT 10
"""


class Attached(msgspec.Struct, frozen=True, kw_only=True):
    """A file of an entry: the citation key, the path in the library's folder, and title and date."""

    citation_key: str
    path: str
    cited: str


class Zotero:
    """`zotero:FOLDER`: the attached files of a Zotero library, with the citation keys of their entries.
    Option: `allow`, a further folder of files."""

    version = "1"

    async def gather(self, source: Source, basket: Basket, reach: Reach) -> str:
        """Put the attached files into the basket. A library has no revision. Raises ConnectorError."""
        source.only("allow")
        home = Path(source.address).expanduser()
        if not (home / "zotero.sqlite").is_file():
            raise ConnectorError(
                f"The connector {source.name}: there is no zotero.sqlite in {source.address}."
            )
        await asyncio.to_thread(_take, source, home.resolve(), basket)
        return ""


def _take(source: Source, home: Path, basket: Basket) -> None:
    attachments = Attachments(source, home, basket)
    for each in _attached(source, home / "zotero.sqlite", basket):
        if basket.is_full:
            basket.leave_out(f"@{each.citation_key}", f"beyond {basket.ended_at}")
        elif each.path.startswith(_LINKED):
            basket.leave_out(f"@{each.citation_key}/{each.path}", "a linked file of a base folder")
        else:
            attachments.take(each.citation_key, each.path, each.cited)


def _attached(source: Source, path: Path, basket: Basket) -> list[Attached]:
    """The attachments that the database names. Raises ConnectorError."""
    address = f"file:{quote(str(path))}?mode=ro&immutable=1"
    try:
        db = sqlite3.connect(address, uri=True)
        try:
            db.execute("PRAGMA trusted_schema = OFF")
            db.set_progress_handler(lambda: not basket.seconds_left, _INSTRUCTIONS)
            db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_TEXT)
            if problem := _not_zotero(db):
                raise ValueError(problem)
            return list(
                _within_bounds(_read(db, *map(str, row)) for row in db.execute(_ATTACHMENTS, (MAX_ROWS,)))
            )
        finally:
            db.close()
    except (sqlite3.Error, ValueError) as error:
        said = one_line(str(error), 200)
        raise ConnectorError(f"The connector {source.name}: its database cannot be read: {said}.") from None


def _not_zotero(db: sqlite3.Connection) -> str:
    """Why the database is not of Zotero, '' when it may be: what is read has to be plain tables, which hold
    no more than the file. A view may compute without an end."""
    told = dict(db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
    for name in _TABLES:
        if not str(told.get(name, "")).upper().startswith("CREATE TABLE"):
            return f"{name} is no table"
    return ""


def _within_bounds(found: Iterable[Attached]) -> Iterator[Attached]:
    """The attachments while their texts take no more than MAX_TEXTS characters together."""
    size = 0
    for each in found:
        size += len(each.citation_key) + len(each.path) + len(each.cited)
        if size > MAX_TEXTS:
            raise ValueError(f"its names take more than {MAX_TEXTS} characters")
        yield each


def _read(db: sqlite3.Connection, key: str, item: str, item_key: str, path: str) -> Attached:
    fields = {str(name): str(value) for name, value in db.execute(_FIELDS, (int(item),))}
    in_extra = _EXTRA_KEY.search(fields.get("extra", "")[:10_000])
    citation_key = fields.get("citationKey") or (in_extra[1] if in_extra else item_key)
    if path.startswith(_STORED):
        name = path.removeprefix(_STORED)
        path = f"storage/{key if _KEY.fullmatch(key) else '_'}/{name}"
    cited = ", ".join(one_line(fields[name], 200) for name in ("title", "date") if fields.get(name))
    return Attached(citation_key=one_line(citation_key, 200), path=path, cited=cited)
