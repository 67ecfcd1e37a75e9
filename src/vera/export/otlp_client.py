"""One OTLP/HTTP endpoint as a client sees it: what is sent again, what is not, what the answer says.

https://opentelemetry.io/docs/specs/otlp/#otlphttp
"""

import asyncio
import gzip
import random
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

import httpx
import msgspec
from google.protobuf.message import DecodeError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceResponse,
)

from vera.decode_errors import DECODE_ERRORS
from vera.export.otlp_encode import Request
from vera.export.otlp_endpoint import Endpoint
from vera.model.retry import retry_after
from vera.version import __version__

RETRIED = frozenset({429, 502, 503, 504})
"""All others must not be sent again (OTLP, "Retryable Response Codes")."""

ATTEMPTS = 5
"""To send one request."""

FIRST_PAUSE_S = 1.0
MAX_PAUSE_S = 16.0
"""Pauses double from one to the other, less up to a quarter at random. A Retry-After counts as it is."""

MAX_WAITED_S = 120.0
"""In all pauses of an export."""

MAX_ANSWER = 64 << 10
"""Bytes of an answer that are read. A collector's has a few."""

MAX_MESSAGE_LENGTH = 300


class OtlpError(Exception):
    """The collector could not be reached, or did not take the spans: a sentence for the person."""


class Accepted(msgspec.Struct, frozen=True, kw_only=True):
    """How a request was taken: how many spans were rejected, and what the collector says ('' mostly)."""

    rejected: int = 0
    message: str = ""


class _Answer(msgspec.Struct, frozen=True, kw_only=True):
    status: int
    headers: httpx.Headers
    body: bytes


class OtlpClient:
    """An open connection to an endpoint, to be used with `async with`. Redirects are not followed: a key in
    the headers is for the host that was named."""

    def __init__(self, endpoint: Endpoint, sleep: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._endpoint = endpoint
        self._sleep = sleep
        self._waited = 0.0
        self._http = httpx.AsyncClient(
            timeout=endpoint.timeout_s,
            follow_redirects=False,
            trust_env=not endpoint.is_loopback,
            headers={
                "user-agent": f"vera/{__version__}",
                **endpoint.headers,
                "content-type": "application/x-protobuf",
                "accept-encoding": "identity",
            },
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._http.aclose()

    async def send(self, request: Request) -> Accepted:
        """Send one request, again after a pause where the collector says that it is busy.

        Raises OtlpError.
        """
        body = gzip.compress(request.body, 6) if self._endpoint.gzip else request.body
        attempt = 1
        while True:
            answer = await self._post(body)
            if 200 <= answer.status < 300:
                return self._accepted(answer)
            if answer.status not in RETRIED or attempt == ATTEMPTS:
                raise OtlpError(self._refused(answer, attempt))
            await self._sleep(self._pause(answer, attempt))
            attempt += 1

    async def _post(self, body: bytes) -> _Answer:
        encoding = {"content-encoding": "gzip"} if self._endpoint.gzip else {}
        url, limit = self._endpoint.url, self._endpoint.timeout_s
        try:
            async with (
                asyncio.timeout(limit),
                self._http.stream("POST", url, content=body, headers=encoding) as response,
            ):
                found = bytearray()
                async for chunk in response.aiter_raw():
                    found += chunk
                    if len(found) > MAX_ANSWER:
                        break
                return _Answer(
                    status=response.status_code, headers=response.headers, body=bytes(found[:MAX_ANSWER])
                )
        except (TimeoutError, httpx.TimeoutException):
            raise OtlpError(
                f"{url} did not answer within {limit:g} s. OTEL_EXPORTER_OTLP_TIMEOUT sets another limit, "
                "in milliseconds."
            ) from None
        except httpx.ConnectError as error:
            raise OtlpError(
                f"There is no collector at {url} ({_line(str(error))}). Is it running? Most listen on 4318."
            ) from None
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise OtlpError(
                f"{url} does not answer as a collector does over HTTP ({_line(str(error)) or 'no answer'}). "
                "Port 4317 is OTLP over gRPC; over HTTP it is 4318."
            ) from None

    def _pause(self, answer: _Answer, attempt: int) -> float:
        """Seconds until the next attempt: as the collector asks, else growing and not the same for all."""
        pause = retry_after(answer.headers.get("retry-after"))
        if pause is None:
            pause = min(FIRST_PAUSE_S * 2.0 ** (attempt - 1), MAX_PAUSE_S) * (1 - random.random() / 4)
        self._waited += pause
        if self._waited > MAX_WAITED_S:
            raise OtlpError(
                f"{self._endpoint.url} answered {answer.status} and is to be left alone for another "
                f"{pause:.0f} s. Try again later; the spans keep their ids."
            )
        return pause

    def _accepted(self, answer: _Answer) -> Accepted:
        media = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
        if not answer.body:
            return Accepted()
        try:
            if media == "application/json":
                return _accepted_json(answer.body)
            if media.startswith("text/") or len(answer.body) == MAX_ANSWER:
                raise DecodeError(media)
            partial = ExportTraceServiceResponse.FromString(answer.body).partial_success
        except (DecodeError, *DECODE_ERRORS):
            raise OtlpError(
                f"{self._endpoint.url} answered {answer.status}, but not as a collector does: something else "
                "listens there."
            ) from None
        return Accepted(rejected=max(0, partial.rejected_spans), message=_line(partial.error_message))

    def _refused(self, answer: _Answer, attempts: int) -> str:
        url, status = self._endpoint.url, answer.status
        said = f": {message}" if (message := _message(answer)) else ""
        again = f" {attempts} times" if attempts > 1 else ""
        match status:
            case 401 | 403:
                then = (
                    " Give its key in the environment: OTEL_EXPORTER_OTLP_HEADERS=Authorization=Bearer%20KEY."
                )
            case 404 | 405:
                then = (
                    " Is its path another one than /v1/traces? Then set OTEL_EXPORTER_OTLP_TRACES_ENDPOINT."
                )
            case _ if 300 <= status < 400:
                host = urlsplit(_line(answer.headers.get("location", ""))).netloc.rpartition("@")[2]
                then = f" A redirect{' to ' + host if host else ''} is not followed: name its target instead."
            case _ if status in RETRIED:
                then = " Try again later; the spans keep their ids."
            case _:
                then = ""
        return f"{url} answered {status}{again}{said}.{then}"


def _message(answer: _Answer) -> str:
    """What the collector says of a failure, '' when it cannot be read."""
    media = answer.headers.get("content-type", "").partition(";")[0].strip().lower()
    if media == "application/x-protobuf":
        try:
            # Field 2 of google.rpc.Status, which OTLP answers with, is this message's field 2: a string.
            return _line(ExportTracePartialSuccess.FromString(answer.body).error_message)
        except DecodeError:
            return ""
    if media == "application/json":
        try:
            return _line(msgspec.json.decode(answer.body, type=_Status).message)
        except DECODE_ERRORS:
            return ""
    return _line(answer.body.decode("utf-8", "replace")) if media == "text/plain" else ""


class _Status(msgspec.Struct, frozen=True):
    message: str = ""


class _PartialSuccess(msgspec.Struct, frozen=True, rename="camel"):
    rejected_spans: int | str = 0
    error_message: str = ""


class _Response(msgspec.Struct, frozen=True, rename="camel"):
    partial_success: _PartialSuccess = _PartialSuccess()


def _accepted_json(body: bytes) -> Accepted:
    """OTLP's JSON writes 64-bit integers as strings. Raises MsgspecError."""
    partial = msgspec.json.decode(body, type=_Response).partial_success
    rejected = msgspec.convert(partial.rejected_spans, int, strict=False)
    return Accepted(rejected=max(0, rejected), message=_line(partial.error_message))


def _line(text: str) -> str:
    return " ".join(text[: 4 * MAX_MESSAGE_LENGTH].split()).rstrip(".")[:MAX_MESSAGE_LENGTH]
