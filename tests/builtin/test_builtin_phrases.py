"""What an extract begins with: the one phrase of the kind asked for, and nothing where that is not sure."""

import pytest

from vera.builtin.phrases import phrase
from vera.builtin.question import analyse


@pytest.mark.parametrize(
    ("question", "text", "expected"),
    [
        (
            "For how many years must source code be offered?",
            "b) accompany it with a written offer, valid for at least three years, to give any third party"
            " free (except for a nominal charge) a copy",
            "at least three years",
        ),
        ("How many days may the maintainer object?", "The maintainer may object within 21 days.", "21 days"),
        ("How many software packages are there?", "It has more than 59100 software packages at present.",
         "more than 59100 software packages"),
        ("When was the project created?", "It was created on 16 August 1993 by Ian.", "16 August 1993"),
        ("Who founded the project?", "It was founded in 1993 by Ian Murdock.", "Ian Murdock"),
        ("How much is the rent?", "The monthly rent is €1,250.50.", "€1,250.50"),
        ("What percentage do members pay?", "Members pay up to 12.5 % of the price.", "up to 12.5 %"),
        ("Wie lange gilt das Angebot?", "Das Angebot gilt mindestens drei Jahre.", "mindestens drei Jahre"),
    ],
)  # fmt: skip
def test_the_phrase_of_the_kind_is_found_with_its_bound(question: str, text: str, expected: str) -> None:
    assert phrase(analyse(question), text) == expected


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("For how many years is the offer valid?", "It is valid for three years, and for five years abroad."),
        ("For how many years is the offer valid?", "The offer need not be valid for three years."),
        ("For how many years is the offer valid?", "The offer is valid for three years except abroad."),
        ("For how many years is the offer valid?", "Das Angebot gilt nicht drei Jahre."),
        ("How many members are there?", "There are 12 chairs in the room."),
        ("Is the offer valid for three years?", "The offer is valid for three years."),
        ("Who founded the project?", "It was founded in 1993."),
        ("Why is the sky blue?", "Because of Rayleigh scattering."),
        ("How long is it valid?", "three years " * 400),
        ("How long is it valid?", ""),
    ],
)
def test_nothing_leads_where_it_is_not_sure(question: str, text: str) -> None:
    assert phrase(analyse(question), text) == ""
