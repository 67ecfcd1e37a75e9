"""What the extractor and its worker say to each other: a length of four bytes, then MessagePack."""

import struct

import msgspec

from vera.extraction.source import Extracted, Unreadable

HEADER = struct.Struct(">I")
LARGEST = 1 << 30
"""Bytes of the largest message that is read: what lies above is no message."""


class Request(msgspec.Struct, frozen=True, array_like=True):
    """One document. `name` is encoded with `surrogatepass`: names of files need not be Unicode.

    It may take `seconds` of processor time and, where `memory` is not 0, so many bytes beside its own.
    """

    name: bytes
    data: bytes
    seconds: float
    memory: int = 0


class WorkerReply(msgspec.Struct, frozen=True, array_like=True):
    """The text of one document, or the reason why there is none.

    `leaving` says that the worker ends after this reply and has not looked at what else was sent.
    """

    extracted: Extracted | None
    reason: str = ""
    leaving: bool = False

    def result(self) -> Extracted:
        """Raises Unreadable when there is no text."""
        if self.extracted is None:
            raise Unreadable(self.reason)
        return self.extracted


READY = HEADER.pack(0)
"""The first thing that a worker says, once it can work."""


def pack(message: Request | WorkerReply) -> bytes:
    """The bytes of a message with its header."""
    body = msgspec.msgpack.encode(message)
    return HEADER.pack(len(body)) + body
