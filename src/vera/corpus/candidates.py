"""Candidates: the chunks that full-text search proposes for a query, at a bounded cost.

Ranking a match costs about a microsecond (SQLite 3.40), so the rarest words of a query select the
candidates, as many words as the budget of matches allows; the frequent ones count when the candidates are
compared. Three selections are united: chunks with all words, chunks with some of them, and chunks of the
files whose names the query speaks of.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import accumulate

import msgspec

from vera.corpus.query import Query, Term

MATCHES_BUDGET = 50_000
_ALL_WORDS = 40
_SOME_WORDS = 60
_NAMED_FILES = 5
_CHUNKS_A_NAMED_FILE = 10
_MATCHES_A_NAMED_FILE = 5000
_LAST = (1 << 63) - 1
_CHUNK = "SELECT id, file, start, end, line, digest FROM chunk WHERE id"


class Candidate(msgspec.Struct, frozen=True):
    """A row of `chunk`."""

    id: int
    file: int
    start: int
    end: int
    line: int
    digest: bytes


def counted(db: sqlite3.Connection, table: str, living: str, match: str) -> int:
    """How many rows of a full-text table match, counted no further than the budget.

    `living` is the table whose rows are not gone; '' where no row of the full-text table is.
    """
    # The plus keeps SQLite from asking the full-text index once for each living row.
    alive = f"AND +rowid IN (SELECT id FROM {living}) " if living else ""
    limited = f"SELECT 1 FROM {table} WHERE {table} MATCH ? {alive}LIMIT {MATCHES_BUDGET}"
    return int(db.execute(f"SELECT count(*) FROM ({limited})", (match,)).fetchone()[0])


def candidates(db: sqlite3.Connection, query: Query) -> list[Candidate]:
    """The chunks to be compared, in the order in which they were found."""
    found: dict[int, Candidate] = {}
    required = _all(query.phrases)
    telling = [term for term in query.terms if term.frequency]
    some = _affordable(telling, _in_chunks)
    if required:
        within = f"{required} AND ({_any(some)})" if some else required
        for match in (within, required):
            found |= _ranked(db, match, _ALL_WORDS, last=_affordable_end(db, match, query.phrases))
        return list(found.values())
    if len(some) > 1:
        found |= _ranked(db, _all(some), _ALL_WORDS, last=_LAST)
    if some:
        found |= _ranked(db, _any(some), _SOME_WORDS, last=_affordable_end(db, _any(some), some))
    for first, last in _named(db, query):
        found |= live(db, _best_between(db, telling, first, last) or [first])
    return list(found.values())


def _all(terms: Iterable[Term]) -> str:
    return " AND ".join(term.match for term in terms)


def _any(terms: Iterable[Term]) -> str:
    return " OR ".join(term.match for term in terms)


def _affordable(terms: Iterable[Term], frequency: Callable[[Term], int]) -> list[Term]:
    """The rarest of the terms that occur at all, and as many more as the budget allows."""
    occurring = sorted((term for term in terms if frequency(term)), key=frequency)
    spent = list(accumulate(map(frequency, occurring)))
    return [term for at, term in enumerate(occurring) if not at or spent[at] <= MATCHES_BUDGET]


def _affordable_end(db: sqlite3.Connection, match: str, terms: Sequence[Term]) -> int:
    """The chunk up to which matches are ranked: the last one, unless even the rarest term is too frequent."""
    if min(term.frequency for term in terms) < MATCHES_BUDGET:
        return _LAST
    first_matches = f"SELECT rowid FROM body WHERE body MATCH ? LIMIT {MATCHES_BUDGET}"
    end = db.execute(f"SELECT max(rowid) FROM ({first_matches})", (match,)).fetchone()[0]
    return _LAST if end is None else int(end)


def _in_chunks(term: Term) -> int:
    return term.frequency


def _in_names(term: Term) -> int:
    return term.name_frequency


def _ranked(db: sqlite3.Connection, match: str, limit: int, last: int) -> dict[int, Candidate]:
    """The living chunks up to `last` that match, best first by BM25."""
    wanted = limit
    while True:
        rows = db.execute(
            "SELECT rowid FROM body WHERE body MATCH ? AND rowid <= ? ORDER BY rank LIMIT ?",
            (match, last, wanted),
        ).fetchall()
        found = live(db, [row[0] for row in rows])
        if len(found) >= limit or len(rows) < wanted:
            return dict(list(found.items())[:limit])
        wanted *= 2


def _best_between(db: sqlite3.Connection, terms: Iterable[Term], first: int, last: int) -> list[int]:
    """The chunks of this range that hold the most of the terms' weight.

    Not by BM25, for which FTS5 goes through all matches of each term in the whole index.
    """
    weights: dict[int, float] = defaultdict(float)
    query = "SELECT rowid FROM body WHERE body MATCH ? AND rowid BETWEEN ? AND ? LIMIT ?"
    for term in terms:
        for (chunk,) in db.execute(query, (term.match, first, last, _MATCHES_A_NAMED_FILE)):
            weights[chunk] += term.weight
    return sorted(weights, key=lambda chunk: (-round(weights[chunk], 6), chunk))[:_CHUNKS_A_NAMED_FILE]


def live(db: sqlite3.Connection, ids: Sequence[int]) -> dict[int, Candidate]:
    """The chunks of these ids that are not gone, in this order."""
    marks = ",".join("?" * len(ids))
    rows = {row[0]: Candidate(*row) for row in db.execute(f"{_CHUNK} IN ({marks})", ids)}
    return {row: rows[row] for row in ids if row in rows}


def _named(db: sqlite3.Connection, query: Query) -> list[tuple[int, int]]:
    """The ranges of chunks of the files whose names match best."""
    named = _affordable(query.terms, _in_names)
    if not named:
        return []
    best = "SELECT rowid FROM name WHERE name MATCH ? ORDER BY rank LIMIT ?"
    ids = [row[0] for row in db.execute(best, (_any(named), 4 * _NAMED_FILES))]
    marks = ",".join("?" * len(ids))
    ranges = {
        row[0]: (row[1], row[2])
        for row in db.execute(f"SELECT id, first_chunk, last_chunk FROM file WHERE id IN ({marks})", ids)
        if row[1] <= row[2]
    }
    return [ranges[row] for row in ids if row in ranges][:_NAMED_FILES]
