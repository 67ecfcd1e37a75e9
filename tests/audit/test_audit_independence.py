"""A statement about the web needs two sources that do not come from one hand; a file needs no second."""

import random

import pytest

from support.audits import case_of, evidence_of, page_of
from vera.audit.case import AuditPolicy
from vera.audit.checks.independence import independence
from vera.events import Evidence
from vera.evidence.finding import Finding

RNG = random.Random(7)
ANSWER = "The bridge opened in 1937 [ev_0001:1] [ev_0002:1]."


def text(words: int = 120) -> str:
    return "The bridge opened in 1937.\n" + " ".join(f"w{RNG.randrange(5000)}" for _ in range(words)) + "\n"


def findings(answer: str, *sources: tuple[Evidence, bytes], needed: int = 2) -> list[Finding]:
    return list(independence(case_of(answer, *sources, policy=AuditPolicy(web_sources=needed))))


def test_two_publishers_suffice() -> None:
    pages = page_of("ev_0001", text(), "https://a.example/"), page_of("ev_0002", text(), "https://b.example/")
    assert findings(ANSWER, *pages) == []


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("https://news.bbc.co.uk/1", "https://www.bbc.co.uk/2"),
        ("https://a.example/1", "https://web.archive.org/web/2020/https://a.example/2"),
    ],
)
def test_two_pages_of_one_registrable_domain_are_one(first: str, second: str) -> None:
    (found,) = findings(ANSWER, page_of("ev_0001", text(), first), page_of("ev_0002", text(), second))
    assert (found.severity, found.code, found.label) == ("hard", "not_independent", "copied_source")
    assert "ev_0001 and ev_0002 are both of" in found.message


def test_two_copies_of_one_story_are_one() -> None:
    story = text()
    (found,) = findings(
        ANSWER,
        page_of("ev_0001", story, "https://a.example/"),
        page_of("ev_0002", "Wire news\n" + story, "https://b.example/"),
    )
    assert "copies of each other" in found.message


def test_the_same_text_at_two_addresses_counts_once() -> None:
    story = text()
    (found,) = findings(
        ANSWER,
        page_of("ev_0001", story, "https://a.example/"),
        page_of("ev_0002", story, "https://b.example/"),
    )
    assert "are the same text" in found.message


def test_one_page_is_not_enough_unless_the_policy_says_so() -> None:
    page = page_of("ev_0001", text())
    (found,) = findings("The bridge opened in 1937 [ev_0001:1].", page)
    assert "no other is cited" in found.message
    assert findings("The bridge opened in 1937 [ev_0001:1].", page, needed=1) == []


def test_a_file_is_primary_and_suffices_alone_or_beside_a_page() -> None:
    file, page = evidence_of("ev_0001", text()), page_of("ev_0002", text())
    assert findings("The bridge opened in 1937 [ev_0001:1].", file) == []
    assert findings(ANSWER, file, page) == []


@pytest.mark.parametrize("fields", [{"tier": "observed"}, {"lead": True}, {"http_status": 404}])
def test_output_of_the_box_search_hits_and_error_pages_do_not_count(fields: dict[str, object]) -> None:
    found = findings(
        ANSWER,
        page_of("ev_0001", text(), "https://a.example/"),
        page_of("ev_0002", text(), "https://b.example/", **fields),
    )
    assert [finding.code for finding in found] == ["not_independent"]


def test_each_statement_is_judged_by_its_own_citations() -> None:
    case = case_of(
        "The bridge opened in 1937 [ev_0001:1] [ev_0002:1]. It has 6 lanes [ev_0001:1].",
        page_of("ev_0001", text(), "https://a.example/"),
        page_of("ev_0002", text(), "https://b.example/"),
    )
    assert [finding.claim for finding in independence(case)] == ["c2"]


def test_without_web_sources_nothing_is_said() -> None:
    assert findings("The bridge opened in 1937.") == []
