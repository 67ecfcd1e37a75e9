"""The corpus: a folder of documents that can be searched and read."""

import difflib
import hashlib
import sqlite3
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypeVar

import msgspec

from vera.corpus import schema
from vera.corpus.analyzer import Analyzer
from vera.corpus.digest import content_digest
from vera.corpus.folder import Folder
from vera.corpus.index import File, Index, Stamp, ended
from vera.corpus.lock import PATIENCE_S, Busy, Held, exclusive
from vera.corpus.search import search
from vera.corpus.update import Update
from vera.corpus.values import (
    Document,
    Embedded,
    EmptyCorpus,
    Found,
    HeldIn,
    IndexReport,
    IndexUnusable,
    Progress,
    State,
    Stats,
    UnknownDocument,
)
from vera.corpus.writer import Writer
from vera.embedding.values import Embedder
from vera.extraction.canonical import FORMATS
from vera.extraction.extractor import Extractor
from vera.extraction.source import Extracted, Unreadable
from vera.sanitize import printed_name
from vera.version import __version__

if TYPE_CHECKING:
    from vera.corpus.meaning import Meaning

T = TypeVar("T")
_Tell = Callable[[Progress], None]

_FILE = "index.sqlite"
_LOCK = "lock"
_MAX_HITS = 50
_NEAR_NAMES = 5
_MAX_NAME_LENGTH = 5000


class Corpus:
    """A folder `root` with its full-text index in the folder `cache`, which is its alone.

    Use it as a context manager or `close` it. Threads may share it; they take turns. Several processes may
    use one cache: one of them writes at a time, and searching goes on meanwhile. The extractor is the
    caller's to close, and so is the embedder, without which passages are found by their words alone.
    `origins` says of files by their names where a connector had them from, `receipts` as JSON how they came.
    """

    def __init__(
        self,
        root: Path,
        cache: Path,
        extractor: Extractor,
        embedder: Embedder | None = None,
        origins: Mapping[str, str] = {},
        receipts: Mapping[str, bytes] = {},
    ) -> None:
        self._folder = Folder(root)
        self._origins = origins
        self._receipts = receipts
        self._cache = cache
        self._extractor = extractor
        self._unpacking = extractor.unpacking()
        # With a format that is new, files that could not be read can be.
        formats = " ".join([*(each.name for each in FORMATS), extractor.further_formats])
        self._form = f"{schema.FORMAT} vera-{__version__} {formats} {root.resolve()}"
        self._opened: Index | None = None
        self._analyzer = Analyzer()
        self._meaning = _meaning(embedder) if embedder is not None else None
        self._turn = threading.RLock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        with self._turn:
            self._analyzer.close()
            self._unpacking.close()
            self._close_index()

    def update(self, progress: Callable[[Progress], None] | None = None) -> IndexReport:
        """Bring the index to what the folder holds; files whose size and times are unchanged are not read.

        Interrupted or killed, it leaves a usable index and goes on where it was the next time. While
        another process updates the same index it waits and says so by `progress`.

        Raises EmptyCorpus when there is no text in the whole folder, IndexUnusable when the index cannot
        be written.
        """
        return self._update(progress or _nobody, PATIENCE_S)

    def embed(self, seconds: float = 0.0, progress: Callable[[Progress], None] | None = None) -> Embedded:
        """Embed the passages that are not embedded yet, for at most `seconds` (0: all of them).

        Interrupted or killed, it goes on where it was the next time. What is not embedded is found by its
        words. Raises IndexUnusable, and ValueError when there is no embedder.
        """
        if self._meaning is None:
            raise ValueError("this corpus has no embedder")
        meaning, tell = self._meaning, progress or _nobody
        with self._turn:
            return self._ask(
                lambda index: meaning.embed(
                    index, self._folder, lambda: self._exclusive(tell, PATIENCE_S), seconds, tell
                )
            )

    def search(self, query: str, limit: int = 8) -> Found:
        """The best passages for a query, at most `limit` (and at most 50) of them, best first.

        Any string may be asked; words in double quotes must stand so. Files that have changed since they
        were indexed are indexed again before they answer. Raises IndexUnusable.
        """
        limit = min(max(limit, 0), _MAX_HITS)
        with self._turn:
            found, changed = self._search(query, limit)
            if changed:
                with suppress(Busy, EmptyCorpus):
                    self._update(_nobody, patience=0)
                found, changed = self._search(query, limit)
        if not changed:
            return found
        left_out = f"Left out, for they have changed: {', '.join(sorted(changed)[:_NEAR_NAMES])}."
        return msgspec.structs.replace(found, note=f"{found.note} {left_out}".lstrip())

    def document(self, path: str) -> Document:
        """A file of the corpus as it is now, with its canonical text.

        Raises UnknownDocument with names that look like `path` when the index knows no such file,
        Unreadable when it has no text or cannot be read any more.
        """
        with self._turn:
            row = self._ask(lambda index: index.file(_searchable(path)))
            if row is None:
                raise self._ask(lambda index: _unknown(path, index))
            if row.unreadable:
                raise Unreadable(row.unreadable)
            if row.container:
                return self._member(row)
            stamp = self._folder.stamp(path)
            raw = self._folder.read(path)
            extracted = self._ask(lambda index: _as_indexed(index, row, raw))
            if extracted is None:
                extracted = self._extractor.extract(raw, path)
                self._put(path, stamp, raw, extracted)
        return Document(
            path=path,
            raw=raw,
            raw_sha256=hashlib.sha256(raw).hexdigest(),
            source=hashlib.sha256(extracted.text).hexdigest(),
            extracted=extracted,
            modified_ns=stamp.mtime_ns if stamp else 0,
            origin=self._origins.get(path, ""),
            receipt=self._receipts.get(path, b""),
        )

    def _member(self, row: File) -> Document:
        """A member of a container; when that has changed it is indexed again first."""
        document = self._ask(lambda index: self._kept_member(index, row))
        if document is not None:
            return document
        with suppress(Busy, EmptyCorpus):
            self._update(_nobody, patience=0)
        again = self._ask(lambda index: index.file(row.name))
        if again is not None and again.container and not again.unreadable:
            document = self._ask(lambda index: self._kept_member(index, again))
        if document is None:
            raise Unreadable(f"{row.container}, in which it lay, has changed")
        return document

    def _kept_member(self, index: Index, row: File) -> Document | None:
        """The document of a member as it was indexed; None when its bytes are no longer in the container."""
        container = index.container(row.container)
        if container is None:
            return None
        try:
            with self._folder.opened(container.name) as descriptor:
                raw = self._unpacking.member(descriptor, container.kind, row.steps())
        except (OSError, Unreadable):
            return None
        extracted = _as_indexed(index, row, raw)
        if extracted is None:
            return None
        held = HeldIn(container=container.name, container_sha256=container.sha256, place=row.steps())
        return Document(
            path=row.name,
            raw=raw,
            raw_sha256=row.raw_sha256,
            source=row.source,
            extracted=extracted,
            held=held,
            modified_ns=row.mtime_ns,
            origin=self._origins.get(container.name, ""),
            receipt=self._receipts.get(container.name, b""),
        )

    @property
    def root(self) -> Path:
        """The folder."""
        return self._folder.root

    def digest(self) -> str:
        """The digest of the index's content (`vera.corpus.digest`), as it is now."""
        with self._turn:
            return self._ask(lambda index: content_digest(index.db))

    def state(self) -> State | None:
        """What there is of the index, None for nothing yet. Writes nothing. Raises IndexUnusable."""
        if not (self._cache / _FILE).is_file():
            return None
        with self._turn:
            db = schema.connect(self._cache / _FILE)
            try:
                if schema.format_of(db) != self._form:
                    return None
            except sqlite3.Error:
                return None
            finally:
                db.close()
            new, changed, gone = self._updating(_nobody).changes()
            return self._ask(lambda index: self._state(index, new, changed, gone))

    def _state(self, index: Index, new: int, changed: int, gone: int) -> State:
        containers = index.containers().values()
        return State(
            stats=index.stats(),
            place=str(self._cache),
            disk=sum(each.stat().st_size for each in self._cache.iterdir() if each.is_file()),
            digest=content_digest(index.db),
            containers=len(containers),
            unfinished=sum(not each.whole for each in containers),
            new=new,
            changed=changed,
            gone=gone,
            unreadable=index.unreadable(),
        )

    def names(self, limit: int) -> list[str]:
        """The first `limit` names of files with text, in order."""
        with self._turn:
            return self._ask(lambda index: index.names(limit))

    def called(self, name: str, limit: int) -> list[tuple[str, str]]:
        """(name, title) of files with text in whose names or titles all words of `name` stand, the best
        first. Raises IndexUnusable."""
        with self._turn:
            return self._ask(lambda index: index.called(_searchable(name), limit))

    def stats(self) -> Stats:
        """The size of the index as it is now."""
        with self._turn:
            return self._ask(lambda index: index.stats())

    def _update(self, tell: _Tell, patience: float, *, rebuild: bool = False) -> IndexReport:
        with self._turn, self._exclusive(tell, patience) as held:

            def heard(progress: Progress) -> None:
                held.still_working()
                tell(progress)

            if rebuild:
                self._discard()
            try:
                return self._updating(heard).run()
            except sqlite3.Error as error:
                self._give_up_unless_damaged(error)
                self._discard()
            return self._updating(heard).run()

    def _updating(self, heard: _Tell) -> Update:
        return Update(self._open(), self._folder, self._extractor, self._unpacking, heard)

    def _search(self, query: str, limit: int) -> tuple[Found, frozenset[str]]:
        return self._ask(
            lambda index: search(index, self._folder, self._analyzer, query, limit, self._meaning)
        )

    def _ask(self, question: Callable[[Index], T]) -> T:
        """The index's answer; a damaged index is rebuilt first."""
        if self._opened is None:
            with self._exclusive(_nobody, PATIENCE_S):
                self._open()
        try:
            return question(self._open())
        except sqlite3.Error as error:
            self._give_up_unless_damaged(error)
        with suppress(EmptyCorpus):
            self._update(_nobody, PATIENCE_S, rebuild=True)
        return question(self._open())

    def _put(self, path: str, stamp: Stamp | None, raw: bytes, extracted: Extracted) -> None:
        """Index again a file that was found changed, unless another process is writing."""
        if stamp is not None:
            with suppress(Busy), self._exclusive(_nobody, patience=0), Writer(self._open()) as writer:
                writer.forget(path)
                writer.put(path, stamp, raw, extracted)

    def _open(self) -> Index:
        """The index; the lock is held or it was open before."""
        if self._opened is None:
            self._opened = Index(self._cache / _FILE, self._form)
        return self._opened

    def _discard(self) -> None:
        """Delete the index: it is derived and can be made again. The lock is held."""
        self._close_index()
        schema.remove(self._cache / _FILE)

    def _close_index(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _exclusive(self, tell: _Tell, patience: float) -> AbstractContextManager[Held]:
        return exclusive(
            self._cache / _LOCK, lambda message: tell(Progress(phase="waiting", message=message)), patience
        )

    def _give_up_unless_damaged(self, error: sqlite3.Error) -> None:
        """Raise what nothing can be done about from here: a full disk, no right to write."""
        if not schema.is_damage(error):
            raise IndexUnusable(
                f"The index in {self._cache} cannot be used: {error}. "
                "Free some space or make the folder writable."
            ) from error


def _nobody(_: Progress) -> None:
    """No one wants to hear of the progress."""


def _meaning(embedder: Embedder) -> "Meaning":
    from vera.corpus.meaning import Meaning

    return Meaning(embedder)


def _searchable(name: str) -> str:
    return name[:_MAX_NAME_LENGTH].encode(errors="replace").decode().replace("\0", " ")


def _as_indexed(index: Index, row: File, raw: bytes) -> Extracted | None:
    """What was extracted from these bytes when they were indexed; None if the index is of other bytes."""
    if hashlib.sha256(raw).hexdigest() != row.raw_sha256:
        return None
    text = ended(raw, row.length) if row.verbatim else index.text_of(row)
    return row.extracted(text) if hashlib.sha256(text).hexdigest() == row.source else None


def _unknown(path: str, index: Index) -> UnknownDocument:
    name = _searchable(path)
    pool = sorted(set(index.like(name)) | set(index.names(_NEAR_NAMES)))
    near = difflib.get_close_matches(name, pool, n=_NEAR_NAMES, cutoff=0.3)
    advice = (
        f"Names like it: {', '.join(map(printed_name, near))}."
        if near
        else "Search for its words to find the name."
    )
    return UnknownDocument(f"No file of the input folder is named {name[:200]!r}. {advice}", tuple(near))
