"""Passages: finding the lines that are about something."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.text.passages import WINDOW, Passages

PAGE = """Harbour news

The old bridge was opened by the queen in 1932.
Tickets are sold at the harbour office.
The mayor resigned on 3 May 2019.
She had led the town for nine years.
Weather: rain."""


def test_the_line_with_the_words_comes_first() -> None:
    best = Passages(PAGE).best("When did the mayor resign?", 3)
    assert (best[0].first, best[0].last, best[0].text) == (5, 5, "The mayor resigned on 3 May 2019.")


def test_a_neighbour_comes_before_a_line_that_has_nothing_to_do_with_it() -> None:
    assert [passage.first for passage in Passages(PAGE).best("mayor resigned", 3)] == [5, 4, 6]


def test_a_query_without_a_match_gives_the_head_of_the_text() -> None:
    best = Passages(PAGE).best("zebra", 2)
    assert [(passage.first, passage.score) for passage in best] == [(1, 0.0), (3, 0.0)]


def test_blank_texts_have_no_passages() -> None:
    assert Passages("\n \n").best("anything", 10) == ()


def test_a_very_long_line_is_cut_into_windows_with_their_places() -> None:
    line = "word " * 600 + "the needle lies here " + "word " * 600
    (best,) = Passages([line]).best("needle", 1)
    assert best.first == best.last == 1
    assert "needle" in best.text
    assert best.text == line[best.start : best.end]
    assert best.end - best.start <= WINDOW


def test_cover_tells_which_words_stand_together() -> None:
    weights = {"mayor": 2, "resign": 1, "town": 1, "bridg": 1}
    cover = Passages(PAGE).cover(weights, 2, 1, 7)
    assert (cover.first, cover.last) == (5, 6)
    assert cover.held == {"mayor", "resign", "town"}


def test_cover_looks_only_within_the_lines_that_are_meant() -> None:
    cover = Passages(PAGE).cover({"mayor": 1, "bridg": 1}, 3, 1, 4)
    assert cover.held == {"bridg"}
    assert 1 <= cover.first <= cover.last <= 4


@given(st.lists(st.text(alphabet="ab \n", max_size=12), max_size=12), st.text(alphabet="ab ", max_size=8))
def test_results_are_places_of_the_text_best_first(lines: list[str], query: str) -> None:
    text = "\n".join(lines)
    found = Passages(text).best(query, 5)
    assert len(found) <= 5
    assert [passage.score for passage in found] == sorted((passage.score for passage in found), reverse=True)
    for passage in found:
        assert text.split("\n")[passage.first - 1][passage.start : passage.end] == passage.text


@pytest.mark.parametrize("text", ["x " * 500_000, "x\n" * 500_000, "中" * 300_000])
def test_a_large_text_is_indexed(text: str) -> None:
    assert len(Passages(text).best("x 中中", 10)) == 10
