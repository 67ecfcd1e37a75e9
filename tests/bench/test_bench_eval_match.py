"""The matching rule of `vera eval`: which texts state the answer of the key."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.bench.eval_match import lines_of, others, states, values_of


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("The rent is 1,250 euros a month.", "EUR 1,250"),
        ("It was paid in full (€1250).", "1,250 euros"),
        ("valid for at least three years", "3 years"),
        ("It may be ended with 12 months of notice.", "twelve months"),
        ("The lease began on 27 April 2004.", "2004-04-27"),
        ("It began on 4/27/2004.", "April 27, 2004"),
        ("Revenue came to 2,300,000 euros.", "2.3 million euros"),
        ("It is shown in Room 6.", "room 6"),
        ("The chair was Greta Ólsen.", "Greta Olsen"),
        ("The Marlow Cup was lost.", "a Marlow Cup"),
        ("61 square metres of floor", "61"),
    ],
)
def test_the_same_value_written_otherwise_is_right(text: str, accepted: str) -> None:
    assert states(text, [accepted])


@pytest.mark.parametrize(
    ("text", "accepted"),
    [
        ("It makes 7 knots.", "7 %"),
        ("It makes 17 knots.", "7 knots"),
        ("The rent is 1,251 euros.", "1,250 euros"),
        ("It is shown in room 16.", "room 6"),
        ("Room 4 has 6 chairs.", "room 6"),
        ("It began on 28 April 2004.", "2004-04-27"),
        ("The chair was Greta Olsson.", "Greta Olsen"),
        ("Olsen chaired, Greta wrote.", "Greta Olsen"),
        ("", "7 %"),
    ],
)
def test_another_value_is_wrong(text: str, accepted: str) -> None:
    assert not states(text, [accepted])


def test_one_of_several_accepted_answers_suffices() -> None:
    assert states("about ten lines", ["10 lines of code", "ten lines"])


def test_a_name_with_a_number_is_no_value() -> None:
    assert values_of("room 6") == ()
    assert [each.text for each in values_of("the 30 days")] == ["30 days"]


def test_a_text_with_a_second_value_of_the_kind_leaves_a_choice() -> None:
    assert others("Since 2020 it is 450 euros, before it was 400 euros.", ["450 euros"])
    assert others("It is 450 euros since 2020.", ["450 euros"]) is False
    assert others("It belongs to Greta Olsen.", ["Greta Olsen"]) is None


def test_a_quotation_is_found_over_wrapped_lines() -> None:
    text = "# Lease\n\nNothing else. The monthly rent\nis 450 euros."
    assert lines_of("The monthly  rent is 450 euros.", text) == range(3, 5)
    assert lines_of("The monthly rent is 460 euros.", text) is None


@given(st.text(), st.lists(st.text(min_size=1), max_size=3))
def test_no_text_is_too_strange(text: str, accepted: list[str]) -> None:
    states(text, accepted)
    others(text, accepted)
    lines_of(accepted[0] if accepted else "", text)
