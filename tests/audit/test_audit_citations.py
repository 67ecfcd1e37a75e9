"""Each cited place exists, may be cited, and holds the bytes that were seen."""

import hashlib

import msgspec
import pytest

from support.audits import case_of, evidence_of
from vera.audit import source_text
from vera.audit.case import Case, place_of
from vera.audit.checks.citations import citations
from vera.audit.registry import audit
from vera.audit.source_text import SourceText
from vera.evidence.citation import CITATION_LIMIT, LINES_LIMIT
from vera.text.span import Lines
from vera.text.whole_sentences import Whole, whole

THREE = evidence_of("ev_0001", "one\ntwo\nthree\n")


def codes(case: Case) -> list[str]:
    found = list(citations(case))
    assert all(finding.severity == "hard" for finding in found)
    return [finding.code for finding in found]


@pytest.mark.parametrize(
    "cited", ["[ev_0001]", "[ev_0001:1]", "[ev_0001:3]", "[ev_0001:1-3]", "[ev_0001:1, 2-3]"]
)
def test_places_that_exist_are_no_findings(cited: str) -> None:
    assert codes(case_of(f"It is so {cited}.", THREE)) == []


@pytest.mark.parametrize("lines", ["0", "4", "3-4", "2-1", "999999999"])
def test_lines_that_do_not_exist(lines: str) -> None:
    (finding,) = citations(case_of(f"It is so [ev_0001:{lines}].", THREE))
    assert (finding.code, finding.label, finding.evidence) == ("no_such_lines", "wrong_evidence", "ev_0001")
    assert "ev_0001 has 3 lines" in finding.message
    assert f"no {lines};" in finding.message


def test_a_citation_names_so_many_lines_at_most() -> None:
    """So that an answer cannot have every check read a whole book for each of its sentences."""
    book = evidence_of("ev_0001", "It is so.\n" * (LINES_LIMIT + 1))
    assert codes(case_of(f"It is so [ev_0001:1-{LINES_LIMIT}].", book)) == []
    assert codes(case_of("It is so [ev_0001].", book)) == []
    case = case_of(f"It is so [ev_0001:1-{LINES_LIMIT + 1}].", book)
    (finding,) = citations(case)
    assert (finding.code, finding.label, finding.severity) == ("too_many_lines", "wrong_evidence", "hard")
    assert place_of(case, case.claims[0].cites[0]) is None


def test_the_shown_lines_must_exist_too() -> None:
    assert codes(case_of("It is so [ev_0001].", evidence_of("ev_0001", "one\n", last=9))) == ["no_such_lines"]
    assert codes(case_of("It is so [ev_0001].", evidence_of("ev_0001", ""))) == ["no_such_lines"]


def test_an_unknown_id() -> None:
    (finding,) = citations(case_of("It is so [ev_0002:1].", THREE))
    assert (finding.code, finding.label, finding.claim, finding.evidence) == (
        "unknown_evidence",
        "wrong_evidence",
        "c1",
        "ev_0002",
    )
    assert (finding.first, finding.last) == (1, 1)


def test_a_search_result_is_a_lead() -> None:
    (finding,) = citations(case_of("It is so [ev_0001:1].", evidence_of("ev_0001", "one\n", lead=True)))
    assert (finding.code, finding.label) == ("lead_cited", "invalid_source")
    assert finding.message == "A search result is a lead; cite the lines that were read."


def test_missing_bytes_say_why() -> None:
    digest = THREE[0].text.sha256
    case = case_of("It is so [ev_0001:1].", THREE)
    gone = msgspec.structs.replace(case, sources={}, unreadable={digest: "the blob is missing"})
    (finding,) = citations(gone)
    assert (finding.code, finding.detail) == ("bytes_missing", "the blob is missing")
    assert codes(msgspec.structs.replace(case, sources={})) == ["bytes_missing"]


def test_any_changed_byte_is_altered() -> None:
    case = case_of("It is so [ev_0001:1]. It is thus [ev_0001:2].", THREE)
    for place in range(len(THREE[1])):
        data = bytearray(THREE[1])
        data[place] ^= 1
        altered = msgspec.structs.replace(case, sources={THREE[0].text.sha256: SourceText(bytes(data))})
        assert codes(altered) == ["bytes_altered", "bytes_altered"]


def test_invalid_utf_8_is_no_alteration() -> None:
    broken = evidence_of("ev_0001", b"\xff\xfe one\n\x80\n")
    assert hashlib.sha256(broken[1]).hexdigest() == broken[0].text.sha256
    assert codes(case_of("It is so [ev_0001:1-2].", broken)) == []


def test_one_place_cited_twice_by_a_claim_is_told_once() -> None:
    assert codes(case_of("It is so [ev_0002:1][ev_0002:1].", THREE)) == ["unknown_evidence"]


@pytest.mark.parametrize("answer", ["", " \n\t"])
def test_an_empty_answer(answer: str) -> None:
    (finding,) = citations(case_of(answer))
    assert (finding.code, finding.claim) == ("empty_answer", "")


def test_as_many_citations_as_are_read_and_one_more() -> None:
    fits = "It is so [ev_0001:1].\n" * CITATION_LIMIT
    assert codes(case_of(fits, THREE)) == []
    assert codes(case_of(fits + "It is thus [ev_0001:2].", THREE)) == ["too_many_citations"]
    within = "It is so [ev_0001:1].\n" * (CITATION_LIMIT - 1) + "It is thus [ev_0001:2, 3]."
    assert codes(case_of(within, THREE)) == ["too_many_citations"]


def test_cited_lines_are_made_whole_once_for_all_checks_and_claims(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[int, int]] = []

    def counted(lines: Lines, first: int, last: int) -> Whole:
        made.append((first, last))
        return whole(lines, first, last)

    monkeypatch.setattr(source_text, "whole", counted)
    answer = "The offer is valid for 3 years [ev_0001:2][ev_0001:2]. " * 20 + "It ends in May [ev_0001:3]."
    case = case_of(
        answer, evidence_of("ev_0001", "Offers\nThe offer is valid for 3 years.\nIt ends in May.\n")
    )
    audit(case)
    assert sorted(made) == [(2, 2), (3, 3)]
