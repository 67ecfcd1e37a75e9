"""A session as server-sent events: what lies behind a client's offset, then what is added.

A client holds nothing here but its offset in trace.jsonl, which is the `id` of its last message: so it goes
on without a loss or a repetition after anything, also after a restart of the server. While one does not
read, nothing is made for it; one that does not read for STALLED_SECONDS is let go.

Records: a message is a line of the log, and its id the byte behind it. Frames, for the module of a page: a
message is the JSON of `frames.PageFrame`, at most one each `follow.TICK_SECONDS`. An event named `problem`, a
sentence as a JSON string, is the last of a stream that cannot go on.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Coroutine, Iterator, Mapping
from contextlib import AbstractContextManager
from typing import Any, Protocol

from starlette.types import Receive, Scope, Send

from vera.dashboard.follow import Follower
from vera.dashboard.server_sent_events import HEARTBEAT, RETRY, of_session, problem_message
from vera.dashboard.sessions import SessionFolder

HEARTBEAT_SECONDS = 15.0
STALLED_SECONDS = 60.0


class Followed(Protocol):
    """What a stream of frames follows: a session, or the list of them."""

    @property
    def session(self) -> SessionFolder: ...
    @property
    def problem(self) -> str: ...
    @property
    def serial(self) -> int: ...
    @property
    def closed(self) -> bool: ...
    async def fresh(self) -> None: ...
    async def moved(self, serial: int) -> None: ...
    def frame_after(self, offset: int) -> tuple[int, bytes]: ...
    def watched(self) -> AbstractContextManager[None]: ...


_OTHER_LOG = "The log of this session is not the one that was read before. Load the page again."


async def record_chunks(follower: Follower, offset: int) -> AsyncGenerator[bytes, None]:
    """The records from `offset` on, a message each; a chunk may have many."""
    yield RETRY
    await follower.fresh()
    if not follower.is_record_end(offset):
        yield problem_message(_OTHER_LOG)
        return
    while not follower.closed:
        serial = follower.serial
        while offset < follower.offset and not follower.closed:
            try:
                offset, chunk = follower.records_after(offset)
            except OSError:
                yield problem_message(_OTHER_LOG)
                return
            yield chunk
        if follower.problem:
            yield problem_message(follower.problem)
            return
        async for chunk in _waiting({follower: serial}):
            yield chunk


async def page_chunks(follower: Follower, offset: int | None) -> AsyncGenerator[bytes, None]:
    """Frames for a page that has the log up to `offset`; None: up to where it is now."""
    yield RETRY
    await follower.fresh()
    offset = follower.offset if offset is None else offset
    serial = -1  # at first there is always a frame: where the process stands may have changed since the page
    while not follower.closed:
        if serial != follower.serial:
            serial = follower.serial
            offset, chunk = follower.frame_after(offset)
            yield chunk
        if follower.problem:
            yield problem_message(follower.problem)
            return
        async for chunk in _waiting({follower: serial}):
            yield chunk


async def shared_chunks(
    wanted: Mapping[Followed, int], gone: Mapping[str, str]
) -> AsyncGenerator[bytes, None]:
    """The frames of several pages in one stream (`server_sent_events.of_session`): each session with the
    offset that its page has. `gone` are ids of sessions that cannot be followed, with why. Ends when none can
    go on."""
    yield RETRY
    for session, why in gone.items():
        yield of_session(session, problem_message(why))
    await asyncio.gather(*(each.fresh() for each in wanted))
    at = {follower: (offset, -1) for follower, offset in wanted.items()}
    while at:
        for follower in [*at]:
            for chunk in _news(follower, at):
                yield of_session(follower.session.id, chunk)
        async for chunk in _waiting({follower: serial for follower, (_, serial) in at.items()}):
            yield chunk


def _news(follower: Followed, at: dict[Followed, tuple[int, int]]) -> Iterator[bytes]:
    """What the page of a session has not seen, by the offset and the serial in `at`. One that cannot go on is
    taken out of it."""
    offset, serial = at[follower]
    if serial != follower.serial:
        seen = follower.serial
        offset, chunk = follower.frame_after(offset)
        at[follower] = offset, seen
        yield chunk
    if follower.problem:
        yield problem_message(follower.problem)
    if follower.problem or follower.closed:
        del at[follower]


async def _waiting(serials: Mapping[Any, int]) -> AsyncGenerator[bytes, None]:
    """Heartbeats until one of the followers has more to send than at its serial."""
    while serials and all(each.serial == serial and not each.closed for each, serial in serials.items()):
        try:
            async with asyncio.timeout(HEARTBEAT_SECONDS):
                await _one_moved(serials)
        except TimeoutError:
            yield HEARTBEAT


async def _one_moved(serials: Mapping[Any, int]) -> None:
    if len(serials) == 1:  # needs no tasks, which cost more than a frame
        ((only, serial),) = serials.items()
        await only.moved(serial)
        return
    moved = [asyncio.ensure_future(each.moved(serial)) for each, serial in serials.items()]
    try:
        await asyncio.wait(moved, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for each in moved:
            each.cancel()


class EventStream:
    """The answer that a stream is: chunks of server-sent events while the followers are watched."""

    def __init__(self, chunks: AsyncGenerator[bytes, None], *followers: Followed) -> None:
        self._chunks = chunks
        self._followers = followers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),
        ]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        if scope["method"] == "HEAD":
            await send({"type": "http.response.body", "body": b""})
            return
        with contextlib.ExitStack() as watched:
            for each in self._followers:
                watched.enter_context(each.watched())
            await _first_to_end(self._send(send), _until_gone(receive))

    async def _send(self, send: Send) -> None:
        with contextlib.suppress(OSError, TimeoutError):
            async with contextlib.aclosing(self._chunks) as chunks:
                async for chunk in chunks:
                    async with asyncio.timeout(STALLED_SECONDS):
                        await send({"type": "http.response.body", "body": chunk, "more_body": True})
            await send({"type": "http.response.body", "body": b""})


async def _until_gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _first_to_end(*works: Coroutine[Any, Any, None]) -> None:
    """Run them until one ends; the others are cancelled."""
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
