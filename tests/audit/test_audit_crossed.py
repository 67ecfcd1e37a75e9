"""The value of one year that a claim gives to another one."""

import pytest

from support.cited import cited
from vera.audit.checks.opposed import opposed

FEES = "Club fees\n\nMembership fee\nYear 2022: 80 euros\nYear 2023: 84 euros\nYear 2024: 92 euros\n"
PERIODS = (
    "Until 31 December 2021 the objection period was four weeks.\n"
    "Since 1 January 2022 the objection period is six weeks.\n"
)
FRISTEN = (
    "Bis zum 31. Dezember 2021 betrug die Widerspruchsfrist vier Wochen.\n"
    "Seit dem 1. Januar 2022 beträgt die Widerspruchsfrist sechs Wochen.\n"
)
TAUX = "En 2019, le taux de participation était de 41 %.\nEn 2023, le taux de participation était de 38 %.\n"


def kinds(claim: str, page: str) -> list[tuple[str, str]]:
    return [(found.severity, found.detail.partition(":")[0]) for found in opposed(cited(claim, page))]


@pytest.mark.parametrize(
    ("page", "wrong", "right"),
    [
        (FEES, "The membership fee in 2024 is 84 euros.", "The membership fee in 2024 is 92 euros."),
        (
            PERIODS,
            "Since 1 January 2022 the objection period is four weeks.",
            "Since 1 January 2022 the objection period is six weeks.",
        ),
        (
            FRISTEN,
            "Seit dem 1. Januar 2022 beträgt die Widerspruchsfrist vier Wochen.",
            "Seit dem 1. Januar 2022 beträgt die Widerspruchsfrist sechs Wochen.",
        ),
        (
            TAUX,
            "Le taux de participation était de 41 % en 2023.",
            "Le taux de participation était de 38 % en 2023.",
        ),
    ],
)
def test_a_value_of_another_year(page: str, wrong: str, right: str) -> None:
    assert kinds(wrong, page) == [("soft", "year")]
    assert kinds(right, page) == []


@pytest.mark.parametrize(
    ("claim", "page"),
    [
        (
            "Founded in 2015, the company has 40 staff.",
            "It was founded in 2015 with 12 staff.\nIn 2020 the company has 40 staff.\n",
        ),
        ("The membership fee in 2024 is about 84 euros.", FEES),
        ("The membership fee is 84 euros, and 2024 was a good year.", FEES),
        ("The membership fee in 2024 is 84 euros.", FEES + "The membership fee is 84 euros.\n"),
        ("The membership fee in 2024 is 84 euros.", FEES + "From 2023 to 2024 the fee was 84 euros.\n"),
        ("The membership fee in 2024 is 84 euros.", "Membership fee\nYear 2023: 84 euros\n"),
    ],
)
def test_values_that_may_be_of_the_year(claim: str, page: str) -> None:
    assert not any(kind == "year" for _, kind in kinds(claim, page))
