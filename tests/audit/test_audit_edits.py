"""A text with stretches of it replaced."""

from hypothesis import given
from hypothesis import strategies as st

from vera.audit.edits import blanked, edited


def test_edits_replace_insert_and_remove_all_at_once() -> None:
    assert edited("one two three", [(0, 3, "1"), (4, 4, "and "), (7, 13, "")]) == "1 and two"


def test_an_edit_within_the_one_before_it_is_left_out() -> None:
    assert edited("abcdef", [(1, 4, "-"), (2, 3, "x"), (4, 5, "+")]) == "a-+f"


@given(st.text(max_size=60), st.lists(st.tuples(st.integers(0, 60), st.integers(0, 60)), max_size=6))
def test_a_blanked_text_keeps_every_place(text: str, spans: list[tuple[int, int]]) -> None:
    within = sorted((min(each), min(max(each), len(text))) for each in spans if min(each) <= len(text))
    result = blanked(text, within)
    assert len(result) == len(text)
    assert all(after in (before, " ") for before, after in zip(text, result, strict=True))
