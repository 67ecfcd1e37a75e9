"""What a family of servers must say of itself so that one client can speak with it."""

from typing import Any, Protocol

import msgspec

from vera.model.types import Choice, Request, Usage


class Dialect(msgspec.Struct, frozen=True, kw_only=True):
    """Which optional fields this server takes; learnt from its refusals and kept for later requests."""

    stream_options: bool = True
    n: bool = True
    temperature: bool = True
    logprobs: bool = True
    token_field: str = "max_tokens"


class WireReply(msgspec.Struct, frozen=True, kw_only=True):
    """What a reader made of a complete reply."""

    choices: tuple[Choice, ...]
    usage: Usage = Usage()


class ReplyError(Exception):
    """The server reported an error inside a reply that had begun well: `status` if it said, and the body."""

    def __init__(self, status: int, body: bytes) -> None:
        super().__init__(status)
        self.status = status
        self.body = body


class IncompleteReply(Exception):
    """The reply ended before the answer did, or was empty."""


class UnreadableReply(Exception):
    """The reply is nothing that this family of servers says; `body` is its beginning."""

    def __init__(self, body: bytes) -> None:
        super().__init__("unreadable reply")
        self.body = body


class Reader(Protocol):
    """Folds the lines of one reply, streamed or not, into a WireReply."""

    @property
    def started(self) -> bool:
        """Whether the model has produced anything yet (comments and headers do not count)."""
        ...

    @property
    def finished(self) -> bool:
        """Whether the server has said that nothing more comes."""
        ...

    @property
    def repeats(self) -> bool:
        """Whether all that the model still writes only repeats itself: the stream is to be ended."""
        ...

    def feed(self, line: bytes) -> None:
        """Take one line. Raises ReplyError."""
        ...

    def close(self) -> WireReply:
        """The reply, after its last line. Raises ReplyError, IncompleteReply or UnreadableReply."""
        ...


class Wire(Protocol):
    """How a family of servers takes a request and gives its reply."""

    def url(self, base_url: str) -> str: ...

    def body(self, model: str, request: Request, dialect: Dialect) -> dict[str, Any]: ...

    def reader(self, request: Request) -> Reader: ...
