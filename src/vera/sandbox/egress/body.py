"""The body of a plain HTTP request: exactly its bytes, so that nothing can follow it unjudged."""

import asyncio
import re
from collections.abc import AsyncIterator

from vera.sandbox.egress.head import RequestHead

READ_SIZE = 64 << 10
MAX_SIZE_LINE = 256
MAX_TRAILERS = 64

_SIZE = re.compile(rb"([0-9A-Fa-f]{1,15})(?:[ \t]*;[^\r\n]*)?\r\n")


class BodyError(ValueError):
    """The body is not what its head announced."""


async def body(head: RequestHead, source: asyncio.StreamReader) -> AsyncIterator[bytes]:
    """The body as it goes on: the bytes of its length, or chunks again without extensions and trailers.

    Raises BodyError, also when the source ends too early.
    """
    if head.length is not None:
        async for piece in _exactly(head.length, source):
            yield piece
        return
    while size := await _chunk_size(source):
        yield b"%x\r\n" % size
        async for piece in _exactly(size, source):
            yield piece
        if await _line(source) != b"\r\n":
            raise BodyError("a chunk is longer than it says")
        yield b"\r\n"
    for _ in range(MAX_TRAILERS):
        if await _line(source) == b"\r\n":
            yield b"0\r\n\r\n"
            return
    raise BodyError("too many trailers")


async def _exactly(size: int, source: asyncio.StreamReader) -> AsyncIterator[bytes]:
    while size:
        piece = await source.read(min(size, READ_SIZE))
        if not piece:
            raise BodyError("the body ended too early")
        size -= len(piece)
        yield piece


async def _chunk_size(source: asyncio.StreamReader) -> int:
    size = _SIZE.fullmatch(await _line(source))
    if size is None:
        raise BodyError("a chunk without a plain size")
    return int(size[1], 16)


async def _line(source: asyncio.StreamReader) -> bytes:
    try:
        line = await source.readuntil(b"\n")
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError):
        raise BodyError("the body ended too early, or has a line without end") from None
    if len(line) > MAX_SIZE_LINE:
        raise BodyError("a line that is too long")
    return line
