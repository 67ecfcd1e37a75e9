"""Leads of a source that deny, limit or dispute what follows, in seven languages, and those that do not."""

import pytest

from support.cited import cited, place
from vera.audit import containment, literal

DISPUTED = [
    (
        "The bridge is closed on Sundays.",
        "Town news\n\nThe following statements were circulated and are untrue.\n"
        "\nThe bridge is closed on Sundays.\nThe pool is empty.",
    ),
    (
        "Die Brücke ist gesperrt.",
        "Stadt\nDiese Gerüchte sind im Umlauf:\n- Das Bad ist leer.\n- Die Brücke ist gesperrt.\n",
    ),
    ("Die Brücke ist gesperrt.", "Die Brücke ist gesperrt. Diese Meldung ist falsch.\nDas Bad ist leer.\n"),
    (
        "Le pont est fermé au public.",
        "Mairie\nLe requérant soutient ce qui suit :\nLe pont est fermé au public.\nLa piscine est vide.\n",
    ),
    (
        "El puente está cerrado los domingos.",
        "Aviso\nBulos que circulan por la red:\n"
        "- La piscina está vacía.\n- El puente está cerrado los domingos.\n",
    ),
    (
        "El puente está cerrado los domingos.",
        "El demandante alega lo siguiente:\nEl puente está cerrado los domingos.\n",
    ),
    (
        "Il ponte è chiuso la domenica.",
        "Comune\nFino al 2018 valeva quanto segue:\nIl ponte è chiuso la domenica.\nLa piscina è vuota.\n",
    ),
    ("Il ponte è chiuso la domenica.", "Comune\nIl ricorrente afferma:\nIl ponte è chiuso la domenica.\n"),
    (
        "A ponte está fechada aos domingos.",
        "Boatos desmentidos pela câmara:\n- A piscina está vazia.\n- A ponte está fechada aos domingos.\n",
    ),
    ("大桥周日关闭。", "网络传言：\n大桥周日关闭。\n泳池已空。\n"),
    ("大桥周日关闭。", "原告诉称：\n大桥周日关闭。\n本院不予采信。\n"),
    ("大桥周日关闭。", "2019年以前适用下列规定：\n大桥周日关闭。\n泳池已空。\n"),
    (
        "The bridge is closed on Sundays.",
        "Council\nThe plaintiff claims:\nThe bridge is closed on Sundays.\nThe court dismissed the action.",
    ),
    (
        "The bridge is closed on Sundays.",
        "Minutes\nThe following motions were rejected:\n"
        "1. The pool is emptied.\n2. The bridge is closed on Sundays.\n",
    ),
    ("Die Brücke ist sonntags gesperrt.", "Abgelehnte Anträge:\n- Die Brücke ist sonntags gesperrt.\n"),
    ("Le pont est fermé le dimanche.", "Dispositions abrogées :\n- Le pont est fermé le dimanche.\n"),
]

HELD = [
    (
        "The bridge is closed on Sundays.",
        "Town news\n\nThe following statements were checked and are true.\n"
        "\nThe bridge is closed on Sundays.\nThe pool is empty.",
    ),
    (
        "Die Brücke ist gesperrt.",
        "Stadt\nDiese Meldungen sind bestätigt:\n- Das Bad ist leer.\n- Die Brücke ist gesperrt.\n",
    ),
    (
        "Die Brücke ist gesperrt.",
        "Stadt\nDie Brücke ist gesperrt.\nDas Bad ist leer.\nAlles davon ist wahr.\n",
    ),
    (
        "Le pont est fermé au public.",
        "Mairie\nLe tribunal constate ce qui suit :\n"
        "Le pont est fermé au public.\nLa demande du requérant est rejetée.\n",
    ),
    (
        "Le pont est fermé au public.",
        "Mairie\nLe pont est fermé au public.\nCette affirmation a été confirmée par le maire.\n",
    ),
    (
        "El puente está cerrado los domingos.",
        "Se aplican las siguientes reglas:\n- La piscina está vacía.\n"
        "- El puente está cerrado los domingos.\n",
    ),
    (
        "El puente está cerrado los domingos.",
        "El puente está cerrado los domingos.\nEsto ha sido confirmado por el alcalde.\n"
        "Los rumores son falsos.\n",
    ),
    (
        "Il ponte è chiuso la domenica.",
        "Si applicano le seguenti regole:\n- Il ponte è chiuso la domenica.\n",
    ),
    (
        "A ponte está fechada aos domingos.",
        "A ponte está fechada aos domingos.\nEsta notícia é verdadeira.\n",
    ),
    ("大桥周日关闭。", "市政府通告：\n大桥周日关闭。\n以上内容已经核实。\n"),
    ("大桥周日关闭。", "法院查明：\n大桥周日关闭。\n被告的主张不成立。\n"),
    (
        "The bridge is closed on Sundays.",
        "The court finds:\nThe bridge is closed on Sundays.\nThe plaintiff's claim is dismissed.\n",
    ),
    (
        "The bridge is closed on Sundays.",
        "Rules\nThe bridge is closed on Sundays.\nRumours that it is open are false.\n",
    ),
    (
        "The bridge is closed on Sundays.",
        "Rules\nThe bridge is closed on Sundays.\nThis has been so since 1990.\n",
    ),
    (
        "The bridge is closed on Sundays.",
        "Rules\nThe old rule was repealed. The bridge is closed on Sundays.\n",
    ),
    ("The bridge is closed on Sundays.", "The novel festival\nThe bridge is closed on Sundays.\n"),
    (
        "The bridge is closed on Sundays.",
        "Myths:\n- The bridge is open.\nFacts:\n- The bridge is closed on Sundays.\n",
    ),
    (
        "The bridge is closed on Sundays.",
        "Myths:\n- The bridge is open.\n\nThe bridge is closed on Sundays.\n",
    ),
]


def is_supported(claim: str, text: str) -> bool:
    number = next(number for number, line in enumerate(text.split("\n"), 1) if claim in line)
    case = cited(claim, text, first=number, last=number)
    where = place(case).plain
    return "SUPPORTS" in {rule(case.claims[0], where) for rule in (literal.label, containment.label)}


@pytest.mark.parametrize(("claim", "text"), DISPUTED)
def test_a_sentence_under_a_lead_that_disputes_it_proves_nothing(claim: str, text: str) -> None:
    assert not is_supported(claim, text)
    assert is_supported(claim, f"Notice\n{claim}\n")


@pytest.mark.parametrize(("claim", "text"), HELD)
def test_surroundings_that_confirm_or_speak_of_something_else_take_nothing_away(
    claim: str, text: str
) -> None:
    assert is_supported(claim, text)


def test_a_label_before_the_words_is_part_of_what_is_said() -> None:
    text = (
        "Behauptung der Kritiker: widerlegt: Die Brücke ist gesperrt.\n"
        "The rumour: The bridge is closed on Sundays.\n"
    )
    assert not is_supported("The bridge is closed on Sundays.", text)


def test_words_that_a_sentence_only_quotes_are_not_its_own() -> None:
    assert not is_supported("The dam holds ten years.", 'Revert "The dam holds ten years."\n')
    assert is_supported("The dam holds ten years.", 'note: "The dam holds ten years."\n')
