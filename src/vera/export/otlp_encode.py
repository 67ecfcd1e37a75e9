"""Spans as OTLP's protobuf messages, in requests of bounded size (extra `otel`)."""

from collections.abc import Iterable, Iterator

import msgspec
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.common.v1.common_pb2 import AnyValue, ArrayValue, InstrumentationScope, KeyValue
from opentelemetry.proto.resource.v1.resource_pb2 import Resource
from opentelemetry.proto.trace.v1 import trace_pb2

from vera.export.otel_span import Attributes, Span, Value
from vera.version import __version__

MAX_SPANS = 512
MAX_BYTES = 2 << 20
"""Of the spans of one request, before compression. A span alone may be larger."""

_SAMPLED = 0x01
"""W3C trace flag; OTLP takes it in the low bits of `flags`."""

_NO_REMOTE_PARENT = 0x100
"""`flags`: it is known whether the parent is of another process, and it is not."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """The body of one `ExportTraceServiceRequest`, and how many spans are in it."""

    body: bytes
    spans: int


def requests(spans: Iterable[Span], most_spans: int = MAX_SPANS) -> Iterator[Request]:
    """The spans in requests, in their order; each holds at most that many, and about MAX_BYTES."""
    batch: list[trace_pb2.Span] = []
    size = 0
    for span in spans:
        message = encoded(span)
        more = message.ByteSize()
        if batch and (len(batch) == most_spans or size + more > MAX_BYTES):
            yield _request(batch)
            batch, size = [], 0
        batch.append(message)
        size += more
    if batch:
        yield _request(batch)


def encoded(span: Span) -> trace_pb2.Span:
    """The span as OTLP has it."""
    code = trace_pb2.Status.STATUS_CODE_ERROR if span.failed else trace_pb2.Status.STATUS_CODE_UNSET
    return trace_pb2.Span(
        trace_id=span.trace_id,
        span_id=span.span_id,
        parent_span_id=span.parent_id,
        flags=_SAMPLED | _NO_REMOTE_PARENT,
        name=span.name,
        kind=trace_pb2.Span.SpanKind.ValueType(span.kind),
        start_time_unix_nano=span.start_ns,
        end_time_unix_nano=span.end_ns,
        attributes=_pairs(span.attributes),
        events=[
            trace_pb2.Span.Event(
                time_unix_nano=each.at_ns, name=each.name, attributes=_pairs(each.attributes)
            )
            for each in span.events
        ],
        links=[trace_pb2.Span.Link(trace_id=span.trace_id, span_id=each) for each in span.links],
        status=trace_pb2.Status(code=code, message=span.message),
    )


def _request(batch: list[trace_pb2.Span]) -> Request:
    whole = ExportTraceServiceRequest(
        resource_spans=[
            trace_pb2.ResourceSpans(
                resource=Resource(
                    attributes=_pairs({"service.name": "vera", "service.version": __version__})
                ),
                scope_spans=[
                    trace_pb2.ScopeSpans(
                        scope=InstrumentationScope(name="vera", version=__version__), spans=batch
                    )
                ],
            )
        ]
    )
    return Request(body=whole.SerializeToString(), spans=len(batch))


def _pairs(attributes: Attributes) -> list[KeyValue]:
    return [KeyValue(key=name, value=_any(value)) for name, value in attributes.items()]


def _any(value: Value) -> AnyValue:
    match value:
        case bool():
            return AnyValue(bool_value=value)
        case int():
            return AnyValue(int_value=value)
        case float():
            return AnyValue(double_value=value)
        case str():
            return AnyValue(string_value=value)
        case tuple():
            return AnyValue(array_value=ArrayValue(values=[_any(each) for each in value]))
