"""The bytes of a stream of server-sent events (HTML Standard, section 9.2)."""

from collections.abc import Mapping

import msgspec

from vera.report.view.model import EventLine

RETRY = b"retry: 1000\n\n"
"""Milliseconds after which a browser that lost the stream asks for it again."""

HEARTBEAT = b":\n\n"
"""A comment, so that whoever stands between sees that the stream lives."""

MAX_DATA = 64 << 10
"""Bytes of a record; of a larger one a summary is sent. Ours are far smaller: long texts are in the store."""


class PageFrame(msgspec.Struct, frozen=True, kw_only=True):
    """What is new for a page since its offset.

    `lines` are those of the event log, the oldest first; `live` has texts by field, for the page's elements
    with that `data-live`; `changed` the number of each part (`ViewFold.changed`): a part is to be fetched
    again when it is not that of the page's element. `reload`: the page lacks more than a frame holds, or has
    another log; there are no lines, and all of it is to be fetched again.
    """

    offset: int
    lines: tuple[EventLine, ...]
    live: Mapping[str, str]
    changed: Mapping[str, int]
    reload: bool = False


class _Head(msgspec.Struct):
    """What is sent of a record that is too large."""

    type: str
    seq: int
    ts: float
    lane: str = ""
    bytes: int = 0
    truncated: bool = True


def record_messages(lines: bytes, start: int) -> bytes:
    """A message for each of the whole lines of a log, which begin at its byte `start`.

    A carriage return, which ends a line of the stream, can be in JSON only where a space can.
    """
    messages, offset = [], start
    for line in lines.replace(b"\r", b" ").split(b"\n")[:-1]:
        offset += len(line) + 1
        data = line if len(line) <= MAX_DATA else _summary(line)
        messages.append(b"id: %d\ndata: %s\n\n" % (offset, data))
    return b"".join(messages)


def page_message(frame: PageFrame) -> bytes:
    """The message of a page's frame."""
    return b"id: %d\ndata: %s\n\n" % (frame.offset, msgspec.json.encode(frame))


def problem_message(sentence: str) -> bytes:
    """The last message of a stream that cannot go on, an event of the type `problem`."""
    return b"event: problem\ndata: %s\n\n" % msgspec.json.encode(sentence)


def of_session(session: str, chunk: bytes) -> bytes:
    """A message of one session in a stream of several: its event is named after the session, with `.problem`
    behind for a problem. What is no message stays as it is."""
    name = session.encode()
    if chunk.startswith(b"event: problem"):
        return chunk.replace(b"event: problem", b"event: %s.problem" % name, 1)
    return b"event: %s\n%s" % (name, chunk) if chunk.startswith(b"id: ") else chunk


def _summary(line: bytes) -> bytes:
    head = msgspec.json.decode(line, type=_Head)
    return msgspec.json.encode(msgspec.structs.replace(head, bytes=len(line)))
