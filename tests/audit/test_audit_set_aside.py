"""Lines under a heading that sets them aside, and claims that say so themselves."""

import pytest
from msgspec.structs import replace

from support.cited import cited, place
from vera.audit.checks.set_aside import aside_column, is_aside, set_aside
from vera.evidence.claim import Cite


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


PLANTS = (
    "| Plant | 2022 | 2023 |\n|---|---|---|\n| Ede | 31.2 | 40.5† |\n| Vik | 12.0 | 13.1* |\n"
    "| Oby | 55‡ | 60 |\n\n† Planned value.\n* Rounded.\n‡ Prognose.\n"
)


@pytest.mark.parametrize(
    ("claim", "row", "note"),
    [
        ("Ede generated 40.5 GWh in 2023.", 3, "Planned value."),
        ("Ede generated 31.2 GWh in 2022.", 3, ""),
        ("Ede planned to generate 40.5 GWh in 2023.", 3, ""),
        ("Vik generated 13.1 GWh in 2023.", 4, ""),
        ("Das Werk Oby lieferte 2022 55 GWh.", 5, "Prognose."),
        ("Das Werk Oby lieferte nach der Prognose 2022 55 GWh.", 5, ""),
        ("Das Werk Oby lieferte 2023 60 GWh.", 5, ""),
    ],
)
def test_a_note_sets_aside_the_number_that_bears_its_mark(claim: str, row: int, note: str) -> None:
    found = list(set_aside(cited(claim, PLANTS, first=row, last=row)))
    assert [each.detail for each in found] == ([note] if note else [])


GROUPS = "| Produkt | Hersteller |\n|---|---|\n| **{}** | |\n| K2 | Werner |\n| **{}** | |\n| K7 | Rieck |\n"


@pytest.mark.parametrize(
    ("claim", "heads", "row", "is_told"),
    [
        ("K7 ist zugelassen.", ("Zugelassen", "Nicht zugelassen"), 6, True),
        ("K2 ist zugelassen.", ("Zugelassen", "Nicht zugelassen"), 4, False),
        ("K7 is on sale.", ("On sale", "Withdrawn"), 6, True),
        ("K2 is on sale.", ("On sale", "Withdrawn"), 4, False),
        ("K7 est en vente.", ("En vente", "Obsolètes"), 6, True),
        ("K2 est en vente.", ("En vente", "Obsolètes"), 4, False),
    ],
)
def test_a_row_that_divides_a_table_is_the_heading_of_the_rows_below_it(
    claim: str, heads: tuple[str, str], row: int, is_told: bool
) -> None:
    case = cited(claim, GROUPS.format(*heads))
    cites = tuple(Cite("ev_0001", line, line) for line in (3, row))
    case = replace(case, claims=(replace(case.claims[0], cites=cites),))
    assert bool(list(set_aside(case))) == is_told


MYTH = "Vaccinated dogs need no quarantine on entry."
TABLE = """# Import of pets

| No. | {} | {} |
|---|---|---|
| 1 | Cats may travel without a chip. | Every cat needs a chip. |
| 2 | {} | All dogs stay ten days at the border. |
"""


@pytest.mark.parametrize(
    ("myth", "fact", "cell"),
    [
        ("Myth", "Fact", MYTH),
        ("Irrtum", "Tatsache", "Geimpfte Hunde brauchen keine Quarantäne."),
        ("Idée reçue", "Réalité", "Les chiens vaccinés entrent sans quarantaine."),
        ("Mythos", "Wahrheit", "Geimpfte Hunde reisen frei ein."),
        ("Mito", "Realidad", "Los perros vacunados no necesitan cuarentena."),
        ("Rejected wording", "Adopted wording", MYTH),
        ("Until 2010", "Since 2011", MYTH),
    ],
)
def test_a_column_may_set_its_cells_aside(myth: str, fact: str, cell: str) -> None:
    table = TABLE.format(myth, fact, cell)
    (found,) = set_aside(cited(cell, table, first=6, last=6))
    assert (found.code, found.detail) == ("set_aside", myth)
    assert not list(set_aside(cited("All dogs stay ten days at the border.", table, first=6, last=6)))


@pytest.mark.parametrize("head", ["Rule", "No", "Cats and dogs", "Requirement"])
def test_other_columns_set_nothing_aside(head: str) -> None:
    assert not list(set_aside(cited(MYTH, TABLE.format(head, "Remark", MYTH), first=6, last=6)))


def test_a_value_of_a_column_whose_head_counts_what_was_set_aside_is_not() -> None:
    table = "| Airport | Flights | Cancelled |\n|---|---|---|\n| Bonn | 120 | 4 |\n"
    case = cited("Of 120 flights at Bonn airport 4 were lost.", table, first=3, last=3)
    assert aside_column("Of 120 flights at Bonn airport 4 were lost.", place(case), 3) == ""
    assert not list(set_aside(case))
