"""A number of a table belongs to its row, its column and the unit of its head."""

from decimal import Decimal

import pytest

from vera.audit.checks.cells import wrong
from vera.text.tables import cells_of, table_at

OFFICES = "Office        Employees   Desks\nOslo          31          40\nBergen        48          60"
HARVEST = "| Farm | 2022 | 2023 |\n|---|---|---|\n| Aldea Alta | 210 | 165 |\n| Monte Claro | 98 | 120 |"
TABLETS = "Medicine,Agent in milligrams,Price (USD)\nCorvadine,500,30\nLumetol,20,45"
DOSES = "药品,最低剂量,最高剂量\n安宁片,5毫克,20毫克\n舒心片,10毫克,40毫克"


PARCELS = 'parcel,hectares,sheep\n"Ash, Mill Meadow",9,120\n"Harrow, Lower Field",12,340'
FARMS = 'Hof;Hektar;Rinder\n"Oberau, Hang";9;80\n"Unterau, Tal";12;7'
DROPS = "time,force\ns,kN\n0.1,3.9\n0.3,12.4"
PROBES = "| Probe | Druck |\n|---|---|\n|  | mbar |\n| A1 | 850 |\n| A2 | 910 |"
RUNS = "run\tmass\tlength\n-\t(g)\t(cm)\n1\t412\t30.5\n2\t388\t29.7"
LEDGER = "Datum;Text;Soll in Euro;Haben in Euro\n09.03.;Porto;;34,20\n15.03.;Zahlung Bock;1.250,00;"
BANK = "date|text|debit (USD)|credit (USD)\n5 March|rent|640.00|\n9 March|client||1810.00"
SALES = "| 地区 | 2022年销售额 | 2023年销售额 |\n|---|---|---|\n| 东区 | 580 | 620 |\n| 合计 | 1760 | 1860 |"


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
        ("The parcel Harrow has 12 sheep.", PARCELS, "text/csv"),
        ("Der Hof Unterau hat 12 Rinder.", FARMS, "text/csv"),
        ("At a time of 0.3 s the force was 12.4 N.", DROPS, "text/csv"),
        ("Der Druck der Probe A1 war 850 bar.", PROBES, "text/markdown"),
        ("In run 2 the mass was 388 kg.", RUNS, "text/tab-separated-values"),
        ("Für die Zahlung Bock stehen 1.250,00 Euro im Haben.", LEDGER, "text/csv"),
        ("The rent was a credit of 640 USD.", BANK, "text/csv"),
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
        ("The parcel Harrow has 340 sheep.", PARCELS, "text/csv"),
        ("2 parcels have sheep.", PARCELS, "text/csv"),
        ("A farmer has 12 sheep.", PARCELS, "text/csv"),
        ("Der Hof Unterau hat 7 Rinder.", FARMS, "text/csv"),
        ("At a time of 0.3 s the force was 12.4 kN.", DROPS, "text/csv"),
        ("Der Druck der Probe A1 war 850 mbar.", PROBES, "text/markdown"),
        ("In run 2 the mass was 0.388 kg.", RUNS, "text/tab-separated-values"),
        ("Für die Zahlung Bock stehen 1.250,00 Euro im Soll.", LEDGER, "text/csv"),
        ("The rent was a debit of 640 USD.", BANK, "text/csv"),
    ],
)
def test_a_number_of_its_own_cell_or_of_none_that_is_named_is_not(
    claim: str, text: str, media_type: str
) -> None:
    assert not told(claim, text, media_type)


@pytest.mark.parametrize(
    ("claim", "text", "row", "is_told"),
    [
        ("2023年东区销售额为1860万元。", SALES, 4, True),
        ("2023年东区销售额为620万元。", SALES, 3, False),
        ("In 2023 Monte Claro harvested 165 tonnes.", HARVEST, 3, True),
        ("In 2023 Monte Claro harvested 120 tonnes.", HARVEST, 4, False),
        ("In 2023 Monte Claro harvested 165 thousand tonnes.", HARVEST, 3, True),
    ],
)
def test_the_row_that_a_claim_names_need_not_be_cited(claim: str, text: str, row: int, is_told: bool) -> None:
    lines = text.split("\n")
    table = table_at(lambda number: lines[number - 1], row, row, "text/markdown", len(lines))
    assert table is not None
    assert bool(list(wrong(claim, [table], frozenset[Decimal]()))) == is_told


def test_a_row_of_units_is_a_part_of_its_head() -> None:
    lines = DROPS.split("\n")
    table = table_at(lambda number: lines[number - 1], 4, 4, "text/csv", len(lines))
    assert table is not None
    assert table.head == ("time (s)", "force (kN)")
    assert [row.cells for row in table.others] == [("0.1", "3.9")]
    assert table_at(lambda number: lines[number - 1], 2, 2, "text/csv", len(lines)) is None


def test_what_is_a_row() -> None:
    assert cells_of("| a | b |", "text/plain") == ("a", "b")
    assert cells_of('"a, b",c', "text/csv", ",") == ("a, b", "c")
    assert cells_of("|---|---|", "text/plain") == ()
    assert cells_of("No row at all, but a sentence.", "text/plain") == ()
