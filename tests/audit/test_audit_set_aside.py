"""Lines under a heading that sets them aside, and claims that say so themselves."""

import pytest

from support.cited import cited
from vera.audit.checks.set_aside import is_aside, set_aside


def headed(heading: str) -> str:
    return f"# The museum\n\n## {heading}\n\nThe museum was built on a cemetery."


@pytest.mark.parametrize(
    "heading",
    ["Myths", "Repealed", "Before 2010", "Common misconceptions", "Withdrawn standards", "Mythen",
     "Aufgehobene Vorschriften", "Avant 2010", "Dispositions abrogées", "Until the end of 1999"],
)  # fmt: skip
def test_a_heading_may_set_its_lines_aside(heading: str) -> None:
    (found,) = set_aside(cited("The museum was built on a cemetery.", headed(heading), first=5, last=5))
    assert (found.code, found.severity, found.detail) == ("set_aside", "soft", heading)


@pytest.mark.parametrize("heading", ["History", "Facts", "The rules of 2010", "Fees", "Opening", "In force"])
def test_other_headings_set_nothing_aside(heading: str) -> None:
    assert not is_aside(heading)
    assert not list(set_aside(cited("The museum was built.", headed(heading), first=5, last=5)))


@pytest.mark.parametrize(
    ("heading", "claim"),
    [
        ("Myths", "It is a myth that the museum was built on a cemetery."),
        ("Before 2010", "Before 2010 the museum was on a cemetery."),
        ("Repealed", "A rule that was repealed put the museum on a cemetery."),
    ],
)
def test_a_claim_that_says_so_is_right(heading: str, claim: str) -> None:
    assert not list(set_aside(cited(claim, headed(heading), first=5, last=5)))
