"""Word that the list of sessions has changed, for the pages of it that are open.

It is looked at only while such a page is: all that is compared is which sessions there are and when their
logs and tags were written.
"""

import asyncio
import contextlib
import time
from collections.abc import Callable, Iterator, Mapping

from vera.dashboard.server_sent_events import PageFrame, page_message
from vera.dashboard.sessions import SessionFolder, Sessions

LIST = "."
"""What the list is called in a stream of several pages; no session has this id."""

LOOK_SECONDS = 2.0
"""From one look to the next, at least."""

MOST_SHARE = 0.02
"""Of a core's time that looks may take: over very many sessions they are less frequent."""


class ListWatch:
    """What a stream follows of the list, in the place of a session's follower. `offset` is the time of the
    last change in milliseconds (Unix time), as a page names the one that it was made after."""

    problem = ""

    def __init__(self, sessions: Sessions, unread: Callable[[], int]) -> None:
        """`unread` says how many sessions were not read yet."""
        self.session = SessionFolder(id=LIST, name="", path=sessions.base)
        self.serial = 0
        self.closed = False
        self.offset = 0
        self._sessions = sessions
        self._unread = unread
        self._seen: tuple[Mapping[bytes, tuple[str, float]], int] | None = None
        self._moved = asyncio.Event()
        self._watchers = 0
        self._task: asyncio.Task[None] | None = None

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Within, the list is looked at again and again."""
        self._watchers += 1
        if self._task is None:
            self._task = asyncio.create_task(self._watch())
        try:
            yield
        finally:
            self._watchers -= 1
            if not self._watchers and self._task is not None:
                self._task.cancel()
                self._task, self._seen = None, None

    async def fresh(self) -> None:
        """Look at the list now, when no one has yet."""
        if self._seen is None:
            await self._look()

    async def moved(self, serial: int) -> None:
        """Wait until the list has changed since `serial`, or never will again."""
        while self.serial == serial and not self.closed:
            await self._moved.wait()

    def frame_after(self, offset: int) -> tuple[int, bytes]:
        """The frame for a page that was made at `offset`, and the offset that it then has: one that lacks
        something is told to fetch the list again."""
        now = max(self.offset, offset)
        frame = PageFrame(offset=now, lines=(), live={}, changed={}, reload=offset < self.offset)
        return now, page_message(frame)

    def close(self) -> None:
        """Let every stream end."""
        self.closed = True
        self._publish()

    async def _watch(self) -> None:
        while True:
            began = time.monotonic()
            await self._look()
            took = time.monotonic() - began
            await asyncio.sleep(max(LOOK_SECONDS, took / MOST_SHARE))

    async def _look(self) -> None:
        found = (await asyncio.to_thread(self._sessions.stamps), self._unread())
        if self._seen is None:
            self.offset = round(1000 * max((when for _, when in found[0].values()), default=0.0))
        elif found != self._seen:
            self.offset = round(1000 * time.time())
            self._publish()
        self._seen = found

    def _publish(self) -> None:
        self.serial += 1
        self._moved.set()
        self._moved = asyncio.Event()
