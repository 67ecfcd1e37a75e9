"""A count or a weekday of which the cited lines give another."""

import pytest

from support.cited import cited
from vera.audit.checks.counts import counts

PAGE = """Rules of the library
Members may borrow four books and two films at a time.
It is closed on Monday, and on Sunday in winter."""


def codes(claim: str, page: str = PAGE) -> list[tuple[str, str, str]]:
    return [(each.code, each.severity, each.detail) for each in counts(cited(claim, page))]


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        ("Members may borrow 7 books.", [("count_differs", "hard", "7")]),
        ("Members may borrow three films.", [("count_differs", "hard", "three")]),
        ("Members of every village may borrow 7 books.", [("count_differs", "soft", "7")]),
        ("It is closed on Friday.", [("weekday_differs", "hard", "Friday")]),
    ],
)
def test_another_count_is_hard_where_nothing_else_differs_and_so_is_another_weekday(
    claim: str, expected: list[tuple[str, str, str]]
) -> None:
    assert codes(claim) == expected


@pytest.mark.parametrize(
    "claim",
    [
        "Members may borrow 4 books.",
        "Members may borrow two films.",
        "It is closed on Monday.",
        "It has three doors.",
        "Members may borrow at most 7 books.",
    ],
)
def test_what_the_lines_say_or_do_not_count_is_left_alone(claim: str) -> None:
    assert codes(claim) == []


def test_parts_that_add_up_are_no_other_count() -> None:
    assert codes("She had five sons.", "She had two sons by Carl and three sons by Otto.") == []


def test_a_long_citation_says_nothing_of_which_count_is_meant() -> None:
    assert codes("Members may borrow 7 books.", PAGE + "\n.." * 12) == []
