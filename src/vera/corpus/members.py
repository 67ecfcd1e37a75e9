"""The members of a container, as an update reads them: all, or those that are not in the index yet.

Each container's sha256 is taken before it is opened. One that was opened to its end and has the same bytes
is not opened again; a mailbox to which mails were appended is read from its last known mail on; one whose
reading was interrupted from the last member that was committed. Everything else is read again.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from vera.corpus.folder import Folder, stamp_of
from vera.corpus.index import Container, Member, Stamp
from vera.corpus.writer import Held
from vera.extraction.containers.names import MARK
from vera.extraction.containers.unpacking import ForeignFile, Unpacking
from vera.extraction.containers.values import Place
from vera.extraction.source import Unreadable

_BLOCK = 4 << 20


class Begun(NamedTuple):
    """A container is opened: its members from row `forget` on (None for none of them) are written again."""

    container: Container
    forget: int | None


class Ended(NamedTuple):
    """A container was read as far as it can be; `reason` says why no further, '' for all of it."""

    container: Container
    reason: str


class NoContainer(NamedTuple):
    """A file that is to be read as what it is."""

    name: str


class Read(NamedTuple):
    """A file or member with its bytes (b"" when it has none)."""

    name: str
    stamp: Stamp
    raw: bytes
    held: Held


Event = Begun | Ended | NoContainer | Read
Said = tuple[Event, bytes | Unreadable, str]
"""What happened, and for the extractor: bytes and a name, or why there are none."""

_NOTHING = Unreadable("")


class Members:
    """The members of one container after the other.

    Of the containers that are known `members` are those in the index, and `reasons` why the rest of one could
    not be read. `heard` is told how many bytes of the container at hand have been read.
    """

    def __init__(
        self,
        folder: Folder,
        unpacking: Unpacking,
        members: Mapping[str, Sequence[Member]],
        reasons: Mapping[str, str],
        heard: Callable[[int], None],
    ) -> None:
        self._folder = folder
        self._unpacking = unpacking
        self._members = members
        self._reasons = reasons
        self._heard = heard

    def of(self, name: str, kind: str, known: Container | None) -> Iterator[Said]:
        """What happens as the container is read. Raises OSError when it cannot be opened."""
        with self._folder.opened(name) as descriptor:
            stamp = stamp_of(os.fstat(descriptor))
            plan = self._plan(descriptor, Container(name, *stamp, kind, "", whole=False), known)
            yield Begun(plan.container, plan.forget), _NOTHING, ""
            if plan.is_whole:
                yield Ended(plan.container, plan.reason), _NOTHING, ""
                return
            reason = ""
            try:
                yield from self._read(descriptor, plan, stamp)
            except ForeignFile:
                yield NoContainer(name), _NOTHING, ""
                return
            except Unreadable as error:
                reason = str(error)
            yield Ended(plan.container, reason), _NOTHING, ""

    def _read(self, descriptor: int, plan: "_Plan", stamp: Stamp) -> Iterator[Said]:
        name, taken = plan.container.name, set(plan.kept)
        for member in self._unpacking.members(descriptor, plan.container.kind, plan.start, self._heard):
            self._heard(member.consumed)
            full = f"{name}{MARK}{member.name}" if member.name else name
            given: bytes | Unreadable = Unreadable(member.reason) if member.data is None else member.data
            if full in taken:
                full = _free(full, taken)
                given = Unreadable("another member of the archive has the same name: only the first is read")
            taken.add(full)
            yield Read(full, stamp, member.data or b"", Held(name, member.place)), given, full

    def _plan(self, descriptor: int, now: Container, known: Container | None) -> "_Plan":
        fresh = _Plan(now, forget=0 if known else None)
        if known is None or known.kind != now.kind:
            return fresh.of(self._sha256s(descriptor, 0)[1])
        if known.stamp == now.stamp:
            before, sha256 = known.sha256, known.sha256
        else:
            before, sha256 = self._sha256s(descriptor, known.size)
        grown = now.size > known.size and now.kind == "mbox"
        if before != known.sha256 or (now.size != known.size and not grown):
            return fresh.of(sha256)
        members = self._members.get(now.name, ())
        if known.whole and not grown:
            return _Plan(now, is_whole=True, reason=self._reasons.get(now.name, "")).of(sha256)
        if not members:
            return fresh.of(sha256)
        last = members[-1].place
        if grown:
            # Whoever appended may have gone on with the last mail.
            first = next(at for at, each in enumerate(members) if each.place[0].number == last[0].number)
        else:
            first = len(members) - 1
        kept = tuple(each.name for each in members[:first])
        return _Plan(now, forget=members[first].id, start=members[first].place, kept=kept).of(sha256)

    def _sha256s(self, descriptor: int, size: int) -> tuple[str, str]:
        """The sha256 of the first `size` bytes of an open file, and of all of it."""
        sha256, before, position = hashlib.sha256(), "", 0
        while True:
            wanted = min(_BLOCK, size - position) if position < size else _BLOCK
            block = os.pread(descriptor, wanted, position)
            sha256.update(block)
            position += len(block)
            self._heard(0)
            if position == size:
                before = sha256.hexdigest()
            if not block:
                return before, sha256.hexdigest()


class _Plan(NamedTuple):
    """What is to be read of a container: its members from `start` on; those named in `kept` are there."""

    container: Container
    forget: int | None = None
    start: Place = ()
    kept: tuple[str, ...] = ()
    is_whole: bool = False
    reason: str = ""

    def of(self, sha256: str) -> "_Plan":
        return self._replace(container=self.container._replace(sha256=sha256))


def _free(name: str, taken: set[str]) -> str:
    number = 2
    while (other := f"{name}~{number}") in taken:
        number += 1
    return other
