"""The index as it lies on disk: one SQLite file, derived from the folder and replaceable at any time.

`file` has a row for each file of the folder, `chunk` one for each chunk, `body` is the full-text index of
the chunks (same rowid) and `name` that of the files' names and titles. Both are contentless: the text is
in the user's folder, or in `block` (deflated, 64 kB each) where canonical text differs from the file.
`container` has a row for each archive, mailbox and mail file; its members are rows of `file` that name it.
SQLite before 3.43 cannot delete from a contentless table, so a row of `body` or `name` without its row in
`chunk` or `file` is dead and skipped.
"""

import sqlite3
from pathlib import Path

from vera.corpus.tokens import TOKENIZER

FORMAT = "4"
_CACHE_KIB = 64 * 1024
_PAGE = 8192
_HASH_BYTES = 16 << 20  # FTS5's own default of 1 MiB halves the rate of insertion
_AUTOMERGE = 8

TABLES = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE file (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    raw_sha256 TEXT NOT NULL,
    source TEXT NOT NULL,
    verbatim INTEGER NOT NULL,
    length INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    first_chunk INTEGER NOT NULL,
    last_chunk INTEGER NOT NULL,
    title TEXT NOT NULL,
    known_as TEXT NOT NULL,
    media_type TEXT NOT NULL,
    extractor TEXT NOT NULL,
    pages BLOB NOT NULL,
    unreadable TEXT NOT NULL,
    container TEXT NOT NULL,
    place BLOB NOT NULL,
    marks BLOB NOT NULL,
    dated TEXT NOT NULL
);
CREATE INDEX file_container ON file(container) WHERE container != '';
CREATE TABLE container (
    name TEXT PRIMARY KEY,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    kind TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    whole INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE chunk (
    id INTEGER PRIMARY KEY,
    file INTEGER NOT NULL,
    start INTEGER NOT NULL,
    end INTEGER NOT NULL,
    line INTEGER NOT NULL,
    digest BLOB NOT NULL
);
CREATE TABLE block (
    file INTEGER NOT NULL,
    number INTEGER NOT NULL,
    text BLOB NOT NULL,
    PRIMARY KEY (file, number)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE body USING fts5(text, content='', tokenize='{TOKENIZER}');
CREATE VIRTUAL TABLE name USING fts5(text, content='', tokenize='{TOKENIZER}');
"""


def connect(path: Path) -> sqlite3.Connection:
    """A connection with the settings that the index wants; statements commit at once unless in BEGIN.

    WAL with synchronous=NORMAL: readers are not blocked by a writer, and neither a killed process nor a
    power cut leaves more damage than the loss of the last batches.
    """
    db = sqlite3.connect(path, timeout=60, isolation_level=None, check_same_thread=False)
    db.execute(f"PRAGMA page_size = {_PAGE}")
    db.execute("PRAGMA journal_mode = WAL")
    db.execute("PRAGMA synchronous = NORMAL")
    db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
    return db


def format_of(db: sqlite3.Connection) -> str | None:
    """The format that the file says it has, None for an empty or foreign file."""
    if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'meta'").fetchone():
        return None
    row = db.execute("SELECT value FROM meta WHERE key = 'format'").fetchone()
    return str(row[0]) if row else None


def create(db: sqlite3.Connection, form: str) -> None:
    """Make the tables in an empty file and write down its format, all or nothing."""
    db.executescript(f"BEGIN; {TABLES}")
    bulk_settings(db)
    db.execute("INSERT INTO meta VALUES ('format', ?)", (form,))
    db.execute("COMMIT")


def bulk_settings(db: sqlite3.Connection) -> None:
    """Settings of the `body` table under which many inserts are fast."""
    db.execute("INSERT INTO body(body, rank) VALUES ('hashsize', ?)", (_HASH_BYTES,))
    db.execute("INSERT INTO body(body, rank) VALUES ('automerge', ?)", (_AUTOMERGE,))


class Damaged(sqlite3.DatabaseError):
    """What was read from the index is not what was written."""


def is_damage(error: sqlite3.Error) -> bool:
    """Whether the file is broken, so that only making it again helps (and not full, locked or forbidden)."""
    code = getattr(error, "sqlite_errorcode", 0) or 0
    return (
        isinstance(error, Damaged)
        or code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)
        or code == sqlite3.SQLITE_IOERR_SHORT_READ
    )


def remove(path: Path) -> None:
    """Delete an index with everything that SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
