"""Lines and server-sent events out of arbitrary chunks."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.model.stream import EventDecoder, LineSplitter, TooLong


def lines(*chunks: bytes, most: int = 1000) -> list[bytes]:
    splitter = LineSplitter(most)
    found = [line for chunk in chunks for line in splitter.feed(chunk)]
    return [*found, splitter.rest()]


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=12))
def test_the_borders_of_chunks_change_no_line(data: bytes, cuts: list[int]) -> None:
    borders = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})
    chunks = [data[a:b] for a, b in pairwise(borders)]
    assert lines(*chunks) == lines(data)


def test_lines_end_with_lf_or_crlf() -> None:
    assert lines(b"a\r", b"\nb\n", b"c") == [b"a", b"b", b"c"]


@pytest.mark.parametrize("chunks", [[b"x" * 11], [b"x" * 6, b"x" * 6], [b"x" * 11 + b"\n"]])
def test_a_line_beyond_the_limit_is_an_error_whether_it_ends_or_not(chunks: list[bytes]) -> None:
    with pytest.raises(TooLong, match="10 bytes"):
        lines(*chunks, most=10)


def events(text: str) -> list[str]:
    decoder = EventDecoder()
    found = [decoder.feed(line) for line in text.encode().split(b"\n")]
    return [data.decode() for data in [*found, decoder.rest()] if data is not None]


def test_comments_and_other_fields_are_no_data() -> None:
    assert events(': ping\n\nevent: x\nid: 1\nretry: 5\ndata: {"a":1}\n\n') == ['{"a":1}']


def test_data_over_several_lines_is_one_event() -> None:
    assert events('data: {\ndata: "a": 1\ndata: }\n\n') == ['{\n"a": 1\n}']


def test_events_separated_by_one_line_end_are_still_two() -> None:
    assert events('data: {"a":1}\ndata:{"b":2}\ndata: [DONE]') == ['{"a":1}', '{"b":2}', "[DONE]"]


def test_an_event_without_its_closing_blank_line_counts() -> None:
    assert events("data: {\ndata: }") == ["{\n}"]


@given(st.binary(max_size=300))
def test_any_bytes_are_read_without_an_error(data: bytes) -> None:
    decoder = EventDecoder()
    for line in data.split(b"\n"):
        decoder.feed(line)
    decoder.rest()
