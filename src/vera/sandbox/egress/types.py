"""The values of the egress tunnel: what is asked, what is decided, and the record of each connection."""

from dataclasses import dataclass
from typing import Literal, Protocol

import msgspec

Verdict = Literal["allowed", "refused", "failed"]


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A connection that somebody wants, with the one reading of its host that everything later uses.

    `host` is a lower-case name without a dot at its end, or an address in canonical form. `url` is empty
    where nothing but host and port can be seen (`method` is CONNECT: a tunnel for TLS).
    """

    method: str
    host: str
    port: int
    url: str = ""


class Decision(msgspec.Struct, frozen=True):
    """`reason` is a sentence for whoever asked; empty when allowed."""

    allowed: bool
    reason: str = ""


class Policy(Protocol):
    """Who may be spoken to. A pure function; one policy may wrap another and refuse more.

    It judges what is asked, before any look-up of the name. Addresses are judged apart from it, so a policy
    that wraps another cannot open a private one.
    """

    def decide(self, request: Request) -> Decision: ...


class Connection(msgspec.Struct, frozen=True, kw_only=True):
    """What became of one connection; there is exactly one record for each.

    `address` is the one that was dialled, '' if none was. `verdict`: `refused` by us before a byte was passed
    on, `failed` (it was allowed and no connection could be made), or `allowed`. `reason` is a sentence; for
    an allowed connection it says what ended it, where that was not one of its two ends. Bytes are those
    passed on: towards the host (`bytes_up`) and back, HTTP heads included, as seen inside TLS for `fetch` and
    outside it for a tunnel. `started` is Unix time, `seconds` the wall time since. `host` and `url` are empty
    where none could be read, and where they hold a secret.
    """

    host: str
    port: int
    method: str
    url: str
    address: str
    verdict: Verdict
    reason: str
    bytes_up: int
    bytes_down: int
    seconds: float
    started: float


class PageWatch(Protocol):
    """Looks on while the response to one request passes; it changes nothing, waits for nothing and raises
    nothing."""

    def feed(self, data: bytes) -> None:
        """The next bytes from the host; b"" when it has ended."""
        ...

    def close(self) -> None:
        """Nothing more comes."""
        ...


@dataclass(frozen=True, kw_only=True)
class EgressLimits:
    """Bounds of one box's tunnel, in bytes and seconds.

    `idle_seconds` without a byte end a connection, `linger_seconds` once its client sends no more (it may be
    gone, or still listen). `connections` at once; `requests` in the box's life (each writes a record).
    `uploaded` by the box to all hosts, `uploaded_to_host` to one of them, `downloaded` from all.
    """

    connections: int = 128
    requests: int = 20_000
    head: int = 64 << 10
    head_seconds: float = 30.0
    idle_seconds: float = 120.0
    linger_seconds: float = 15.0
    life_seconds: float = 3600.0
    uploaded: int = 64 << 20
    uploaded_to_host: int = 16 << 20
    downloaded: int = 16 << 30


class EgressError(Exception):
    """A connection that does not come about. `status` is what an HTTP client is answered."""

    status = 502


class RefusedError(EgressError):
    """We do not allow it; the message says why in one sentence."""

    def __init__(self, reason: str, *, status: int = 403) -> None:
        super().__init__(reason)
        self.status = status


class FailedError(EgressError):
    """It is allowed and did not work: no such name, no one answers."""

    def __init__(self, reason: str, *, status: int = 502) -> None:
        super().__init__(reason)
        self.status = status
