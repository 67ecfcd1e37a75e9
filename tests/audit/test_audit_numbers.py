"""Numbers of a claim must stand in the sources that it cites: absent ones veto, misplaced ones are hints."""

import hashlib

import msgspec
import pytest

from vera.audit.case import Case
from vera.audit.checks.numbers import CLAIM_FINDINGS, numbers
from vera.audit.source_text import SourceText
from vera.events import Blob, Derivation, Evidence
from vera.evidence.claim import Cite, Claim
from vera.evidence.finding import Finding

PAGE = """The Example Bridge
Published 2 March 2017
The bridge is 1,280 metres long and cost $35 million.
It opened on 27 May 1937, and 200,000 people walked across it.
Its towers are 746 feet high. Anna, Ben and Carl, sons of the engineer, were there.
"""


def evidence(identity: str, text: str, **fields: object) -> tuple[Evidence, str, SourceText]:
    data = text.encode()
    sha256 = hashlib.sha256(data).hexdigest()
    lines = text.count("\n")
    kept = Evidence(
        id=identity,
        call="call_0001",
        step=1,
        tool="fetch",
        tier=str(fields.get("tier", "captured")),
        source=str(fields.get("source", "https://bridge.example/")),
        summary="",
        text=Blob(sha256, len(data)),
        lines=lines,
        first=1,
        last=lines,
        title=str(fields.get("title", "")),
    )
    return kept, sha256, SourceText(data)


def findings(
    claim: str,
    *cites: Cite,
    sources: tuple[tuple[Evidence, str, SourceText], ...] = (),
    derivations: dict[str, Derivation] | None = None,
) -> list[Finding]:
    sources = sources or (evidence("ev_0001", PAGE),)
    case = Case(
        task="",
        answer=claim,
        claims=(
            Claim(key="c1", text=claim, start=0, end=len(claim), cites=cites or (Cite("ev_0001", 1, 5),)),
        ),
        evidence={kept.id: kept for kept, _, _ in sources},
        sources={sha256: text for _, sha256, text in sources},
        derivations=derivations or {},
    )
    return list(numbers(case))


def codes(found: list[Finding]) -> list[tuple[str, str, str]]:
    return [(finding.severity, finding.code, finding.detail) for finding in found]


def test_a_claim_whose_numbers_stand_there_has_no_finding() -> None:
    assert findings("Opened in May 1937, the 1.28 km bridge cost $35 million; its towers reach 227 m.") == []


@pytest.mark.parametrize(
    ("claim", "code", "detail"),
    [
        ("220,000 people walked across it.", "number_absent", "220,000"),
        ("It opened on 28 May 1937.", "date_absent", "28 May 1937"),
        ("It was built in the 1920s.", "date_absent", "1920s"),
        ("It cost $36 million.", "amount_absent", "$36 million"),
        ("It cost €35 million.", "amount_absent", "€35 million"),
        ("It is 1,290 metres long.", "amount_absent", "1,290 metres"),
        ("It carries 40 percent of the traffic.", "amount_absent", "40 percent"),
    ],
)
def test_a_value_that_stands_nowhere_in_the_source_is_a_hard_finding(
    claim: str, code: str, detail: str
) -> None:
    (found,) = findings(claim)
    assert codes([found]) == [("hard", code, detail)]
    assert found.label == "fabricated"
    assert (found.claim, found.evidence, found.first, found.last) == ("c1", "ev_0001", 1, 5)
    assert detail in found.message and "ev_0001" in found.message


def test_a_value_elsewhere_in_the_source_is_not_in_the_cited_lines() -> None:
    (found,) = findings("It cost $35 million.", Cite("ev_0001", 4, 5))
    assert codes([found]) == [("hard", "number_not_in_span", "$35 million")]
    assert found.label == "wrong_evidence"


def test_the_cited_lines_of_a_claim_are_taken_together() -> None:
    claim = "It cost $35 million, and its towers are 746 feet high."
    assert findings(claim, Cite("ev_0001", 3, 3), Cite("ev_0001", 5, 5)) == []


def test_the_dateline_and_the_title_belong_to_every_span() -> None:
    assert findings("In 2017 the bridge was 1,280 metres long.", Cite("ev_0001", 3, 3)) == []
    sources = (
        evidence("ev_0001", PAGE, title="Bridges of 1999", source="https://b.example/2001/04/03/x?n=88"),
    )
    assert findings("In 1999, on 3 April 2001.", Cite("ev_0001", 3, 3), sources=sources) == []
    assert codes(findings("It has 88 lamps.", sources=sources)) == [("hard", "number_absent", "88")]


def test_the_version_in_the_name_of_a_file_belongs_to_every_span() -> None:
    text = "Manual, version 1.3\n\nYou must delete all sections.\n"
    sources = (evidence("ev_0001", text, source="licences/GFDL-1.3.txt"),)
    cites = Cite("ev_0001", 3, 3)
    assert findings("Under GFDL 1.3, you must delete all sections.", cites, sources=sources) == []
    other = findings("Under GFDL 1.2, you must delete all sections.", cites, sources=sources)
    assert codes(other) == [("hard", "number_absent", "1.2")]


@pytest.mark.parametrize("claim", ["He had three sons.", "It was the second one.", "He had four sons."])
def test_small_counts_that_a_reader_can_make_are_at_most_soft(claim: str) -> None:
    assert [finding.severity for finding in findings(claim)] in ([], ["soft"])


@pytest.mark.parametrize("claim", ["One of the first to cross it.", "Half of it.", "He came on Wednesday."])
def test_words_that_are_seldom_numbers_are_left_alone(claim: str) -> None:
    assert findings(claim) == []


@pytest.mark.parametrize(
    ("claim", "severity"),
    [
        ("She praised the 2016 film about it.", "soft"),
        ("She praised the 2016 television series about it.", "soft"),
        ("She praised it in 2016.", "hard"),
        ("She praised the 2016 report on it.", "hard"),
    ],
)
def test_a_year_that_only_tells_which_work_is_meant_is_a_hint(claim: str, severity: str) -> None:
    assert [finding.severity for finding in findings(claim)] == [severity]


def test_a_claim_is_looked_up_in_all_its_sources() -> None:
    sources = (evidence("ev_0001", PAGE), evidence("ev_0002", "It has 88 lamps.\n"))
    assert (
        findings("It has 88 lamps and cost $35 million.", Cite("ev_0001"), Cite("ev_0002"), sources=sources)
        == []
    )
    (found,) = findings("It has 89 lamps.", Cite("ev_0001"), Cite("ev_0002"), sources=sources)
    assert "ev_0001, ev_0002" in found.message


@pytest.mark.parametrize("cite", [Cite("ev_0009"), Cite("ev_0001", 90, 91)])
def test_a_claim_without_a_citation_that_holds_is_for_other_checks(cite: Cite) -> None:
    assert findings("It has 88 lamps.", cite) == []


def test_a_claim_on_observed_evidence_alone_is_for_the_check_of_computed_values() -> None:
    sources = (evidence("ev_0001", "42\n", tier="observed"),)
    assert findings("The sum is 43.", Cite("ev_0001"), sources=sources) == []


@pytest.mark.parametrize(
    ("outcome", "expected"), [("same", []), ("different", ["hard"]), ("failed", ["hard"])]
)
def test_a_printed_value_counts_beside_a_page_when_it_was_derived_again(
    outcome: str, expected: list[str]
) -> None:
    sources = (evidence("ev_0001", PAGE), evidence("ev_0002", "27343\n", tier="observed"))
    derivations = {
        "ev_0002": Derivation(round=1, evidence="ev_0002", command="python3 a.py", outcome=outcome)
    }
    found = findings(
        "It cost $35 million, or 27,343 a metre.",
        Cite("ev_0001"),
        Cite("ev_0002"),
        sources=sources,
        derivations=derivations,
    )
    assert [finding.severity for finding in found] == expected


def test_a_value_in_the_task_still_needs_its_source() -> None:
    kept, sha256, text = evidence("ev_0001", PAGE)
    claim = Claim(key="c1", text="In 1941 it opened.", start=0, end=18, cites=(Cite("ev_0001"),))
    case = Case(
        task="What opened in 1941?",
        answer=claim.text,
        claims=(claim,),
        evidence={kept.id: kept},
        sources={sha256: text},
    )
    assert codes(list(numbers(case))) == [("hard", "date_absent", "1941")]


def test_hard_findings_come_first_and_the_rest_is_bounded() -> None:
    claim = "He had four sons. " + " ".join(f"{number} lamps." for number in range(5000, 5100))
    found = findings(claim)
    assert len(found) == CLAIM_FINDINGS
    assert {finding.severity for finding in found} == {"hard"}


def test_invalid_bytes_in_a_source_do_not_move_its_lines() -> None:
    data = b"\xff\xfe caf\xe2\nIt has 88 lamps.\nIt has 99 doors.\n"
    sha256 = hashlib.sha256(data).hexdigest()
    kept, _, _ = evidence("ev_0001", PAGE)
    kept = msgspec.structs.replace(kept, text=Blob(sha256, len(data)))
    sources = ((kept, sha256, SourceText(data)),)
    assert findings("It has 88 lamps.", Cite("ev_0001", 2, 2), sources=sources) == []
    (found,) = findings("It has 99 doors.", Cite("ev_0001", 2, 2), sources=sources)
    assert found.code == "number_not_in_span"


MUSEUM = """Das Museum
Im Jahr 2019 hatte das Museum 61.000 Besucher.
Der Keller war nicht geöffnet, und der Turm ist 42,5 Meter hoch, wie in der Chronik steht.
"""


@pytest.mark.parametrize(
    ("claim", "found"),
    [
        ("Im Jahr 2019 hatte das Museum 61.000 Besucher.", []),
        ("2019: 61.000 Besucher.", []),
        ("2019: 61000 Besucher.", []),
        ("2019: 71.000 Besucher.", ["71.000"]),
        ("2019: 61,5 Besucher.", ["61,5"]),
        ("The museum had 61,000 visitors, and the tower is not of that year.", []),
    ],
)
def test_a_number_is_read_in_the_language_of_its_source_where_the_claim_tells_none(
    claim: str, found: list[str]
) -> None:
    source = evidence("ev_0001", MUSEUM)
    assert [each.detail for each in findings(claim, Cite("ev_0001", 2, 2), sources=(source,))] == found


@pytest.mark.parametrize(
    "source", ["5. Term\nThe offer is valid for three years.", "As sections 4 and 5\nsay."]
)
def test_no_sentence_says_that_the_number_of_a_section_is_the_one_of_the_claim(source: str) -> None:
    """Before, a "five" that is nowhere in the text was said to be there, of another unit."""
    (found,) = findings(
        "It is valid for five years.", Cite("ev_0001", 1, 2), sources=(evidence("ev_0001", source),)
    )
    assert found.severity == "hard"
    assert "the number is there" not in found.message
    assert "is nowhere in" in found.message or "no amount of that unit there has this value" in found.message


MILLIONS = "| £ million | 2020 | 2021 |\n|---|---|---|\n| Net debt | 4.6 | 127.5 |\n"
WIDTHS = "The fee is £150,000.\n\n| Size | Width (mm) | Length (m) |\n|---|---|---|\n| A | 3,000 | 12 |\n"


@pytest.mark.parametrize(
    ("claim", "page"),
    [
        ("Net debt was £4.6 million in 2020.", MILLIONS),
        ("Net debt was about £128 million in 2021.", MILLIONS),
        ("Size A is 3 m wide and 12 m long.", WIDTHS),
        ("Size A is 3,000 mm wide.", WIDTHS),
        ("The shaft power is 2,200 W.", "| Part | KP | Unit |\n|---|---|---|\n| Shaft power | 2.2 | kW |\n"),
        ("Leeds has 14 ha.", "| Site | Area (ha) |\n|---|---|\n| Leeds | 14 |\n| York | 9 |\n"),
        ("Leeds cost €14 million.", "| Site | Cost (€ m) |\n|---|---|\n| Leeds | 14 |\n| York | 9 |\n"),
        ("Leeds cost £14,000.", "| Site | Cost (£000) |\n|---|---|\n| Leeds | 14 |\n| York | 9 |\n"),
        (
            "La dette nette a atteint 96,3 millions d’euros.",
            "CHIFFRES (en millions d’euros)\n\n              2022   2023\n  Dette nette   74,0   96,3\n",
        ),
    ],
)
def test_a_cell_has_the_unit_and_the_scale_that_its_table_says(claim: str, page: str) -> None:
    assert findings(claim, Cite("ev_0001", 1, page.count("\n")), sources=(evidence("ev_0001", page),)) == []


@pytest.mark.parametrize(
    ("claim", "page", "detail"),
    [
        ("Net debt was £4.7 million in 2020.", MILLIONS, "£4.7 million"),
        ("Net debt was £4.6 billion in 2020.", MILLIONS, "£4.6 billion"),
        ("Net debt was €4.6 million in 2020.", MILLIONS, "€4.6 million"),
        ("Size A is 4 m wide.", WIDTHS, "4 m"),
        ("Size A is 3.02 m wide.", WIDTHS, "3.02 m"),
        ("Go no faster than 8 mph.", "(1)   No craft shall exceed 6 knots\n(2)   or 8 knots.\n", "8 mph"),
    ],
)
def test_another_value_unit_or_scale_than_that_of_the_table_is_absent(
    claim: str, page: str, detail: str
) -> None:
    found = findings(claim, Cite("ev_0001", 1, page.count("\n")), sources=(evidence("ev_0001", page),))
    assert [(each.severity, each.detail) for each in found] == [("hard", detail)]


THOUSANDS = (
    "# Balance sheet\n\n**All amounts in thousands of US dollars**\n\n| Assets | 2022 |\n|---|---:|\n"
    "| Cash | 4,218 |\n| Dividend per share | 1.35 |\n"
)
TEUR = (
    "# Bilanz\n\nAngaben in TEUR\n\n| Posten | 2023 |\n|---|---:|\n"
    "| Vorräte | 4.310 |\n| Ergebnis je Aktie | 2,41 |\n"
)
MILLIERS = "Comptes\n(en milliers d'euros)\nPoste\tAchats\t2022\nVentes\t118\t8 412\nLoyers\t23\t615\n"
HAN = "# 分省产量\n\n单位：万吨\n\n| 省份 | 2022年 |\n|---|---|\n| 湖南 | 3018 |\n"
YUAN = "# 销售\n\n单位：人民币亿元\n\n| 地区 | 2023年 |\n|---|---|\n| 东区 | 620 |\n"
SALES = "| Branch | Sales in thousand euros | Rent (€) |\n|---|---|---|\n| Graz | 840 | 615 |\n"
UMSATZ = "Beteiligungen\nGesellschaft | Umsatz in Tausend Euro\nNordwind | 420\nSüdbau | 1.310\n"
GWH = "# Generation\n\nIn GWh.\n\n| Plant | 2022 |\n|---|---:|\n| Ede | 7.7 |\n"
PEOPLE = (
    "Population in thousands, area in km²\n\n| Town | People | Area |\n|---|---|---|\n| Ede | 118 | 318 |\n"
)


@pytest.mark.parametrize(
    ("claim", "page", "lines", "is_there"),
    [
        ("Cash was 4,218 dollars.", THOUSANDS, (7, 7), False),
        ("Cash was $4,218.", THOUSANDS, (3, 7), False),
        ("Cash was 4,218 thousand US dollars.", THOUSANDS, (7, 7), True),
        ("Cash was 4.218 million US dollars.", THOUSANDS, (7, 7), True),
        ("Cash was $4,218 (in thousands).", THOUSANDS, (7, 7), True),
        ("The dividend per share was $1.35.", THOUSANDS, (8, 8), True),
        ("Die Vorräte betrugen 4.310 Euro.", TEUR, (7, 7), False),
        ("Die Vorräte betrugen 4.310 Tausend Euro.", TEUR, (7, 7), True),
        ("Das Ergebnis je Aktie betrug 2,41 Euro.", TEUR, (8, 8), True),
        ("Les ventes de 2022 sont de 8 412 euros.", MILLIERS, (3, 4), False),
        ("Les ventes de 2022 sont de 8 412 milliers d'euros.", MILLIERS, (3, 4), True),
        ("2022年湖南产量为3018万吨。", HAN, (5, 7), True),
        ("2022年湖南产量为3018吨。", HAN, (5, 7), False),
        ("2023年东区销售额为620亿元。", YUAN, (5, 7), True),
        ("2023年东区销售额为620万元。", YUAN, (5, 7), False),
        ("Ede generated 7.7 GWh in 2022.", GWH, (5, 7), True),
        ("Ede generated 7.7 MWh in 2022.", GWH, (5, 7), False),
        ("Ede has an area of 318 km².", PEOPLE, (3, 5), True),
        ("Graz had sales of 840 euros.", SALES, (1, 3), False),
        ("Graz had sales of 840 thousand euros.", SALES, (1, 3), True),
        ("Graz had sales of 0.84 million euros.", SALES, (3, 3), True),
        ("Graz had sales of €840 (in thousands).", SALES, (1, 3), True),
        ("Graz paid a rent of 615 euros.", SALES, (1, 3), True),
        ("Der Umsatz der Nordwind beträgt 420 Euro.", UMSATZ, (2, 3), False),
        ("Der Umsatz der Südbau beträgt 1,31 Millionen Euro.", UMSATZ, (2, 4), True),
    ],
)
def test_a_line_above_a_table_says_the_scale_of_its_amounts(
    claim: str, page: str, lines: tuple[int, int], is_there: bool
) -> None:
    found = findings(claim, Cite("ev_0001", *lines), sources=(evidence("ev_0001", page),))
    assert any(each.severity == "hard" for each in found) != is_there


PIPES = "The bolts are 1 1/2 inches thick.\nThe tank holds 12 3/4 gallons.\nThe road is 5.5 miles long.\n"


@pytest.mark.parametrize(
    ("claim", "is_there"),
    [
        ("The bolts are 1 1/2 inches thick.", True),
        ("The bolts are 1½ inches thick.", True),
        ("The bolts are 1.5 inches thick.", True),
        ("The bolts are 11/2 inches thick.", False),
        ("The tank holds 12.75 gallons.", True),
        ("The tank holds 123/4 gallons.", False),
        ("The road is 5 1/2 miles long.", True),
    ],
)
def test_a_number_with_a_fraction_is_one_number(claim: str, is_there: bool) -> None:
    found = findings(claim, Cite("ev_0001", 1, 3), sources=(evidence("ev_0001", PIPES),))
    assert any(each.severity == "hard" for each in found) != is_there


def test_the_day_of_a_row_is_a_date_in_whatever_language_the_claim_is() -> None:
    page = "Datum;Konto;Soll in Euro\n15.03.;1200 Bank;1.250,00\n16.03.;1300 Kasse;80,00\n"
    sources = (evidence("ev_0001", page),)
    claim = "Auf dem Konto 1200 Bank stehen am 15.03. 1.250,00 Euro im Soll."
    assert findings(claim, Cite("ev_0001", 1, 2), sources=sources) == []
    (found,) = findings(claim.replace("15.03.", "14.03."), Cite("ev_0001", 1, 2), sources=sources)
    assert codes([found]) == [("hard", "date_absent", "14.03.")]


@pytest.mark.parametrize(
    ("claim", "is_there"),
    [
        ("Die Staatsschuld betrug 1,2 Milliarden Dollar.", True),
        ("Die Staatsschuld betrug 1,2 Billionen Dollar.", False),
        ("La deuda pública era de 1.200 millones de dólares.", True),
        ("La deuda pública era de 1.300 millones de dólares.", False),
        ("La dette publique était de 1,2 milliard de dollars.", True),
    ],
)
def test_an_amount_is_read_in_the_words_of_other_languages(claim: str, is_there: bool) -> None:
    page = "The public debt was 1.2 billion dollars.\n"
    found = findings(claim, Cite("ev_0001", 1, 1), sources=(evidence("ev_0001", page),))
    assert any(each.severity == "hard" for each in found) != is_there


def test_a_rate_whose_source_may_write_it_as_one_sign_is_a_hint() -> None:
    page = "The pump moves 36 m³/h.\n"
    sources = (evidence("ev_0001", page),)
    (found,) = findings("The pump moves 36 cubic metres an hour.", Cite("ev_0001", 1, 1), sources=sources)
    assert found.severity == "soft"
    (found,) = findings("The pump moves 37 cubic metres an hour.", Cite("ev_0001", 1, 1), sources=sources)
    assert found.severity == "hard"


def test_a_sum_of_two_of_a_few_values_is_a_hint_whatever_else_is_a_total() -> None:
    page = "It runs for 36 months.\nIt may go on for 12 months.\nThe total liability is limited.\n"
    sources = (evidence("ev_0001", page),)
    for claim, severity in (("It can run for four years.", "soft"), ("It can run for five years.", "hard")):
        (found,) = findings(claim, Cite("ev_0001", 1, 3), sources=sources)
        assert found.severity == severity


@pytest.mark.parametrize(
    ("page", "right", "wrong"),
    [
        (
            "All dates are written day/month/year.\nThe lease ends on 03/04/2023.\n",
            "The lease ends on 3 April 2023.",
            "The lease ends on March 4, 2023.",
        ),
        (
            "Filed (MM/DD/YYYY)\nThe claim was filed on 03/04/2023.\n",
            "The claim was filed on 2023-03-04.",
            "The claim was filed on 2023-04-03.",
        ),
        (
            "Geliefert am 31.01.2023.\nDie Frist endet am 03.04.2023.\n",
            "Die Frist endet am 3. April 2023.",
            "Die Frist endet am 4. März 2023.",
        ),
        (
            "Bail signé le 25/01/2018.\nLe bail se termine le 03/04/2023.\n",
            "Le bail se termine le 3 avril 2023.",
            "Le bail se termine le 4 mars 2023.",
        ),
    ],
)
def test_a_date_of_digits_is_read_as_its_source_writes_dates(page: str, right: str, wrong: str) -> None:
    sources = (evidence("ev_0001", page),)
    cite = Cite("ev_0001", 2, 2)
    assert findings(right, cite, sources=sources) == []
    assert [each.code for each in findings(wrong, cite, sources=sources)] == ["date_absent"]


def test_a_date_of_digits_whose_order_nobody_tells_has_both_readings() -> None:
    sources = (evidence("ev_0001", "It ends on 03/04/2023.\n"),)
    cite = Cite("ev_0001", 1, 1)
    assert findings("It ends on March 4, 2023.", cite, sources=sources) == []
    assert findings("It ends on April 3, 2023.", cite, sources=sources) == []
