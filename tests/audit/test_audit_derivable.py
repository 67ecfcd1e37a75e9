"""A value that a writer works out or takes from a name is a hint; beside another of the source it is hard."""

import pytest

from support.cited import cited
from vera.audit.checks.counts import counts
from vera.audit.checks.numbers import numbers
from vera.audit.checks.wording import wording
from vera.audit.derivable import MAX_COMPARED


def severities(claim: str, page: str, **fields: str) -> list[str]:
    return sorted({finding.severity for finding in numbers(cited(claim, page + "\n", **fields))})


CASES = [
    ("a bound on a year", "It opened before 2006.",
     "It opened on 3 May 2001.", "It opened on 3 May 2011."),
    ("a year from then on", "It was sold after 2000.", "It was sold in 2011.", "It was sold in 1991."),
    ("or later", "He was born in 1992 or later.", "He was born in 1995.", "He was born in 1988."),
    ("at least", "He worked there since at least 1979.",
     "He came there in 1974 and in 1981.", "He came in 1961."),
    ("more than", "It sold more than 400 boats.", "It sold 612 boats.", "It sold 312 boats."),
    ("a bound that the source gives", "It sold more than 400 boats.", "It sold 612 boats.",
     "It sold more than 300 boats, and in 1998 it sold 612 boats."),
    ("a name with a number", "Apollo 14 landed safely.",
     "The mission landed safely.", "Apollo 13 landed safely."),
    ("a name in lower case", "The covid-19 wave ended.",
     "The wave ended.", "The covid-21 wave ended."),
    ("a licence", "The GPL-3 applies.", "The licence applies.", "The GPL-2 applies."),
    ("a title with a year", "He plays in Blade Runner 2049.",
     "He plays the lead.", "He plays in Blade Runner 2019."),
    ("a stated sum", "A total of 412 nurses took part.", "268 worked by night, 144 by day.",
     "A total of 419 nurses took part."),
    ("a stated difference", "It has 300 pages more than the first.", "They have 700 and 400 pages.",
     "It has 370 pages more than the first."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "honest", "attack"), [case[1:] for case in CASES], ids=[case[0] for case in CASES]
)
def test_what_is_worked_out_is_a_hint_unless_the_source_says_another(
    claim: str, honest: str, attack: str
) -> None:
    assert "hard" not in severities(claim, honest)
    assert "hard" in severities(claim, attack)


READ = [
    ("a decade of a century", "He was born in the 1700s.", "He was born in 1788.", "He was born in 1812."),
    ("with an apostrophe", "He was born in the 1700's.", "Born 5 February 1748.", "Born 5 February 1648."),
    ("a decade in words", "He was born in the nineteen fifties.", "Born in 1955.", "Born in 1965."),
    ("two centuries", "She lived in the 16th and/or 17th centuries.", "She lived from 1596 to 1617.",
     "She lived from 1796 to 1817."),
    ("a German century", "Das Haus stammt aus dem 18. Jahrhundert.", "Das Haus ist von 1755.",
     "Das Haus ist von 1855."),
    ("a short season", "They won in 1984.",
     "They came second in 1983 -- 84.", "They came second in 1983 -- 85."),
    ("a season over a century", "They won in 2000.", "They won in 1999-00.", "They won in 1998-99."),
    ("a month in lower case", "It opened on 12 December 1999.", "it opened on 12 december 1999",
     "it opened on 12 november 1999"),
    ("a German month", "It opened on 3 March 2021.", "Eröffnet am 3. März 2021.", "Eröffnet am 3. Mai 2021."),
    ("a French month", "It opened on 14 August 1989.",
     "Ouvert le 14 août 1989.", "Ouvert le 14 juin 1989."),
    ("a Spanish month", "It opened on 12 May 2021.",
     "Abrió el 12 de mayo de 2021.", "Abrió el 12 de abril de 2021."),
    ("a German price", "The rent is 1250 EUR.", "Miete: 1.250 Euro", "Miete: 1.350 Euro"),
    ("German words", "Die Frist beträgt 12 Monate.", "Die Frist ist zwölf Monate und nicht mehr.",
     "Die Frist ist elf Monate und nicht mehr."),
    ("French words", "Le délai est de 12 mois.", "Le délai est de douze mois pour les baux.",
     "Le délai est de onze mois pour les baux."),
    ("German millions", "It cost 2.5 million.", "Es kostete 2,5 Millionen.", "Es kostete 2,4 Millionen."),
    ("biennially", "It takes place every two years.",
     "It takes place biennially.", "It takes place triennially."),
    ("the title of the page", "The 2014 report lists 73 towns.", "It lists 73 towns.", "It lists 75 towns."),
]  # fmt: skip


@pytest.mark.parametrize(
    ("claim", "honest", "attack"), [case[1:] for case in READ], ids=[case[0] for case in READ]
)
def test_a_value_is_read_as_people_write_it(claim: str, honest: str, attack: str) -> None:
    assert severities(claim, honest, title="Report 2014") == []
    assert "hard" in severities(claim, attack, title="Report 2014")


def test_the_number_of_a_heading_counts_nothing() -> None:
    assert severities("The lease has 17 rooms.", "17. Rooms\nThe rooms are large.") == ["soft"]
    assert severities("Section 17 is about rooms.", "17. Rooms\nThe rooms are large.") == []


def test_the_part_of_an_identifier_is_no_value_without_its_unit() -> None:
    page = "The PX-30 is cleaned every 14 days."
    assert severities("It is cleaned every 30 hours.", page) == ["hard"]
    assert severities("It is cleaned every 14 days.", page) == []


def test_another_count_is_a_hint() -> None:
    (found,) = counts(cited("It has seven rooms.", "It has four rooms.\n"))
    assert (found.code, found.severity) == ("count_differs", "soft")
    assert list(counts(cited("It has four rooms.", "It has four rooms.\n"))) == []


def test_at_most_is_a_bound_and_no_superlative() -> None:
    def told(claim: str, page: str) -> list[str]:
        return [found.code for found in wording(cited(claim, page + "\n"))]

    page = "The workshop restores up to 25 clocks a year."
    assert told("The workshop restores at most 25 clocks a year.", page) == []
    assert told("The workshop restores most clocks a year.", page) == ["superlative"]


def test_words_of_the_title_and_headings_are_part_of_what_is_cited() -> None:
    claim = "The Skerry bridge across the northern strait opened."
    page = "It opened in the morning.\n"
    assert [found.code for found in wording(cited(claim, page))] == ["words_absent"]
    assert list(wording(cited(claim, page, title="The Skerry bridge across the northern strait"))) == []


def test_the_number_of_an_item_is_not_asked_and_a_bare_answer_is() -> None:
    page = "The lease has 17 rooms, and the tenant pays the rent."
    assert severities("31. The tenant pays the rent.", page) == []
    assert severities("31.", page) == ["hard"]
    assert severities("17.", page) == []


def test_in_a_very_large_source_a_bound_needs_its_value() -> None:
    page = "It sold 612 boats.\n" + "Row 7 has 9 pears.\n" * MAX_COMPARED
    assert severities("It sold more than 400 boats.", page) == ["hard"]
    assert severities("It sold 612 boats.", page) == []


def test_a_yearly_report_is_no_backing_for_twelve_months() -> None:
    assert severities("The warranty is 12 months.", "The annual report and the monthly bill.") == ["hard"]
    assert severities("The warranty is 30 days.", "The annual report and the monthly bill.") == ["hard"]
    assert severities("The warranty is 12 months.", "The warranty is one year.") == []


ROWS = "Passengers rose from 212 to 246.\n| Programmes | 702 | 1,990 |\n| Total | 1,228 | 2,640 |\n"


@pytest.mark.parametrize(
    ("claim", "severity"),
    [
        ("It had 16% more passengers.", "soft"),
        ("Programmes took 75% of all expenditure.", "soft"),
        ("Programmes took 85% of all expenditure.", "hard"),
        ("It had 26% more passengers.", "hard"),
    ],
)
def test_a_percentage_of_values_that_stand_together_is_a_hint(claim: str, severity: str) -> None:
    assert [finding.severity for finding in numbers(cited(claim, ROWS))] == [severity]
