"""Statements without a citation are found, and what is in them is named."""

from support.audits import case_of, evidence_of
from vera.audit.checks.uncited import uncited


def test_a_statement_without_a_citation_is_found_with_what_it_holds() -> None:
    answer = "Acme was sold to Bob in May 1997 for “a song”. It is red [ev_1:1]."
    (finding,) = uncited(case_of(answer, evidence_of("ev_1", "It is red.\n")))
    assert (finding.code, finding.label, finding.severity, finding.claim) == (
        "uncited",
        "missing_source",
        "soft",
        "c1",
    )
    assert finding.message == (
        "No source is cited for a number (1997), a date (May 1997), a name (Acme), a quotation (a song); "
        "cite the lines that say it, or drop it."
    )


def test_absences_extracts_and_plain_words_need_no_citation() -> None:
    answer = "Here is what I found.\n\n- ev_1.txt [ev_1:1]\n\nThe documents do not state the price."
    assert list(uncited(case_of(answer, evidence_of("ev_1", "It is red.\n")))) == []


def test_each_of_several_is_told_of_its_own_claim() -> None:
    assert [
        finding.claim for finding in uncited(case_of("It has 42 rooms. It is red. It has 43 doors."))
    ] == [
        "c1",
        "c3",
    ]
