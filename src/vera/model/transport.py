"""The HTTP of the model room: one host, its key, no redirects, and a bound on every read and wait."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Any

import msgspec

from vera.content_coding import DecodeError, Decoder, TooLarge
from vera.model import failure, loose
from vera.model.failure import Connection, Failure
from vera.model.retry import retry_after
from vera.model.stream import LineSplitter, TooLong
from vera.model.types import ModelError
from vera.model.url import is_local, normalise
from vera.model.wire import IncompleteReply, Reader, ReplyError, UnreadableReply, WireReply

if TYPE_CHECKING:
    import httpx

CONNECT_S = 10.0
MAX_REPLY_BYTES = 64 * 1024 * 1024
"""A reply of 4 candidates of 4096 tokens, each token with its alternatives' logprobs, is about 25 MB."""

MAX_ERROR_BYTES = 64 * 1024
MAX_JSON_BYTES = 8 * 1024 * 1024
CLOCK_GRAIN_S = 0.01
AFTER_END_S = 1.0
"""How long to wait for the connection's orderly end, to use it again, after the reply's last word."""


class Waits(msgspec.Struct, frozen=True, kw_only=True):
    """How long to wait: seconds of silence before the first word and between bytes; until when in all.

    `until` is on the running loop's clock.
    """

    first_s: float
    between_s: float
    until: float


class Transport:
    """One server's connection pool. The key goes to this host and nowhere else.

    Raises ModelError for a base URL or a key that cannot be used.
    """

    def __init__(self, base_url: str, key: str | None = None) -> None:
        import httpx

        self.base_url = normalise(base_url)
        self.local = is_local(self.base_url)
        self.key = checked_key(key)
        try:
            httpx.URL(self.base_url)
        except httpx.InvalidURL as problem:
            raise ModelError(f"{self.base_url} is no usable base URL ({problem}).") from None
        # A certificate store costs 27 ms of CPU, and plaintext has no use for it.
        verify = self.base_url.startswith("https:")
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=16)
        # With its own transport the client ignores the environment's proxies: they lead to the
        # outside world, never to a server in this network.
        direct = httpx.AsyncHTTPTransport(verify=verify, limits=limits) if self.local else None
        self._http = httpx.AsyncClient(
            verify=verify,
            transport=direct,
            follow_redirects=False,
            timeout=httpx.Timeout(None, connect=CONNECT_S),
            limits=limits,
            headers=self._headers(),
        )

    def _headers(self) -> dict[str, str]:
        headers = {"Accept-Encoding": "identity", "Content-Type": "application/json"}
        if self.key:
            headers["Authorization"] = f"Bearer {self.key}"
        return headers

    async def post(
        self, url: str, body: bytes, reader: Reader, waits: Waits, place: Connection
    ) -> tuple[WireReply, float]:
        """(reply, seconds until the model's first word). Raises Failure.

        A cancelled call closes its stream, and with it the server's work; so does an answer that only
        repeats itself.
        """
        import httpx

        loop = asyncio.get_running_loop()
        began = loop.time()
        first_word = 0.0
        patience = waits.first_s
        try:
            async with asyncio.timeout_at(min(waits.until, began + patience)) as guard:
                async with self._http.stream("POST", url, content=body) as response:
                    if response.status_code != 200:
                        await _raise_status(response, place)
                    lines = LineSplitter()
                    async for chunk in _content(response, MAX_REPLY_BYTES):
                        for line in lines.feed(chunk):
                            reader.feed(line)
                        if reader.started and not first_word:
                            first_word = loop.time() - began
                        if reader.repeats:
                            break
                        patience = waits.between_s if reader.started else waits.first_s
                        patience = AFTER_END_S if reader.finished else patience
                        guard.reschedule(min(waits.until, loop.time() + patience))
                    if not reader.repeats and (rest := lines.rest()):
                        reader.feed(rest)
        except TimeoutError:
            if not reader.finished and loop.time() >= waits.until - CLOCK_GRAIN_S:
                raise failure.out_of_time(place) from None
            if not reader.finished:
                raise failure.silent(place, patience) from None
        except TooLong as problem:
            raise failure.too_long(place, str(problem)) from None
        except TooLarge:
            raise failure.too_long(place, f"more than {MAX_REPLY_BYTES} bytes") from None
        except DecodeError as problem:
            if not reader.finished:
                raise failure.dropped(place, str(problem)) from None
        except ReplyError as problem:
            raise failure.refused(place, problem.status, problem.body) from None
        except httpx.HTTPError as problem:
            if not reader.finished:
                raise _connection_failure(problem, place) from None
        return _closed(reader, place), first_word or loop.time() - began

    async def ask(self, url: str, body: Any = None, *, seconds: float = 5.0) -> tuple[int, Any]:
        """(HTTP status, JSON value or None) of a small GET, or POST when there is a body. Raises Failure."""
        import httpx

        place = Connection(url=self.base_url, key=self.key)
        data = bytearray()
        try:
            async with (
                asyncio.timeout(seconds),
                self._http.stream("GET" if body is None else "POST", url, json=body) as response,
            ):
                async for chunk in _content(response, MAX_JSON_BYTES):
                    data += chunk
                return response.status_code, loose.decode(bytes(data))
        except TimeoutError:
            raise failure.silent(place, seconds) from None
        except TooLarge:
            raise failure.too_long(place, f"a description of more than {MAX_JSON_BYTES} bytes") from None
        except DecodeError as problem:
            raise failure.dropped(place, str(problem)) from None
        except httpx.HTTPError as problem:
            raise _connection_failure(problem, place) from None

    async def close(self) -> None:
        await self._http.aclose()


def checked_key(key: str | None) -> str | None:
    """The key without surrounding blanks, None if empty. Raises ModelError for one no header can carry."""
    key = (key or "").strip()
    if not key:
        return None
    if not key.isascii() or not key.isprintable() or " " in key:
        raise ModelError(
            "The model key has a blank, a line break or a letter outside ASCII in it, so it cannot be sent. "
            "Copy it again: OPENAI_API_KEY=…"
        )
    return key


async def _content(response: "httpx.Response", most: int) -> AsyncIterator[bytes]:
    """The body without its content coding. A server may compress what it was asked to send plainly, and httpx
    would unfold each piece whole. Raises TooLarge, DecodeError."""
    decoder = Decoder(response.headers.get("content-encoding", ""), most)
    async for piece in response.aiter_raw():
        yield decoder.feed(piece)
    decoder.finish()


async def _raise_status(response: "httpx.Response", place: Connection) -> None:
    body = bytearray()
    with contextlib.suppress(TooLarge, DecodeError):
        async for chunk in _content(response, MAX_ERROR_BYTES):
            body += chunk
    wait = retry_after(response.headers.get("retry-after"))
    raise failure.refused(place, response.status_code, bytes(body), wait)


def _connection_failure(problem: Exception, place: Connection) -> Failure:
    import httpx

    reason = failure.quote(str(problem).encode(), place.key) or type(problem).__name__
    if isinstance(problem, httpx.ConnectError | httpx.ConnectTimeout):
        return failure.unreachable(place, reason)
    if isinstance(problem, httpx.TransportError):
        return failure.dropped(place, reason)
    return failure.not_a_reply(place, reason.encode())


def _closed(reader: Reader, place: Connection) -> WireReply:
    try:
        return reader.close()
    except ReplyError as problem:
        raise failure.refused(place, problem.status, problem.body) from None
    except IncompleteReply as problem:
        raise failure.dropped(place, str(problem)) from None
    except UnreadableReply as problem:
        raise failure.not_a_reply(place, problem.body) from None
