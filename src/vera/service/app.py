"""The service's routes, and what answers each. What each takes and gives: `vera.service.openapi`."""

import asyncio
import contextlib
import logging
import os
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO, Literal

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from vera.service import chat, progress, stored
from vera.service.bodies import ChatBody, decoded, read_body
from vera.service.engine import Active
from vera.service.guard import Guard
from vera.service.jobs import Jobs
from vera.service.openapi import document
from vera.service.problems import Refused, TryLater, as_json, by_router, refusal
from vera.service.records import OPEN_STATES, Job, Records
from vera.service.tokens import Right, Token, TokenError, Tokens
from vera.service.work import Kind

MAX_STREAMS = 16
"""Of one token at one time: events, chats (also those that wait for a whole reply), evidence and bundles."""

CHUNK = 1 << 20
MAX_KEY = 200
BUNDLES_AT_ONCE = 2

_STREAM = {"content-type": "text/event-stream; charset=utf-8", "x-accel-buffering": "no"}

logger = logging.getLogger(__name__)


def create_app(
    jobs: Jobs,
    tokens: Path,
    *,
    hosts: frozenset[str] = frozenset({"127.0.0.1", "localhost", "[::1]"}),
    any_address: bool = False,
) -> Starlette:
    """The service of these jobs, for whoever has a token of the file `tokens`.

    `hosts` are the names by which it may be called, without ports; `any_address`: by any IP address too.
    """
    known = Tokens(tokens)
    service = Service(jobs, known)
    app = Starlette(
        routes=service.routes(),
        middleware=[Middleware(Guard, tokens=known, hosts=hosts, any_address=any_address)],
        exception_handlers={
            Refused: _refused,
            HTTPException: by_router,
            OSError: _unavailable,
            Exception: _own_fault,
        },
        lifespan=service.lifespan,
    )
    app.router.redirect_slashes = False
    app.state.end_streams = service.closing.set
    return app


class Service:
    """The handlers of one app."""

    def __init__(self, jobs: Jobs, tokens: Tokens) -> None:
        self.jobs = jobs
        self.closing = asyncio.Event()
        self._tokens = tokens
        self._streams: Counter[str] = Counter()
        self._bundles = asyncio.Semaphore(BUNDLES_AT_ONCE)

    @contextlib.asynccontextmanager
    async def lifespan(self, app: Starlette) -> AsyncIterator[None]:
        try:
            await self.jobs.open(self._tokens.all())
        except OSError as error:
            app.state.failed = error  # whoever serves the app says it, in a sentence
        yield
        self.closing.set()
        await self.jobs.close()

    def routes(self) -> list[Route]:
        """Every route, in order."""
        return [
            Route("/healthz", self.healthz, methods=["GET"]),
            Route("/openapi.json", self.openapi, methods=["GET"]),
            _Route("/v1/verify", self.verify, methods=["POST"]),
            _Route("/v1/research", self.research, methods=["POST"]),
            _Route("/v1/check", self.check, methods=["POST"]),
            _Route("/v1/jobs/{id}", self.job, methods=["GET", "DELETE"]),
            _Route("/v1/jobs/{id}/events", self.events, methods=["GET"]),
            _Route("/v1/jobs/{id}/bundle", self.bundle, methods=["GET"]),
            _Route("/v1/cards/{id}", self.card, methods=["GET"]),
            _Route("/v1/evidence/{id}", self.evidence, methods=["GET"]),
            _Route("/v1/models", self.models, methods=["GET"]),
            _Route("/v1/chat/completions", self.chat, methods=["POST"]),
        ]

    async def healthz(self, request: Request) -> Response:
        return as_json({"status": "ok", **self.jobs.engine.health()})

    async def openapi(self, request: Request) -> Response:
        return as_json(document())

    async def verify(self, request: Request) -> Response:
        return await self._submit(request, "verify")

    async def research(self, request: Request) -> Response:
        return await self._submit(request, "research")

    async def check(self, request: Request) -> Response:
        return await self._submit(request, "check")

    async def job(self, request: Request) -> Response:
        records, job = await self._job(request)
        if request.method == "DELETE":
            return await self._cancel(request, records, job)
        return as_json(await self.jobs.view(records, job))

    async def _cancel(self, request: Request, records: Records, job: Job) -> Response:
        _insist(request, job.kind)
        await self.jobs.cancel(records, job)
        return as_json(await self.jobs.view(records, job, whole=False))

    async def events(self, request: Request) -> Response:
        records, job = await self._job(request)
        begin = progress.begin_of(request.headers.get("last-event-id"))
        with self._counted(request) as counted:
            messages = progress.stream(self.jobs, records, job, begin, self.closing)
            return self._stream(request, messages, counted)

    async def bundle(self, request: Request) -> Response:
        _insist(request, "read")
        records, job = await self._job(request)
        if self.jobs.state(records, job) in OPEN_STATES:
            raise TryLater(409, "not_over", "The job has not ended yet.", 1.0)
        if self._bundles.locked():
            raise TryLater(503, "busy", "Other bundles are being made.", 5.0)
        with self._counted(request) as counted:
            async with self._bundles:
                file = await asyncio.to_thread(stored.bundle_of, records, job)
            length = os.fstat(file.fileno()).st_size
            headers = {
                "content-type": "application/zip",
                "content-disposition": f'attachment; filename="{job.id}.zip"',
                "content-length": str(length),
            }
            return _Counted(_chunks(file, length), headers, counted.pop_all())

    async def card(self, request: Request) -> Response:
        records = await self._own(request)
        data = await asyncio.to_thread(stored.card_of, records, request.path_params["id"])
        return Response(data, media_type="application/json")

    async def evidence(self, request: Request) -> Response:
        records, asked = await self._own(request), request.query_params
        with self._counted(request) as counted:
            file = await asyncio.to_thread(stored.evidence_of, records, request.path_params["id"])
            try:
                length = stored.span_of(file, asked.get("start"), asked.get("end"))
            except Refused:
                file.close()
                raise
            headers = {
                "content-type": "application/octet-stream",
                "content-disposition": "attachment",
                "content-length": str(length),
            }
            return _Counted(_chunks(file, length), headers, counted.pop_all())

    async def models(self, request: Request) -> Response:
        _insist(request, "research")
        return as_json(chat.models_of(self.jobs.terms))

    async def chat(self, request: Request) -> Response:
        token = _insist(request, "research")
        body = decoded(await _body(request), ChatBody)
        asked = chat.research_of(body, web=self.jobs.terms.egress)
        with self._counted(request) as counted:
            found, _ = await self.jobs.submit(token, "research", asked)
            assert isinstance(found, Active)  # without an idempotency key only what has not ended is shared
            if not body.stream:
                return await self._whole_chat(request, found, body.model)
            messages = chat.chunks(self.jobs, found, found.job.created, body.model)
            return self._stream(request, messages, counted)

    async def _whole_chat(self, request: Request, found: Active, model: str) -> Response:
        try:
            await _over_or_gone(request, found)
        except asyncio.CancelledError:
            self.jobs.leave(found)
            raise
        if not found.over.is_set():
            self.jobs.leave(found)
            raise Refused(499, "gone", "Whoever asked has gone.")
        view = await self.jobs.view(found.records, found.job)
        return as_json(chat.completion(view, found.job.created, model))

    async def _submit(self, request: Request, kind: Kind) -> Response:
        token = _insist(request, kind)
        key = request.headers.get("idempotency-key", "")
        if len(key) > MAX_KEY or not (key.isascii() and key.isprintable()):
            raise Refused(400, "invalid_key", f"An Idempotency-Key has at most {MAX_KEY} printable letters.")
        found, shared = await self.jobs.submit(token, kind, await _body(request), key)
        await asyncio.sleep(0)  # its job begins while the answer is made
        job = found.job if isinstance(found, Active) else found
        view = await self.jobs.view(await self.jobs.records(token), job, shared=shared, whole=False)
        return as_json(view, 202, {"location": f"/v1/jobs/{job.id}"})

    async def _own(self, request: Request) -> Records:
        return await self.jobs.records(_insist(request, "read"))

    async def _job(self, request: Request) -> tuple[Records, Job]:
        token: Token = request.scope["token"]
        records = await self.jobs.records(token)
        return records, records.get(request.path_params["id"])

    def _stream(
        self, request: Request, messages: AsyncGenerator[bytes, None], counted: contextlib.ExitStack
    ) -> Response:
        token: Token = request.scope["token"]
        return _Counted(self._while_known(token, messages), _STREAM, counted.pop_all())

    async def _while_known(self, token: Token, messages: AsyncGenerator[bytes, None]) -> AsyncIterator[bytes]:
        """The messages until the token is removed."""
        async with contextlib.aclosing(messages):
            async for message in messages:
                if not self._is_known(token):
                    return
                yield message

    def _is_known(self, token: Token) -> bool:
        try:
            return token in self._tokens.all()
        except TokenError:
            return False

    @contextlib.contextmanager
    def _counted(self, request: Request) -> Iterator[contextlib.ExitStack]:
        """Within, this counts as a stream of the token. Whoever takes the count out with `pop_all` ends it.
        Raises TryLater (429)."""
        name = request.scope["token"].folder
        if self._streams[name] >= MAX_STREAMS:
            raise TryLater(429, "too_many_streams", f"This token has {MAX_STREAMS} streams open.", 5.0)
        self._streams[name] += 1
        with contextlib.ExitStack() as counted:
            counted.callback(self._streams.subtract, {name: 1})
            yield counted


class _Route(Route):
    """A route without HEAD, which would make a whole answer only to throw it away."""

    def __init__(
        self, path: str, endpoint: Callable[[Request], Awaitable[Response]], methods: list[str]
    ) -> None:
        super().__init__(path, endpoint, methods=methods)
        self.methods = set(methods)


class _Counted(StreamingResponse):
    """A stream that counts as one until it has ended."""

    def __init__(
        self, content: AsyncIterator[bytes], headers: Mapping[str, str], counted: contextlib.ExitStack
    ) -> None:
        super().__init__(content, headers=headers)
        self._counted = counted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self._counted:
            await super().__call__(scope, receive, send)


async def _chunks(file: BinaryIO, length: int) -> AsyncIterator[bytes]:
    """So many bytes of an open file, from where it is; it is closed then."""
    with file:
        while length > 0 and (data := await asyncio.to_thread(file.read, min(length, CHUNK))):
            length -= len(data)
            yield data


def _insist(request: Request, right: Right) -> Token:
    """The request's token. Raises Refused (403) where it may not do that."""
    token: Token = request.scope["token"]
    if not token.may(right):
        may = ", ".join(token.scopes) or "nothing"
        raise Refused(403, "not_in_scope", f"This token may not do that: its scope is {may}.")
    return token


async def _body(request: Request) -> bytes:
    headers = request.headers
    return await read_body(
        request.receive, headers.get("content-type", ""), headers.get("content-length", "")
    )


async def _over_or_gone(request: Request, active: Active) -> None:
    """Wait until the job has ended, or whoever asked has hung up."""
    over = asyncio.create_task(active.over.wait())
    gone = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait((over, gone), return_when=asyncio.FIRST_COMPLETED)
    finally:
        over.cancel()
        gone.cancel()


async def _gone(request: Request) -> Literal[True]:
    while (await request.receive())["type"] != "http.disconnect":
        pass
    return True


async def _refused(request: Request, error: Exception) -> Response:
    assert isinstance(error, Refused)
    return refusal(error)


async def _unavailable(request: Request, error: Exception) -> Response:
    """The disk is full, or a file cannot be written: nothing that whoever asked can change."""
    logger.error("a request failed: %s", error)
    return refusal(TryLater(503, "unavailable", "The service cannot read or write its files.", 30.0))


async def _own_fault(request: Request, error: Exception) -> Response:
    """Made outside of the guard; what it was is on the standard error of 'vera serve'."""
    return refusal(Refused(500, "internal", "Something went wrong in the service."))
