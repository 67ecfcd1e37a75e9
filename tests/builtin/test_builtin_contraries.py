"""A sentence that says the contrary of what is asked answers nothing."""

import pytest

from vera.builtin.contraries import tells_of_another


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("When does the bakery close?", "The bakery opens at 6."),
        ("What is the net income of the farm?", "The gross income of the farm is 900 euros."),
        ("Wann schließt das Bad am Montag?", "Das Bad schließt am Dienstag um 20 Uhr."),
        ("Quel est le loyer payé par le bailleur ?", "Le locataire paie 40 euros."),
        ("¿Cuánto paga el vendedor?", "El comprador paga 40 euros."),
        ("Quanti kg si vendono in estate, a gennaio?", "A novembre si vendono 12 kg."),
        ("Quantas caixas exportou a quinta?", "A quinta importou 12 caixas."),
        ("冬季几点开门？", "夏季九点开门。"),
        ("How long does it keep after the thaw?", "Before the thaw it keeps for a year."),
        ("Quando apre dopo il restauro?", "Prima del restauro apriva alle 9."),
        ("When does the bus from Ostley to Morvern leave?", "The bus from Morvern to Ostley leaves at 9."),
        ("Wann fährt der Bus von Ostley nach Morvern?", "Der Bus von Morvern nach Ostley fährt um 9."),
        ("Which is the largest lake of the county?", "Loch Ard is the second largest lake of the county."),
        ("¿Cuál es el lago más grande?", "El Ard es el segundo lago más grande."),
    ],
)
def test_the_other_member_of_a_group_is_no_answer(question: str, sentence: str) -> None:
    assert tells_of_another(question, sentence)


@pytest.mark.parametrize(
    ("question", "sentence"),
    [
        ("When does the bakery close?", "The bakery opens at 6 and closes at 18."),
        ("How long does the meeting last?", "The first meeting takes an hour."),
        ("What is the maximum size?", "Up to 5 MB are taken, the minimum is 1 MB."),
        ("Wann schließt das Bad am Montag?", "Das Bad schließt um 20 Uhr."),
        ("How high is Mount Ard?", "Mount Ard, the second highest peak, is 900 m high."),
        ("When does the bus from Ostley to Morvern leave?", "The bus to Morvern leaves at 9."),
        ("What is done after the upgrade?", "Before the backup, the upgrade is tested."),
        ("Dove nuota il lago?", "Il pesce nuota a est."),
        ("What kind of dog is it?", "Adults pay for the dog."),
    ],
)
def test_the_same_member_none_or_both_may_answer(question: str, sentence: str) -> None:
    assert not tells_of_another(question, sentence)


def test_what_is_asked_for_may_stand_in_the_heading() -> None:
    assert not tells_of_another("When is it open on Sunday?", "Unlike on Monday, from 9 to 12.", ["Sunday"])
