"""A text is cut into overlapping chunks of whole lines."""

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from vera.corpus.chunks import OVERLAP, SIZE, cut

LINES = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=400), max_size=60)


@given(LINES, st.booleans())
def test_chunks_are_whole_lines_and_cover_the_text(lines: list[str], ended: bool) -> None:
    text = "\n".join(lines).encode() + (b"\n" if ended else b"")
    covered = 0
    for start, end, line in cut(text):
        assert start <= covered < end
        assert start == 0 or text[start - 1 : start] == b"\n"
        assert end == len(text) or text[end - 1 : end] == b"\n"
        assert line == text.count(b"\n", 0, start) + 1
        covered = end
    assert covered == len(text)


@given(st.lists(st.integers(1, 400), min_size=1, max_size=200))
def test_chunks_of_canonical_text_are_never_larger_than_their_size(lengths: list[int]) -> None:
    text = b"".join(b"x" * length + b"\n" for length in lengths)
    assert all(end - start <= SIZE for start, end, _ in cut(text))


def test_neighbours_share_their_border_so_that_a_phrase_across_it_is_found() -> None:
    text = b"".join(b"line %04d of a text with lines of usual length\n" % number for number in range(500))
    chunks = list(cut(text))
    assert all(second.start <= first.end - OVERLAP for first, second in pairwise(chunks))


def test_a_chunk_ends_between_paragraphs_where_it_can() -> None:
    paragraph = b"some words of a paragraph\n" * 10 + b"\n"
    first = next(iter(cut(paragraph * 30)))
    assert first.end % len(paragraph) == 0


def test_a_line_longer_than_a_chunk_stays_whole() -> None:
    text = b"a\n" + b"x" * 3 * SIZE + b"\nb\n"
    assert [text[start:end] for start, end, _ in cut(text)] == [b"a\n", b"x" * 3 * SIZE + b"\n", b"b\n"]


def test_an_empty_text_has_no_chunks() -> None:
    assert list(cut(b"")) == []
