"""Mailboxes in the mbox form (RFC 4155): mails one after the other, each after a line that begins `From `.

A mail is the bytes as they are there, `>From ` included, so that anyone can cut it out again.
"""

import re
from collections.abc import Iterator

from vera.extraction.containers.stream import CHUNK, Foreign, Stream
from vera.extraction.containers.values import MEMBER_BYTES, Step

# With a time and a year, for careless programs leave a line of prose that begins with "From " as it is.
_LINE = re.compile(rb"From [^\r\n]{0,300}?[0-9]{1,2}:[0-9]{2}[^\r\n]{0,60}?[0-9]{4}[^\r\n]{0,60}\r?\n")
_MAX_LINE_LENGTH = 512


def mails(stream: Stream, start: Step | None) -> Iterator[tuple[Step, bytes | None]]:
    """Each mail with its step, None for one of more than MEMBER_BYTES; from that of `start` on.

    Raises Foreign for what is no mailbox.
    """
    if start is None:
        line = _first(stream)
        if line is None:
            raise Foreign
        stream.skip_to(line.end())
        number = 1
    else:
        stream.skip_to(start.offset)
        number = start.number
    offset, gathered = stream.position, _Gathered()
    buffer, ended = b"", False
    while not ended:
        piece = stream.read(CHUNK)
        ended = not piece
        buffer += piece
        cut = 0
        for line in _lines(buffer):
            gathered.add(buffer[cut : line.start()])
            yield _step(number, offset, gathered), gathered.data()
            number += 1
            offset, cut, gathered = stream.position - len(buffer) + line.end(), line.end(), _Gathered()
        kept = 0 if ended else min(_MAX_LINE_LENGTH, len(buffer) - cut)
        gathered.add(buffer[cut : len(buffer) - kept])
        buffer = buffer[len(buffer) - kept :]
    yield _step(number, offset, gathered), gathered.data()


def begins(stream: Stream) -> bool:
    """Whether a mailbox begins here."""
    return _first(stream) is not None


def _first(stream: Stream) -> re.Match[bytes] | None:
    return _LINE.match(stream.peek(_MAX_LINE_LENGTH))


def _lines(buffer: bytes) -> Iterator[re.Match[bytes]]:
    """The separators in a buffer: a `From ` line after an empty one."""
    at = buffer.find(b"\nFrom ")
    while at != -1:
        if buffer[max(at - 1, 0) : at] == b"\n" or buffer[max(at - 2, 0) : at] == b"\n\r":
            line = _LINE.match(buffer, at + 1)
            if line:
                yield line
        at = buffer.find(b"\nFrom ", at + 1)


def _step(number: int, offset: int, gathered: "_Gathered") -> Step:
    return Step("mbox", number, offset, gathered.size)


class _Gathered:
    """The pieces of one mail, let go when they become too many."""

    def __init__(self) -> None:
        self.size = 0
        self._pieces: list[bytes] = []

    def add(self, piece: bytes) -> None:
        self.size += len(piece)
        self._pieces.append(piece)
        if self.size > MEMBER_BYTES:
            self._pieces.clear()

    def data(self) -> bytes | None:
        return b"".join(self._pieces) if self.size <= MEMBER_BYTES else None
