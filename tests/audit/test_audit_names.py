"""Names of a claim that no cited source has, and the forms in which a name may stand there."""

import msgspec
import pytest

from support.cited import cited
from vera.audit.checks.names import names, names_in

PAGE = """Winners of the year
The National Basketball Association said that Jón Daði Böðvarsson, a Canadian, moved to the United States.
He played for Seattle from Oct. 2018 on."""


def missing(claim: str, *pages: str, title: str = "", source: str = "") -> str:
    found = list(names(cited(claim, *(pages or (PAGE,)), title=title, source=source)))
    assert len(found) <= 1
    return found[0].detail if found else ""


def test_a_name_that_stands_nowhere_is_found_with_all_it_needs_to_be_understood() -> None:
    (finding,) = names(cited("He played for Portland and then for Denver.", PAGE))
    assert (finding.code, finding.label, finding.severity) == ("name_absent", "fabricated", "hard")
    assert (finding.claim, finding.evidence, finding.detail) == ("c1", "ev_0001", "Portland, Denver")
    assert "Portland, Denver" in finding.message


def test_a_name_of_another_language_is_a_hint() -> None:
    page = "Das Museum ist in der Stadt München und zeigt die Bilder der Sammlung."
    assert [each.severity for each in names(cited("The museum is in the city of Munich.", page))] == ["soft"]
    assert [each.severity for each in names(cited("The museum is in the city of Munich.", PAGE))] == ["hard"]


def test_a_whole_name_that_stands_nowhere_is_a_veto() -> None:
    (finding,) = names(cited("He played with Anna Maria Miller.", PAGE))
    assert (finding.code, finding.label, finding.severity) == ("name_absent", "fabricated", "hard")
    assert finding.detail == "Anna Maria Miller"


@pytest.mark.parametrize(
    "claim",
    ["He played with Daði Miller.", "He holds a Bachelor of Laws degree."],
)
def test_a_name_of_which_a_part_may_be_meant_otherwise_is_a_hint(claim: str) -> None:
    assert [finding.severity for finding in names(cited(claim, PAGE))] == ["soft"]


def test_a_name_that_the_question_gives_is_a_hint_since_a_source_may_call_it_otherwise() -> None:
    case = cited("Anna Miller must deliver.", "The supplier must deliver.")
    asked = msgspec.structs.replace(case, task="What must Anna Miller do?")
    assert [finding.severity for finding in names(asked)] == ["soft"]


@pytest.mark.parametrize(
    "claim",
    [
        "He played for Seattle.",
        "The player Jon Dadi Bodvarsson moved.",
        "The player is from Canada.",
        "The league is the NBA.",
        "He went to the US, to America, to the U.S. and the USA.",
        "The National Basketball Association's report names him.",
        "He moved to Seattle in October.",
        "Then the SEATTLE team won.",
        "It was on a Tuesday, I think.",
    ],
)
def test_other_forms_of_the_same_name_are_found_in_the_source(claim: str) -> None:
    assert missing(claim) == ""


def test_a_name_spelled_out_is_found_by_its_initials() -> None:
    assert missing("He left the National Basketball Association.", "He left the NBA.") == ""
    assert missing("He left the National Football Association.", "He left the NBA.") != ""


@pytest.mark.parametrize(
    ("claim", "page"),
    [
        ("It moved to the United Kingdom.", "It moved to Britain."),
        ("It moved to the UK.", "It moved to the United Kingdom."),
        ("The Dutch government agreed.", "The government of the Netherlands agreed."),
        ("The treaty binds the United Nations.", "The treaty binds the UN."),
    ],
)
def test_countries_and_their_people_are_one(claim: str, page: str) -> None:
    assert missing(claim, page) == ""
    assert missing(claim, "It moved to Chile.") != ""


def test_title_and_address_of_the_source_count() -> None:
    assert missing("The report names Acme Mining.", "It is a report.", title="Acme annual report") == "Mining"
    assert (
        missing("The report names Acme Mining.", "A report.", source="https://x.example/acme-mining%20co")
        == ""
    )


def test_a_name_may_stand_in_any_of_the_cited_sources() -> None:
    assert missing("He met Alice and Bob.", "He met Alice.", "Then he met Bob.") == ""


def test_the_whole_source_counts_and_not_only_the_cited_lines() -> None:
    assert list(names(cited("He played for Seattle.", PAGE, first=1, last=1))) == []


def test_a_claim_without_a_citation_that_holds_is_left_to_other_checks() -> None:
    assert list(names(cited("He played for Portland.", PAGE, first=90, last=91))) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Finishing first extends the game. Winning does too.", []),
        ("Alice Smith won. Then Dr. Jones left.", ["Alice", "Smith", "Jones"]),
        ("They saw W. Brent Powell and the iPhone of B&B.", ["Brent", "Powell", "iPhone"]),
        ('He read "Corpus of Libraries" twice.', ["Corpus", "Libraries"]),
    ],
)
def test_what_is_a_name(text: str, expected: list[str]) -> None:
    assert [name.written for name in names_in(text)] == expected


@pytest.mark.parametrize("claim", ["Aa Bb " * 20_000, "A.B.C.D " * 20_000, "United  States " * 10_000])
def test_an_endless_claim_is_read(claim: str) -> None:
    assert len(missing(claim)) < 2000


def severities(claim: str, *pages: str) -> list[tuple[str, str]]:
    return [(finding.severity, finding.detail) for finding in names(cited(claim, *pages))]


@pytest.mark.parametrize(
    ("claim", "page"),
    [
        ("Die Miete beträgt 65 Euro und ist fällig.", "Die Miete beträgt 65,00 €."),
        ("Der Anteil stieg um 12 Prozent.", "Der Anteil stieg um 12 %."),
        ("It was last revised in September 2022.", "It was last revised in 09/2022."),
        ("It is payable on 9 Feb. 2024.", "It is payable on 09/02/2024."),
        ("The pressure is 1 MPa.", "The pressure is 10 bar."),
    ],
)
def test_the_words_of_dates_and_amounts_are_no_names(claim: str, page: str) -> None:
    assert severities(claim, page) == []


def test_a_month_without_a_day_or_a_year_is_still_looked_for() -> None:
    assert severities("It was revised in September.", "It was revised in winter.") == [("hard", "September")]


GERMAN = "Die Frist endet am 30. September und ist mit der Kündigung der Mieterin nicht zu verlängern."


def test_a_german_noun_is_no_name_and_one_word_a_hint_at_most() -> None:
    assert severities("Die Frist endet am 30. September eines Jahres.", GERMAN) == [("soft", "Jahres")]
    assert severities("Alle Katzen sind von der Frist nicht betroffen.", GERMAN) == [("soft", "Katzen")]


def test_a_german_name_of_several_words_is_still_a_veto() -> None:
    claim = "Die Frist wird von Dr. Jens Wachtel nicht verlängert."
    assert severities(claim, GERMAN) == [("hard", "Jens Wachtel")]
