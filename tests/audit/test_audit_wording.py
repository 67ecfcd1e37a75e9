"""Hints on wording: what is said must be said near the cited lines, with the same polarity and degree."""

import pytest

from support.cited import cited
from vera.audit.checks.wording import wording
from vera.evidence.finding import Finding

PAGE = """Annual report of the harbour
The ferry company carried 41,000 passengers in 2019.
It did not pay a dividend to its shareholders.
The board may sell the northern terminal next year.
Repairs of the southern pier cost two million euros.
The manager is Ada Lovelace.
The café is run by volunteers.
Bicycles travel free of charge.
Dogs must be kept on a lead.
The last boat leaves at ten in the evening.
Lost property is kept for thirty days."""


def hints(claim: str, *pages: str, first: int | None = None, last: int | None = None) -> list[Finding]:
    return list(wording(cited(claim, *(pages or (PAGE,)), first=first, last=last)))


def codes(claim: str, *pages: str, first: int | None = None, last: int | None = None) -> list[str]:
    return [finding.code for finding in hints(claim, *pages, first=first, last=last)]


@pytest.mark.parametrize(
    ("claim", "line"),
    [
        ("The ferry company carried 41,000 passengers in 2019.", 2),
        ("The company paid its shareholders no dividend.", 3),
        ("The board may sell the northern terminal.", 4),
        ("Repairing the southern pier cost 2 million euros.", 5),
    ],
)
def test_what_the_cited_lines_say_raises_nothing(claim: str, line: int) -> None:
    assert codes(claim, first=line, last=line) == []


def test_lines_about_something_else_are_told_with_the_words_that_are_missing() -> None:
    (finding,) = hints("The board sold three vessels to a Danish museum.", first=10, last=10)
    assert (finding.code, finding.label, finding.severity) == ("words_absent", "wrong_evidence", "hard")
    assert (finding.evidence, finding.first, finding.last) == ("ev_0001", 10, 10)
    assert "vessels" in finding.detail
    assert "Danish" in finding.detail


def test_the_right_line_of_the_same_page_is_needed() -> None:
    claim = "The ferry company carried 41,000 passengers in 2019."
    assert codes(claim, first=2, last=2) == []
    assert codes(claim, first=9, last=10) == ["words_absent"]
    assert codes(claim) == []


def test_a_neighbouring_line_counts_for_words() -> None:
    assert codes("The ferry company carried 41,000 passengers.", first=3, last=3) == []


def test_two_sources_may_each_say_a_part() -> None:
    claim = "Alpha Mining bought Beta Steel, and Gamma Rail sold its depots."
    one, other = "Alpha Mining bought Beta Steel.", "Gamma Rail sold its depots."
    assert codes(claim, one) == ["words_absent"] or codes(claim, other) == ["words_absent"]
    assert codes(claim, one, other) == []


def test_a_negation_on_one_side_only_is_told() -> None:
    assert codes("The company did pay a dividend to its shareholders.", first=3, last=3) == ["negation"]
    assert codes("Bicycles do not travel free of charge.", first=8, last=8) == ["negation"]
    assert codes("The company did not pay a dividend.", first=3, last=3) == []


def test_a_lost_may_is_told() -> None:
    (finding,) = hints("The board sells the northern terminal next year.", first=4, last=4)
    assert (finding.code, finding.label, finding.detail) == ("modality", "overconfident", "may")
    assert codes("The board could sell the northern terminal next year.", first=4, last=4) == []


def test_polarity_is_not_compared_with_a_whole_page() -> None:
    assert codes("The ferry company carried 41,000 passengers in 2019.", PAGE + "\nNot today." * 20) == []


@pytest.mark.parametrize(
    ("claim", "detail"),
    [
        ("Only bicycles travel free of charge.", "Only"),
        ("Bicycles were the first to travel free of charge.", "first"),
        ("All bicycles travel free of charge.", "All"),
    ],
)
def test_an_exclusive_word_of_the_claim_must_be_the_sources(claim: str, detail: str) -> None:
    (finding,) = hints(claim, first=8, last=8)
    assert (finding.code, finding.detail) == ("superlative", detail)
    page = f"{claim.replace('Only', 'Solely').replace('All', 'Every')}\n"
    assert codes(claim, page) == []


def test_extracts_absences_and_empty_statements_raise_nothing() -> None:
    for form in ("extract", "absence"):
        assert list(wording(cited("Zebras never dance.", PAGE, form=form))) == []
    assert codes("It is.") == []


def test_a_source_in_another_language_is_only_a_hint() -> None:
    found = hints("The tenant pays the rent.", "Der Mieter zahlt die Miete.")
    assert [finding.severity for finding in found] == ["soft"]
