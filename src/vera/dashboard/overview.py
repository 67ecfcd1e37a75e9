"""The list of sessions: a page of it from the index, with what has changed read again."""

import asyncio
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import msgspec

from vera.attestation.outcome import fingerprint
from vera.dashboard.again import again_of
from vera.dashboard.follow import Follower, Followers
from vera.dashboard.over_time import Day, days_of
from vera.dashboard.session_index import BatchCount, Family, Found, Listed, Row, SessionIndex, Wanted
from vera.dashboard.sessions import SessionFolder, Sessions
from vera.report.view.model import Header
from vera.session.tags import read_tags

PATIENCE_SECONDS = 0.3
"""What a page waits for logs to be read; the rest is known when it is loaded again."""


class SessionRow(msgspec.Struct, frozen=True, kw_only=True):
    """One session. `header` is None while its log was not read yet, or where there is none; `kind` is what
    was asked for, `batch` the folder of the batch it belongs to; `modified` is when its log was last written
    to (Unix time), or 0."""

    session: SessionFolder
    modified: float
    header: Header | None = None
    kind: str = ""
    batch: str = ""
    problem: str = ""
    is_unread: bool = False
    tags: tuple[str, ...] = ()

    @property
    def place(self) -> str:
        """Its folder as a person knows it: in a batch the folder of that and the beginning of the task's id,
        by which `vera batch` calls a task without a name."""
        parts = self.session.name.rsplit("/", 2)
        if not self.batch or len(parts) != 3:
            return self.session.name
        _, task, attempt = parts
        return f"./{self.batch} {task[:12]}" + (f", attempt {attempt}" if attempt != "1" else "")


class SessionList(msgspec.Struct, frozen=True, kw_only=True):
    """A page of the list, with what `Listed` counts."""

    wanted: Wanted
    rows: tuple[SessionRow, ...] = ()
    matched: int = 0
    total: int = 0
    unread: int = 0
    states: tuple[tuple[str, int], ...] = ()
    batches: tuple[BatchCount, ...] = ()
    more_batches: int = 0
    tags: tuple[tuple[str, int], ...] = ()


class Overview:
    """The lists of a base folder; a session is read again only when a file of it has changed."""

    def __init__(self, sessions: Sessions, followers: Followers, index: SessionIndex | None = None) -> None:
        self._sessions = sessions
        self._followers = followers
        self._index = index
        self._reading: asyncio.Task[None] | None = None
        self._rereading: asyncio.Task[None] | None = None
        self._changed: frozenset[bytes] = frozenset()
        """Sessions of the last page whose files had changed, and that are being read again."""
        self._syncing: asyncio.Task[None] | None = None
        self._listing = asyncio.Lock()

    @property
    def unread(self) -> int:
        """How many sessions were not read yet, as far as a list was asked for."""
        is_rereading = self._rereading is not None and not self._rereading.done()
        again = len(self._changed) if is_rereading else 0
        return again + (self._index.unread if self._index is not None else 0)

    async def listed(self, wanted: Wanted) -> SessionList:
        """The page that is wanted. Waits a moment for what is not read yet; of a session that has changed
        since it was read, and could not be read again so soon, nothing is told that it was before."""
        async with self._listing:
            index = await self._opened()
            stamps = await asyncio.to_thread(self._sessions.stamps)
            unread = await asyncio.to_thread(index.sync, stamps)
            found = await asyncio.to_thread(index.listed, wanted)
            stale = await asyncio.to_thread(self._stale, found.rows)
            changed: frozenset[bytes] = frozenset()
            if unread or stale:
                await self._refresh(stale, unread)
                found = await asyncio.to_thread(index.listed, wanted)
                changed = await asyncio.to_thread(self._changed_of, found, stale)
            self._changed = changed
        return self._list_of(wanted, found, changed)

    async def days(self, wanted: Wanted) -> tuple[Day, ...]:
        """The sessions that are wanted by day, as far as the index knows them."""
        index = await self._opened()
        return days_of(await asyncio.to_thread(index.by_day, wanted))

    async def family(self, follower: Follower) -> Family:
        """The sessions around the one of a follower, as far as they are known. Waits a moment for new ones,
        but for a run that goes on and comes after none: no session follows it yet."""
        head, parent, begins = follower.ended_head(), follower.parent(), follower.begins
        if not begins:
            return Family()
        origin = await asyncio.to_thread(again_of, follower.session.path)
        if head or parent or origin:
            if self._syncing is None or self._syncing.done():
                self._syncing = asyncio.create_task(self._sync())
            await asyncio.wait([self._syncing], timeout=PATIENCE_SECONDS)
        index = await self._opened()
        return await asyncio.to_thread(index.family, head, parent, begins, origin)

    async def _sync(self) -> None:
        async with self._listing:
            index = await self._opened()
            stamps = await asyncio.to_thread(self._sessions.stamps)
            if unread := await asyncio.to_thread(index.sync, stamps):
                await self._refresh((), unread)

    def close(self) -> None:
        """Stop reading, and let go of the index."""
        for task in filter(None, (self._reading, self._rereading, self._syncing)):
            task.cancel()
        if self._index is not None:
            self._index.close()

    async def _opened(self) -> SessionIndex:
        if self._index is None:
            self._index = await asyncio.to_thread(SessionIndex, self._sessions.base)
        return self._index

    async def _refresh(self, stale: Sequence[bytes], unread: Sequence[bytes]) -> None:
        """Read those on the page first; the tasks go on with the others when the page is out."""
        if stale:
            if self._rereading is None or self._rereading.done():
                self._rereading = asyncio.create_task(self._read(stale, again=True))
            await asyncio.wait([self._rereading], timeout=PATIENCE_SECONDS)
        if unread and (self._reading is None or self._reading.done()):
            self._reading = asyncio.create_task(self._read(unread))
        if self._reading is not None and not stale:
            await asyncio.wait([self._reading], timeout=PATIENCE_SECONDS)

    def _stale(self, rows: Iterable[Row]) -> list[bytes]:
        """The sessions of the page that are not as the index has them, or that go on."""
        return [row.name for row in rows if self._goes_on(row) or self._is_changed(row)]

    def _changed_of(self, found: Listed, stale: Sequence[bytes]) -> frozenset[bytes]:
        """Those of stale sessions that are over and still not as the index has them."""
        rows = (row for row in found.rows if row.name in stale and not self._goes_on(row))
        return frozenset(row.name for row in rows if self._is_changed(row))

    def _is_changed(self, row: Row) -> bool:
        return fingerprint(self._path(row.name)) != row.seen

    def _goes_on(self, row: Row) -> bool:
        return row.state == "unread" or self._moves(row)

    def _moves(self, row: Row) -> bool:
        """Whether a run that has not ended goes on, or has just stopped."""
        if row.header is None or row.header.ended_ts is not None:
            return False
        alive = self._followers.is_alive(self._sessions.folder(os.fsdecode(row.name)))
        return alive or row.header.phase in ("working", "verifying")

    async def _read(self, names: Sequence[bytes], *, again: bool = False) -> None:
        assert self._index is not None
        for name in names:
            if again or self._index.is_unread(name):
                await asyncio.to_thread(self._index.put, await self._found_or_not(name))

    async def _found_or_not(self, name: bytes) -> Found:
        """What a session is; of one that cannot be read, why: the others are read all the same."""
        try:
            return await self._found(name)
        except OSError as error:
            return Found(name=name, seen="", header=None, problem=f"It cannot be read: {error.strerror}.")

    async def _found(self, name: bytes) -> Found:
        session = self._sessions.folder(os.fsdecode(name))
        seen = await asyncio.to_thread(fingerprint, session.path)
        tags = await asyncio.to_thread(read_tags, session.path)
        if not session.log.exists():
            return Found(name=name, seen=seen, header=None, tags=tags)
        follower = self._followers.lent(session)
        header = await follower.header()
        return Found(
            name=name,
            seen=seen,
            header=header,
            kind=follower.kind(),
            answer=follower.answer(),
            problem=follower.problem,
            head=follower.ended_head(),
            parent=follower.parent(),
            begins=follower.begins,
            again_of=await asyncio.to_thread(again_of, session.path),
            tags=tags,
        )

    def _list_of(self, wanted: Wanted, found: Listed, changed: frozenset[bytes]) -> SessionList:
        return SessionList(
            wanted=wanted,
            rows=tuple(
                SessionRow(
                    session=self._sessions.folder(os.fsdecode(row.name)),
                    modified=row.modified,
                    header=None if row.name in changed else row.header,
                    kind=row.kind,
                    batch=row.batch,
                    problem=row.problem,
                    is_unread=row.state == "unread" or row.name in changed,
                    tags=row.tags,
                )
                for row in found.rows
            ),
            matched=found.matched,
            total=found.total,
            unread=found.unread + len(changed),
            states=found.states,
            batches=found.batches,
            more_batches=found.more_batches,
            tags=found.tags,
        )

    def _path(self, name: bytes) -> Path:
        return self._sessions.base / os.fsdecode(name)
