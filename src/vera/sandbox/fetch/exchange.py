"""One GET on one open connection (RFC 9112), read bit by bit with a bound on each wait."""

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from vera.content_coding import TooLarge
from vera.sandbox.egress.authority import Url

READ_SIZE = 64 << 10
MAX_HEAD = 64 << 10
MAX_INTERIM = 16
ACCEPT = "text/html, application/pdf;q=0.9, text/plain;q=0.8, */*;q=0.7"

Fields = tuple[tuple[str, str], ...]
"""Header lines of a request, in ASCII."""


class ResponseError(Exception):
    """What the server sent is no HTTP response, or the connection ended in the middle of one."""


class ResponseHead(msgspec.Struct, frozen=True):
    """`headers` in order, names in lower case."""

    status: int
    headers: tuple[tuple[str, str], ...]

    def header(self, name: str) -> str:
        """The first header of that name; '' for none."""
        return next((value for key, value in self.headers if key == name), "")


class Exchange:
    """A connection that serves one GET. Counts the bytes of both directions, inside TLS, and reads no more
    than `most`."""

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        *,
        silence_seconds: float,
        most: int = sys.maxsize,
    ) -> None:
        import h11

        self._reader = reader
        self._writer = writer
        self._silence_seconds = silence_seconds
        self._most = most
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEAD)
        self.bytes_up = 0
        self.bytes_down = 0

    async def get(self, url: Url, user_agent: str, fields: Fields = ()) -> ResponseHead:
        """Send the request, return the head of the response. Raises ResponseError, TooLarge, OSError,
        TimeoutError.

        `fields` are further header lines; an Accept among them stands for the usual one.
        """
        import h11

        accept = [] if any(name.lower() == "accept" for name, _ in fields) else [("Accept", ACCEPT)]
        request = h11.Request(
            method="GET",
            target=url.target,
            headers=[
                ("Host", url.host_header),
                ("User-Agent", user_agent),
                *accept,
                ("Accept-Encoding", "gzip"),
                *fields,
                ("Connection", "close"),
            ],
        )
        await self._send((self._http.send(request) or b"") + (self._http.send(h11.EndOfMessage()) or b""))
        for _ in range(MAX_INTERIM):
            event = await self._event()
            if isinstance(event, h11.Response):
                return ResponseHead(
                    event.status_code,
                    tuple((name.decode("latin-1"), value.decode("latin-1")) for name, value in event.headers),
                )
        raise ResponseError("the server sent no final response")

    async def body(self) -> AsyncIterator[bytes]:
        """The body as it came, without transfer coding. Raises as `get` does."""
        import h11

        while True:
            event = await self._event()
            if isinstance(event, h11.Data):
                yield bytes(event.data)
            else:
                return

    def tls(self) -> tuple[str, bytes]:
        """Protocol version and the server's certificate (DER); both empty for plain HTTP."""
        secured = self._writer.get_extra_info("ssl_object")
        if secured is None:
            return "", b""
        return secured.version() or "", secured.getpeercert(binary_form=True) or b""

    def close(self) -> None:
        self._writer.transport.abort()

    async def _send(self, data: bytes) -> None:
        self.bytes_up += len(data)
        self._writer.write(data)
        async with asyncio.timeout(self._silence_seconds):
            await self._writer.drain()

    async def _event(self) -> Any:
        import h11

        while True:
            try:
                event = self._http.next_event()
                if event is not h11.NEED_DATA:
                    return event
                left = self._most - self.bytes_down
                if left <= 0:
                    raise TooLarge
                async with asyncio.timeout(self._silence_seconds):
                    data = await self._reader.read(min(READ_SIZE, left))
                self.bytes_down += len(data)
                self._http.receive_data(data)
            except h11.RemoteProtocolError as error:
                raise ResponseError(f"the server broke the rules of HTTP ({error})") from None
