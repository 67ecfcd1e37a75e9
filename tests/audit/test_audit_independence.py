"""A statement about the web needs two sources that do not come from one hand; a file needs no second."""

import random

import msgspec
import pytest

from support.audits import case_of, evidence_of, page_of
from vera.audit.case import AuditPolicy
from vera.audit.checks.independence import independence
from vera.events import Evidence
from vera.evidence.asked_pages import MAX_NAMED, asked_sources, named_pages, page_key
from vera.evidence.finding import Finding

RNG = random.Random(7)
ANSWER = "The bridge opened in 1937 [ev_0001:1] [ev_0002:1]."


def text(words: int = 120) -> str:
    return "The bridge opened in 1937.\n" + " ".join(f"w{RNG.randrange(5000)}" for _ in range(words)) + "\n"


def findings(
    answer: str,
    *sources: tuple[Evidence, bytes],
    needed: int = 2,
    task: str = "",
    official: tuple[str, ...] = (),
) -> list[Finding]:
    policy = AuditPolicy(web_sources=needed, official_domains=official)
    return list(independence(case_of(answer, *sources, task=task, policy=policy)))


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


ONE = "The bridge opened in 1937 [ev_0001:1]."


@pytest.mark.parametrize(
    "task",
    [
        "What does https://a.example/report say of the bridge?",
        "When did it open (see http://www.A.example/report/)?",
        "Quote https://a.example:443/report#opening, please.",
    ],
)
def test_a_page_that_the_task_names_needs_no_second_publisher(task: str) -> None:
    assert findings(ONE, page_of("ev_0001", text(), "https://a.example/report"), task=task) == []
    archived = page_of("ev_0001", text(), "https://web.archive.org/web/2020/https://a.example/report")
    assert findings(ONE, archived, task=task) == []


@pytest.mark.parametrize(
    ("address", "task"),
    [
        ("https://a.example/report-2", "What does https://a.example/report say?"),
        ("https://a.example/report?p=2", "What does https://a.example/report say?"),
        ("https://b.example/report", "What does https://a.example/report say?"),
        ("https://a.example/report", "What does a.example say?"),
        ("https://a.example/report", "What does ftp://a.example/report say?"),
        ("https://b.example/?u=https://a.example/report", "What does https://a.example/report say?"),
    ],
)
def test_another_page_needs_one_and_is_told(address: str, task: str) -> None:
    found = findings(ONE, page_of("ev_0001", text(), address), task=task)
    names_a_page = "https://" in task
    assert [finding.code for finding in found] == [
        "not_independent",
        *["asked_source_uncited"] * names_a_page,
    ]


def test_two_other_publishers_suffice_and_it_is_said_that_the_named_page_is_not_cited() -> None:
    pages = page_of("ev_0001", text(), "https://b.example/"), page_of("ev_0002", text(), "https://c.example/")
    (found,) = findings(ANSWER, *pages, task="What does https://a.example/report say?")
    assert (found.severity, found.code) == ("soft", "asked_source_uncited")


def test_who_asks_for_more_sources_than_usual_gets_them() -> None:
    page = page_of("ev_0001", text(), "https://a.example/report")
    (found,) = findings(ONE, page, task="What does https://a.example/report say?", needed=3)
    assert found.code == "not_independent"


def test_a_page_that_answered_with_an_error_does_not_suffice() -> None:
    page, data = page_of("ev_0001", text(), "https://a.example/report")
    failed = msgspec.structs.replace(page, http_status=404)
    found = findings(ONE, (failed, data), task="What does https://a.example/report say?")
    assert "not_independent" in [finding.code for finding in found]


def test_addresses_are_bounded_and_odd_ones_are_none() -> None:
    assert named_pages(" ".join(f"https://a.example/{n}" for n in range(MAX_NAMED + 1))) == frozenset()
    assert named_pages("http://[::1 http://a.example:99999/ https://") == frozenset()
    assert page_key("report.txt") == page_key("") == page_key("https:///x") == ""
    assert page_key("HTTPS://WWW.A.example:443/x/?q=1#y") == "a.example/x?q=1"


OFFICIAL = "When did it open? Use the official source."


@pytest.mark.parametrize(
    "task",
    [
        OFFICIAL,
        "What does the official project website say of the bridge?",
        "Was sagt die offizielle Quelle über die Brücke?",
        "Que dit le site officiel du pont ?",
    ],
)
def test_a_listed_page_suffices_where_the_official_source_is_asked_for(task: str) -> None:
    page = page_of("ev_0001", text(), "https://www.bridge.example/history")
    assert findings(ONE, page, task=task, official=("bridge.example",)) == []
    (found,) = findings(ONE, page, task="When did it open?", official=("bridge.example",))
    assert found.code == "not_independent"
    (found,) = findings(ONE, page, task=task, official=("bridge.example",), needed=3)
    assert found.code == "not_independent"


@pytest.mark.parametrize(
    "address",
    [
        "https://stranger.example/official-source",
        "https://bridge.example.stranger.example/",
        "https://official-bridge.example/",
        "https://stranger.example/?u=https://bridge.example/",
        "https://bridge.example@stranger.example/",
    ],
)
def test_a_stranger_cannot_make_itself_the_official_source(address: str) -> None:
    page = page_of("ev_0001", "This is the official source of bridge.example.\n" + text(), address)
    found = findings(
        "The bridge opened in 1937 [ev_0001:2].", page, task=OFFICIAL, official=("bridge.example",)
    )
    assert [each.code for each in found] == ["not_independent", "asked_source_uncited"]


def test_without_a_list_two_publishers_are_needed_and_it_is_said_why() -> None:
    page = page_of("ev_0001", text(), "https://bridge.example/")
    (found,) = findings(ONE, page, task=f"{OFFICIAL} That is bridge.example.")
    assert found.code == "not_independent" and "policy.official_domains" in found.message
    pages = page, page_of("ev_0002", text(), "https://b.example/")
    assert findings(ANSWER, *pages, task=OFFICIAL) == []


@pytest.mark.parametrize(
    "task", ["Do not use the official site.", "What do unofficial sources say?", "Who is the official?"]
)
def test_other_words_do_not_ask_for_the_official_source(task: str) -> None:
    assert not asked_sources(task, ("bridge.example",)).official
