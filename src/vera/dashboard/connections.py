"""Connections of the server: how many there are, and how long one may take to ask.

A connection waits while none of its requests is answered: it is new, its answer is out, or only a part of a
request head has come. One that waits too long is closed. When there are too many, the one that has waited the
longest is closed, so that no one can take all of them without asking. When all of them are being answered,
one more request gets 503.
"""

import asyncio
import resource
from typing import Any

import h11
import msgspec
from uvicorn import Config
from uvicorn._types import ASGIReceiveCallable, ASGISendCallable, Scope
from uvicorn.protocols.http.h11_impl import H11Protocol
from uvicorn.server import ServerState

MAX_CONNECTIONS = 1000
MAX_ACCEPTED = 32
WAIT_SECONDS = 20.0
"""Until the whole head of a request has come, from the beginning of a connection or the end of an answer."""

RETRY_SECONDS = 5


def most_connections() -> int:
    """How many there may be: half of the files that this process may open, since answers need files too."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if files == resource.RLIM_INFINITY else max(1, min(MAX_CONNECTIONS, files // 2))


def accepted_at_once(most: int) -> int:
    """How many new connections are taken in one turn of the event loop. It takes some turns until one that is
    too many is closed, and meanwhile it has a file."""
    return max(1, min(MAX_ACCEPTED, most // 8))


class Connection(H11Protocol):
    """One connection. `limit_concurrency` of its configuration says how many there may be."""

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        super().__init__(config, server_state, app_state, _loop)
        self._most = self.limit_concurrency or MAX_CONNECTIONS
        self.limit_concurrency = None  # uvicorn's own answer of 503 is plain text
        self.waits_since = self.loop.time()
        self._patience: asyncio.TimerHandle | None = None

    @property
    def waits(self) -> bool:
        """Whether no request of it is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # narrower than in asyncio, as uvicorn has it
        super().connection_made(transport)
        self._wait()
        if len(self.connections) > self._most:
            self._close_longest_waiting()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._end_waiting()

    def handle_events(self) -> None:
        """Read what has come."""
        self.app = busy if self._is_too_much() else self.config.loaded_app
        super().handle_events()
        if not self.waits:
            self._end_waiting()

    def on_response_complete(self) -> None:
        """Wait for the next request, unless that has come already."""
        super().on_response_complete()
        if self.waits and not self.transport.is_closing():
            self._wait()

    def send_400_response(self, msg: str) -> None:
        """The answer to what is no HTTP."""
        head = h11.Response(status_code=400, headers=[*_HEADERS, (b"connection", b"close")])
        for event in (head, h11.Data(data=_error("invalid_http", msg)), h11.EndOfMessage()):
            self.transport.write(self.conn.send(event) or b"")
        self.transport.close()

    def _is_too_much(self) -> bool:
        return len(self.connections) > self._most or len(self.tasks) >= self._most

    def _wait(self) -> None:
        self._end_waiting()
        self.waits_since = self.loop.time()
        self._patience = self.loop.call_later(WAIT_SECONDS, self.transport.close)

    def _end_waiting(self) -> None:
        if self._patience is not None:
            self._patience.cancel()
            self._patience = None

    def _close_longest_waiting(self) -> None:
        """Close one that waits, other than this one, if there is any."""
        waiting = [
            each
            for each in self.connections
            if isinstance(each, Connection) and each is not self and each.waits
        ]
        waiting = [each for each in waiting if not each.transport.is_closing()]
        if waiting:
            min(waiting, key=lambda each: each.waits_since).transport.close()


_HEADERS = [
    (b"content-type", b"application/json"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
]


async def busy(scope: Scope, receive: ASGIReceiveCallable, send: ASGISendCallable) -> None:
    """The answer of a server that has as many connections as it may have."""
    body = _error("busy", "There are too many connections. Ask again later.")
    headers = [
        *_HEADERS,
        (b"retry-after", b"%d" % RETRY_SECONDS),
        (b"content-length", b"%d" % len(body)),
        (b"connection", b"close"),
    ]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _error(code: str, sentence: str) -> bytes:
    return msgspec.json.encode({"error": {"code": code, "message": sentence}})
