"""The index's own tokenizer, applied to texts that are not in the index.

An FTS5 table in memory tokenizes and stems; its vocabulary says which stem stands where. So a query and a
passage are read exactly as the index reads them, without a second implementation that could differ.
"""

import sqlite3
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from vera.corpus.tokens import TOKENIZER, spaced
from vera.corpus.values import IndexUnusable

_LINE_END = "\ue000"  # a private-use character is its own token for unicode61


class TokenPosition(NamedTuple):
    """Where a word stands: the number of its token in the text, the index of its line (both from 0)."""

    position: int
    line: int


class Analyzer:
    """Reads texts as the index reads them. Not for use by two threads at once."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        try:
            self._db.execute(
                f"CREATE VIRTUAL TABLE text USING fts5(body, content='', tokenize='{TOKENIZER}')"
            )
        except sqlite3.OperationalError as error:
            raise IndexUnusable(
                f"This Python's SQLite ({sqlite3.sqlite_version}) cannot search text: {error}. "
                "Use a Python whose SQLite has FTS5, as those of Debian, Homebrew and python.org have."
            ) from error
        self._db.execute("CREATE VIRTUAL TABLE word USING fts5vocab(text, instance)")

    def close(self) -> None:
        self._db.close()

    def stems(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """The stems of each text, in order."""
        self._load(texts)
        found: list[list[tuple[int, str]]] = [[] for _ in texts]
        for term, text, position in self._db.execute('SELECT term, doc, "offset" FROM word'):
            found[text].append((position, term))
        return [tuple(term for _, term in sorted(stems)) for stems in found]

    def places(self, texts: Sequence[str], stems: Collection[str]) -> list[Mapping[str, list[TokenPosition]]]:
        """Where each of `stems` is in each text, in order of position."""
        self._load([text.replace(_LINE_END, " ").replace("\n", f" {_LINE_END} ") for text in texts])
        line_ends: dict[int, list[int]] = defaultdict(list)
        for text, position in self._instances(_LINE_END):
            line_ends[text].append(position)
        found: list[dict[str, list[TokenPosition]]] = [{} for _ in texts]
        for stem in stems:
            positions: dict[int, list[int]] = defaultdict(list)
            for text, position in self._instances(stem):
                positions[text].append(position)
            for text, some in positions.items():
                found[text][stem] = _placed(some, line_ends[text])
        return list(found)

    def _instances(self, stem: str) -> list[tuple[int, int]]:
        query = 'SELECT doc, "offset" FROM word WHERE term = ? ORDER BY doc, "offset"'
        return self._db.execute(query, (stem,)).fetchall()

    def _load(self, texts: Sequence[str]) -> None:
        self._db.execute("INSERT INTO text(text) VALUES ('delete-all')")
        self._db.execute("BEGIN")
        self._db.executemany(
            "INSERT INTO text(rowid, body) VALUES (?, ?)", enumerate(spaced(text) for text in texts)
        )
        self._db.execute("COMMIT")


def _placed(positions: list[int], line_ends: list[int]) -> list[TokenPosition]:
    placed, line = [], 0
    for position in positions:
        while line < len(line_ends) and line_ends[line] < position:
            line += 1
        placed.append(TokenPosition(position - line, line))
    return placed
