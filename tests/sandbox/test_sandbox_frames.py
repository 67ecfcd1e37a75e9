"""Frames: whatever a hostile supervisor sends is a frame or a named error, and bounded."""

import asyncio
import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.sandbox import frames


def read(data: bytes) -> tuple[frames.Frame, bytes]:
    async def main() -> tuple[frames.Frame, bytes]:
        stream = asyncio.StreamReader()
        stream.feed_data(data)
        stream.feed_eof()
        return await frames.read(stream)

    return asyncio.run(main())


@given(st.text(max_size=50), st.binary(max_size=200))
def test_a_frame_is_read_as_it_was_written(name: str, payload: bytes) -> None:
    frame, data = read(frames.encode({"ev": "done", "id": name}, payload))
    assert (frame.ev, frame.id, data) == ("done", name, payload)


@given(st.binary(max_size=300))
def test_any_bytes_are_a_frame_or_a_named_error(data: bytes) -> None:
    with contextlib.suppress(frames.BadFrame, asyncio.IncompleteReadError):
        read(data)


@given(st.binary(max_size=100))
def test_any_header_is_a_frame_or_a_named_error(header: bytes) -> None:
    with contextlib.suppress(frames.BadFrame, asyncio.IncompleteReadError):
        read(len(header).to_bytes(4, "big") + header)


@pytest.mark.parametrize(
    "data",
    [
        (frames.MAX_HEADER + 1).to_bytes(4, "big"),
        b"\0\0\0\x1a" + b'{"ev":"done","n":99999999}',
        b"\0\0\0\x14" + b'{"ev":"done","n":-1} ',
        b"\0\0\0\x02[]",
    ],
)
def test_lengths_beyond_the_bounds_are_refused_before_they_are_read(data: bytes) -> None:
    with pytest.raises(frames.BadFrame):
        read(data)
