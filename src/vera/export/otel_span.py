"""A span of OpenTelemetry as a value: bounded, and with ids that the same log always gives again."""

import hashlib
from collections.abc import Mapping
from enum import IntEnum

import msgspec

Value = str | int | float | bool | tuple[str, ...]
Attributes = Mapping[str, Value]

MAX_LENGTH = 256
"""Characters of an attribute; of a longer one the beginning is kept."""

MAX_VALUES = 32
"""Of an attribute that is a list."""

LAST_TS = 9_000_000_000.0
"""Unix time beyond which a clock is taken to be wrong (the year 2255); nanoseconds of it fit 64 bits."""

_LARGEST = 2**63 - 1
_CUT = " […]"


class Kind(IntEnum):
    """Span kinds by their numbers in OTLP."""

    INTERNAL = 1
    CLIENT = 3


class SpanEvent(msgspec.Struct, frozen=True, kw_only=True):
    """Something that happened at one moment of a span, in nanoseconds of Unix time."""

    name: str
    at_ns: int
    attributes: Attributes


class Span(msgspec.Struct, frozen=True, kw_only=True):
    """A finished span (OTLP `trace.v1.Span`); `parent_id` is empty for the root.

    Times are nanoseconds of Unix time, to the microsecond. `failed` is the status ERROR, `message` its
    description. `links` are span ids of the same trace.
    """

    trace_id: bytes
    span_id: bytes
    parent_id: bytes
    name: str
    kind: Kind
    start_ns: int
    end_ns: int
    attributes: Attributes
    failed: bool = False
    message: str = ""
    events: tuple[SpanEvent, ...] = ()
    links: tuple[bytes, ...] = ()


def trace_id_of(log: str) -> bytes:
    """The id of the trace of the log whose first record has that hash: 16 bytes."""
    return hashlib.sha256(f"vera trace {log}".encode()).digest()[:16]


def span_id_of(trace_id: bytes, seq: int, role: str) -> bytes:
    """The id of the span that record `seq` began, in the `role` that it has there: 8 bytes."""
    return hashlib.sha256(trace_id + f" {seq} {role}".encode()).digest()[:8]


def nanoseconds(ts: float) -> int:
    """Unix time as nanoseconds, within what a span can hold: a log may come from anyone."""
    return round(min(max(ts, 0.0), LAST_TS) * 1e6) * 1000


def cut(text: str, most: int = MAX_LENGTH) -> str:
    """`text` in at most that many characters, without what UTF-8 cannot hold."""
    if len(text) > most:
        text = text[: most - len(_CUT)] + _CUT
    return text.encode("utf-8", "replace").decode()


def within(value: Value, most: int = MAX_LENGTH) -> Value:
    """The value within the bounds of an attribute, its texts in at most that many characters."""
    match value:
        case bool() | float():
            return value
        case int():
            return max(-_LARGEST, min(value, _LARGEST))
        case str():
            return cut(value, most)
        case tuple():
            return tuple(cut(each, most) for each in value[:MAX_VALUES])
