"""The index's rows: what is known of each file and of its text."""

import hashlib
import sqlite3
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from vera.corpus import schema
from vera.corpus.tokens import parts, spaced
from vera.corpus.values import IndexUnusable, Stats
from vera.extraction.containers.values import Place
from vera.extraction.marks import Mark
from vera.extraction.source import Extracted

_DIGEST_BYTES = 16
_NOTHING = msgspec.msgpack.encode(())
BLOCK_BYTES = 1 << 16
COLUMNS = (
    "id, name, size, mtime_ns, ctime_ns, raw_sha256, source, verbatim, length, lines, "
    "first_chunk, last_chunk, title, known_as, media_type, extractor, pages, unreadable, container, place, "
    "marks, dated"
)


class Stamp(NamedTuple):
    """What tells without opening it that a file is unchanged. Times in nanoseconds."""

    size: int
    mtime_ns: int
    ctime_ns: int


class File(msgspec.Struct, frozen=True):
    """A row of `file`. `verbatim`: the canonical text is the file's bytes, ended. Its chunks are those from
    `first_chunk` to `last_chunk`; `known_as` is what its name is searched in; `unreadable` is the reason
    why there is no text, or ''. A member of a container has its name in `container` and the way to it in
    `place`; its stamp is that of the container. `marks` and `dated` are those of the text."""

    id: int
    name: str
    size: int
    mtime_ns: int
    ctime_ns: int
    raw_sha256: str = ""
    source: str = ""
    verbatim: bool = False
    length: int = 0
    lines: int = 0
    first_chunk: int = 0
    last_chunk: int = -1
    title: str = ""
    known_as: str = ""
    media_type: str = ""
    extractor: str = ""
    pages: bytes = _NOTHING
    unreadable: str = ""
    container: str = ""
    place: bytes = _NOTHING
    marks: bytes = _NOTHING
    dated: str = ""

    @property
    def stamp(self) -> Stamp:
        return Stamp(self.size, self.mtime_ns, self.ctime_ns)

    def extracted(self, text: bytes) -> Extracted:
        """The extraction that gave `text`, the canonical text of this file."""
        return Extracted(
            text=text,
            title=self.title,
            media_type=self.media_type,
            extractor=self.extractor,
            pages=self.page_starts(),
            marks=msgspec.msgpack.decode(self.marks, type=tuple[Mark, ...]),
            dated=self.dated,
        )

    def steps(self) -> Place:
        """The way to a member within its container."""
        return msgspec.msgpack.decode(self.place, type=Place)

    def page_starts(self) -> tuple[int, ...]:
        """The first line of each page."""
        return msgspec.msgpack.decode(self.pages, type=tuple[int, ...])

    def page_of(self, line: int) -> int | None:
        """The page (from 1) on which a line stands, None for a format without pages."""
        return self.extracted(b"").page_of(line)


class Member(NamedTuple):
    """What is known of a member of a container that is read on."""

    id: int
    name: str
    place: Place


class Container(NamedTuple):
    """A row of `container`. `whole`: all of its members are in the index, as far as they can be read."""

    name: str
    size: int
    mtime_ns: int
    ctime_ns: int
    kind: str
    sha256: str
    whole: bool

    @property
    def stamp(self) -> Stamp:
        return Stamp(self.size, self.mtime_ns, self.ctime_ns)


class Index:
    """The open index file. Not for use by two threads at once."""

    def __init__(self, path: Path, form: str) -> None:
        """Open the index at `path`; one that is damaged or of another format than `form` is rebuilt.

        Raises IndexUnusable when it cannot be opened or made.
        """
        self._counted: tuple[tuple[int, int], Stats] | None = None
        try:
            self.db = self._open(path, form)
        except (OSError, sqlite3.Error) as error:
            raise IndexUnusable(
                f"The index {path} cannot be opened: {error}. Free some space or make its folder writable."
            ) from error

    def close(self) -> None:
        self.db.close()

    @staticmethod
    def _open(path: Path, form: str) -> sqlite3.Connection:
        try:
            db = schema.connect(path)
            found = schema.format_of(db)
            if found == form:
                return db
            db.close()
        except sqlite3.Error as error:
            if not schema.is_damage(error):
                raise
        schema.remove(path)
        db = schema.connect(path)
        schema.create(db, form)
        return db

    def known(self) -> dict[str, tuple[Stamp, str]]:
        """The stamp of every file in the index and why it has no text ('' if it has), by name; no members."""
        rows = self.db.execute(
            "SELECT name, size, mtime_ns, ctime_ns, unreadable FROM file WHERE container = ''"
        )
        return {row[0]: (Stamp(*row[1:4]), row[4]) for row in rows}

    def containers(self) -> dict[str, Container]:
        """The containers by name."""
        rows = self.db.execute("SELECT name, size, mtime_ns, ctime_ns, kind, sha256, whole FROM container")
        return {row[0]: _container(row) for row in rows}

    def container(self, name: str) -> Container | None:
        """The row of a container."""
        query = "SELECT name, size, mtime_ns, ctime_ns, kind, sha256, whole FROM container WHERE name = ?"
        row = self.db.execute(query, (name,)).fetchone()
        return _container(row) if row else None

    def members(self, container: str) -> list[Member]:
        """The members of a container that were written, in that order."""
        query = "SELECT id, name, place FROM file WHERE container = ? ORDER BY id"
        decode = msgspec.msgpack.Decoder(Place).decode
        return [Member(row[0], row[1], decode(row[2])) for row in self.db.execute(query, (container,))]

    def file(self, name: str) -> File | None:
        """The row of a file by its name."""
        row = self.db.execute(f"SELECT {COLUMNS} FROM file WHERE name = ?", (name,)).fetchone()
        return _file(row) if row else None

    def files(self, ids: Sequence[int]) -> dict[int, File]:
        """The rows of files by id."""
        marks = ",".join("?" * len(ids))
        rows = self.db.execute(f"SELECT {COLUMNS} FROM file WHERE id IN ({marks})", ids)
        return {row[0]: _file(row) for row in rows}

    def text_of(self, file: File) -> bytes:
        """The canonical text of a file whose bytes are not its text; the caller checks its hash."""
        return self.kept(file.id, 0, file.length)

    def kept(self, file: int, start: int, end: int) -> bytes:
        """Bytes `start` to `end` of a text that is kept in blocks. Raises Damaged when they are not there."""
        first, last = start // BLOCK_BYTES, max(end - 1, 0) // BLOCK_BYTES
        query = "SELECT text FROM block WHERE file = ? AND number BETWEEN ? AND ? ORDER BY number"
        try:
            blocks = b"".join(zlib.decompress(row[0]) for row in self.db.execute(query, (file, first, last)))
        except zlib.error as error:
            raise schema.Damaged(f"a block of file {file}: {error}") from error
        offset = first * BLOCK_BYTES
        return blocks[start - offset : end - offset]

    def like(self, name: str) -> list[str]:
        """Names that end as this one does or share words with it, in no particular order; at most 100."""
        last = name.rsplit("/", 1)[-1]
        pattern = "%" + last.replace("!", "!!").replace("%", "!%").replace("_", "!_")
        ending = self.db.execute("SELECT name FROM file WHERE name LIKE ? ESCAPE '!' LIMIT 50", (pattern,))
        found = [row[0] for row in ending]
        words = parts(name)[-8:]
        if words:
            match = " OR ".join(f'"{spaced(word)}"' for word in words)
            query = (
                "SELECT file.name FROM (SELECT rowid FROM name WHERE name MATCH ? ORDER BY rank LIMIT 50)"
                " AS best JOIN file ON file.id = best.rowid"
            )
            found += [row[0] for row in self.db.execute(query, (match,))]
        return found

    def called(self, name: str, limit: int) -> list[tuple[str, str]]:
        """(name, title) of files with text whose names or titles hold all words of `name`, the best first."""
        words = parts(name)[:12]
        if not words:
            return []
        match = " AND ".join(f'"{spaced(word)}"' for word in words)
        query = (
            "SELECT file.name, file.title FROM (SELECT rowid, rank FROM name WHERE name MATCH ? "
            "ORDER BY rank LIMIT ?) AS best JOIN file ON file.id = best.rowid AND file.unreadable = '' "
            "ORDER BY best.rank"
        )
        return [(row[0], row[1]) for row in self.db.execute(query, (match, limit))]

    def names(self, limit: int) -> list[str]:
        """Names of files with text, in order."""
        query = "SELECT name FROM file WHERE unreadable = '' ORDER BY name LIMIT ?"
        return [row[0] for row in self.db.execute(query, (limit,))]

    def unreadable(self) -> tuple[tuple[str, str], ...]:
        """(name, reason) of every file without text, in order of names."""
        query = "SELECT name, unreadable FROM file WHERE unreadable != '' ORDER BY name"
        return tuple(self.db.execute(query).fetchall())

    def stats(self) -> Stats:
        """The size of the index; counted again only after somebody has written."""
        version = self.version()
        if self._counted is None or self._counted[0] != version:
            files, chunks, size, unreadable = self.db.execute(
                "SELECT count(*), ifnull(sum(last_chunk - first_chunk + 1), 0), ifnull(sum(length), 0), "
                "ifnull(sum(unreadable != ''), 0) FROM file"
            ).fetchone()
            stats = Stats(files=files - unreadable, chunks=chunks, bytes=size, unreadable=unreadable)
            self._counted = version, stats
        return self._counted[1]

    def version(self) -> tuple[int, int]:
        """What changes whenever somebody has written, in this process or another one."""
        return self.db.execute("PRAGMA data_version").fetchone()[0], self.db.total_changes

    def dead(self) -> int:
        """How many rows of the full-text index belong to chunks that are gone."""
        return self.last_chunk() - self.stats().chunks

    def last_chunk(self) -> int:
        """The highest id that a chunk ever had."""
        # FTS5 keeps a row here for each that was ever inserted, also for dead ones: ids are never used twice.
        return int(self.db.execute("SELECT ifnull(max(id), 0) FROM body_docsize").fetchone()[0])

    def last_file(self) -> int:
        """The highest id that a file ever had."""
        row = self.db.execute("SELECT seq FROM sqlite_sequence WHERE name = 'file'").fetchone()
        return int(row[0]) if row else 0

    def clear(self) -> None:
        """Forget everything, in one transaction."""
        self.db.execute("BEGIN IMMEDIATE")
        for table in ("body", "name"):
            self.db.execute(f"INSERT INTO {table}({table}) VALUES ('delete-all')")
        for table in ("file", "chunk", "block", "container"):
            self.db.execute(f"DELETE FROM {table}")
        self.db.execute("COMMIT")


def digest(text: bytes) -> bytes:
    """What a chunk is recognised by when it is read again: the first half of its sha256."""
    return hashlib.sha256(text).digest()[:_DIGEST_BYTES]


def ended(raw: bytes, length: int) -> bytes:
    """Bytes of a file, with the last line's newline where that alone is missing to their canonical length."""
    return raw + b"\n" if len(raw) == length - 1 else raw


def _container(row: Sequence[Any]) -> Container:
    name, size, mtime_ns, ctime_ns, kind, sha256, whole = row
    return Container(name, size, mtime_ns, ctime_ns, kind, sha256, bool(whole))


def _file(row: Sequence[Any]) -> File:
    values = dict(zip(File.__struct_fields__, row, strict=True))
    return File(**values | {"verbatim": bool(values["verbatim"])})
