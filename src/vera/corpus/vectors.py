"""Vectors of passages beside the full-text index: in the same file, quantised to bytes, found by a scan.

`vector` has a row for each chunk that was embedded: its passages' lines (two 16-bit numbers each) and for
each passage a 32-bit scale with its signed bytes. A trigger deletes a row with its chunk, also in a
process that knows nothing of vectors. `vector_model` names the one model that made them all.
The tables are made when a chunk is embedded first, so an index without vectors stays as it was.
Needs numpy (extra `semantic`).
"""

import sqlite3
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from vera.corpus.passages import Piece
from vera.corpus.schema import Damaged

Matrix = NDArray[np.float32]

MAX_PASSAGES = 1_000_000
"""So many are scanned at most: 0.4 GB of memory at 384 numbers each."""
_BLOCK = 16_384
_SCALE_BYTES = 4
_SAME_MODEL = 0.99
_TABLES = """
CREATE TABLE IF NOT EXISTS vector (chunk INTEGER PRIMARY KEY, lines BLOB NOT NULL, numbers BLOB NOT NULL);
CREATE TABLE IF NOT EXISTS vector_model (key TEXT NOT NULL, dimension INTEGER NOT NULL, probe BLOB NOT NULL);
CREATE TRIGGER IF NOT EXISTS vector_of_chunk AFTER DELETE ON chunk
BEGIN DELETE FROM vector WHERE chunk = old.id; END;
"""
_INSERT = (
    "INSERT OR REPLACE INTO vector(chunk, lines, numbers) "
    "SELECT id, ?, ? FROM chunk WHERE id = ? AND digest = ?"
)


class Model(NamedTuple):
    """Which model made vectors: its key, and what it makes of one fixed sentence."""

    key: str
    probe: Matrix

    def is_same(self, other: "Model | None") -> bool:
        """Whether the vectors of both can be compared. Servers differ in the last digits of their answers."""
        if other is None or other.key != self.key or other.probe.shape != self.probe.shape:
            return False
        return float(self.probe @ other.probe) >= _SAME_MODEL


class Row(NamedTuple):
    """What is written for a chunk, known by its id and digest."""

    chunk: int
    digest: bytes
    pieces: Sequence[Piece]
    vectors: Matrix


class Near(NamedTuple):
    """Passages with the cosine of each to a query, in order of chunks."""

    chunks: NDArray[np.int64]
    lines: NDArray[np.uint16]
    cosines: Matrix

    def best(self, limit: int) -> list[int]:
        """The chunks of the `limit` closest passages, the closest first."""
        count = min(limit, len(self.cosines))
        if not count:
            return []
        top = np.argpartition(-self.cosines, count - 1)[:count]
        ordered = sorted(top.tolist(), key=lambda at: (-float(self.cosines[at]), int(at)))
        return list(dict.fromkeys(int(self.chunks[at]) for at in ordered))

    def of(self, chunk: int) -> list[tuple[Piece, float]]:
        """The passages of a chunk, each with its cosine."""
        first, last = np.searchsorted(self.chunks, [chunk, chunk + 1]).tolist()
        return [
            (Piece(*map(int, self.lines[at])), float(self.cosines[at])) for at in range(int(first), int(last))
        ]


class Vectors:
    """The vectors of an index, read into memory."""

    def __init__(self, db: sqlite3.Connection, dimension: int) -> None:
        """Raises Damaged when rows have not this dimension."""
        rows = db.execute("SELECT chunk, lines, numbers FROM vector ORDER BY chunk").fetchall()
        self.chunks_embedded = len(rows)
        counts = np.array([len(row[1]) // 4 for row in rows], np.int64)
        self._chunks = np.repeat(np.array([row[0] for row in rows], np.int64), counts)
        width = _SCALE_BYTES + dimension
        lines, numbers = b"".join(row[1] for row in rows), b"".join(row[2] for row in rows)
        if len(lines) != 4 * len(self._chunks) or len(numbers) != width * len(self._chunks):
            raise Damaged("the vectors of passages")
        self._lines = np.frombuffer(lines, "<u2").reshape(-1, 2)
        table = np.frombuffer(numbers, np.int8).reshape(-1, width)
        self._scales = np.ascontiguousarray(table[:, :_SCALE_BYTES]).view("<f4")[:, 0]
        self._numbers = table[:, _SCALE_BYTES:]
        if not are_finite(self._scales):
            raise Damaged("the vectors of passages")

    def near(self, query: Matrix) -> Near:
        """All passages with their cosines to a unit vector."""
        cosines = np.empty(len(self._chunks), np.float32)
        for start in range(0, len(cosines), _BLOCK):
            block = slice(start, start + _BLOCK)
            cosines[block] = (self._numbers[block].astype(np.float32) @ query) * self._scales[block]
        return Near(self._chunks, self._lines, cosines)


def are_finite(numbers: Matrix) -> bool:
    """Whether none is infinite or no number."""
    return bool(np.isfinite(numbers).all())


def nothing(dimension: int) -> Matrix:
    """No vector, of this length."""
    return np.empty((0, dimension), np.float32)


def has_vectors(db: sqlite3.Connection) -> bool:
    """Whether anything was ever embedded."""
    return bool(db.execute("SELECT 1 FROM sqlite_master WHERE name = 'vector_model'").fetchone())


def model_of(db: sqlite3.Connection) -> Model | None:
    """The model that made the vectors, None where there are none."""
    row = has_vectors(db) and db.execute("SELECT key, dimension, probe FROM vector_model").fetchone()
    if not row or len(row[2]) != 4 * row[1]:
        return None
    return Model(row[0], np.frombuffer(row[2], "<f4"))


def begin(db: sqlite3.Connection, model: Model) -> bool:
    """Make ready for vectors of this model; True when those of another one were dropped."""
    found = model_of(db)
    if model.is_same(found):
        return False
    db.executescript(f"BEGIN IMMEDIATE; {_TABLES}")
    dropped = db.execute("DELETE FROM vector").rowcount > 0
    db.execute("DELETE FROM vector_model")
    row = model.key, len(model.probe), model.probe.astype("<f4").tobytes()
    db.execute("INSERT INTO vector_model VALUES (?, ?, ?)", row)
    db.execute("COMMIT")
    return dropped


def without(db: sqlite3.Connection, after: int, limit: int) -> list[int]:
    """The next chunks behind `after` that are not embedded."""
    query = (
        "SELECT id FROM chunk WHERE id > ? AND NOT EXISTS "
        "(SELECT 1 FROM vector WHERE vector.chunk = chunk.id) ORDER BY id LIMIT ?"
    )
    return [row[0] for row in db.execute(query, (after, limit))]


def counted(db: sqlite3.Connection) -> tuple[int, int]:
    """How many chunks are embedded, and how many passages they have."""
    if not has_vectors(db):
        return 0, 0
    row = db.execute("SELECT count(*), ifnull(sum(length(lines)), 0) / 4 FROM vector").fetchone()
    return int(row[0]), int(row[1])


def put(db: sqlite3.Connection, rows: Sequence[Row]) -> None:
    """Write the vectors of chunks, all or none; not of those that are gone or are another text by now."""
    db.execute("BEGIN IMMEDIATE")
    try:
        for row in rows:
            lines = np.array(row.pieces, "<u2").tobytes()
            db.execute(_INSERT, (lines, _quantised(row.vectors), row.chunk, row.digest))
        db.execute("COMMIT")
    except BaseException:
        db.execute("ROLLBACK")
        raise


def _quantised(vectors: Matrix) -> bytes:
    """Each row as its scale and signed bytes. It moves a cosine by less than 0.01."""
    scales = np.abs(vectors).max(axis=1, keepdims=True, initial=1e-12).astype("<f4") / np.float32(127)
    numbers = np.rint(vectors / scales).astype(np.int8)
    return np.concatenate([scales.astype("<f4").view(np.int8), numbers], axis=1).tobytes()
