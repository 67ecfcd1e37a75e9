"""Where a sentence of an answer ends, and where a full stop ends none."""

import pytest

from vera.audit.sentences import sentences
from vera.evidence.citation import find_citations


def cut(text: str) -> list[str]:
    citations = {each.start: each.end for each in find_citations(text)}
    found = sentences(text, 0, len(text), citations, frozenset(citations.values()))
    return [text[start:end].strip() for start, end in found]


@pytest.mark.parametrize(
    "text",
    [
        "The dividend is payable on 9 Feb. 2024 to all.",
        "It ran from 1 Jan. 2021 to 30 Sept. 2022, and in Dec. 2023 it closed.",
        "Die Wohnung liegt im 2. Obergeschoss des Hauses.",
        "Sie wohnt seit Mai im 2. Stock.",
        "Es gilt der 3. Absatz des Vertrags.",
        "Die Räume im 1. und 2. Obergeschoss sind frei.",
        "Das Lager (2. Stock links) ist leer.",
        "Der Überschuss stieg auf 1,7 Mio. Euro.",
        "Der Umsatz lag bei 3 Mrd. Euro und 40 Tsd. Franken.",
        "It was shown before (Okafor et al. [ev_0001:2]) and later.",
        "It was shown before (Okafor et al. [ev_0001:2]).",
        "Nach § 3 Abs. 2 Nr. 4 und Art. 5 sind es ca. 12 Tage.",
        "Sie hält u. a. Hunde, z. B. Pudel.",
        "Das Haus in der Berliner Str. Nord hat 3 Etagen.",
        "Selon l'art. 7, M. Marc Vuillet et Mme Castaing paient 40 €.",
    ],
)
def test_a_stop_within_a_sentence_ends_none(text: str) -> None:
    assert cut(text) == [text]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("It is in chapter 2.", "The next chapter is long."),
        ("It is in chapter 2.", "Chapter three is long."),
        ("Es steht in § 7.", "Die Mieter zahlen."),
        ("Es steht in § 7.", "Mieter zahlen."),
        ("Die Tochter wohnt im 2.", "Die Mutter wohnt im Haus."),
        ("It opened in Feb.", "The town paid for it."),
        ("It was paid in Dec.", "In 2024 it closed."),
        ("Sie kostete 5 Mio.", "Die Stadt zahlte."),
        ("It was shown by Okafor et al. [ev_0001:2]", "The trial ended."),
        ("It was shown before (Okafor et al.).", "The trial ended."),
        ("Er verkauft Obst usw.", "Die Stadt zahlt."),
        ("Das Fest ist am 15.05.", "Die Stadt zahlt."),
        ("It costs 15.75.", "20 were sold."),
    ],
)
def test_a_sentence_ends_at_its_stop(first: str, second: str) -> None:
    assert cut(f"{first} {second}") == [first, second]


def test_an_age_in_english_is_no_german_ordinal() -> None:
    assert cut("I am 30. Smith is 40.") == ["I am 30.", "Smith is 40."]


def test_a_day_before_a_number_ends_no_sentence() -> None:
    text = "Am 15.03. 1.250,00 Euro im Soll."
    assert cut(text) == [text]
