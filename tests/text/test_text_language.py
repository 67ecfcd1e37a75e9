"""The language of a text."""

from support.bombs import at_most
from vera.text.language import language


def test_a_language_is_told_by_its_words_or_its_script() -> None:
    assert language("The offer is valid for three years.") == "en"
    assert language("Das Angebot ist drei Jahre lang gültig.") == "de"
    assert language("該当する文書はありません") == "han"
    assert language("42") == ""


def test_no_text_is_kept_that_a_language_was_told_of() -> None:
    with at_most(30):
        for number in range(20):
            assert language(f"{number}: " + "the offer is valid " * 200_000) == "en"
