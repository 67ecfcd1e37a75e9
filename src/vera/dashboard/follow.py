"""Sessions as they grow: one follower reads a log once, however many look at it.

What is sent is made of the log's bytes and the fold when somebody asks for what lies behind an offset, and is
shared by all who ask for the same: no one has a queue, and who is slow asks later for more.
"""

import asyncio
import contextlib
import os
import stat
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec

from vera.attestation.integrity import NoSession
from vera.attestation.outcome import (
    ALTERED,
    TOO_MANY,
    UNCHECKED,
    Outcome,
    fingerprint,
    outcome_here,
)
from vera.dashboard.notice import Notice
from vera.dashboard.part_cache import KeptParts
from vera.dashboard.reviewing import ReviewsOnPage
from vera.dashboard.server_sent_events import PageFrame, page_message, record_messages
from vera.dashboard.sessions import SessionFolder
from vera.events import Blob, Text
from vera.report.answer import Quote
from vera.report.footnotes import cited_places
from vera.report.view.current import last_answer
from vera.report.view.fold import ViewFold
from vera.report.view.model import Header, RunPage
from vera.report.view.outcome import header_with, lines_with, with_outcome
from vera.report.view.versioned_cache import VersionedCache
from vera.report.view.words import read
from vera.session import LogBroken, Reader, load_text
from vera.session.log import MAX_LINE
from vera.state import RunState
from vera.store import Store, StoreError

TICK_SECONDS = 0.05
"""The least between two looks at a log."""

REST_SECONDS = 0.25
"""Between two looks at a log of which the kernel gives notice, or to which nothing was added for
QUIET_SECONDS: a run waits long for its model."""

QUIET_SECONDS = 5.0
SLICE_SECONDS = 0.01
"""A long log is read in slices of this, so that everybody else is answered in between."""

ALIVE_SECONDS = 2.0
"""After which it is looked again where the process of the run stands."""

CHUNK = 256 << 10
"""Bytes of a log that are sent at once to who is behind."""

SHARED = 4 << 20
"""Bytes of messages that are kept for others to send."""

MAX_LINES = 1000
"""Lines of the event log in a frame; a page that lacks more is told to load everything again."""

MAX_FOLLOWED = 16
"""Sessions whose fold is kept while no one watches them."""

MAX_LOADED = 16 << 20
"""Bytes of a text that is read from the store for a page."""

IsAlive = Callable[[SessionFolder], bool]
LiveTexts = Callable[[SessionFolder, Header], Mapping[str, str]]

_REPLACED = "The log of this session was replaced by another. Load the page again."


class Follower:
    """A session's log, folded as far as it was read.

    `problem` is '' or why the log cannot be read on, for good. `serial` grows with whatever there is to send.
    `begins` is the hash of the first record, '' before it was read.
    """

    def __init__(self, session: SessionFolder, is_alive: IsAlive, live_texts: LiveTexts) -> None:
        self.session = session
        self._log = os.fspath(session.log)
        self.store = Store(session.path / "store")
        self.problem = ""
        self.serial = 0
        self.closed = False
        self.begins = ""
        self.kept_parts = KeptParts()
        self._is_alive = is_alive
        self._live_texts = live_texts
        self._reader = Reader(session.log)
        self._state = RunState()
        self._fold = ViewFold(self._load)
        self._made = VersionedCache(1)
        self._reviews = ReviewsOnPage(session)
        self._reading = asyncio.Lock()
        self._catching_up: asyncio.Task[None] | None = None
        self._moved = asyncio.Event()
        self._read_to: _Stat | None = None
        """What the log was when it was read to its end; None before."""
        self._file: tuple[int, int] | None = None
        self._failed_at: _Stat | None = None
        self._alive = False
        self._outcome: Outcome | None = None
        self._outcome_of = ""
        """The fingerprint of the session of which `_outcome` was found."""
        self._told: Mapping[str, str] = {}
        """The texts of the newest frame: a process can begin and end without a record."""
        self._watchers = 0
        self._task: asyncio.Task[None] | None = None
        self._records: OrderedDict[int, tuple[int, bytes]] = OrderedDict()
        self._records_size = 0
        self._frames: dict[int, tuple[int, bytes]] = {}

    @property
    def head(self) -> str:
        """The hash of the last record that was read."""
        return self._reader.head

    @property
    def offset(self) -> int:
        """The byte behind the last record that was read."""
        return self._fold.offset

    @property
    def changed(self) -> Mapping[str, int]:
        """As `ViewFold.changed`."""
        return self._fold.changed

    @property
    def is_watched(self) -> bool:
        return self._watchers > 0

    @property
    def is_outdated(self) -> bool:
        """Whether there is another log now than the one that had a problem."""
        return bool(self.problem) and _stat_of(self._log) not in (None, self._failed_at)

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Within, the log is read on as it grows, at most every TICK_SECONDS."""
        self._watchers += 1
        if self._task is None:
            self._alive = self._is_alive(self.session)
            self._task = asyncio.create_task(self._watch())
            self._task.add_done_callback(self._stopped_watching)
        try:
            yield
        finally:
            self._watchers -= 1
            if not self._watchers and self._task is not None:
                self._task.cancel()
                self._task = None

    async def fresh(self) -> None:
        """Read on to the end of the log, when there is one."""
        async with self._reading:
            if self.problem or self.closed or (grown := self._grown()) is None:
                return
            before = self.offset
            try:
                await self._read()
                self._read_to = grown
            except FileNotFoundError:
                self._fail(_REPLACED)
            except LogBroken as broken:
                self._fail(str(broken), grown)
            except OSError as error:
                self._fail(f"The log cannot be read: {error.strerror}.", grown)
            except (ValueError, OverflowError) as error:
                self._fail(f"The log holds something that VERA does not write: {error}.", grown)
            if self.offset != before:
                self._publish()

    @property
    def unread(self) -> int:
        """Bytes of the log that are not read yet."""
        about = _stat_of(self._log)
        return max(0, about[2] - self.offset) if about is not None and not self.problem else 0

    async def read_within(self, seconds: float) -> bool:
        """Read on to the end of the log; whether that was done in time. It goes on when it was not."""
        if self._catching_up is None or self._catching_up.done():
            self._catching_up = asyncio.create_task(self.fresh())
        await asyncio.wait([self._catching_up], timeout=seconds)
        return self._catching_up.done()

    async def moved(self, serial: int) -> None:
        """Wait until there is more to send than at `serial`, or nothing ever again."""
        while self.serial == serial and not self.closed:
            await self._moved.wait()

    async def page(self) -> RunPage:
        """All of the session's page."""
        await self.fresh()
        alive, now = self._is_alive(self.session), time.time()
        await self._look_at_end(alive=alive)
        page = self._made.once(
            ("page",),
            (self.offset, alive),
            lambda: self._fold.page(self._state, self.store, session=self.session.name, alive=alive, now=now),
        )
        page = msgspec.structs.replace(page, budgets=self._fold.budgets(self._state, alive=alive, now=now))
        page = with_outcome(page, self._said(alive=alive))
        return await self._reviews.on(page, self._reader.head, self._outcome_of)

    async def header(self) -> Header:
        """Where the run stands."""
        await self.fresh()
        alive = self._is_alive(self.session)
        await self._look_at_end(alive=alive)
        return self._header(alive)

    def answer(self) -> str:
        """The answer as far as the log was read, '' for none."""
        answer = last_answer(self._state)
        return read(answer.text, self._load) if answer else ""

    def cited(self) -> list[Quote]:
        """The places that this answer cites."""
        return cited_places(self._state, self.store)

    def settings(self) -> Mapping[str, Any]:
        """Those that the log began with."""
        return self._state.session.settings if self._state.session else {}

    def input_dir(self) -> str:
        """The folder that the run was asked about, '' for none."""
        return self._state.task.input_dir if self._state.task else ""

    def origins(self) -> Mapping[str, str]:
        """Who set those that are no defaults, by their dotted names."""
        return self._state.session.origins if self._state.session else {}

    def ended_head(self) -> str:
        """The hash of the last record of a run that has ended, '' before."""
        ended = self._state.ended
        return self._reader.head if ended is not None and ended.seq == self._reader.seq else ""

    def parent(self) -> str:
        """The hash of the last record of the session that this one says it goes on from, '' for none."""
        return self._state.parent.head if self._state.parent else ""

    def kind(self) -> str:
        """What was asked for: research, thesis or execution; '' before it is known."""
        if self._state.requested is not None:
            return "thesis"
        started = self._state.lane("main").started
        if started is not None and started.purpose == "execute":
            return "execution"
        return "research" if self._state.task is not None else ""

    def is_record_end(self, offset: int) -> bool:
        """Whether a record that was read ends at the offset, or the log begins there."""
        if not 0 < offset <= self.offset:
            return offset == 0
        try:
            return self._bytes(offset - 1, 1) == b"\n"
        except OSError:
            return False

    def records_after(self, offset: int) -> tuple[int, bytes]:
        """Messages of records that begin at `offset`, where one ends, and the offset behind them.

        Not all that there are at once when they are many. Raises OSError when the log is another one now.
        """
        if found := self._records.get(offset):
            return found
        lines = self._bytes(offset, min(CHUNK, self.offset - offset))
        if b"\n" not in lines:
            lines = self._bytes(offset, min(MAX_LINE + 1, self.offset - offset))
        lines = lines[: lines.rfind(b"\n") + 1]
        made = (offset + len(lines), record_messages(lines, offset))
        if lines:
            self._share(offset, made)
        return made

    def frame_after(self, offset: int) -> tuple[int, bytes]:
        """The frame for a page that has the log up to `offset`, and the offset that it then has."""
        if (found := self._frames.get(offset)) is None:
            lines = self._fold.event_lines(offset, MAX_LINES) if offset < self.offset else ()
            is_behind = offset > self.offset or (
                offset < self.offset and (not lines or lines[0].offset != offset)
            )
            self._told = live = self._live()
            frame = PageFrame(
                offset=self.offset,
                lines=() if is_behind else lines_with(lines, self._said(alive=self._alive)),
                live=live,
                changed=self.changed,
                reload=is_behind,
            )
            found = self._frames[offset] = (self.offset, page_message(frame))
        return found

    def close(self) -> None:
        """Let every stream of the session end."""
        self.closed = True
        self._publish()

    async def _watch(self) -> None:
        grew = looked = time.monotonic()
        with Notice(self._log) as notice:
            while True:
                now = time.monotonic()
                if _stat_of(self._log) != self._read_to:
                    await self.fresh()
                    grew = now
                if self._state.ended is not None and self._outcome is None:
                    self._alive = self._is_alive(self.session)
                    await self._look_at_end(alive=self._alive)
                if now - looked >= ALIVE_SECONDS:
                    looked = now
                    self._look_at_process()
                is_slow = notice.is_given or now - grew > QUIET_SECONDS
                await notice.wait(REST_SECONDS if is_slow else TICK_SECONDS)
                if (early := now + TICK_SECONDS - time.monotonic()) > 0:
                    await asyncio.sleep(early)

    def _look_at_process(self) -> None:
        """Whether the process is alive; the pages hear of it where that changes what they show."""
        self._alive = self._is_alive(self.session)
        if self._told and self._live() != self._told:
            self._publish()

    def _stopped_watching(self, task: asyncio.Task[None]) -> None:
        """An error of ours ends the streams: one that only kept silent would look like a run that does."""
        if not task.cancelled() and (error := task.exception()) is not None:
            self._fail("Something went wrong while the log was read. Load the page again.")
            raise error

    async def _read(self) -> None:
        turn = time.monotonic() + SLICE_SECONDS
        for offset, record in self._reader.poll():
            self.begins = self.begins or self._reader.head
            self._state.apply(record)
            self._fold.apply(record, offset)
            if time.monotonic() > turn:
                self._publish()
                await asyncio.sleep(0)
                turn = time.monotonic() + SLICE_SECONDS

    def _grown(self) -> "_Stat | None":
        """What the log is now, when it has what was not read; a log that is gone or another is a problem."""
        now = _stat_of(self._log)
        if self._file is not None and (now is None or now[:2] != self._file or now[2] < self.offset):
            self._fail(_REPLACED)
            return None
        if now is None or now == self._read_to:
            return None
        self._file = now[:2]
        return now

    def _fail(self, problem: str, log: "_Stat | None" = None) -> None:
        """The log cannot be read on; `log` is the one that is to blame, None for one that is gone."""
        self.problem = problem
        self._failed_at = log
        self._publish()

    def _live(self) -> Mapping[str, str]:
        return self._live_texts(self.session, self._header(self._alive))

    def _header(self, alive: bool) -> Header:
        header = self._fold.header(self._state, session=self.session.name, alive=alive)
        return header_with(header, self._said(alive=alive))

    def _said(self, *, alive: bool) -> Outcome:
        """What the session may say of its end; of one that ended and was not looked at yet, that it ended."""
        if self._outcome is not None and not alive:
            return self._outcome
        return Outcome(word=UNCHECKED) if self._state.ended is not None else Outcome()

    async def _look_at_end(self, *, alive: bool) -> None:
        """Find out what the session may say, when no process works on it; again when a file has changed."""
        if alive or self.problem == _REPLACED or not self.offset:
            self._outcome, self._outcome_of = None, ""
            return
        root = self.session.path
        seen = await asyncio.to_thread(fingerprint, root)
        if self._outcome is not None and seen == self._outcome_of:
            return
        try:
            unseen = Outcome(word=UNCHECKED, reason=TOO_MANY)
            found = await asyncio.to_thread(outcome_here, root) if seen else unseen
        except (NoSession, OSError) as error:
            found = Outcome(word=ALTERED, reason=str(error))
        changed, self._outcome, self._outcome_of = found != self._outcome, found, seen
        if changed:
            self._publish()

    def _publish(self) -> None:
        self.serial += 1
        self._frames.clear()
        self._moved.set()
        self._moved = asyncio.Event()

    def _share(self, offset: int, made: tuple[int, bytes]) -> None:
        self._records[offset] = made
        self._records_size += len(made[1])
        while self._records_size > SHARED and len(self._records) > 1:
            _, (_, gone) = self._records.popitem(last=False)
            self._records_size -= len(gone)

    def _bytes(self, offset: int, size: int) -> bytes:
        """Bytes of the log that was read. Raises OSError when it is another one now."""
        descriptor = os.open(self._log, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            about = os.fstat(descriptor)
            if (about.st_dev, about.st_ino) != self._file:
                raise OSError("another log")
            return os.pread(descriptor, size, offset)
        finally:
            os.close(descriptor)

    def _load(self, text: Text) -> str:
        if isinstance(text, Blob) and self.store.path(text.sha256).stat().st_size > MAX_LOADED:
            raise StoreError("That text is too large for a page.")
        return load_text(self.store, text)


class Followers:
    """The followers of an app, made when they are asked for."""

    def __init__(self, is_alive: IsAlive, live_texts: LiveTexts) -> None:
        self._is_alive = is_alive
        self._live_texts = live_texts
        self._followers: OrderedDict[str, Follower] = OrderedDict()

    def of(self, session: SessionFolder) -> Follower:
        """The session's follower. Of those that no one watches the ones asked for last are kept."""
        found = self._followers.pop(session.id, None)
        if found is None or found.is_outdated:
            found = Follower(session, self._is_alive, self._live_texts)
        self._followers[session.id] = found
        idle = [each for each, follower in self._followers.items() if not follower.is_watched]
        for each in idle[: max(0, len(idle) - MAX_FOLLOWED)]:
            del self._followers[each]
        return found

    def is_alive(self, session: SessionFolder) -> bool:
        """Whether a process works on the session."""
        return self._is_alive(session)

    def lent(self, session: SessionFolder) -> Follower:
        """The session's follower for one look; kept if it is already, or if a process works on the run."""
        if session.id in self._followers or self._is_alive(session):
            return self.of(session)
        return Follower(session, self._is_alive, self._live_texts)

    def close(self) -> None:
        """Let every stream end; there is none after it."""
        for follower in self._followers.values():
            follower.close()


_Stat = tuple[int, int, int, int]
"""Device, inode, size, and time of the last change in nanoseconds."""


def _stat_of(log: str) -> _Stat | None:
    """None where there is no log; of what is no regular file, a value that no log has."""
    try:
        about = os.lstat(log)
    except OSError:
        return None
    if not stat.S_ISREG(about.st_mode):
        return (-1, -1, -1, -1)
    return (about.st_dev, about.st_ino, about.st_size, about.st_mtime_ns)
