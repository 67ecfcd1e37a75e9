"""A session's log, sent to an OpenTelemetry collector while it is read (extra `otel`): never held whole."""

import asyncio
import fcntl
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path

import msgspec

from vera.events import Blob, Text
from vera.export.otel import Trace
from vera.export.otel_span import Span
from vera.export.otlp_client import OtlpClient, OtlpError
from vera.export.otlp_encode import requests
from vera.export.otlp_endpoint import Endpoint
from vera.session import LogBroken, Reader
from vera.store import Store, StoreError

MAX_CONTENT = 4 << 20
"""Bytes of a stored text that is read to be sent; of a larger one nothing is."""

MAX_MESSAGES = 5
"""Different ones of the collector that are kept."""


class Export(msgspec.Struct, kw_only=True):
    """What became of an export, also of one that failed: spans taken, and those the collector rejected.

    `left_open` are spans of a run under way, which were not sent; `broken` says why the log was not read to
    its end.
    """

    url: str
    trace_id: str = ""
    spans: int = 0
    rejected: int = 0
    requests: int = 0
    left_open: int = 0
    messages: tuple[str, ...] = ()
    broken: str = ""


class ExportFailed(OtlpError):
    """The collector did not take all of it; `done` is what it took."""

    def __init__(self, sentence: str, done: Export) -> None:
        super().__init__(sentence)
        self.done = done


async def export(
    root: Path,
    endpoint: Endpoint,
    *,
    with_content: bool = False,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Export:
    """Send the trace of the session in `root`, finished or under way, one request after the other.

    With `with_content` spans carry prompts, replies, queries and tool results.

    Raises ExportFailed, and OSError when there is no log or it cannot be read.
    """
    done = Export(url=endpoint.url)
    async with OtlpClient(endpoint, sleep) as client:
        for request in requests(_spans(root, done, with_content)):
            try:
                accepted = await client.send(request)
            except OtlpError as error:
                raise ExportFailed(str(error), done) from None
            done.requests += 1
            done.spans += max(0, request.spans - accepted.rejected)
            done.rejected += min(request.spans, accepted.rejected)
            if accepted.message and accepted.message not in done.messages:
                done.messages = (*done.messages, accepted.message)[:MAX_MESSAGES]
    return done


def _spans(root: Path, done: Export, with_content: bool) -> Iterator[Span]:
    """The log's spans as they end. Those open at its end are left out while somebody writes to it: a span
    that was sent must never become another."""
    path = root / "trace.jsonl"
    under_way = _is_being_written(path)
    reader, trace = Reader(path), None
    try:
        for _, record in reader.poll():
            if trace is None:
                trace = Trace(reader.head, root.resolve().name, _read(root) if with_content else None)
                done.trace_id = trace.trace_id.hex()
            yield from trace.apply(record)
    except LogBroken as broken:
        done.broken = str(broken)
    if trace is None:
        return
    if under_way and not trace.ended:
        done.left_open = trace.open
    else:
        yield from trace.finish(interrupted=not done.broken)


def _is_being_written(path: Path) -> bool:
    """Whether a run holds the log's lock; never where files have no locks."""
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        except OSError:
            return False
        fcntl.flock(file, fcntl.LOCK_UN)
    return False


def _read(root: Path) -> Callable[[Text], str]:
    store = Store(root / "store")

    def read(text: Text) -> str:
        if not isinstance(text, Blob):
            return text
        try:
            if store.path(text.sha256).stat().st_size > MAX_CONTENT:
                return ""
            return store.get(text.sha256).decode("utf-8", "replace")
        except (StoreError, OSError):
            return ""

    return read
