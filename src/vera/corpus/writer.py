"""Writing into the index: files with their chunks, in batches.

Three quarters of the time goes into the full-text index of the chunks. That part is one SQL statement a
batch, run in its own thread (SQLite releases Python's interpreter lock for its duration) while the
next files are read, extracted and cut. The two threads never use the database at the same time.
"""

import hashlib
import time
import zlib
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import Any, NamedTuple, Self

import msgspec

from vera.corpus.chunks import cut
from vera.corpus.index import BLOCK_BYTES, COLUMNS, Container, File, Index, Stamp, digest, ended
from vera.corpus.tokens import name_text, needs_spaces, spaced
from vera.corpus.values import StopIndexing
from vera.extraction.containers.values import Place
from vera.extraction.source import Extracted

_BATCH_BYTES = 4 << 20
_LARGEST_BATCH_BYTES = 32 << 20
_COMMIT_BYTES = 64 << 20
_COMMIT_S = 10.0
_DEFLATE_LEVEL = 1
_INSERTS = {
    "file": f"INSERT INTO file({COLUMNS}) VALUES ({','.join('?' * len(File.__struct_fields__))})",
    "name": "INSERT INTO name(rowid, text) VALUES (?, ?)",
    "block": "INSERT INTO block(file, number, text) VALUES (?, ?, ?)",
    "chunk": "INSERT INTO chunk(id, file, start, end, line, digest) VALUES (?, ?, ?, ?, ?, ?)",
    "container": "INSERT OR REPLACE INTO container VALUES (?, ?, ?, ?, ?, ?, ?)",
    "piece": "INSERT INTO temp.piece(id, start, length) VALUES (?, ?, ?)",
}
_INSERT_BODIES = (
    "INSERT INTO body(rowid, text) SELECT id, CAST(substr(?, start, length) AS TEXT) FROM temp.piece"
)


class Held(NamedTuple):
    """That a document is a member of a container, and the way to it."""

    container: str = ""
    place: Place = ()


_NOT_HELD = Held()


class Writer:
    """A transaction that writes files; a context manager.

    Every commit lies between two files: a killed process leaves whole files, and the next update goes on
    from there. Left by an exception, what was written since the last commit is undone;
    not so by StopIndexing, which is raised between two files.
    """

    def __init__(self, index: Index) -> None:
        self._db = index.db
        self._next_file = index.last_file() + 1
        self._next_chunk = index.last_chunk() + 1
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="vera-index")
        self._inserting: Future[None] | None = None
        self._uncommitted, self._since = 0, time.monotonic()
        self._forgotten: list[str] = []
        self._forgotten_members: list[tuple[str, int]] = []
        self._forgotten_containers: list[tuple[str]] = []
        self._rows: dict[str, list[tuple[Any, ...]]] = {table: [] for table in _INSERTS}
        self._bodies: list[bytes] = []
        self._size = 0

    def __enter__(self) -> Self:
        self._db.execute("CREATE TEMP TABLE IF NOT EXISTS piece (id INTEGER PRIMARY KEY, start, length)")
        self._db.execute("BEGIN IMMEDIATE")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if kind is None or issubclass(kind, StopIndexing):
                self._flush()
                self._await_insertion()
                self._db.execute("COMMIT")
                self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        finally:
            self._thread.shutdown()  # waits until no one uses the connection
            if self._db.in_transaction:
                self._db.execute("ROLLBACK")

    def forget(self, name: str) -> None:
        """Remove a file and its chunks; their rows in the full-text index stay behind as dead ones."""
        self._forgotten.append(name)

    def forget_members(self, container: str, first: int = 0) -> None:
        """Remove the members of a container that were written as row `first` or later."""
        self._forgotten_members.append((container, first))

    def forget_container(self, name: str) -> None:
        """Remove a container with all its members."""
        self.forget_members(name)
        self._forgotten_containers.append((name,))
        self._rows["container"] = [row for row in self._rows["container"] if row[0] != name]

    def put_container(self, container: Container) -> None:
        """Write down what is known of a container, instead of what was known before."""
        self._rows["container"].append(tuple(container))

    def put_unreadable(self, name: str, stamp: Stamp, reason: str, held: Held = _NOT_HELD) -> None:
        """Write down that a file has no text, so that it is not tried again until it changes."""
        self._put_file(
            File(
                id=self._next_file,
                name=name,
                size=stamp.size,
                mtime_ns=stamp.mtime_ns,
                ctime_ns=stamp.ctime_ns,
                unreadable=reason,
                container=held.container,
                place=msgspec.msgpack.encode(held.place),
            )
        )

    def put(self, name: str, stamp: Stamp, raw: bytes, extracted: Extracted, held: Held = _NOT_HELD) -> None:
        """Write a file with its chunks; one of the same name must have been forgotten before."""
        text = extracted.text
        raw_sha256 = hashlib.sha256(raw).hexdigest()
        verbatim = not held.container and text == ended(raw, len(text))
        chunks = list(cut(text))
        file = File(
            id=self._next_file,
            name=name,
            size=stamp.size,
            mtime_ns=stamp.mtime_ns,
            ctime_ns=stamp.ctime_ns,
            raw_sha256=raw_sha256,
            source=raw_sha256 if text == raw else hashlib.sha256(text).hexdigest(),
            verbatim=verbatim,
            length=len(text),
            lines=text.count(b"\n") + (not text.endswith(b"\n")) if text else 0,
            first_chunk=self._next_chunk,
            last_chunk=self._next_chunk + len(chunks) - 1,
            title=extracted.title,
            known_as=name_text(name, extracted.title, text),
            media_type=extracted.media_type,
            extractor=extracted.extractor,
            pages=msgspec.msgpack.encode(extracted.pages),
            container=held.container,
            place=msgspec.msgpack.encode(held.place),
            marks=msgspec.msgpack.encode(extracted.marks),
            dated=extracted.dated,
        )
        self._put_file(file)
        self._rows["name"].append((file.id, spaced(file.known_as)))
        if not verbatim:
            self._put_blocks(file.id, text)
        spacing = needs_spaces(text)
        for start, end, line in chunks:
            piece = text[start:end]
            self._rows["chunk"].append((self._next_chunk, file.id, start, end, line, digest(piece)))
            self._put_body(spaced(piece.decode()).encode() if spacing else piece)
        self._uncommitted += len(raw)
        patience = 2 if self._busy else 1
        elapsed = time.monotonic() - self._since
        if self._uncommitted >= patience * _COMMIT_BYTES or elapsed >= patience * _COMMIT_S:
            self._flush(commit=True)
            self._uncommitted, self._since = 0, time.monotonic()

    @property
    def _busy(self) -> bool:
        """Whether the thread is at work: then a batch rather grows than waits for it."""
        return self._inserting is not None and not self._inserting.done()

    def _put_file(self, file: File) -> None:
        self._rows["file"].append(msgspec.structs.astuple(file))
        self._next_file += 1

    def _put_blocks(self, file: int, text: bytes) -> None:
        for number, offset in enumerate(range(0, len(text), BLOCK_BYTES)):
            block = zlib.compress(text[offset : offset + BLOCK_BYTES], _DEFLATE_LEVEL)
            self._rows["block"].append((file, number, block))

    def _put_body(self, body: bytes) -> None:
        self._rows["piece"].append((self._next_chunk, self._size + 1, len(body)))
        self._bodies.append(body)
        self._next_chunk += 1
        self._size += len(body)
        if self._size >= (_LARGEST_BATCH_BYTES if self._busy else _BATCH_BYTES):
            self._flush()

    def _flush(self, *, commit: bool = False) -> None:
        """Write the batch; its bodies go into the full-text index, and are committed, in the background."""
        self._await_insertion()
        for name in self._forgotten:
            self._forget("name = ?", name)
        for forgotten in self._forgotten_members:
            self._forget("container = ? AND id >= ?", *forgotten)
        self._db.executemany("DELETE FROM container WHERE name = ?", self._forgotten_containers)
        self._db.execute("DELETE FROM temp.piece")
        for table, rows in self._rows.items():
            self._db.executemany(_INSERTS[table], rows)
            rows.clear()
        if self._bodies or commit:
            self._inserting = self._thread.submit(self._insert_bodies, b"".join(self._bodies), commit)
        for forgotten_ones in (self._forgotten, self._forgotten_members, self._forgotten_containers):
            forgotten_ones.clear()
        self._bodies.clear()
        self._size = 0

    def _insert_bodies(self, bodies: bytes, commit: bool) -> None:
        self._db.execute(_INSERT_BODIES, (bodies,))
        if commit:
            self._db.execute("COMMIT")
            self._db.execute("BEGIN IMMEDIATE")

    def _forget(self, which: str, *values: str | int) -> None:
        query = f"SELECT id, first_chunk, last_chunk FROM file WHERE {which}"
        for number, first, last in self._db.execute(query, values).fetchall():
            self._db.execute("DELETE FROM chunk WHERE id BETWEEN ? AND ?", (first, last))
            self._db.execute("DELETE FROM block WHERE file = ?", (number,))
            self._db.execute("DELETE FROM file WHERE id = ?", (number,))

    def _await_insertion(self) -> None:
        if self._inserting is not None:
            self._inserting.result()
            self._inserting = None
