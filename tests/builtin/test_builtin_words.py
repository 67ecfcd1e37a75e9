"""How the extractive model reads words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.builtin.words import Word, affinity, fold, root, stem, words


def word(text: str) -> Word:
    return next(words(text))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("years", "year"),
        ("copies", "copy"),
        ("offered", "offer"),
        ("running", "run"),
        ("licences", "license"),
        ("written", "write"),
        ("children", "child"),
    ],
)
def test_an_inflected_word_has_the_stem_of_its_base(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("terminate", "termination"),
        ("require", "requirement"),
        ("modify", "modification"),
        ("pay", "payment"),
        ("expire", "expiration"),
        ("valid", "validity"),
    ],
)
def test_a_derived_word_has_the_root_of_its_base(one: str, other: str) -> None:
    assert root(stem(one)) == root(stem(other))
    assert stem(one) != stem(other)


@pytest.mark.parametrize("form", ["this", "less", "bus", "string", "ring", "speed", "2.1", "überall"])
def test_a_word_that_only_looks_inflected_stays_as_it_is(form: str) -> None:
    assert stem(form) == form


def test_affinity_falls_from_form_to_stem_to_root_to_compound() -> None:
    wanted = word("terminate")
    values = [affinity(wanted, word(text)) for text in ("terminate", "terminates", "termination", "banana")]
    assert values == sorted(values, reverse=True)
    assert values[0] == 1.0
    assert values[-1] == 0.0
    assert 0 < affinity(word("Frist"), word("Kündigungsfrist")) < 0.75


def test_a_number_word_is_the_number() -> None:
    assert affinity(word("three"), word("3")) == 1.0
    assert affinity(word("3"), word("three")) == 1.0
    assert affinity(word("three"), word("4")) == 0.0


def test_diacritics_do_not_separate_words() -> None:
    assert fold("Überprüfung") == "uberprufung"
    assert affinity(word("Überprüfung"), word("uberprufung")) == 1.0


def test_chinese_is_read_by_pairs_of_characters() -> None:
    assert [found.form for found in words("研究院 2 院")] == ["研究", "究院", "2", "院"]


def test_version_numbers_stay_whole() -> None:
    assert [found.form for found in words("LGPL-2.1, at 10:30.")] == ["lgpl", "2.1", "at", "10:30"]


@given(st.text())
def test_every_word_stands_where_it_says(text: str) -> None:
    for found in words(text):
        assert 0 <= found.start < found.end <= len(text)
        assert found.form
