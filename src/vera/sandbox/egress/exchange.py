"""One connection of a client: its request read, judged, dialled and passed on, to its record."""

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol
from urllib.parse import unquote

from vera.sandbox.egress import client_hello, response
from vera.sandbox.egress.authority import Authority, Url
from vera.sandbox.egress.body import READ_SIZE, BodyError, body
from vera.sandbox.egress.dial import Dialer, in_words
from vera.sandbox.egress.head import HeadError, RequestHead, forwarded, parse_head
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.egress.types import (
    Connection,
    EgressError,
    EgressLimits,
    FailedError,
    PageWatch,
    Policy,
    RefusedError,
    Request,
    Verdict,
)
from vera.sandbox.egress.usage import Usage

STREAM_LIMIT = 256 << 10
MAX_RECORDED_URL = 2048
MAX_INTERIM = 16
"""Interim responses (100 Continue) that are passed on before the real one."""

FETCH_HOST = "fetch.invalid"
"""Where the command `fetch` asks: `http://fetch.invalid/?url=…`. A name that can never exist (RFC 6761)."""

FETCH_QUERIES = {"/?url=": False, "/?render=1&url=": True}
"""How the query begins, and whether the page is to be rendered."""

SECRET_REASON = "what was to be sent holds a key or password of this run"

FetchService = Callable[[str, bool], Awaitable[tuple[int, bytes]]]
"""A URL, and whether it is to be rendered, to an HTTP status and the text that the command prints. Raises
nothing but what cancels it."""


class Sink(Protocol):
    """The writing side of a client's connection, as `asyncio.StreamWriter` has it."""

    def write(self, data: bytes, /) -> None: ...

    async def drain(self) -> None: ...

    def close(self) -> None: ...


class PageTap(Protocol):
    """Looks on while pages pass (`vera.sandbox.fetch.tap`)."""

    def watch(self, head: RequestHead, address: str) -> PageWatch | None:
        """What looks on at the response to this plain request from that address; None for nothing."""
        ...

    def secured(self, where: Authority) -> None:
        """A tunnel for TLS, which cannot be read here, carries bytes of this host."""
        ...


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What all connections of one box have in common."""

    policy: Policy
    dialer: Dialer
    secrets: Secrets
    limits: EgressLimits
    usage: Usage
    fetch: FetchService | None
    tap: PageTap | None = None


class _ClientGoneError(Exception):
    """The client's end of the connection is gone; no one is left to tell."""


class _HostDeafError(Exception):
    """The host takes no more bytes; it may still have an answer to give."""


class Exchange:
    """One connection of a client, from its first byte to its record."""

    def __init__(self, terms: Terms, reader: asyncio.StreamReader, writer: Sink) -> None:
        self._terms = terms
        self._reader = reader
        self._writer = writer
        self._started = time.time()
        self._began = time.monotonic()
        self._request = Request(method="", host="", port=0)
        self._address = ""
        self._verdict: Verdict = "failed"
        self._reason = "the sandbox was closed"
        self._up = 0
        self._down = 0
        self._answered = False
        self._fetched = False
        self._watch: PageWatch | None = None
        self._idle: asyncio.Timeout | None = None
        self._patience = terms.limits.idle_seconds

    async def run(self, objection: RefusedError | None) -> None:
        problem: EgressError | None = None
        life_seconds = self._terms.limits.life_seconds
        try:
            async with asyncio.timeout(life_seconds) as life:
                await self._serve(objection)
        except EgressError as error:
            problem = error
        except _ClientGoneError:
            pass
        except OSError as error:
            reason = f"the connection broke: {in_words(error)}"
            if isinstance(error, TimeoutError) and life.expired():
                reason = f"it was open for {life_seconds:g} s, as long as a connection may be"
            problem = FailedError(reason)
        self._reason = str(problem or "")
        if problem is None:
            return
        if not self._up:
            self._verdict = "failed" if isinstance(problem, FailedError) else "refused"
        with contextlib.suppress(OSError):
            await self._answer(problem)

    def record(self) -> Connection | None:
        """None for a question to the host's own `fetch`, which keeps records itself."""
        if self._fetched:
            return None
        request, reason = self._request, self._reason
        if self._terms.secrets.found_in(request.method, request.host, request.url, reason):
            request, reason = Request(method="", host="", port=request.port), SECRET_REASON
        url = request.url if len(request.url) <= MAX_RECORDED_URL else f"{request.url[:MAX_RECORDED_URL]}…"
        return Connection(
            host=request.host,
            port=request.port,
            method=request.method,
            url=url,
            address=self._address,
            verdict=self._verdict,
            reason=reason,
            bytes_up=self._up,
            bytes_down=self._down,
            seconds=time.monotonic() - self._began,
            started=self._started,
        )

    async def _serve(self, objection: RefusedError | None) -> None:
        head = await self._head()
        self._request = Request(
            method=head.method,
            host=head.authority.host,
            port=head.authority.port,
            url=str(head.url) if head.url else "",
        )
        self._judge(head, objection)
        if head.authority.host == FETCH_HOST:
            await self._fetch(head.url)
            return
        self._decide()
        (upstream, host), address = await self._terms.dialer.dial(head.authority, _connect)
        self._address = str(address)
        self._verdict = "allowed"
        try:
            if head.url is None:
                await self._tunnel(head.authority, upstream, host)
            else:
                if self._terms.tap is not None:
                    self._watch = self._terms.tap.watch(head, self._address)
                with contextlib.suppress(_HostDeafError):
                    await self._send_up(host, forwarded(head))
                await self._both(self._request_body(head, host), self._response(upstream))
        finally:
            # Its peer is done, or gone, or does not listen: nothing is left to flush.
            host.transport.abort()
            if self._watch is not None:
                self._watch.close()

    async def _head(self) -> RequestHead:
        limits = self._terms.limits
        try:
            async with asyncio.timeout(limits.head_seconds):
                data = await self._reader.readuntil(b"\r\n\r\n")
        except TimeoutError:
            raise RefusedError(
                f"no whole request came within {limits.head_seconds:g} s", status=408
            ) from None
        except asyncio.IncompleteReadError:
            raise RefusedError("the connection ended before a whole request had come", status=400) from None
        except asyncio.LimitOverrunError:
            data = b""
        if not data or len(data) > limits.head:
            raise RefusedError(f"the request's head has more than {limits.head} bytes", status=431)
        try:
            return parse_head(data[:-4])
        except HeadError as error:
            raise RefusedError(str(error), status=400) from None

    def _judge(self, head: RequestHead, objection: RefusedError | None) -> None:
        if self._terms.secrets.found_in(
            self._request.host, self._request.url, *(f"{name}: {value}" for name, value in head.fields)
        ):
            raise RefusedError(SECRET_REASON)
        if objection is not None:
            raise objection

    def _decide(self) -> None:
        decision = self._terms.policy.decide(self._request)
        if not decision.allowed:
            raise RefusedError(decision.reason)

    async def _fetch(self, url: Url | None) -> None:
        target = url.target if url else ""
        query = next((each for each in FETCH_QUERIES if target.startswith(each)), "")
        if self._terms.fetch is None or not query:
            raise RefusedError("pages are not fetched here", status=404)
        self._fetched = True
        status, text = await self._terms.fetch(unquote(target.removeprefix(query)), FETCH_QUERIES[query])
        self._answered = True
        await self._send_down(response.own(status, text), counted=False)

    async def _tunnel(
        self, where: Authority, upstream: asyncio.StreamReader, host: asyncio.StreamWriter
    ) -> None:
        await self._send_down(response.ESTABLISHED, counted=False)
        self._answered = True
        hello = await self._client_hello(where)
        with contextlib.suppress(_HostDeafError):
            await self._send_up(host, hello)
        if self._terms.tap is not None:
            self._terms.tap.secured(where)
        await self._both(self._rest_up(host), self._rest_down(upstream))

    async def _client_hello(self, where: Authority) -> bytes:
        """The first bytes of the tunnel, when they ask by TLS for the host that was judged."""
        data = b""
        limits = self._terms.limits
        try:
            async with asyncio.timeout(limits.head_seconds):
                while True:
                    try:
                        name = client_hello.server_name(data)
                        break
                    except client_hello.IncompleteError:
                        more = await self._from_client()
                        if not more:
                            raise RefusedError("the tunnel was closed before TLS began") from None
                        data += more
        except TimeoutError:
            raise RefusedError(f"TLS did not begin within {limits.head_seconds:g} s") from None
        except client_hello.NotTlsError as error:
            raise RefusedError(f"a tunnel to {where} carries TLS only, and there was {error}") from None
        if name == where.host or (not name and where.address is not None):
            return data
        await self._send_down(response.TLS_ACCESS_DENIED, counted=False)
        asked = f"{name[:100]!a}" if name else "no host by name"
        raise RefusedError(f"inside the tunnel to {where.host} TLS asked for {asked}")

    async def _request_body(self, head: RequestHead, host: asyncio.StreamWriter) -> None:
        try:
            async for piece in body(head, self._reader):
                await self._send_up(host, piece)
        except BodyError as error:
            raise RefusedError(f"the request's body cannot be passed on: {error}", status=400) from None
        except OSError:
            raise _ClientGoneError from None
        while await self._from_client():
            pass  # whatever follows the one request goes nowhere
        self._linger()

    async def _rest_up(self, host: asyncio.StreamWriter) -> None:
        while piece := await self._from_client():
            await self._send_up(host, piece)
        with contextlib.suppress(OSError):
            host.write_eof()
        self._linger()

    async def _response(self, upstream: asyncio.StreamReader) -> None:
        for _ in range(MAX_INTERIM):
            try:
                came = await upstream.readuntil(b"\r\n\r\n")
                self._show(came)
                head, last = response.closing(came)
            except asyncio.IncompleteReadError as error:
                if not error.partial:
                    raise FailedError(
                        f"{self._request.host} closed the connection without an answer"
                    ) from None
                head, last = error.partial, True
            except asyncio.LimitOverrunError:
                head, last = b"", True  # whatever it is, it is no head to be fixed
            self._answered = True
            await self._send_down(head)
            if last:
                break
        await self._rest_down(upstream)

    async def _rest_down(self, upstream: asyncio.StreamReader) -> None:
        while piece := await upstream.read(READ_SIZE):
            # Before the client has it: when the client ends, what it got was seen here.
            self._show(piece)
            await self._send_down(piece)
        self._show(b"")

    def _show(self, data: bytes) -> None:
        """Let who looks on see bytes of the host, b"" at their end."""
        if self._watch is not None:
            self._watch.feed(data)

    async def _send_up(self, host: asyncio.StreamWriter, data: bytes) -> None:
        self._terms.usage.upload(self._request.host, len(data))
        self._up += len(data)
        try:
            host.write(data)
            await host.drain()
        except OSError:
            raise _HostDeafError from None
        self._stay_awake()

    async def _from_client(self) -> bytes:
        try:
            return await self._reader.read(READ_SIZE)
        except OSError:
            raise _ClientGoneError from None

    async def _send_down(self, data: bytes, *, counted: bool = True) -> None:
        if counted:
            self._terms.usage.download(len(data))
            self._down += len(data)
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError:
            raise _ClientGoneError from None
        self._stay_awake()

    async def _both(self, up: Coroutine[Any, Any, None], down: Coroutine[Any, Any, None]) -> None:
        """Pass bytes in both directions until the host ends, one side fails, or both keep silent."""
        upward, downward = asyncio.create_task(up), asyncio.create_task(down)
        try:
            async with asyncio.timeout(None) as idle:
                self._idle = idle
                self._stay_awake()
                await asyncio.wait((upward, downward), return_when=asyncio.FIRST_COMPLETED)
                if upward.done() and not isinstance(upward.exception(), _HostDeafError):
                    upward.result()
                await downward
        except TimeoutError:
            if not idle.expired():
                raise
            if self._answered and self._patience == self._terms.limits.linger_seconds:
                return
            raise FailedError(f"no byte passed for {self._patience:g} s", status=504) from None
        finally:
            for task in (upward, downward):
                task.cancel()
            await asyncio.gather(upward, downward, return_exceptions=True)

    def _stay_awake(self) -> None:
        if self._idle is not None and not self._idle.expired():
            self._idle.reschedule(asyncio.get_running_loop().time() + self._patience)

    def _linger(self) -> None:
        self._patience = self._terms.limits.linger_seconds
        self._stay_awake()

    async def _answer(self, error: EgressError) -> None:
        if self._answered:
            return
        self._writer.write(response.refusal(error.status, str(error), method=self._request.method))
        await self._writer.drain()


async def _connect(address: str, port: int) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection(address, port, limit=STREAM_LIMIT)
