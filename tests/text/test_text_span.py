"""Lines and spans: what a person sees with `sed -n 2,3p` is what the span's bytes are."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.text.span import Lines

TEXTS = st.binary(max_size=60).map(lambda data: data.replace(b"\r", b"\n") + b"\n") | st.just(b"")


def test_a_span_covers_whole_lines_without_the_last_newline() -> None:
    lines = Lines(b"one\ntwo\nthree\n")
    span = lines.span("source", 2, 3)
    assert (span.start, span.end, span.first, span.last) == (4, 13, 2, 3)
    assert span.sha256 == hashlib.sha256(b"two\nthree").hexdigest()


@pytest.mark.parametrize(("first", "last"), [(0, 1), (2, 1), (1, 4), (4, 4), (-1, 1)])
def test_lines_that_do_not_exist_cannot_be_cut(first: int, last: int) -> None:
    with pytest.raises(IndexError):
        Lines(b"one\ntwo\nthree\n").cut(first, last)


@given(TEXTS)
def test_lines_are_what_newlines_part(text: bytes) -> None:
    lines = Lines(text)
    expected = text.split(b"\n")[:-1]
    assert [lines.cut(number, number) for number in range(1, len(lines) + 1)] == expected


@given(TEXTS.filter(bool), st.integers(0, 100))
def test_a_line_is_found_by_any_of_its_bytes(text: bytes, offset: int) -> None:
    offset %= len(text)
    number = Lines(text).number_at(offset)
    assert number == text[:offset].count(b"\n") + 1
