"""The server around the app: plain uvicorn, which ends at once when it is told to."""

import asyncio
import contextlib
import errno
import logging
import signal
import socket
from collections.abc import Iterator
from types import FrameType
from typing import Any

import uvicorn
from starlette.applications import Starlette

from vera.dashboard.connections import MAX_CONNECTIONS, Connection, accepted_at_once, most_connections

GRACE_SECONDS = 1
KEEP_ALIVE_SECONDS = 20
"""How long a connection is kept without a request. HTTP clients keep one for 4 to 15 seconds: who lets go
first must be the client, or its next request meets a connection that is being closed."""
DATE_SECONDS = 1.0
"""Between two looks at the clock: answers name their date to the second."""
FULL_SECONDS = 60.0
"""Between two lines that say that no more files can be opened."""

logger = logging.getLogger(__name__)


class CannotListen(Exception):
    """The address cannot be listened at: a sentence that ends with what to do."""


def listen(host: str, port: int) -> socket.socket:
    """A socket that listens there; port 0 is any free one. Raises CannotListen."""
    try:
        family, kind, proto, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        # With its protocol: for a socket that does not say TCP, asyncio leaves Nagle's delay of 40 ms on.
        listening = socket.socket(family, kind, proto)
    except OSError as error:
        raise CannotListen(f"Cannot listen at {host}: {error.strerror or error}.") from None
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(MAX_CONNECTIONS)
    except OSError as error:
        listening.close()
        if error.errno == errno.EADDRINUSE:
            raise CannotListen(
                f"Port {port} is in use, perhaps by another VERA. Choose another one: --port {port + 1}"
            ) from None
        raise CannotListen(f"Cannot listen at {host}:{port}: {error.strerror}.") from None
    return listening


def serve(app: Starlette, listening: socket.socket) -> None:
    """Answer until SIGINT or SIGTERM comes; streams that are open end then too.

    Raises the OSError that the app could not begin for (`app.state.failed`).
    """
    with _signals_end_quietly():
        _Server(_configuration(app), app).run(sockets=[listening])
    if failed := _failed(app):
        raise failed


def _configuration(app: Starlette) -> uvicorn.Config:
    most = most_connections()
    return uvicorn.Config(
        app,
        http=Connection,
        loop="asyncio",
        ws="none",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        limit_concurrency=most,
        backlog=accepted_at_once(most),
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


def _failed(app: Starlette) -> OSError | None:
    """Why the app could not take up its work."""
    found: OSError | None = getattr(app.state, "failed", None)
    return found


class _Server(uvicorn.Server):
    """Streams never end by themselves: they are told before the server waits for its connections."""

    def __init__(self, config: uvicorn.Config, app: Starlette) -> None:
        super().__init__(config)
        self._app = app
        self._loop: asyncio.AbstractEventLoop | None = None
        self._is_told = asyncio.Event()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        super().handle_exit(sig, frame)
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._is_told.set)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self._loop = asyncio.get_running_loop()
        self._loop.set_exception_handler(_FullFiles())
        await super().startup(sockets)
        for listening in sockets or ():  # asyncio takes its own number for the queue of the system as well
            listening.listen(MAX_CONNECTIONS)
        self.should_exit = self.should_exit or _failed(self._app) is not None

    async def main_loop(self) -> None:
        """As uvicorn's, which wakes up ten times a second to see whether it is to end."""
        while not await self.on_tick(0):
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(DATE_SECONDS):
                    await self._is_told.wait()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._app.state.end_streams()
        await super().shutdown(sockets)


class _FullFiles:
    """What asyncio reports goes to the log; that no file can be opened as one line, and once a minute."""

    def __init__(self) -> None:
        self._said = -FULL_SECONDS

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if not isinstance(error, OSError) or error.errno not in (errno.EMFILE, errno.ENFILE):
            loop.default_exception_handler(context)
        elif loop.time() - self._said >= FULL_SECONDS:
            self._said = loop.time()
            logger.warning("No more files can be opened, so new connections wait: %s.", error.strerror)


@contextlib.contextmanager
def _signals_end_quietly() -> Iterator[None]:
    """uvicorn raises the signal that ended it once more: here that is the normal end."""

    def nothing(number: int, frame: FrameType | None) -> None:
        pass

    before = {number: signal.signal(number, nothing) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
