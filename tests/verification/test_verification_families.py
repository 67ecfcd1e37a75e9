"""Query families: materially different ways to ask, the same for the same claim."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.attestation.coverage import MIN_FAMILIES
from vera.evidence.queries import family
from vera.verification.families import MAX_FAMILIES, OPPOSITE, families, web_families

THESES = (
    "The Aster Bridge opened in 1987.",
    "GPL version 3 requires the written offer to be valid for at least three years",
    "The Elbe is 1094 kilometres long.",
    "Berlin is the capital.",
    "Vitamin C does not prevent the common cold, according to a 2013 review.",
)


@pytest.mark.parametrize("thesis", THESES)
def test_a_thesis_gives_enough_families_for_the_stop_rule(thesis: str) -> None:
    asked = web_families(thesis)
    assert MIN_FAMILIES <= len(asked) <= MAX_FAMILIES
    keys: list[str] = []
    for query in asked:
        keys.append(family(query, keys))
    assert len(set(keys)) == len(asked)


def test_the_second_query_looks_for_other_figures() -> None:
    plain, opposite, *_ = web_families("The Aster Bridge opened in 1987.")
    assert plain == "Aster Bridge opened 1987"
    assert opposite == f"Aster Bridge opened {OPPOSITE}"


def test_in_files_the_words_of_the_claim_are_asked_for() -> None:
    assert families("The Elbe is 1094 kilometres long.", 2) == (
        "Elbe 1094 kilometres long",
        "Elbe 1094",
    )


def test_a_claim_without_a_content_word_asks_nothing() -> None:
    assert web_families("it is") == families(" ") == ()


@given(st.text(max_size=300))
def test_any_text_gives_few_short_queries_and_the_same_ones_again(text: str) -> None:
    asked = web_families(text)
    assert asked == web_families(text)
    assert len(asked) <= MAX_FAMILIES
    assert all(query.strip() for query in asked)
