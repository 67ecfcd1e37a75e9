"""What a word is, in the text and in the query alike."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.corpus.analyzer import Analyzer, TokenPosition
from vera.corpus.tokens import forms, name_text, needs_spaces, spaced, words
from vera.text.stopwords import ENGLISH, GERMAN, stop_words


@pytest.fixture(scope="module")
def analyzer() -> Analyzer:
    return Analyzer()


def test_characters_of_unspaced_scripts_stand_alone() -> None:
    assert spaced("研究即verification").split() == ["研", "究", "即", "verification"]
    assert spaced("검증 完了").split() == ["검", "증", "完", "了"]


def test_text_of_spaced_scripts_is_left_as_it_is() -> None:
    assert spaced("Überprüfung, проверка – ✓") == "Überprüfung, проверка – ✓"


@given(st.text())
def test_spacing_adds_nothing_but_spaces(text: str) -> None:
    assert spaced(text).replace(" ", "") == text.replace(" ", "")


@given(st.text(st.characters(codec="utf-8")))
def test_the_quick_look_at_the_bytes_misses_no_text_that_needs_spaces(text: str) -> None:
    if spaced(text) != text:
        assert needs_spaces(text.encode())


def test_a_run_of_an_unspaced_script_is_asked_for_in_pairs() -> None:
    assert words("什么是验证？") == ["什么", "么是", "是验", "验证"]
    assert words("VERA的证据 ok") == ["VERA", "的证", "证据", "ok"]


def test_punctuation_round_a_word_is_no_part_of_it() -> None:
    assert words('What is "foo.bar", (ERR_CONN-42)? -- !') == ["What", "is", "foo.bar", "ERR_CONN-42"]


def test_a_name_with_a_number_is_found_however_it_is_written() -> None:
    assert {"GPLv3", "GPL3", "GPL 3"} <= set(forms("GPLv3"))
    assert {"GPL-3", "GPL3", "GPL 3", "GPLv3"} <= set(forms("GPL-3"))
    assert forms("three") == ("three",)


def test_a_file_is_known_by_its_path_title_and_first_lines() -> None:
    known = name_text("docs/relNotes2.md", "Release", b"\n===\n\nFirst\nSecond  line\nThird\nFourth\n")
    assert known.split("\n") == [
        "docs/relNotes2.md",
        "docs/rel Notes 2.md",
        "Release",
        "First / Second line / Third",
    ]


def test_stop_words_are_those_of_one_language_at_a_time() -> None:
    assert stop_words(["how", "did", "he", "die"]) is ENGLISH
    assert stop_words(["wie", "lange", "ist", "die", "frist"]) is GERMAN
    assert not {"not", "must", "shall", "no"} & ENGLISH


def test_words_meet_in_their_stem_and_without_their_accents(analyzer: Analyzer) -> None:
    validity, valid, plain, accented = analyzer.stems(["validity", "valid", "uberprufung", "Überprüfung"])
    assert validity == valid
    assert plain == accented


def test_figures_are_words(analyzer: Analyzer) -> None:
    assert analyzer.stems(["within 30 days", "3.11"]) == [("within", "30", "dai"), ("3", "11")]


def test_places_count_words_and_lines(analyzer: Analyzer) -> None:
    (places,) = analyzer.places(
        ["a written\n\noffer, \ue000valid\nthree years valid"], ["offer", "valid", "year"]
    )
    assert places == {
        "offer": [TokenPosition(2, 2)],
        "valid": [TokenPosition(3, 2), TokenPosition(6, 3)],
        "year": [TokenPosition(5, 3)],
    }


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=60), max_size=4))
def test_every_stem_of_a_text_has_its_place_in_it(texts: list[str]) -> None:
    analyzer = Analyzer()
    stems = analyzer.stems(texts)
    places = analyzer.places(texts, {stem for some in stems for stem in some if stem != "\ue000"})
    for some, found in zip(stems, places, strict=True):
        assert sum(len(where) for where in found.values()) == sum(stem != "\ue000" for stem in some)
    analyzer.close()
