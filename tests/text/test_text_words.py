"""Words: what counts as the same word, and what turns a statement."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.text.words import differs_in_marks, folded, hedges, inflected, negations, stem, stems, words


def forms(text: str) -> list[str]:
    return [word.form for word in words(text)]


def test_folding_makes_quotes_dashes_ligatures_and_white_space_one_kind() -> None:
    assert folded("“The\u00a0 ﬁnal –\n Report’s”") == '"the final - report\'s"'


@given(st.text())
def test_folding_a_folded_text_changes_nothing(text: str) -> None:
    once = folded(text)
    assert folded(once) == once or not text.isascii()
    assert once == once.strip()
    assert "  " not in once


@pytest.mark.parametrize(
    ("written", "form"),
    [
        ("Böðvarsson", "bodvarsson"),
        ("Überprüfung", "uberprufung"),
        ("Reynolds’", "reynolds"),
        ("Adams's", "adams"),
        ("don't", "dont"),
        ("U.S.", "us"),
        ("1,200,000", "1200000"),
        ("12.5", "12.5"),
    ],
)
def test_a_word_has_one_form(written: str, form: str) -> None:
    assert forms(written)[0].removesuffix("'") == form


def test_words_say_where_they_stand() -> None:
    text = "In 2019, the U.S. team (12 players) won."
    assert [text[word.start : word.end] for word in words(text)] == [
        "In", "2019", "the", "U.S", "team", "12", "players", "won",
    ]  # fmt: skip


def test_text_without_spaces_gives_pairs_of_characters() -> None:
    assert forms("验证研究") == ["验证", "证研", "研究"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("announced", "announcement"),
        ("canadian", "canada"),
        ("australian", "australia"),
        ("cities", "city"),
        ("stopped", "stopping"),
        ("third", "3"),
        ("7th", "seven"),
        ("verification", "verify"),
    ],
)
def test_inflections_and_derivations_share_a_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


@pytest.mark.parametrize(("one", "other"), [("lease", "release"), ("2018", "2019"), ("rent", "rental car")])
def test_different_words_keep_different_stems(one: str, other: str) -> None:
    assert stem(one) != stem(other)


def test_inflection_alone_leaves_derivations_apart() -> None:
    assert inflected("renewed") == inflected("renews") == "renew"
    assert inflected("employer") != inflected("employee")


def test_stop_words_have_no_stems() -> None:
    assert list(stems("It is what the tenants have paid")) == ["tenant", "paid"]


def test_denials_are_found_and_numbers_are_none() -> None:
    assert [word.form for word in negations("He didn't sign and never paid.")] == ["didnt", "never"]
    assert negations("They retired No. 12 in May.") == []
    assert negations("...") == negations("") == []


def test_hedges_are_found_and_the_month_is_none() -> None:
    assert [word.form for word in hedges("The board may vote on the alleged breach.")] == ["may", "alleged"]
    assert hedges("It opened in May 2019.") == []


@given(st.text())
def test_any_text_has_words_inside_it(text: str) -> None:
    assert all(0 <= word.start < word.end <= len(text) for word in words(text))


@pytest.mark.parametrize("unit", ["a.", "a'", "1,", "é", "中", "A.B.C ", "\u0301", "don't "])
def test_a_megabyte_of_anything_is_read(unit: str) -> None:
    text = unit * (1_000_000 // len(unit))
    assert sum(1 for _ in stems(text)) <= len(text)
    assert len(folded(text)) <= 2 * len(text)


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("Il papa è arrivato.", "Il papà è arrivato."),
        ("Die Stadt fordert den Abriss.", "Die Stadt fördert den Abriss."),
        ("The teachers' allowance", "The teacher's allowance"),
    ],
)
def test_a_word_with_other_marks_is_another_word(said: str, source: str) -> None:
    assert differs_in_marks(said, source)
    assert differs_in_marks(source, said)
    assert not differs_in_marks(said, said)


@pytest.mark.parametrize(
    ("said", "source"),
    [
        ("Zoë’s café", "ZOE'S CAFE"),
        ("Die Strasse ist gesperrt.", "Die Straße ist gesperrt."),
        ("The cat's tail", "The cat’s tail"),
        ("Le père et le peré", "Le peré et le père"),
        ("Nothing of it", "papà"),
    ],
)
def test_capitals_and_two_spellings_of_a_letter_are_no_other_marks(said: str, source: str) -> None:
    assert not differs_in_marks(said, source)
