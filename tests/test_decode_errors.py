"""JSON of somebody else may be nested a hundred thousand deep: each reader of it refuses it."""

import asyncio
import re
from pathlib import Path

import pytest

from vera.attestation.ahdb.head import BadHead
from vera.attestation.ahdb.head import read as read_head
from vera.attestation.dsse import EnvelopeError, open_signed
from vera.sandbox import frames
from vera.session.seal import BadSeal, read_seal
from vera.session.tags import read_tags

DEEP = b"[" * 100_000
SOURCE = Path(__file__).parents[1] / "src" / "vera"


def within(name: str, known: str = "") -> bytes:
    """An object with a member that no one knows, or a known one, which holds too much."""
    return b'{"%s": %s' % (name.encode(), known.encode() + DEEP[:60_000])


def test_a_frame_of_a_sandbox() -> None:
    async def read() -> None:
        stream = asyncio.StreamReader()
        header = within("x")
        stream.feed_data(len(header).to_bytes(4, "big") + header)
        await frames.read(stream)

    with pytest.raises(frames.BadFrame, match="cannot be read"):
        asyncio.run(read())


@pytest.mark.parametrize("data", [DEEP, within("x"), within("files")])
def test_a_seal(data: bytes) -> None:
    with pytest.raises(BadSeal):
        read_seal(data, None)


@pytest.mark.parametrize("data", [DEEP[:10_000], within("x")[:10_000], within("tags")[:10_000]])
def test_tags(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "tags.json").write_bytes(data)
    assert read_tags(tmp_path) == ()


@pytest.mark.parametrize("data", [DEEP, within("payload")])
def test_an_envelope(data: bytes) -> None:
    with pytest.raises(EnvelopeError):
        open_signed(data)


@pytest.mark.parametrize("data", [DEEP[:3000], within("x")[:3000]])
def test_the_head_of_a_journal(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "head.json").write_bytes(data)
    with pytest.raises(BadHead):
        read_head(tmp_path, "head.json")


def test_no_reader_names_what_msgspec_raises_by_itself() -> None:
    """One that does forgets what else decoding raises: `vera.decode_errors` has all of it."""
    clause = re.compile(r"(?:except|suppress)[ (][^\n]*msgspec\.(?:MsgspecError|DecodeError)")
    found = [path.name for path in SOURCE.rglob("*.py") if clause.search(path.read_text("utf-8"))]
    assert found == []
