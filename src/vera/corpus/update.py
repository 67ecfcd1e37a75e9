"""An update: bring the index to what the folder holds now, reading only what is new or changed."""

import time
from collections.abc import Callable, Generator
from contextlib import closing

from vera.corpus.folder import Folder
from vera.corpus.index import Container, Index, Stamp
from vera.corpus.members import Begun, Ended, Event, Members, NoContainer, Read, Said
from vera.corpus.tally import Tally
from vera.corpus.values import EmptyCorpus, IndexReport, Progress
from vera.corpus.writer import Held, Writer
from vera.evidence.reading import FolderEntry
from vera.extraction.containers.names import MARK, kind_of
from vera.extraction.containers.unpacking import Unpacking
from vera.extraction.extractor import Extractor
from vera.extraction.source import Extracted, Unreadable

_DEAD_PER_LIVE = 0.5
_FEW_DEAD = 1000
_BAD_NAME = "its name is not UTF-8: rename it"
_NAMED_REASONS = 5
# A file written again within one tick of the file system's clock keeps its times (the "racy" entries of
# git), so a file that young is read a tick later. Whole seconds are the sign of a coarse clock.
_FINE_CLOCK_NS = 20_000_000
_COARSE_CLOCK_NS = 2_000_000_000


class Update:
    """One update of an index; `run` it once."""

    def __init__(
        self,
        index: Index,
        folder: Folder,
        extractor: Extractor,
        unpacking: Unpacking,
        tell: Callable[[Progress], None],
    ) -> None:
        self._index = index
        self._folder = folder
        self._extractor = extractor
        self._tally = Tally(tell)
        self._unpacking = unpacking
        self._known: dict[str, tuple[Stamp, str]] = {}
        self._containers: dict[str, Container] = {}
        self._pending: list[tuple[str, Stamp, str]] = []
        self._skipped = 0

    def run(self) -> IndexReport:
        """Raises EmptyCorpus when there is no text in the whole folder."""
        began = time.monotonic()
        if self._index.dead() > max(_DEAD_PER_LIVE * self._index.stats().chunks, _FEW_DEAD):
            self._index.clear()
        self._known = self._index.known()
        self._containers = self._index.containers()
        with Writer(self._index) as writer:
            seen, removed = self._look(writer)
        self._tally.expect([stamp.size for _, stamp, _ in self._pending])
        items = self._items(self._members())
        with closing(items), Writer(self._index) as writer:
            for said, result in self._extractor.extract_all(items):
                self._write(writer, said, result)
            self._tally.finished()
        stats = self._index.stats()
        unreadable = self._index.unreadable()
        if not stats.chunks:
            raise EmptyCorpus(_why_empty(self._folder, unreadable), unreadable)
        return IndexReport(
            files=seen,
            read=len(self._pending),
            unchanged=seen - len(self._pending) - self._skipped,
            removed=removed,
            bytes=self._tally.bytes,
            chunks=stats.chunks,
            unreadable=unreadable,
            seconds=time.monotonic() - began,
            documents=self._tally.documents,
        )

    def changes(self) -> tuple[int, int, int]:
        """How many files of the folder are new, changed and gone, without writing anything."""
        self._known = self._index.known()
        self._containers = self._index.containers()
        _, gone = self._look(None)
        there = self._known.keys() | self._containers.keys()
        new = sum(name not in there for name, _, _ in self._pending)
        return new, len(self._pending) - new, gone

    def _look(self, writer: Writer | None) -> tuple[int, int]:
        """Compare the folder with the index: how many files there are, how many have gone."""
        seen: set[str] = set()
        opened: set[str] = set()
        for entry in self._folder.entries():
            name, skipped = _named(entry, opened)
            if name in seen:
                continue  # two names that are no UTF-8 and look the same
            seen.add(name)
            kind = "" if skipped else kind_of(name)
            if kind:
                opened.add(name)
            self._compare(writer, name, Stamp(entry.size, entry.mtime_ns, entry.ctime_ns), kind, skipped)
            self._tally.looked(len(seen))
        gone = self._known.keys() - seen
        closed = self._containers.keys() - opened
        if writer is not None:
            for name in gone:
                writer.forget(name)
            for name in closed:
                writer.forget_container(name)
        return len(seen), len(gone | (closed - seen))

    def _compare(self, writer: Writer | None, name: str, stamp: Stamp, kind: str, skipped: str) -> None:
        before, before_unreadable = self._known.get(name, (None, ""))
        container = self._containers.get(name)
        if skipped:
            if writer is not None and (before, before_unreadable) != (stamp, skipped):
                self._skipped += 1
                self._put_unreadable(writer, name, stamp, skipped)
        elif kind and container is not None:
            if not container.whole or container.stamp != stamp:
                self._pending.append((name, stamp, kind))
        elif before != stamp:
            self._pending.append((name, stamp, kind))

    def _members(self) -> Members:
        """What reads containers. Asks the index now, for later the writer's thread uses it."""
        pending = [name for name, _, kind in self._pending if kind and name in self._containers]
        known = {name: self._index.members(name) for name in pending}
        reasons = {name: self._known[name][1] for name in pending if name in self._known}
        return Members(self._folder, self._unpacking, known, reasons, self._tally.within)

    def _items(self, members: Members) -> Generator[Said, None, None]:
        for name, stamp, kind in self._pending:
            _let_settle(stamp)
            if not kind:
                yield self._read(name, stamp)
                continue
            try:
                for said in members.of(name, kind, self._containers.get(name)):
                    yield said
                    if isinstance(said[0], NoContainer):
                        yield self._read(name, stamp)
                    elif isinstance(said[0], Ended):
                        self._tally.read(stamp.size)
            except OSError as error:
                reason = Unreadable((error.strerror or "it cannot be read").lower())
                yield Read(name, stamp, b"", Held()), reason, name

    def _read(self, name: str, stamp: Stamp) -> Said:
        try:
            raw = self._folder.read(name)
        except Unreadable as error:
            return Read(name, stamp, b"", Held()), error, name
        self._tally.read(len(raw))
        return Read(name, stamp, raw, Held()), raw, name

    def _write(self, writer: Writer, said: Event, result: Extracted | Unreadable) -> None:
        match said:
            case Begun(container, forget):
                if forget is not None:
                    writer.forget_members(container.name, forget)
                if container.name in self._known:
                    writer.forget(container.name)
                writer.put_container(container)
            case Ended(container, reason):
                writer.put_container(container._replace(whole=True))
                if reason:
                    writer.put_unreadable(container.name, container.stamp, reason)
                self._tally.file()
            case NoContainer(name):
                writer.forget_container(name)
            case Read():
                self._write_document(writer, said, result)

    def _write_document(self, writer: Writer, read: Read, result: Extracted | Unreadable) -> None:
        name, stamp, raw, held = read
        if name in self._known and not held.container:
            writer.forget(name)
        if isinstance(result, Unreadable):
            writer.put_unreadable(name, stamp, str(result), held)
        else:
            writer.put(name, stamp, raw, result, held)
        self._tally.document()
        if not held.container:
            self._tally.file()

    def _put_unreadable(self, writer: Writer, name: str, stamp: Stamp, reason: str) -> None:
        if name in self._known:
            writer.forget(name)
        writer.put_unreadable(name, stamp, reason)


def _named(entry: FolderEntry, opened: set[str]) -> tuple[str, str]:
    """The name of an entry in the index, and '' or the reason to skip it."""
    name = _utf8(entry.path)
    if shadowed := _shadowed(name, opened):
        return shadowed
    bad = _BAD_NAME if name != entry.path else ""
    return name, entry.skipped or bad


def _shadowed(name: str, opened: set[str]) -> tuple[str, str] | None:
    """The folder in which a file would be named as a member of a container is, and a reason to skip it."""
    at = name.find(MARK)
    while at != -1:
        if name[:at] in opened:
            return f"{name[:at]}!", f"a folder called as if it were in {name[:at]}: rename it"
        at = name.find(MARK, at + 1)
    return None


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
        "Put text, Markdown, HTML, PDF, CSV, JSON, Word or Excel files, mail or archives of them there, "
        "or name another folder."
    )
