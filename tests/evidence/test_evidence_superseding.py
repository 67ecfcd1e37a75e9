"""Sentences that say that something is superseded: their numbers, lines and bounds."""

import pytest

from vera.evidence import superseding
from vera.evidence.superseding import clause_numbers, held, same_word, statements, tokens


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("Clause 7 of the Lease", ("7",)),
        ("clauses 4, 5 and 7.2", ("4", "5", "7.2")),
        ("Clauses 4 to 6", ("4", "5", "6")),
        ("section 7(2)(a)", ("7.2.a",)),
        ("§ 7 Abs. 2 und § 9", ("7.2", "9")),
        ("Ziffer 3 bis 5", ("3", "4", "5")),
        ("l'article 12", ("12",)),
        ("Article 7 bis 9", ("7", "8", "9")),
        ("clause 7 of 2019", ("7",)),
        ("seven clauses, 12 of them new", ()),
    ],
)
def test_numbers_of_clauses(text: str, numbers: tuple[str, ...]) -> None:
    assert clause_numbers(text) == numbers


def test_a_statement_has_the_lines_on_which_it_stands() -> None:
    text = (
        "Head\n\nThe board has decided after a long discussion of the matter\n"
        "that this contract replaces lease.txt. It rains.\n"
    )
    (found,) = statements(text)
    assert (found.first, found.last) == (3, 4)
    assert [thing.words for thing in found.things] == ["lease.txt"]


def test_each_thing_of_a_list_has_its_own_clauses() -> None:
    (found,) = statements("This repeals clauses 4 and 5 of a.txt and clause 7 of b.txt.")
    assert [(thing.words, thing.clauses) for thing in found.things[1:]] == [
        ("of a.txt", ("4", "5")),
        ("of b.txt", ("7",)),
    ]


def test_no_more_is_looked_through_than_the_bounds_allow(monkeypatch: pytest.MonkeyPatch) -> None:
    assert len(list(statements("This replaces a.txt.\n\n" * 500))) == superseding.MAX_STATEMENTS
    monkeypatch.setattr(superseding, "MAX_CHARACTERS", 40)
    assert not list(statements("x" * 50 + "\n\nThis replaces a.txt.\n"))


def test_words_are_those_of_a_name_but_for_an_ending() -> None:
    assert tokens("Lease-Agreement_2019") == ("lease", "agreement", "2019")
    assert same_word("mietvertrags", "mietvertrag")
    assert not same_word("subleases", "lease")
    assert held(("lease", "2019"), ("the", "2019", "lease")) == [2, 1]
    assert held(("lease",), ("the", "sublease")) is None
