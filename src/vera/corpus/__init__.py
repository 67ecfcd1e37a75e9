"""The corpus index: full-text search over a folder of documents, with hits that cite lines.

SQLite FTS5 over overlapping chunks of about 2 kB; see `schema` for what lies on disk, `update` for how it
follows the folder, `search` for how a question finds its lines.
"""

from vera.corpus.corpus import Corpus
from vera.corpus.values import (
    Document,
    Embedded,
    EmptyCorpus,
    Found,
    HeldIn,
    Hit,
    IndexReport,
    IndexUnusable,
    Progress,
    State,
    Stats,
    StopIndexing,
    UnknownDocument,
)

__all__ = [
    "Corpus",
    "Document",
    "Embedded",
    "EmptyCorpus",
    "Found",
    "HeldIn",
    "Hit",
    "IndexReport",
    "IndexUnusable",
    "Progress",
    "State",
    "Stats",
    "StopIndexing",
    "UnknownDocument",
]
