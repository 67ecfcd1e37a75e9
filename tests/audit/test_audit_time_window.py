"""With a time window, a cited page must have been published within it."""

from typing import Any

import pytest

from support.audits import case_of, evidence_of, page_of
from vera.audit.case import AuditPolicy
from vera.audit.checks.time_window import time_window

YEAR = AuditPolicy(not_before="2021-01-01", not_after="2021-12-31T23:59:59Z")


def told(text: str, policy: AuditPolicy = YEAR, **fields: Any) -> list[tuple[str, str, str]]:
    page = page_of("ev_1", text, **fields)
    findings = time_window(case_of("It is so [ev_1:1].", page, policy=policy))
    return [(each.code, each.severity, each.detail) for each in findings]


@pytest.mark.parametrize(
    "line",
    [
        "Published 3 May {year}",
        "Published on May 3rd, {year}",
        "Published: {year}-05-03T10:00:00Z",
        "First published Monday, 3 May {year}",
        "Posted by Ann Lee on 3 May {year}",
        "By Ann Lee | Posted on 03/05/{year}",
        "Publication date\n{year}-05-03",
        "Published May {year}",
    ],
)
def test_dates_within_and_outside(line: str) -> None:
    assert told("Title\n" + line.format(year=2021) + "\nText.\n") == []
    for year in (2020, 2022):
        ((code, severity, detail),) = told("Title\n" + line.format(year=year) + "\nText.\n")
        assert (code, severity) == ("outside_window", "hard")
        assert str(year) in detail


def test_title_and_address_hold_dates_too() -> None:
    assert told("Text.\n", title="Acme (published 3 May 2020)")[0][0] == "outside_window"
    assert told("Text.\n", source="https://news.example/2020/05/03/acme")[0][2] == "2020-05-03"
    assert told("Text.\n", source="https://news.example/2021/05/03/acme") == []


def test_the_first_date_beside_the_word_counts() -> None:
    assert told("Published 3 May 2021\nUpdated 4 June 2022\nRelated: published 1 May 2019\n") == []


@pytest.mark.parametrize(
    "text",
    [
        "Acme was founded on 3 May 1997.\n",
        "3 May 1997\n",
        "Published 99 May 1997\n",
        "x\n" * 60 + "Published 3 May 1997\n",
        "",
    ],
)
def test_what_shows_no_publication_date(text: str) -> None:
    assert [each[:2] for each in told(text + "Text.\n")] == [("no_date", "soft")]


def test_a_date_that_can_be_read_in_two_ways_is_outside_only_if_both_are() -> None:
    window = AuditPolicy(not_before="2021-04-01")
    assert told("Published 03/05/2021\n", window) == []
    assert told("Published 01/02/2021\n", window)[0][0] == "outside_window"


def test_one_bound_is_enough() -> None:
    assert told("Published 3 May 2030\n", AuditPolicy(not_before="2021")) == []
    assert told("Published 3 May 2020\n", AuditPolicy(not_before="2021"))[0][0] == "outside_window"
    assert told("Published 3 May 2021\n", AuditPolicy(not_after="2021-05")) == []
    assert told("Published 3 June 2021\n", AuditPolicy(not_after="2021-05"))[0][0] == "outside_window"


def test_nothing_fires_without_a_window_or_on_files() -> None:
    assert told("Published 3 May 1997\n", AuditPolicy()) == []
    file = evidence_of("ev_1", "Published 3 May 1997\n")
    assert list(time_window(case_of("It is so [ev_1:1].", file, policy=YEAR))) == []


def test_a_window_that_is_no_date_is_said() -> None:
    assert told("Published 3 May 2021\n", AuditPolicy(not_before="last year")) == [
        ("bad_window", "hard", "last year")
    ]


def test_each_claim_on_the_page_is_told() -> None:
    page = page_of("ev_1", "Published 3 May 1997\n")
    findings = time_window(case_of("It is so [ev_1:1]. It is thus [ev_1:1].", page, policy=YEAR))
    assert [each.claim for each in findings] == ["c1", "c2"]


def test_metadata_date_a_page_that_shows_no_date_and_a_file() -> None:
    assert told("Text.\n", dated="2010-05-03")[0][::2] == ("outside_window", "2010-05-03")
    assert told("Text.\n", dated="2021-05-03") == []
    assert told("Text.\n", dated="2021") == []
    assert told("Published 3 May 2021\n", dated="2010-05-03") == []
    assert told("Text.\n", dated="nonsense/2010")[0][0] == "no_date"
    file = evidence_of("ev_1", "Text.\n", dated="2010")
    ((finding),) = time_window(case_of("It is so [ev_1:1].", file, policy=YEAR))
    assert finding.code == "outside_window"


def test_what_only_says_when_it_was_changed_was_published_by_then() -> None:
    assert told("Text.\n", dated="../2010-05-03")[0][::2] == ("outside_window", "by 2010-05-03")
    assert told("Text.\n", dated="../2024-05-03") == []
    assert told("Text.\n", dated="2009-01-01/2010-05-03")[0][0] == "outside_window"
    assert told("Text.\n", dated="2009-01-01/2024-05-03") == []


def test_a_date_that_no_reader_sees_does_not_count() -> None:
    text = "Published 3 May 2021\nText.\n"
    assert told(text, marks=(("hidden", 0, 20),))[0][0] == "no_date"
