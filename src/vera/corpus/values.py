"""What goes into the corpus index and what comes out of it."""

from typing import Literal

import msgspec

from vera.extraction.containers.values import Place, Step
from vera.extraction.source import Extracted
from vera.sanitize import one_line

By = Literal["words", "meaning", "both"]


class Progress(msgspec.Struct, frozen=True, kw_only=True):
    """How far an update has come.

    `phase` is `waiting` (another process is indexing the same folder), `looking` (comparing the folder
    with the index) or `indexing`; `files` of `total` are done, `bytes` of `total_bytes` of raw input read so
    far. `documents` counts the files and members that were indexed.
    `message` is one sentence for the person.
    """

    phase: str
    files: int = 0
    total: int = 0
    bytes: int = 0
    total_bytes: int = 0
    documents: int = 0
    message: str = ""


class IndexReport(msgspec.Struct, frozen=True, kw_only=True):
    """What an update found and did.

    `files` are in the folder; of these `read` were new or changed and `unchanged` were not opened, and the
    others are new ones of which only the name can be told (links, pipes);
    `removed` left the index. `bytes` of raw input were read, and `documents` were made of them: files, and
    members of containers. `chunks` are in the index now. `unreadable`
    lists (name, reason) for every file of the folder without text, also of earlier updates, in order of
    names.
    """

    files: int
    read: int
    unchanged: int
    removed: int
    bytes: int
    chunks: int
    unreadable: tuple[tuple[str, str], ...]
    seconds: float
    documents: int = 0


class Embedded(msgspec.Struct, frozen=True, kw_only=True):
    """How far the passages of a folder are embedded: `chunks` of `of`, by the model of this name.

    `problem` says why it went no further, or is ''; `note` what else there is to say.
    """

    model: str
    chunks: int
    of: int
    problem: str = ""
    note: str = ""


class Hit(msgspec.Struct, frozen=True, kw_only=True):
    """A passage that answers a query.

    `path` is the file's name below the root, with slashes. Lines `first` to `last` (from 1, at most 8)
    are the best of the chunk `chunk_first` to `chunk_last`, in a text of `lines_total` lines; `text` is
    exactly those lines of the canonical text whose sha256 is `source`. `page` is None for formats without
    pages. `score` is about 1 when the lines hold all that was asked for; with an embedder the
    cosine is mixed in. `matched` are the words of the query that the lines hold, `missing` those that do
    not. `by` says what found the lines: `words`, `meaning` or `both`.
    """

    path: str
    title: str
    score: float
    first: int
    last: int
    chunk_first: int
    chunk_last: int
    lines_total: int
    page: int | None
    text: str
    source: str
    matched: tuple[str, ...]
    missing: tuple[str, ...]
    by: By = "words"


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """The hits of one search, best first, and a sentence in `note` when there is something to say of it
    (nothing found and why, a phrase that is nowhere, a file that changed meanwhile)."""

    hits: tuple[Hit, ...]
    note: str = ""


class HeldIn(msgspec.Struct, frozen=True, kw_only=True):
    """Where a member lay: the container's name and sha256, and the steps to the member in it."""

    container: str
    container_sha256: str
    place: Place

    def as_json(self) -> bytes:
        """All of it as JSON, to be kept as evidence."""
        steps = [
            {
                "kind": step.kind,
                "number": step.number,
                "name": step.name,
                "offset": step.offset,
                "bytes": step.length,
            }
            for step in self.place
        ]
        told = {"file": self.container, "sha256": self.container_sha256, "steps": steps}
        return msgspec.json.format(msgspec.json.encode(told)) + b"\n"

    def in_words(self) -> str:
        """`takeout.zip (sha256 …): zip member 3 "Mail/All.mbox", mbox member 12 at byte 4711, 980 bytes`."""
        steps = ", ".join(map(_in_words, self.place)) or "the whole file"
        return f"{one_line(self.container, 300)} (sha256 {self.container_sha256}): {steps}"


def _in_words(step: Step) -> str:
    name = f' "{one_line(step.name, 200)}"' if step.name else ""
    where = f" at byte {step.offset}, {step.length} bytes" if step.length else ""
    return f"{step.kind} member {step.number}{name}{where}"


class Document(msgspec.Struct, frozen=True, kw_only=True):
    """One file of the corpus: its raw bytes and the canonical text made from them.

    `raw_sha256` is that of `raw`, `source` that of `extracted.text`. `held` says where a member
    of a container lay. `modified_ns` is the time of the file's last change, of a member that of its container
    (Unix time in nanoseconds, 0 where it is not known). `origin` says where a connector had it from, and
    `receipt` as JSON how it came where it was fetched by its address.
    """

    path: str
    raw: bytes
    raw_sha256: str
    source: str
    extracted: Extracted
    held: HeldIn | None = None
    modified_ns: int = 0
    origin: str = ""
    receipt: bytes = b""


class Stats(msgspec.Struct, frozen=True, kw_only=True):
    """The size of the index: files with text, their chunks, bytes of canonical text, unreadable files."""

    files: int
    chunks: int
    bytes: int
    unreadable: int


class State(msgspec.Struct, frozen=True, kw_only=True):
    """What there is of an index: its size, where and how large it is on the disk (bytes), and its digest.

    `containers` were opened, of which `unfinished` not to their end. `new`, `changed` and `gone` count the
    files that the next update will look at.
    """

    stats: Stats
    place: str
    disk: int
    digest: str
    containers: int
    unfinished: int
    new: int
    changed: int
    gone: int
    unreadable: tuple[tuple[str, str], ...]


class StopIndexing(Exception):
    """Raised by whoever hears of the progress, to end an update and keep what is indexed."""


class EmptyCorpus(Exception):
    """Nothing in the folder could be read; `reasons` are (name, reason), the message a whole sentence."""

    def __init__(self, message: str, reasons: tuple[tuple[str, str], ...] = ()) -> None:
        super().__init__(message)
        self.reasons = reasons


class UnknownDocument(LookupError):
    """No file of the corpus has this name; `near` are names that look like it."""

    def __init__(self, message: str, near: tuple[str, ...] = ()) -> None:
        super().__init__(message)
        self.near = near


class IndexUnusable(Exception):
    """The index cannot be written or another process holds it without end; the message says what to do."""
