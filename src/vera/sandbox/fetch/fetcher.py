"""Fetch a URL under the egress policy: each hop judged, looked up once, and dialled at a checked address."""

import asyncio
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from urllib.parse import urljoin

import msgspec

from vera.content_coding import DecodeError, Decoder, TooLarge
from vera.sandbox.egress.authority import AuthorityError, Url
from vera.sandbox.egress.dial import Dialer, in_words
from vera.sandbox.egress.secrets import Secrets
from vera.sandbox.egress.types import Connection, FailedError, Policy, RefusedError, Request, Verdict
from vera.sandbox.fetch.exchange import Exchange, Fields, ResponseError, ResponseHead
from vera.sandbox.fetch.receipt import Fetched, FetchError, Hop, Kind
from vera.sandbox.fetch.renewal import NOT_MODIFIED, confirmed, validators
from vera.sandbox.fetch.reply import FetchReply, receipt_of
from vera.sandbox.fetch.url import normalise
from vera.version import __version__

if TYPE_CHECKING:
    import ssl

USER_AGENT = f"VERA/{__version__} (research agent; https://github.com/vera-agent/vera)"
REDIRECTS = frozenset({301, 302, 303, 307, 308})
SECRET_REASON = "a key or password of this run is in the URL"


@dataclass(frozen=True, kw_only=True)
class FetchLimits:
    """Bounds of one fetch in bytes and seconds; `body` counts after decompression, `wire` before it.

    `silence` is between two bytes, `total` over all hops; `at_once` fetches run, others wait.
    """

    body: int = 32 << 20
    wire: int = 32 << 20
    redirects: int = 8
    silence: float = 20.0
    total: float = 90.0
    at_once: int = 8


class Attempt:
    """What is known so far of one connection on its way to a record; `secret` when its URL holds one and must
    not be repeated."""

    def __init__(self, url: Url) -> None:
        self._url = url
        self._started = time.time()
        self._began = time.monotonic()
        self.exchange: Exchange | None = None
        self.address = ""
        self.verdict: Verdict = "failed"
        self.reason = "it was given up"
        self.secret = False

    @property
    def shown(self) -> str:
        return "The URL" if self.secret else str(self._url)

    def close(self) -> None:
        if self.exchange is not None:
            self.exchange.close()

    def record(self) -> Connection:
        return Connection(
            host="" if self.secret else self._url.authority.host,
            port=self._url.authority.port,
            method="GET",
            url="" if self.secret else str(self._url),
            address=self.address,
            verdict=self.verdict,
            reason=self.reason,
            bytes_up=self.exchange.bytes_up if self.exchange else 0,
            bytes_down=self.exchange.bytes_down if self.exchange else 0,
            seconds=time.monotonic() - self._began,
            started=self._started,
        )


class Fetcher:
    """Gets URLs with no cookie, no credential and no proxy of the environment; keeps nothing between two.

    `log` gets one record for each connection, as the tunnel's. `tls` makes the context that proves servers'
    names; by default it trusts what httpx trusts (certifi's bundle, or SSL_CERT_FILE). `kept` gives what an
    address answered before: `fetch` then asks whether that still stands (RFC 9110, section 13.1). `room` says
    how many bytes the next response may have with its head, within the limits; of 0 none is asked for.
    """

    def __init__(
        self,
        policy: Policy,
        dialer: Dialer,
        *,
        secrets: Secrets | None = None,
        limits: FetchLimits | None = None,
        log: Callable[[Connection], object] | None = None,
        tls: "Callable[[], ssl.SSLContext] | None" = None,
        user_agent: str = USER_AGENT,
        kept: Callable[[str], Fetched | None] | None = None,
        room: Callable[[], int] | None = None,
    ) -> None:
        self._policy = policy
        self._dialer = dialer
        self._secrets = secrets or Secrets()
        self._limits = limits or FetchLimits()
        self._log = log or (lambda connection: None)
        self._make_tls = tls or _trusting_the_usual
        self._tls: ssl.SSLContext | None = None
        self._user_agent = user_agent
        self._kept = kept or (lambda url: None)
        self._room = room
        self._free = asyncio.Semaphore(self._limits.at_once)

    async def fetch(self, url: str) -> Fetched:
        """The response to a GET, after redirects, whatever its status. Raises FetchError.

        Where the server says that a kept response still stands, that one's bytes under a receipt of now.
        """
        return await self._within_time(url, (), follow=True)

    async def ask(self, url: str, fields: Fields) -> Fetched:
        """The response to one GET with these further header lines, whatever its status. Raises FetchError.

        A header may hold a key, so a redirect is not followed but is the response: no other host gets it.
        """
        return await self._within_time(url, fields, follow=False)

    async def _within_time(self, url: str, fields: Fields, *, follow: bool) -> Fetched:
        if self._secrets.found_in(url):
            raise FetchError(f"The URL is not fetched: {SECRET_REASON}.", "refused")
        try:
            target = normalise(url)
        except AuthorityError as error:
            raise FetchError(str(error), "url") from None
        followed: list[Hop] = []
        async with self._free:
            try:
                async with asyncio.timeout(self._limits.total):
                    if not follow:
                        return await self._once(url.strip(), target, fields)
                    return await self._follow(url.strip(), target, followed)
            except TimeoutError:
                raise FetchError(
                    f"{target} was not there whole after {self._limits.total:g} s.",
                    "timeout",
                    tuple(followed),
                ) from None

    async def _once(self, requested: str, url: Url, fields: Fields) -> Fetched:
        started, began = time.time(), time.monotonic()
        reply = await self._hop(url, [], fields)
        return Fetched(receipt=receipt_of(requested, reply, (), started, began), body=reply.body)

    async def _follow(self, requested: str, url: Url, followed: list[Hop]) -> Fetched:
        started, began = time.time(), time.monotonic()
        while True:
            kept = self._kept(str(url))
            fields = validators(kept.receipt) if kept else ()
            reply = await self._hop(url, followed, fields)
            if not reply.location:
                break
            followed.append(Hop(url=str(url), status=reply.head.status, address=reply.address))
            if len(followed) > self._limits.redirects:
                raise FetchError(
                    f"{requested} was redirected more than {self._limits.redirects} times.",
                    "redirects",
                    tuple(followed),
                )
            try:
                url = normalise(urljoin(str(url), reply.location))
            except ValueError as error:
                raise FetchError(
                    self._without_secrets(f"{url} redirects to what cannot be fetched: {error}"),
                    "redirects",
                    tuple(followed),
                ) from None
        receipt = receipt_of(requested, reply, tuple(followed), started, began)
        if kept and fields and receipt.status == NOT_MODIFIED:
            return confirmed(kept, receipt)
        return Fetched(receipt=receipt, body=reply.body)

    async def _hop(self, url: Url, followed: list[Hop], fields: Fields = ()) -> FetchReply:
        attempt, limits = Attempt(url), self._limits_now()
        try:
            reply = await self._get(url, attempt, fields, limits)
        except RefusedError as error:
            attempt.verdict, attempt.reason = "refused", str(error)
            raise FetchError(
                f"{attempt.shown} is not fetched: {error}.", "refused", tuple(followed)
            ) from None
        except (FailedError, ResponseError, TooLarge, DecodeError, OSError) as error:
            kind, attempt.reason = _failure(error, limits, self._limits)
            raise FetchError(f"{url} cannot be fetched: {attempt.reason}.", kind, tuple(followed)) from None
        else:
            attempt.reason = ""
            return reply
        finally:
            attempt.close()
            self._log(attempt.record())

    async def _get(self, url: Url, attempt: Attempt, fields: Fields, limits: FetchLimits) -> FetchReply:
        where = url.authority
        if limits.wire <= 0:
            raise TooLarge
        if self._secrets.found_in(str(url)):
            attempt.secret = True
            raise RefusedError(SECRET_REASON)
        decision = self._policy.decide(Request(method="GET", host=where.host, port=where.port, url=str(url)))
        if not decision.allowed:
            raise RefusedError(decision.reason)
        (reader, writer), address = await self._dialer.dial(where, self._connector(url))
        # Of a budget the head counts, too.
        most = limits.wire if limits.wire < self._limits.wire else sys.maxsize
        exchange = Exchange(reader, writer, silence_seconds=self._limits.silence, most=most)
        attempt.exchange, attempt.address, attempt.verdict = exchange, str(address), "allowed"
        tls, certificate = exchange.tls()
        head = await exchange.get(url, self._user_agent, fields)
        reply = FetchReply(url=url, head=head, address=str(address), tls=tls, certificate=certificate)
        location = head.header("location")
        if head.status in REDIRECTS and location:
            return msgspec.structs.replace(reply, location=_text(location))
        body, wire_size, coding = await self._body(exchange, head, limits)
        return msgspec.structs.replace(reply, body=body, wire_size=wire_size, coding=coding)

    def _limits_now(self) -> FetchLimits:
        """The limits, with no more bytes than there is room for."""
        limits = self._limits
        if self._room is None:
            return limits
        room = self._room()
        return replace(limits, body=min(limits.body, room), wire=min(limits.wire, room))

    async def _body(
        self, exchange: Exchange, head: ResponseHead, limits: FetchLimits
    ) -> tuple[bytes, int, str]:
        decoder = Decoder(head.header("content-encoding"), limits.body)
        announced = head.header("content-length")
        if announced.isdecimal() and int(announced[:20]) > limits.wire:
            raise TooLarge
        pieces, wire_size = [], 0
        async for piece in exchange.body():
            wire_size += len(piece)
            if wire_size > limits.wire:
                raise TooLarge
            pieces.append(decoder.feed(piece))
        decoder.finish()
        return b"".join(pieces), wire_size, decoder.coding

    def _connector(
        self, url: Url
    ) -> Callable[[str, int], Coroutine[Any, Any, tuple[asyncio.StreamReader, asyncio.StreamWriter]]]:
        """Connects to an address and, for https, has it prove the name of the URL's host."""
        if url.scheme == "http":
            return asyncio.open_connection
        if self._tls is None:
            self._tls = self._make_tls()
        return partial(asyncio.open_connection, ssl=self._tls, server_hostname=url.authority.host)

    def _without_secrets(self, text: str) -> str:
        return f"Not fetched: {SECRET_REASON}." if self._secrets.found_in(text) else text


def _failure(error: Exception, limits: FetchLimits, usual: FetchLimits) -> tuple[Kind, str]:
    """The kind of a failure and its reason; `limits` are those of this response."""
    most = min(limits.body, limits.wire)
    match error:
        case TooLarge() if most < min(usual.body, usual.wire):
            return "over_budget", f"it is larger than the {most} bytes that are left of the budget"
        case TooLarge():
            return "too_large", f"it is larger than {most} bytes"
        case DecodeError():
            return "encoding", str(error)
        case FailedError(status=504):
            return "timeout", str(error)
        case TimeoutError():
            return "timeout", f"no byte came for {limits.silence:g} s"
        case OSError():
            return "failed", in_words(error)
        case _:
            return "failed", str(error)


def _text(header: str) -> str:
    """A header as UTF-8, which servers send in Location, else as it was read (RFC 9110: Latin-1)."""
    try:
        return header.encode("latin-1").decode("utf-8")
    except UnicodeDecodeError:
        return header


def _trusting_the_usual() -> "ssl.SSLContext":
    import httpx

    return httpx.create_ssl_context()
