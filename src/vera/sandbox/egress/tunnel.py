"""The host's end of a box's tunnel: frames of many connections to byte streams, each with its own window.

The supervisor listens inside the box and names each connection by a number. Frames (`do`):

    box → host    open; data + bytes; end (sends no more); close (is gone); ack {k}: k bytes were delivered
    host → box    data + bytes; close (after what was sent); ack {k}

Neither side sends more than WINDOW bytes of a connection before the other has acknowledged some, so a
connection that no one reads holds up no other one, and memory is bounded on both sides.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from vera.sandbox.egress.exchange import Sink

WINDOW = 256 << 10
PIECE = 64 << 10
READER_LIMIT = 128 << 10
MAX_STREAMS = 256
"""The supervisor opens fewer; a box that speaks in its place is held to this."""

Serve = Callable[[asyncio.StreamReader, Sink], Awaitable[None]]
Send = Callable[[dict[str, Any], bytes], None]


class Tunnel:
    """`serve` is called for each connection; `send` writes one frame to the supervisor and never waits."""

    def __init__(self, serve: Serve, send: Send) -> None:
        self._serve = serve
        self._send = send
        self._streams: dict[int, _Stream] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._ended = False

    def on_frame(self, number: int, do: str, size: int, payload: bytes) -> None:
        """Take one frame of the box. What makes no sense is left alone: it is the box's own loss."""
        stream = self._streams.get(number)
        if do == "open" and stream is None and not self._ended:
            self._open(number)
        elif stream is None:
            return
        elif do == "data":
            stream.receive(payload)
        elif do == "end":
            stream.reader.feed_eof()
        elif do == "ack":
            stream.acknowledged(size)
        elif do == "close":
            stream.vanish()

    def stop(self) -> None:
        """End every connection; each still gets its record."""
        self._ended = True
        for task in self._tasks:
            task.cancel()

    async def close(self) -> None:
        self.stop()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _open(self, number: int) -> None:
        if len(self._tasks) >= MAX_STREAMS:
            self._send({"op": "net", "do": "close", "c": number}, b"")
            return
        stream = _Stream(number, self._send)
        self._streams[number] = stream
        task = asyncio.create_task(self._run(number, stream))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, number: int, stream: "_Stream") -> None:
        try:
            await self._serve(stream.reader, stream)
        finally:
            stream.close()
            del self._streams[number]


class _Stream(asyncio.ReadTransport):
    """One connection: a reader that is fed by frames, and a sink that makes some.

    It is the reader's transport, so the reader's own flow control says when bytes are acknowledged.
    """

    def __init__(self, number: int, send: Send) -> None:
        super().__init__()
        self._number = number
        self._send_frame = send
        self._paused = False
        self._unacknowledged = 0
        self._in_flight = 0
        self._room = asyncio.Event()
        self._gone = False
        self._closed = False
        self.reader = asyncio.StreamReader(limit=READER_LIMIT)
        self.reader.set_transport(self)

    # From the box

    def receive(self, payload: bytes) -> None:
        if self._unacknowledged + len(payload) > WINDOW:
            self.vanish()  # no supervisor of ours sends beyond its window
        elif payload and not self.reader.at_eof():
            self._unacknowledged += len(payload)
            self.reader.feed_data(payload)
            self._acknowledge()

    def acknowledged(self, size: int) -> None:
        self._in_flight = max(0, self._in_flight - max(0, size))
        if self._in_flight < WINDOW:
            self._room.set()

    def vanish(self) -> None:
        """The program's end of the connection is gone."""
        self._gone = True
        self._room.set()
        if self.reader.exception() is None:
            self.reader.set_exception(ConnectionResetError())

    def pause_reading(self) -> None:
        self._paused = True

    def resume_reading(self) -> None:
        self._paused = False
        self._acknowledge()

    def _acknowledge(self) -> None:
        if self._unacknowledged and not self._paused and not self._gone:
            self._send("ack", k=self._unacknowledged)
            self._unacknowledged = 0

    # To the box

    def write(self, data: bytes, /) -> None:
        if self._gone or self._closed:
            return
        for start in range(0, len(data), PIECE):
            piece = data[start : start + PIECE]
            self._in_flight += len(piece)
            self._send("data", piece)

    async def drain(self) -> None:
        """Raises ConnectionResetError when the program is gone."""
        while self._in_flight >= WINDOW and not self._gone:
            self._room.clear()
            await self._room.wait()
        if self._gone:
            raise ConnectionResetError

    def close(self) -> None:
        if not self._closed and not self._gone:
            self._send("close")
        self._closed = True

    def _send(self, do: str, payload: bytes = b"", **fields: int) -> None:
        self._send_frame({"op": "net", "do": do, "c": self._number, **fields}, payload)
