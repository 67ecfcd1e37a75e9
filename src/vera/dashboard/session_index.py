"""An index of the sessions of a base folder, so that thousands are searched and sorted at once.

It is a cache in SQLite (in the person's cache folder) of what was found when a session was read. A session
is read again when its log has another size, time or inode; what is shown of it is also held against all of
its files first. Nothing is concluded from it: a session's page reads the session. Who deletes it loses time.
"""

import contextlib
import hashlib
import os
import sqlite3
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import UnionType
from typing import Any, TypeVar

import msgspec
import platformdirs

from vera.decode_errors import DECODE_ERRORS
from vera.report.standing import MODEL_FAILED
from vera.report.view.model import Header

VERSION = 5
"""Of the table; an index of another version is made again."""

PAGE_ROWS = 50
MAX_SEARCHED = 20_000
"""Characters of a task and of an answer that are searched."""

MAX_TASK = 2000
"""Characters of a task that a list keeps."""

MAX_WORDS = 12
"""Words of a search; what is behind them is left out."""

BUSY_SECONDS = 2.0
"""What a call waits for another dashboard that writes to the index."""

DAMAGES = (sqlite3.Error, OSError, *DECODE_ERRORS)
"""What a damaged index, or one that cannot be written, raises."""

MAX_COST = 1e12
"""From which on what a log says that it cost is not added up."""

MAX_BATCHES = 12
MAX_RELATIVES = 50
MAX_TAGS = 24
"""Tags that a list leads to."""

MAX_PAGE = 100_000
MAX_TIME = 253_402_300_799
"""The last second of the year 9999 (Unix time), behind which there is no date."""

FAILED = "failed"
FAILED_STATES = ("stopped", MODEL_FAILED, "UNRESOLVED", "ALTERED", "UNSEALED", "UNTRUSTED", "unreadable")
"""What `failed` stands for among the states: no answer that holds."""

Done = TypeVar("Done")

KINDS = ("research", "thesis", "execution")
SORTS: Mapping[str, str] = {
    "age": "modified DESC",
    "verdict": "state",
    "task": "task COLLATE NOCASE",
    "kind": "kind",
    "score": "score DESC",
    "claims": "claims DESC",
    "tokens": "tokens DESC",
    "cost": "cost DESC",
    "time": "seconds DESC",
}
"""By what a list is sorted: its name in an address and the order."""

REVERSED = "-"
"""Before the name of an order: the other way round."""

_TABLE = """
CREATE TABLE IF NOT EXISTS sessions (
  name BLOB PRIMARY KEY, stamp TEXT NOT NULL, seen TEXT NOT NULL DEFAULT '', modified REAL NOT NULL,
  kind TEXT NOT NULL DEFAULT '', state TEXT NOT NULL DEFAULT 'unread', batch TEXT NOT NULL DEFAULT '',
  task TEXT NOT NULL DEFAULT '', searched TEXT NOT NULL DEFAULT '', score INTEGER, claims INTEGER DEFAULT 0,
  tokens INTEGER DEFAULT 0, cost REAL DEFAULT 0, seconds REAL DEFAULT 0, header BLOB, problem TEXT DEFAULT '',
  head TEXT NOT NULL DEFAULT '', parent TEXT NOT NULL DEFAULT '',
  tags TEXT NOT NULL DEFAULT '', begins TEXT NOT NULL DEFAULT '', again_of TEXT NOT NULL DEFAULT ''
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS by_time ON sessions (modified DESC, name);
CREATE INDEX IF NOT EXISTS by_state ON sessions (state, modified DESC, name);
CREATE INDEX IF NOT EXISTS by_score ON sessions (score DESC, modified DESC, name);
CREATE INDEX IF NOT EXISTS by_tokens ON sessions (tokens DESC, modified DESC, name);
CREATE INDEX IF NOT EXISTS by_cost ON sessions (cost DESC, modified DESC, name);
CREATE INDEX IF NOT EXISTS by_seconds ON sessions (seconds DESC, modified DESC, name);
CREATE INDEX IF NOT EXISTS by_head ON sessions (head);
CREATE INDEX IF NOT EXISTS by_parent ON sessions (parent, modified);
CREATE INDEX IF NOT EXISTS by_begins ON sessions (begins);
CREATE INDEX IF NOT EXISTS by_again_of ON sessions (again_of, modified) WHERE again_of != '';
CREATE INDEX IF NOT EXISTS by_tags ON sessions (tags) WHERE tags != '';
CREATE INDEX IF NOT EXISTS by_batch ON sessions (batch, state, tokens, cost);
"""


class Wanted(msgspec.Struct, frozen=True, kw_only=True):
    """What a list is to show: words in task, answer and tags, one state (or FAILED), one of KINDS, one batch,
    one tag, the order (of SORTS, perhaps REVERSED) and the page, from 1."""

    words: str = ""
    state: str = ""
    kind: str = ""
    batch: str = ""
    tag: str = ""
    sort: str = "age"
    page: int = 1


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """What reading a session gave. `seen` is the fingerprint of all of its files, `head` the hash of the last
    record of one that has ended, `parent` that of the session which it says that it goes on from. `begins` is
    the hash of its first record, `again_of` that of the session which it is run again of."""

    name: bytes
    seen: str
    header: Header | None
    kind: str = ""
    answer: str = ""
    problem: str = ""
    head: str = ""
    parent: str = ""
    begins: str = ""
    again_of: str = ""
    tags: tuple[str, ...] = ()


class Relative(msgspec.Struct, frozen=True):
    """A session that another one says it follows or is run again of, or that says so."""

    name: bytes
    task: str
    state: str


class Family(msgspec.Struct, frozen=True):
    """The sessions `before` one (copies of it are several), and those that say that they follow it; the
    `origin` that it is run again of, and those that are it run `again`."""

    before: tuple[Relative, ...] = ()
    after: tuple[Relative, ...] = ()
    origin: tuple[Relative, ...] = ()
    again: tuple[Relative, ...] = ()


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """A session in a list. `header` is None while it was not read, or where there is no log."""

    name: bytes
    seen: str
    modified: float
    kind: str
    state: str
    batch: str
    header: Header | None
    problem: str
    tags: tuple[str, ...] = ()


class BatchCount(msgspec.Struct, frozen=True, kw_only=True):
    """The sessions of a batch by state, with the tokens and the cost of all."""

    name: str
    states: tuple[tuple[str, int], ...]
    tokens: int
    cost: float = 0.0

    @property
    def count(self) -> int:
        return sum(count for _, count in self.states)

    @property
    def failed(self) -> int:
        return sum(count for state, count in self.states if state in FAILED_STATES)


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A page of a list: `matched` of `total` sessions are in it, `unread` were not read yet. `states` counts
    those that everything but the state lets through, `tags` those of all sessions; `more_batches` are not
    among the `batches`."""

    rows: tuple[Row, ...]
    matched: int
    total: int
    unread: int
    states: tuple[tuple[str, int], ...]
    batches: tuple[BatchCount, ...]
    more_batches: int = 0
    tags: tuple[tuple[str, int], ...] = ()


class SessionIndex:
    """The index of one base folder. Any thread may use it; calls wait for each other.

    A damaged index is deleted and built again from what `sync` was last given. One that cannot be built, or
    that another process holds, is replaced by one in memory. No call raises for it.
    """

    def __init__(self, base: Path, path: Path | None = None) -> None:
        self._lock = threading.Lock()
        self._path: Path | None = path or index_path(base)
        self._db: sqlite3.Connection | None = None
        self._there: Mapping[bytes, tuple[str, float]] | None = None
        """What `sync` was last given; None before."""
        self._stamps: dict[bytes, str] = {}
        self._unread: set[bytes] = set()
        self._done(lambda db: None)

    @property
    def unread(self) -> int:
        """How many sessions have to be read."""
        return len(self._unread)

    def is_unread(self, name: bytes) -> bool:
        """Whether the session has to be read."""
        return name in self._unread

    def close(self) -> None:
        with self._lock:
            if self._db is not None:
                self._db.close()

    def sync(self, stamps: Mapping[bytes, tuple[str, float]]) -> list[bytes]:
        """Take in which sessions there are: name → what its log is now, and when it was written. Those that
        have to be read (again), the newest first."""

        def work(db: sqlite3.Connection) -> list[bytes]:
            self._there = stamps
            self._take(db, stamps)
            return sorted(self._unread, key=lambda name: -stamps[name][1])

        return self._done(work)

    def put(self, found: Found) -> None:
        """Keep what a session is."""
        header = found.header
        if header is not None:
            texts = {name: each for name, each in msgspec.structs.asdict(header).items() if type(each) is str}
            kept = {name: _plain(each[:MAX_TASK]) for name, each in texts.items()}
            header = msgspec.structs.replace(header, **kept)
        told = f"{found.header.task if found.header else ''}\n{found.answer}"[: 2 * MAX_SEARCHED]
        text = "\n".join((*found.tags, told))
        score, supported, tokens, seconds = _figures(header)
        values = (
            found.seen, found.kind, _state(found), header.task if header else "", text.casefold(),
            score, supported, tokens, _cost(header), seconds,
            msgspec.msgpack.encode(header), _plain(found.problem), found.head, found.parent,
            _joined(found.tags), found.begins, found.again_of, found.name,
        )  # fmt: skip

        def work(db: sqlite3.Connection) -> None:
            db.execute(
                "UPDATE sessions SET seen=?, kind=?, state=?, task=?, searched=?, score=?, claims=?, "
                "tokens=?, cost=?, seconds=?, header=?, problem=?, head=?, parent=?, tags=?, begins=?, "
                "again_of=? WHERE name=?",
                tuple(_storable(value) for value in values),
            )
            self._unread.discard(found.name)

        self._done(work)

    def family(self, head: str, parent: str, begins: str = "", again_of: str = "") -> Family:
        """The sessions whose last record has the hash `parent`, and those that say that they follow `head`;
        those whose first record has the hash `again_of`, and those that are `begins` run again. '' is no
        session's."""
        select = "SELECT name, task, state FROM sessions WHERE"

        def related(db: sqlite3.Connection, column: str, value: str) -> tuple[Relative, ...]:
            if not value:
                return ()
            given = (_plain(value), MAX_RELATIVES)
            rows = db.execute(f"{select} {column} = ? ORDER BY modified, name LIMIT ?", given)
            return tuple(Relative(*row) for row in _typed(rows, bytes, str, str))

        return self._done(
            lambda db: Family(
                before=related(db, "head", parent),
                after=related(db, "parent", head),
                origin=related(db, "begins", again_of),
                again=related(db, "again_of", begins),
            )
        )

    def listed(self, wanted: Wanted) -> Listed:
        """A page of the sessions that are wanted."""
        rest, given = _where(wanted, state=False)
        where, values = _where(wanted, state=True)
        order = _order(wanted.sort)
        first = PAGE_ROWS * (min(max(wanted.page, 1), MAX_PAGE) - 1)

        def work(db: sqlite3.Connection) -> Listed:
            states = _typed(
                db.execute(f"SELECT state, count(*) FROM sessions {rest} GROUP BY state", given), str, int
            )
            (matched,) = db.execute(f"SELECT count(*) FROM sessions {where}", values).fetchone()
            rows = _typed(
                db.execute(
                    "SELECT name, seen, modified, kind, state, batch, header, problem, tags FROM sessions "
                    f"{where} ORDER BY {order} LIMIT ? OFFSET ?",
                    (*values, PAGE_ROWS, first),
                ),
                *(bytes, str, float, str, str, str, bytes | None, str, str),
            )
            batches = _typed(
                db.execute(
                    "SELECT batch, state, count(*), sum(tokens), coalesce(total(cost), 0.0) FROM sessions "
                    "WHERE batch != '' GROUP BY 1, 2"
                ),
                *(str, str, int, int, float),
            )
            summed = _batches(batches)
            tagged = _typed(
                db.execute("SELECT tags, count(*) FROM sessions WHERE tags != '' GROUP BY tags"), str, int
            )
            return Listed(
                rows=tuple(_row(row) for row in rows),
                matched=matched,
                total=len(self._stamps),
                unread=len(self._unread),
                states=tuple(states),
                batches=summed[:MAX_BATCHES],
                more_batches=max(0, len(summed) - MAX_BATCHES),
                tags=_counts(tagged),
            )

        return self._done(work)

    def by_day(self, wanted: Wanted) -> list[tuple[str, str, int, float]]:
        """The days (UTC, ISO dates) on which the sessions that are wanted were last written to: the date, a
        state, how many sessions of it, and their cost (which may be infinite)."""
        where, values = _where(wanted, state=True)
        dated = f"{where} {'AND' if where else 'WHERE'} modified BETWEEN 0 AND {MAX_TIME}"
        select = "SELECT date(modified, 'unixepoch'), state, count(*), coalesce(total(cost), 0.0)"

        def work(db: sqlite3.Connection) -> list[tuple[str, str, int, float]]:
            rows = _typed(
                db.execute(f"{select} FROM sessions {dated} GROUP BY 1, 2", values), str, str, int, float
            )
            return [(day, state, count, cost) for day, state, count, cost in rows]

        return self._done(work)

    def _done(self, work: Callable[[sqlite3.Connection], Done]) -> Done:
        """What `work` gives when it is done as one transaction, with another index where this one fails."""
        with self._lock:
            for is_again in (False, True):
                try:
                    return self._try(work)
                except sqlite3.ProgrammingError:
                    raise  # the index was closed
                except DAMAGES as error:
                    self._give_up(for_good=is_again or _is_held(error))
            return self._try(work)

    def _try(self, work: Callable[[sqlite3.Connection], Done]) -> Done:
        if self._db is None:
            self._db = _opened(self._path)
            self._load(self._db)
        with self._db:
            return work(self._db)

    def _give_up(self, *, for_good: bool) -> None:
        """Let go of the index, to begin another: in its place, or `for_good` in memory."""
        if self._db is not None:
            with contextlib.suppress(sqlite3.Error):
                self._db.close()
            self._db = None
        if for_good:
            self._path = None
        if self._path is not None:
            for path in (self._path, self._path.with_name(f"{self._path.name}-journal")):
                with contextlib.suppress(OSError):
                    path.unlink()

    def _load(self, db: sqlite3.Connection) -> None:
        """Begin with what an index holds, and with the sessions that are known to be there."""
        rows = _typed(db.execute("SELECT name, stamp, state FROM sessions"), bytes, str, str)
        self._stamps = {name: stamp for name, stamp, _ in rows}
        self._unread = {name for name, _, state in rows if state == "unread"}
        if self._there is not None:
            with db:
                self._take(db, self._there)

    def _take(self, db: sqlite3.Connection, stamps: Mapping[bytes, tuple[str, float]]) -> None:
        changed = [
            (name, stamp, modified)
            for name, (stamp, modified) in stamps.items()
            if self._stamps.get(name) != stamp
        ]
        gone = self._stamps.keys() - stamps.keys()
        db.executemany(
            "INSERT INTO sessions (name, stamp, modified, batch) VALUES (?, ?, ?, ?) ON CONFLICT (name) "
            "DO UPDATE SET stamp = excluded.stamp, modified = excluded.modified",
            [(name, stamp, modified, batch_of(name)) for name, stamp, modified in changed],
        )
        db.executemany("DELETE FROM sessions WHERE name = ?", [(name,) for name in gone])
        for name in gone:
            del self._stamps[name]
        self._stamps.update((name, stamp) for name, stamp, _ in changed)
        self._unread = (self._unread - gone) | {name for name, _, _ in changed}


def index_path(base: Path) -> Path:
    """Where the index of a base folder lies."""
    name = hashlib.sha256(os.fsencode(base)).hexdigest()[:32]
    return platformdirs.user_cache_path("vera", appauthor=False) / "sessions" / f"{name}.sqlite"


def batch_of(name: bytes) -> str:
    """The batch of a session by its folder, which is `…/runs/TASK_ID/ATTEMPT`; '' for none."""
    parts = os.fsdecode(name).split("/")
    is_task = len(parts) >= 3 and parts[-3] == "runs" and len(parts[-2]) == 64 and parts[-1].isdigit()
    return _plain("/".join(parts[:-2])) if is_task else ""


def _opened(path: Path | None) -> sqlite3.Connection:
    """The index at `path`, in memory for None. Raises sqlite3.Error, OSError."""
    if path is not None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        path.touch(mode=0o600)
    db = sqlite3.connect(path or ":memory:", timeout=BUSY_SECONDS, check_same_thread=False)
    try:
        return _prepared(db)
    except sqlite3.Error:
        db.close()
        raise


def _is_held(error: Exception) -> bool:
    """Whether another process holds the index, in which nothing is damaged then."""
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF  # the primary code of an extended one
    return code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)


def _typed(rows: Iterable[tuple[Any, ...]], *types: type | UnionType) -> list[tuple[Any, ...]]:
    """The rows. Raises ValueError where a value is not of the type of its column."""
    found = list(rows)
    if not all(all(map(isinstance, row, types)) for row in found):
        raise ValueError("a row of the index is of another type")
    return found


def _prepared(db: sqlite3.Connection) -> sqlite3.Connection:
    db.execute("PRAGMA synchronous = OFF")  # what is lost with the machine is read again
    (version,) = db.execute("PRAGMA user_version").fetchone()
    if version != VERSION:
        db.execute("DROP TABLE IF EXISTS sessions")
        db.execute(f"PRAGMA user_version = {VERSION}")
    db.executescript(_TABLE)
    return db


def _where(wanted: Wanted, *, state: bool) -> tuple[str, tuple[object, ...]]:
    said: list[str] = []
    values: list[object] = []
    for word in _plain(wanted.words).casefold().split()[:MAX_WORDS]:
        said.append("instr(searched, ?) > 0")
        values.append(word)
    if wanted.tag:
        said.append("instr(tags, ?) > 0")
        values.append(_joined((wanted.tag,)))
    for column, value in (("kind", wanted.kind), ("batch", wanted.batch)):
        if value:
            said.append(f"{column} = ?")
            values.append(_plain(value))
    if state and wanted.state == FAILED:
        said.append(f"state IN ({', '.join('?' * len(FAILED_STATES))})")
        values += FAILED_STATES
    elif state and wanted.state:
        said.append("state = ?")
        values.append(_plain(wanted.state))
    return (f"WHERE {' AND '.join(said)}" if said else ""), tuple(values)


def _state(found: Found) -> str:
    """One word for where a session stands: that of its verdict once it has ended, else its phase."""
    if found.header is None:
        return "unreadable" if found.problem else "new"
    ended = found.header.phase == "ended" or found.header.verdict
    return found.header.verdict or "ended" if ended else found.header.phase


def _row(row: tuple[Any, ...]) -> Row:
    """The row of a list. Raises msgspec.MsgspecError where its header cannot be read."""
    name, seen, modified, kind, state, batch, header, problem, tags = row
    return Row(
        name=name,
        seen=seen,
        modified=modified,
        kind=kind,
        state=state,
        batch=batch,
        header=None if header is None else msgspec.msgpack.decode(header, type=Header | None),
        problem=problem,
        tags=_split(tags),
    )


def _joined(tags: Iterable[str]) -> str:
    """Tags as the index keeps them: each between line breaks, which no tag has; '' for none."""
    lines = "\n".join(_plain(tag).replace("\n", " ") for tag in tags)
    return f"\n{lines}\n" if lines else ""


def _split(tags: str) -> tuple[str, ...]:
    return tuple(tag for tag in tags.split("\n") if tag)


def _counts(tagged: Iterable[tuple[str, int]]) -> tuple[tuple[str, int], ...]:
    """How many sessions have each tag, the most frequent first."""
    counts = Counter[str]()
    for tags, count in tagged:
        counts.update(dict.fromkeys(_split(tags), count))
    return tuple(sorted(counts.items(), key=lambda each: (-each[1], each[0]))[:MAX_TAGS])


def _order(sort: str) -> str:
    """What the rows are ordered by: the order of the name, then the newest first, or all of it reversed."""
    name = sort.removeprefix(REVERSED)
    by = [SORTS[name]] if name in SORTS and name != "age" else []
    terms = [*by, SORTS["age"], "name"]
    if sort.startswith(REVERSED):
        terms = [each.removesuffix(" DESC") if each.endswith(" DESC") else f"{each} DESC" for each in terms]
    return ", ".join(terms)


def _batches(rows: Iterable[tuple[Any, ...]]) -> tuple[BatchCount, ...]:
    """The batches, those with most sessions first."""
    by_name: dict[str, list[tuple[str, int, int, float]]] = {}
    for name, *counted in rows:
        by_name.setdefault(name, []).append((counted[0], counted[1], counted[2], counted[3]))
    made = (
        BatchCount(
            name=name,
            states=tuple((state, count) for state, count, _, _ in states),
            tokens=sum(tokens for _, _, tokens, _ in states),
            cost=sum(cost for *_, cost in states if 0 <= cost < MAX_COST),
        )
        for name, states in by_name.items()
    )
    return tuple(sorted(made, key=lambda batch: (-batch.count, batch.name)))


def _figures(header: Header | None) -> tuple[float | None, int, int, float]:
    """The score of a session, how many of its claims are supported, its tokens and its seconds."""
    if header is None:
        return None, 0, 0, 0.0
    tokens = sum(asked + said for _, asked, _, said in header.tokens)
    seconds = max(0.0, (header.ended_ts or header.last_ts) - header.started_ts)
    return header.score, header.supported, tokens, seconds


def _cost(header: Header | None) -> float:
    try:
        return float(header.cost) if header and header.cost else 0.0
    except ValueError:
        return 0.0


def _plain(text: str) -> str:
    """Text that SQLite can keep."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()


def _storable(value: object) -> object:
    """A value of a row; a number that SQLite cannot keep is 0."""
    if isinstance(value, str):
        return _plain(value)
    return value if not isinstance(value, int) or abs(value) < 1 << 63 else 0
