"""An update: bring the index to what the folder holds now, reading only what is new or changed."""

import time
from collections.abc import Callable, Iterator

from vera.evidence.extractor import Extractor
from vera.evidence.source import Unreadable
from vera.search.corpus.folder import Folder
from vera.search.corpus.index import Index, Stamp
from vera.search.corpus.values import EmptyCorpus, IndexReport, Progress
from vera.search.corpus.writer import Writer

_DEAD_PER_LIVE = 0.5
_FEW_DEAD = 1000
_BAD_NAME = "its name is not UTF-8: rename it"
_NAMED_REASONS = 5
_TICK_S = 0.2
# A file written again within one tick of the file system's clock keeps its times (the "racy" entries of
# git), so a file that young is read a tick later. Whole seconds are the sign of a coarse clock.
_FINE_CLOCK_NS = 20_000_000
_COARSE_CLOCK_NS = 2_000_000_000


class Update:
    """One update of an index; `run` it once."""

    def __init__(
        self, index: Index, folder: Folder, extractor: Extractor, tell: Callable[[Progress], None]
    ) -> None:
        self._index = index
        self._folder = folder
        self._extractor = extractor
        self._tell = tell
        self._known: dict[str, tuple[Stamp, str]] = {}
        self._pending: list[tuple[str, Stamp]] = []
        self._under_way: dict[str, tuple[Stamp, bytes]] = {}
        self._done = self._bytes = 0
        self._told = 0.0

    def run(self) -> IndexReport:
        """Raises EmptyCorpus when there is no text in the whole folder."""
        began = time.monotonic()
        if self._index.dead() > max(_DEAD_PER_LIVE * self._index.stats().chunks, _FEW_DEAD):
            self._index.clear()
        self._known = self._index.known()
        seen, removed = self._look()
        self._index_pending()
        stats = self._index.stats()
        unreadable = self._index.unreadable()
        if not stats.chunks:
            raise EmptyCorpus(_why_empty(self._folder, unreadable), unreadable)
        return IndexReport(
            files=seen,
            read=len(self._pending),
            unchanged=seen - len(self._pending),
            removed=removed,
            bytes=self._bytes,
            chunks=stats.chunks,
            unreadable=unreadable,
            seconds=time.monotonic() - began,
        )

    def _look(self) -> tuple[int, int]:
        """Compare the folder with the index: how many files there are, how many have gone."""
        seen: set[str] = set()
        with Writer(self._index) as writer:
            for entry in self._folder.entries():
                name, skipped = _utf8(entry.path), entry.skipped
                if name in seen:
                    continue  # two names that are no UTF-8 and look the same
                seen.add(name)
                if name != entry.path:
                    skipped = skipped or _BAD_NAME
                stamp = Stamp(entry.size, entry.mtime_ns, entry.ctime_ns)
                before, before_unreadable = self._known.get(name, (None, ""))
                if skipped and (before, before_unreadable) != (stamp, skipped):
                    self._put_unreadable(writer, name, stamp, skipped)
                elif not skipped and before != stamp:
                    self._pending.append((name, stamp))
                if len(seen) % 1000 == 0:
                    message = f"Looked at {len(seen)} files."
                    self._tell(Progress(phase="looking", files=len(seen), message=message))
            gone = self._known.keys() - seen
            for name in gone:
                writer.forget(name)
        return len(seen), len(gone)

    def _index_pending(self) -> None:
        with Writer(self._index) as writer:
            for name, result in self._extractor.extract_all(self._items(writer)):
                stamp, raw = self._under_way.pop(name)
                if isinstance(result, Unreadable):
                    self._put_unreadable(writer, name, stamp, str(result))
                else:
                    if name in self._known:
                        writer.forget(name)
                    writer.put(name, stamp, raw, result)
                self._finished(len(raw))

    def _put_unreadable(self, writer: Writer, name: str, stamp: Stamp, reason: str) -> None:
        if name in self._known:
            writer.forget(name)
        writer.put_unreadable(name, stamp, reason)

    def _items(self, writer: Writer) -> Iterator[tuple[str, bytes, str]]:
        for name, stamp in self._pending:
            _let_settle(stamp)
            try:
                raw = self._folder.read(name)
            except Unreadable as error:
                self._put_unreadable(writer, name, stamp, str(error))
                self._finished(0)
                continue
            self._under_way[name] = stamp, raw
            yield name, raw, name

    def _finished(self, size: int) -> None:
        self._done += 1
        self._bytes += size
        done, total, now = self._done, len(self._pending), time.monotonic()
        if now - self._told < _TICK_S and done < total:
            return
        self._told = now
        message = f"Indexed {done} of {total} files, {self._bytes / 1e6:.1f} MB."
        self._tell(Progress(phase="indexing", files=done, total=total, bytes=self._bytes, message=message))


def _utf8(name: str) -> str:
    return name.encode(errors="surrogateescape").decode(errors="replace")


def _let_settle(stamp: Stamp) -> None:
    """Wait until whoever writes the file from now on must change its stamp."""
    age = time.time_ns() - stamp.ctime_ns
    tick = _FINE_CLOCK_NS if stamp.ctime_ns % 1_000_000_000 else _COARSE_CLOCK_NS
    if 0 <= age < tick:
        time.sleep((tick - age) / 1e9)


def _why_empty(folder: Folder, unreadable: tuple[tuple[str, str], ...]) -> str:
    if not unreadable:
        return f"The folder {folder.root} is empty: put the documents there, or name another folder."
    reasons = "; ".join(f"{name}: {reason}" for name, reason in unreadable[:_NAMED_REASONS])
    more = f"; and {len(unreadable) - _NAMED_REASONS} more" if len(unreadable) > _NAMED_REASONS else ""
    return (
        f"Nothing in the folder {folder.root} could be read ({reasons}{more}). "
        "Put text, Markdown, HTML, PDF, CSV, JSON, Word or Excel files there, or name another folder."
    )
