"""Which document a question means."""

import pytest

from vera.builtin.documents import match_names
from vera.builtin.question import analyse

LICENCES = [
    "Apache-2.0.txt",
    "Artistic.txt",
    "GFDL-1.2.txt",
    "GFDL-1.3.txt",
    "GPL-2.txt",
    "GPL-3.txt",
    "LGPL-2.1.txt",
    "LGPL-2.txt",
    "LGPL-3.txt",
    "MPL-1.1.txt",
    "MPL-2.0.txt",
]


@pytest.mark.parametrize(
    ("question", "meant"),
    [
        ("For how many years is it valid under the GPL version 3?", "GPL-3.txt"),
        ("For how many years is it valid under GPLv2?", "GPL-2.txt"),
        ("What does the LGPL 2.1 say?", "LGPL-2.1.txt"),
        ("What does the LGPL 2 say?", "LGPL-2.txt"),
        ("What does the GNU General Public License version 3 say?", "GPL-3.txt"),
        ("What does the GNU Lesser General Public License 3 say?", "LGPL-3.txt"),
        ("Under the Mozilla Public License 2.0, when are rights reinstated?", "MPL-2.0.txt"),
        ("What does the GNU Free Documentation License 1.3 call opaque?", "GFDL-1.3.txt"),
        ("When does the Apache License 2.0 end?", "Apache-2.0.txt"),
        ("What must I rename under the Artistic License?", "Artistic.txt"),
    ],
)
def test_the_named_document_fits_and_its_rivals_do_not(question: str, meant: str) -> None:
    matches = match_names(analyse(question), LICENCES)
    assert matches[meant].fit == 1.0
    assert max(match.fit for path, match in matches.items() if path != meant) < 0.75


def test_a_question_that_names_none_wants_none_more_than_another() -> None:
    assert match_names(analyse("How tall is the tower?"), LICENCES) == {}


def test_a_word_in_passing_is_less_certain_than_a_name() -> None:
    files = ["Child support.txt", "Weather.txt"]
    passing = match_names(analyse("why do parents pay child support?"), files)
    named = match_names(analyse("What does the Child Support act say?"), files)
    assert passing[files[0]].certain < named[files[0]].certain


def test_the_words_of_a_name_are_answered_by_the_document() -> None:
    question = analyse("When do the grants of the Apache License, Version 2.0 end?")
    answered = match_names(question, LICENCES)["Apache-2.0.txt"].answered
    assert {"apache", "license", "version", "2.0"} <= answered
    assert "grants" not in answered


def test_another_year_is_another_document() -> None:
    files = ["leave-policy-2023.md", "leave-policy-2025.md"]
    matches = match_names(analyse("How many days does the 2025 leave policy give?"), files)
    assert matches[files[1]].fit == 1.0
    assert matches[files[0]].fit < 0.5
