"""Entries that explain their term: a glossary and the name line of a manual page, and what is neither."""

import pytest

from vera.builtin.conversation import Excerpt
from vera.builtin.documents import Match
from vera.builtin.question import analyse
from vera.builtin.scoring import windows
from vera.builtin.term_weights import weigh

FILL = (
    " One of the words that people of this trade use every day and that everybody else has to look up first."
)
OTHERS = f"""atom
Old name for the driver of the pulse.{FILL}
fudge
Offset for the correction of a clock.{FILL}
"""


def sure_lines(question: str, text: str) -> list[int]:
    """The first lines of what surely answers."""
    lines = dict(enumerate(text.split("\n"), 1))
    seen = Excerpt("manual.txt", len(lines), lines, 1, len(lines), "ev_0001")
    asked = analyse(question)
    return [window.first for window in windows(asked, weigh(asked, [seen]), seen, Match()) if window.sure]


@pytest.mark.parametrize(
    ("question", "entry"),
    [
        ("What is a falseticker?", "falseticker\nJargon for a server that shows a wrong time."),
        ("What does falseticker mean?", "falseticker\nA server with a wrong time."),
        ("Was ist ein Falschgänger?", "Falschgänger\nJargon für einen Server mit falscher Zeit."),
        (
            "Was macht die Komponente checker?",
            "checker\nÜberprüft die Unversehrtheit (Integrität) des Mediums.",
        ),
        ("Que fait la commande autoclean ?", "autoclean\nSupprimer tout paquet du cache."),
    ],
)
def test_an_entry_of_a_glossary_explains_its_term(question: str, entry: str) -> None:
    assert 6 in sure_lines(question, f"Words\n{OTHERS}{entry}{FILL}")


@pytest.mark.parametrize(
    "entry",
    [
        "falseticker\nSee the chapter on selection.",
        "falseticker\nNot a server of the pool.",
        "falseticker\nThe servers of the pool are checked.",
        "falseticker\nServers are checked for a wrong time.",
        "falseticker\nYou need three servers.",
        "falseticker\nServers.",
        "falseticker list\nJargon for a list of servers that show a wrong time.",
        "truechimer\nJargon for a server that shows the right time, and for no falseticker.",
        "falseticker\n\nJargon for a server that shows a wrong time.",
    ],
)
def test_a_term_in_a_heading_alone_explains_nothing(entry: str) -> None:
    assert sure_lines("What is a falseticker?", f"Words\n{OTHERS}{entry}{FILL}") == []


def test_one_heading_with_a_line_below_it_is_no_glossary() -> None:
    assert (
        sure_lines("What is a falseticker?", f"falseticker\nJargon for a server with a wrong time.{FILL}")
        == []
    )


def test_an_entry_answers_no_other_question() -> None:
    glossary = f"Words\n{OTHERS}falseticker\nJargon for a server that shows a wrong time.{FILL}"
    assert sure_lines("What is a clock falseticker?", glossary) == []
    assert sure_lines("What is a truechimer?", glossary) == []
    assert sure_lines("Who invented the falseticker?", glossary) == []
    assert sure_lines("How many servers does a falseticker need?", glossary) == []


def test_the_name_line_of_a_manual_page_says_what_its_program_does() -> None:
    page = "ntpwait(8) - wait until the clock is set\n\nDESCRIPTION\n\nIt waits."
    assert sure_lines("What does the ntpwait program do?", page) == [1]
    assert sure_lines("What does the ntpwait program do?", "NAME\n\nntpwait - wait until the clock is set\n")
    assert sure_lines("What does the ntpwatch program do?", page) == []
    assert sure_lines("What does the ntpwait program need?", page) == []


def test_a_name_and_a_dash_elsewhere_are_a_line_of_a_list() -> None:
    page = "Programs\n\nHere is one:\n\nntpwait - wait until the clock is set"
    assert sure_lines("What does the ntpwait program do?", page) == []
    assert sure_lines("What does the ntpwait program do?", "ntpwait - see the page on clocks") == []
    assert sure_lines("What does the ntpwait program do?", "ntpwait - __ -- ++") == []


@pytest.mark.parametrize(
    "said",
    [
        "Anything but a server with a wrong time.",
        "Opposite of a server that shows a wrong time.",
        "Formerly a server that shows a wrong time.",
        "Deprecated synonym for truechimer in old manuals.",
        "The so-called opposite of a server that is right.",
    ],
)
def test_an_entry_that_takes_its_term_back_explains_nothing(said: str) -> None:
    assert 6 not in sure_lines("What is a falseticker?", f"Words\n{OTHERS}falseticker\n{said}{FILL}")
