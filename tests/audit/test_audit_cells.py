"""A number of a table belongs to its row, its column and the unit of its head."""

from decimal import Decimal

import pytest

from vera.audit.checks.cells import wrong
from vera.text.tables import cells_of, table_at

OFFICES = "Office        Employees   Desks\nOslo          31          40\nBergen        48          60"
HARVEST = "| Farm | 2022 | 2023 |\n|---|---|---|\n| Aldea Alta | 210 | 165 |\n| Monte Claro | 98 | 120 |"
TABLETS = "Medicine,Agent in milligrams,Price (USD)\nCorvadine,500,30\nLumetol,20,45"
DOSES = "药品,最低剂量,最高剂量\n安宁片,5毫克,20毫克\n舒心片,10毫克,40毫克"


def told(claim: str, text: str, media_type: str = "text/plain") -> list[str]:
    lines = text.split("\n")
    table = table_at(lambda number: lines[number - 1], 1, len(lines), media_type)
    assert table is not None
    return [number for number, _ in wrong(claim, [table], frozenset[Decimal]())]


@pytest.mark.parametrize(
    ("claim", "text", "media_type"),
    [
        ("The office in Oslo has 48 employees.", OFFICES, "text/plain"),
        ("In Bergen there are 48 desks.", OFFICES, "text/plain"),
        ("In 2023 Aldea Alta harvested 210 tonnes.", HARVEST, "text/plain"),
        ("A tablet of Corvadine holds 500 grams of the agent.", TABLETS, "text/csv"),
        ("Corvadine costs 45 dollars.", TABLETS, "text/csv"),
        ("安宁片的最低剂量是20毫克。", DOSES, "text/csv"),
        ("安宁片的最高剂量是40毫克。", DOSES, "text/csv"),
    ],
)
def test_a_number_of_another_cell_is_told(claim: str, text: str, media_type: str) -> None:
    assert told(claim, text, media_type)


@pytest.mark.parametrize(
    ("claim", "text", "media_type"),
    [
        ("The office in Oslo has 31 employees.", OFFICES, "text/plain"),
        ("With 48 employees Bergen is larger than Oslo.", OFFICES, "text/plain"),
        ("Oslo has 31 employees and Bergen 48.", OFFICES, "text/plain"),
        ("Oslo has fewer than 48 employees.", OFFICES, "text/plain"),
        ("The northern office has 48 people.", OFFICES, "text/plain"),
        ("The harvest of Aldea Alta fell from 210 tonnes in 2022 to 165 in 2023.", HARVEST, "text/plain"),
        ("A tablet of Corvadine holds 500 mg of the agent.", TABLETS, "text/csv"),
        ("Corvadine costs 30 dollars.", TABLETS, "text/csv"),
        ("安宁片的最低剂量是5毫克。", DOSES, "text/csv"),
    ],
)
def test_a_number_of_its_own_cell_or_of_none_that_is_named_is_not(
    claim: str, text: str, media_type: str
) -> None:
    assert not told(claim, text, media_type)


def test_what_is_a_row() -> None:
    assert cells_of("| a | b |", "text/plain") == ("a", "b")
    assert cells_of('"a, b",c', "text/csv", ",") == ("a, b", "c")
    assert cells_of("|---|---|", "text/plain") == ()
    assert cells_of("No row at all, but a sentence.", "text/plain") == ()
