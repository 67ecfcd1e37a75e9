"""Frames between host and supervisor: 4 bytes of length, a JSON header, `n` raw bytes.

What a box sends is untrusted (root in a lab box can speak for its supervisor): every length is bounded and
every header decoded into a type.
"""

import asyncio
import json
from typing import Any

import msgspec

from vera.decode_errors import DECODE_ERRORS

MAX_HEADER = 64 << 10
MAX_PAYLOAD = 4 << 20


class BadFrame(Exception):
    """The other side sent something that is no frame."""


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """A frame of the supervisor: `ev` says which (`boxd` lists them), each kind uses some of the fields."""

    ev: str
    id: str = ""
    error: str = ""
    pid: int = 0
    python: str = ""
    bash: str = ""
    code: int | None = None
    reason: str = "exited"
    shell: str = "kept"
    cwd: str = ""
    seconds: float = 0.0
    size: int = 0
    sha256: str = ""
    spool: str = ""
    head: int = 0
    held_bytes: int = 0
    held_files: int = 0
    do: str = ""
    c: int = 0
    k: int = 0
    n: int = 0


def encode(header: dict[str, Any], payload: bytes = b"") -> bytes:
    text = json.dumps({**header, "n": len(payload)}).encode()
    return len(text).to_bytes(4, "big") + text + payload


async def read(stream: asyncio.StreamReader) -> tuple[Frame, bytes]:
    """The next frame. Raises asyncio.IncompleteReadError at the stream's end, BadFrame on nonsense."""
    size = int.from_bytes(await stream.readexactly(4), "big")
    if size > MAX_HEADER:
        raise BadFrame(f"a header of {size} bytes")
    text = await stream.readexactly(size)
    try:
        frame = msgspec.json.decode(text, type=Frame)
    except DECODE_ERRORS as error:
        raise BadFrame(f"a header that cannot be read ({error})") from error
    if not 0 <= frame.n <= MAX_PAYLOAD:
        raise BadFrame(f"a payload of {frame.n} bytes")
    return frame, await stream.readexactly(frame.n)
