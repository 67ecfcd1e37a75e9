"""A sentence about another dimension, or without an amount of money, answers no question."""

import pytest

from vera.builtin.dimensions import is_of_another_dimension
from vera.builtin.expressions import strength
from vera.builtin.question import analyse


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How wide is the tower?", "The tower is 42.5 metres high."),
        ("How heavy is the bell?", "The bell has a height of 2 metres."),
        ("Wie breit ist der Turm?", "Der Turm ist 42,5 Meter hoch."),
        ("Quelle est la largeur de la tour ?", "La tour a une hauteur de 42 mètres."),
    ],
)
def test_another_dimension_is_no_answer(question: str, text: str) -> None:
    assert is_of_another_dimension(question, text)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How high is the tower?", "The tower is 42.5 metres high."),
        ("How tall is the tower?", "The tower has a height of 42.5 metres."),
        ("How heavy is the bell?", "The bell, 2 metres high, weighs 3 tonnes."),
        ("Wie hoch ist der Turm?", "Der Turm ist 42,5 Meter hoch."),
        ("How wide is the tower?", "The tower measures 12 metres."),
        ("Who built the tower?", "Ada Holm built the tower, 42.5 metres high."),
    ],
)
def test_the_same_dimension_or_none_may_answer(question: str, text: str) -> None:
    assert not is_of_another_dimension(question, text)


def test_only_money_says_for_how_much_something_was_sold() -> None:
    question = analyse("For how much was the Norton mill sold in 2001?")
    assert strength(question, "Norton sold its mill in the first quarter of 2001.") < 0.5
    assert strength(question, "The Norton mill was sold for 3 million dollars in 2001.") == 1.0
