"""Another word in the place of one that is asked for makes a sentence an answer to another question."""

import pytest

from vera.builtin.slots import belongs_to_another, is_taken
from vera.builtin.words import words


@pytest.mark.parametrize(
    ("question", "missing", "text"),
    [
        (
            "How many tablets do patients with weak hearts take?",
            ["weak"],
            "Patients with strong hearts take 2.",
        ),
        ("Who leads the eastern office?", ["eastern"], "Ada Holm leads the coastal office."),
        (
            "Wie hoch ist der Lohn laut Betriebsrat?",
            ["betriebsrat"],
            "Der Lohn laut Vorstand beträgt 9 Euro.",
        ),
        ("À quelle heure ferme la cuisine ?", ["cuisine"], "Le magasin ferme à 9 heures."),
        ("¿Cuánto paga el socio por noche?", ["socio"], "El huésped paga 9 euros por noche."),
        ("How many beds does the hotel have?", ["hotel"], "The annex has 9 beds."),
        ("According to the union, how many came?", ["union"], "According to the ministry, 900 came."),
    ],
)
def test_another_word_in_its_place(question: str, missing: list[str], text: str) -> None:
    assert is_taken(question, missing, text)


@pytest.mark.parametrize(
    ("question", "missing", "text"),
    [
        ("How many tablets do patients with weak hearts take?", ["weak"], "Patients take 2 tablets."),
        ("Which signal stops the daemon?", ["signal"], "SIGTERM stops the daemon."),
        ("Quel signal arrête le service ?", ["signal"], "SIGTERM arrête le service."),
        ("How much does the Albion Star weigh?", ["albion", "star"], "It weighs 300 tonnes."),
        ("Who leads the eastern office?", ["eastern"], "The office is led by Ada Holm."),
        ("Combien de lits a l'hôtel ?", ["hotel"], "Il a 9 lits."),
    ],
)
def test_a_word_that_is_left_out_leaves_its_place_empty(question: str, missing: list[str], text: str) -> None:
    assert not is_taken(question, missing, text)


@pytest.mark.parametrize(
    ("asked", "text", "another"),
    [
        ("bridge", "The tower on the bridge was built in 1744.", True),
        ("bridge", "The bridge was built in 1744.", False),
        ("bridge", "The tower and the bridge were built in 1744.", False),
        ("bridge", "In 1744 the bridge was built.", False),
    ],
)
def test_what_only_says_where_something_is_is_not_spoken_of(asked: str, text: str, another: bool) -> None:
    question = f"When was the {asked} built?"
    assert belongs_to_another(list(words(asked)), question, text) is another


def test_words_behind_the_question_have_no_place_in_it() -> None:
    question = "How long is the Elbe? long rivers"
    assert not is_taken(question, ["rivers"], "The Elbe is 1094 kilometres long.")
