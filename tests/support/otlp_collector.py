"""A real OTLP/HTTP endpoint on loopback: it parses what it gets with the collector's own protobuf messages.

    with OtlpCollector() as collector:
        ...  # vera export RUN --otlp collector.url
    assert collector.named("invoke_agent vera")

`script` are the answers to its first requests; after them it takes everything. An answer is a `Reply`, or a
`Partial`: accepted, but for some spans. Requests that were answered with an error leave no spans.
"""

import contextlib
import gzip
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, cast

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTracePartialSuccess,
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, KeyValue
from opentelemetry.proto.trace.v1.trace_pb2 import Span

PROTOBUF = "application/x-protobuf"


@dataclass(frozen=True)
class Reply:
    """An answer as it stands. `seconds` it is held back, or until the collector is closed. One that
    `trickles` is announced as a megabyte, of which a byte arrives now and then."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    media: str = PROTOBUF
    seconds: float = 0.0
    trickles: bool = False


@dataclass(frozen=True)
class Partial:
    """HTTP 200 with `partial_success`."""

    rejected: int
    message: str


@dataclass(frozen=True)
class Received:
    """One request; header names are lower case, `size` is that of its body on the wire."""

    path: str
    headers: dict[str, str]
    size: int
    message: ExportTraceServiceRequest


def failure(message: str) -> bytes:
    """`google.rpc.Status` on the wire: field 1 the code, field 2 the message."""
    text = message.encode()
    assert len(text) < 128
    return b"\x08\x03\x12" + bytes([len(text)]) + text


class OtlpCollector:
    def __init__(self, script: Sequence[Reply | Partial] = (), *, port: int = 0) -> None:
        self.received: list[Received] = []
        self.spans: list[Span] = []
        self.stopping = threading.Event()
        self._script = list(script)
        self._http = _Server(("127.0.0.1", port), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> "OtlpCollector":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)

    def named(self, name: str) -> list[Span]:
        return [span for span in self.spans if span.name == name]

    def parent(self, span: Span) -> Span | None:
        """The parent that arrived, None for the root. Fails where it is missing."""
        if not span.parent_span_id:
            return None
        (found,) = [each for each in self.spans if each.span_id == span.parent_span_id]
        return found

    def answer(self, received: Received) -> Reply:
        self.received.append(received)
        said = self._script.pop(0) if self._script else Reply()
        if isinstance(said, Partial):
            partial = ExportTracePartialSuccess(rejected_spans=said.rejected, error_message=said.message)
            said = Reply(body=ExportTraceServiceResponse(partial_success=partial).SerializeToString())
        if said.status == 200:
            for resource in received.message.resource_spans:
                for scope in resource.scope_spans:
                    self.spans.extend(scope.spans)
        return said


def attributes(span: Span | Span.Event) -> dict[str, Any]:
    """The attributes of a span as values. Fails where one is there twice."""
    found = [(pair.key, value_of(pair.value)) for pair in cast("list[KeyValue]", span.attributes)]
    assert len(dict(found)) == len(found)
    return dict(found)


def value_of(value: AnyValue) -> Any:
    which = value.WhichOneof("value")
    assert which is not None
    if which == "array_value":
        return [value_of(each) for each in value.array_value.values]
    return getattr(value, which)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: OtlpCollector


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 60

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: what happened is in `received`."""

    def do_POST(self) -> None:
        owner = cast(_Server, self.server).owner
        headers = {name.lower(): value for name, value in self.headers.items()}
        raw = self.rfile.read(int(headers["content-length"]))
        body = gzip.decompress(raw) if headers.get("content-encoding") == "gzip" else raw
        message = ExportTraceServiceRequest.FromString(body)
        reply = owner.answer(Received(self.path, headers, len(raw), message))
        if reply.seconds:
            owner.stopping.wait(reply.seconds)
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("content-type", reply.media)
        self.send_header("content-length", str(1 << 20 if reply.trickles else len(reply.body)))
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(reply.body)
            while reply.trickles and not owner.stopping.wait(0.02):
                self.wfile.write(b" ")
