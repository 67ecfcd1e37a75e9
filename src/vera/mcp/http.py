"""The server over HTTP ("streamable HTTP"): one address, `/mcp`, for whoever has a token of `vera token`.

Each request is a POST that is complete in itself. There are no sessions, so no one can exhaust them or take
over another's, and no stream outlives its call. A call ends when its caller hangs up. What passes the guard
of `vera serve` (`vera.service.guard`) comes here; each token sees what was asked with it, and nothing else.
"""

import time
from collections import Counter, deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import msgspec
from mcp.server import ServerRequestContext
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.applications import Starlette
from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from vera.config import ConfigError
from vera.mcp.server import make_server
from vera.mcp.service import Service, ToolError
from vera.service.bodies import MAX_BYTES, read_body
from vera.service.guard import Guard
from vera.service.problems import Refused, by_router, refusal
from vera.service.terms import KEPT, insist_on_isolation
from vera.service.tokens import Right, Token, Tokens
from vera.session.session import FOLDER_MODE

ADDRESS = "/mcp"
HOUR = 3600.0

HOSTS = frozenset({"127.0.0.1", "localhost", "[::1]"})

COUNTED: tuple[Right, ...] = ("verify", "check")
"""Calls that count for the quota of an hour; reading does not."""


def create_app(service: Service, tokens: Path, names: frozenset[str] = frozenset()) -> Starlette:
    """The server for whoever has a token of the file `tokens`. It is called by a name of this machine, or one
    of `names`. Raises ConfigError for settings and folders under which tokens could do or see more."""
    insist_on_isolation(service.settings)
    _insist_on_separate_documents(service)
    manager = StreamableHTTPSessionManager(
        make_server(Access(service)), stateless=True, max_request_body_size=MAX_BYTES
    )

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with manager.run():
            yield

    app = Starlette(
        routes=[Route(ADDRESS, _Endpoint(manager), methods=["POST"])],
        middleware=[Middleware(Guard, tokens=Tokens(tokens), hosts=HOSTS | names, any_address=False)],
        exception_handlers={HTTPException: by_router},
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    app.state.end_streams = _end_streams
    return app


class Access:
    """What the token of a call allows: its tools, how many calls, and the folder of this token."""

    def __init__(self, service: Service, clock: Callable[[], float] = time.monotonic) -> None:
        self._service = service
        self._clock = clock
        self._running: Counter[str] = Counter()
        self._asked: dict[str, deque[float]] = {}

    @contextmanager
    def __call__(self, context: ServerRequestContext[Any, Any], right: Right) -> Iterator[Service]:
        """The service as this caller sees it. Raises ToolError."""
        assert context.request is not None  # every message of this transport is a request
        token: Token = context.request.scope["token"]
        if not token.may(right):
            raise ToolError(f"This token may {', '.join(token.scopes)}, and this tool needs '{right}'.")
        if self._running[token.folder] >= token.at_once:
            raise ToolError(f"This token may have {token.at_once} calls at one time. Wait for one to end.")
        if right in COUNTED:
            self._count(token)
        folder = self._service.base / KEPT / token.folder
        folder.mkdir(mode=FOLDER_MODE, parents=True, exist_ok=True)
        self._running[token.folder] += 1
        try:
            yield _within(self._service, folder)
        finally:
            self._running[token.folder] -= 1

    def _count(self, token: Token) -> None:
        now, asked = self._clock(), self._asked.setdefault(token.folder, deque())
        while asked and asked[0] <= now - HOUR:
            asked.popleft()
        if len(asked) >= token.per_hour:
            minutes = int((asked[0] + HOUR - now) // 60) + 1
            raise ToolError(
                f"This token may ask {token.per_hour} times an hour. Ask again in {minutes} minutes."
            )
        asked.append(now)


def _within(service: Service, folder: Path) -> Service:
    """The service with this base folder, for the register in its settings as well."""
    run = service.settings.run.model_copy(update={"base_dir": folder})
    return msgspec.structs.replace(
        service, base=folder, settings=service.settings.model_copy(update={"run": run})
    )


def _end_streams() -> None:
    """Nothing streams without a call, and uvicorn cancels the calls in progress after its grace period."""


class _Endpoint:
    """Reads a body within bounds of size and time before the protocol sees it."""

    def __init__(self, manager: StreamableHTTPSessionManager) -> None:
        self._manager = manager

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = Headers(scope=scope)
        try:
            body = await read_body(
                receive, headers.get("content-type", ""), headers.get("content-length", "")
            )
        except Refused as refused:
            await refusal(refused)(scope, receive, send)
            return
        await self._manager.handle_request(scope, _again(body, receive), send)


def _again(body: bytes, receive: Receive) -> Receive:
    """`receive`, with a body that was read already."""
    first: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def receive_again() -> Message:
        return first.pop() if first else await receive()

    return receive_again


def _insist_on_separate_documents(service: Service) -> None:
    kept, folder = service.base / KEPT, service.input_dir
    if folder is not None and (kept.is_relative_to(folder) or folder.is_relative_to(kept)):
        raise ConfigError(
            f"--input-dir {str(folder)[:300]} holds what the service keeps for every token ({kept}). Name "
            "another folder, or another --base-dir."
        )
