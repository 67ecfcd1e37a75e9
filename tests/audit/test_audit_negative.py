"""What is denied must have been looked for, or be denied by a cited line; what is all must be listed."""

import msgspec
import pytest

from support.audits import case_of, evidence_of, page_of
from vera.audit.case import Case, Lookup
from vera.audit.checks.negative import negative
from vera.audit.negative import (
    asks_complete_set,
    is_negative,
    items,
    official_names,
    says_complete_set,
    searches,
)
from vera.events import Derivation, Evidence
from vera.evidence.claim import Claim
from vera.evidence.finding import Finding
from vera.evidence.official import owner


@pytest.mark.parametrize(
    "text",
    [
        "Apple has not released a car.",
        "Apple hasn't released a car",
        "Never has Apple released a car.",
        "No.",
        "No, it has not.",
        "None are approved.",
        "No drug is approved for it.",
        "The Concorde was never certified in Brazil.",
        "The licence does not cover patents.",
        "Apple has yet to release a car.",
        "Es gibt keine Zulassung.",
        "没有批准的药物",
    ],
)
def test_a_denial_is_negative(text: str) -> None:
    assert is_negative(text)


@pytest.mark.parametrize(
    "text",
    [
        "Write a summary; do not use Wikipedia",
        "Write a summary of the Python docs; do not use Wikipedia.",
        "Please do not guess.",
        "Has Apple released a car yet?",
        "It is not only fast but cheap.",
        "No. 5 is a perfume.",
        "It closes no later than 5 May.",
        "Not all members signed.",
        "He said “I did not do it” in court.",
        "The bridge opened in 1990.",
        "He declined because he did not want to leave.",
        "The university is a not-for-profit one.",
        "The knot is tied in the north.",
    ],
)
def test_what_denies_nothing_is_not_negative(text: str) -> None:
    assert not is_negative(text)


@pytest.mark.parametrize(
    ("question", "asks"),
    [
        ("List all members of the EU.", True),
        ("How many moons does Mars have?", True),
        ("Give a complete list of the stations.", True),
        ("Which countries are there in the EU?", True),
        ("What is the height of K2?", False),
        ("Write a summary of all this.", False),
        ("Find all information about K2.", False),
    ],
)
def test_a_question_may_ask_for_all(question: str, asks: bool) -> None:
    assert asks_complete_set(question) is asks


def test_an_answer_may_say_that_it_names_all() -> None:
    assert says_complete_set("The only survivor was Anna.")
    assert says_complete_set("All members are A, B and C.")
    assert not says_complete_set("The members met in May.")
    assert items("All members are Austria, Belgium and Czechia.") == ("Austria", "Belgium", "Czechia")
    assert items("It opened in 1937.") == ()


QUESTION = "Has Apple released a car yet?"
CLAIM = "Apple has not released a car [ev_0001:1] [ev_0002:1]."
PAGES = (
    page_of(
        "ev_0001",
        "Our products are phones and computers.\n",
        "https://www.apple.com/",
        title="Apple products",
    ),
    page_of("ev_0002", "Vehicle recalls, by maker.\n", "https://www.nhtsa.gov/apple-car", title="Recalls"),
    page_of("ev_0003", "What became of the car.\n", "https://cars.example/apple-car", title="The Apple car"),
    evidence_of("ev_0004", "hits\n", lead=True),
    evidence_of("ev_0005", "hits\n", lead=True),
)


def lookup(query: str, evidence: str = "ev_0004", tool: str = "brave_search") -> Lookup:
    return Lookup(tool=tool, query=query, evidence=evidence, hits=5)


TWO = (lookup("Apple car release date"), lookup("Apple vehicle launch announcement", "ev_0005"))


def web_case(
    answer: str = CLAIM, lookups: tuple[Lookup, ...] = TWO, pages: tuple[tuple[Evidence, bytes], ...] = PAGES
) -> Case:
    return msgspec.structs.replace(case_of(answer, *pages, task=QUESTION), lookups=lookups)


def codes(case: Case) -> list[tuple[str, str]]:
    return [(finding.severity, finding.code) for finding in negative(case)]


def only(case: Case) -> Finding:
    (found,) = negative(case)
    return found


def test_a_negative_claim_with_searches_official_and_independent_pages_is_covered() -> None:
    assert codes(web_case()) == []


def test_a_bare_no_is_about_the_question() -> None:
    assert codes(web_case("No [ev_0001:1] [ev_0002:1].")) == []
    assert codes(web_case("No [ev_0001:1].", lookups=())) == [("hard", "coverage_missing")]


def test_without_searches_it_is_not_covered() -> None:
    found = only(web_case(lookups=()))
    assert (found.severity, found.code, found.label) == ("hard", "coverage_missing", "generic_search")
    assert "materially different words" in found.message and "apple" in found.message


@pytest.mark.parametrize(
    "second",
    [
        "release date of the Apple car",
        "car apple release dates",
        "Apple car release date 2025",
        "tallest mountain",
    ],
)
def test_the_same_search_again_or_one_on_something_else_is_no_second_family(second: str) -> None:
    assert codes(web_case(lookups=(TWO[0], lookup(second, "ev_0005")))) == [("hard", "coverage_missing")]


def test_a_search_without_a_receipt_does_not_count() -> None:
    assert codes(web_case(lookups=(TWO[0], lookup("Apple vehicle launch", "ev_0099")))) == [
        ("hard", "coverage_missing")
    ]


def test_two_official_domains_are_needed_and_one_independent() -> None:
    assert "official" in only(web_case(pages=(PAGES[0], *PAGES[2:]))).message
    assert "independent" in only(web_case(pages=(*PAGES[:2], *PAGES[3:]))).message


def test_a_page_that_did_not_answer_is_no_coverage() -> None:
    gone = page_of("ev_0003", "Gone.\n", "https://cars.example/apple-car", title="Apple car", http_status=404)
    assert codes(web_case(pages=(*PAGES[:2], gone, *PAGES[3:]))) == [("hard", "coverage_missing")]


def test_a_site_is_official_by_its_whole_name_only() -> None:
    names = official_names(f"Apple has not released a car\n{QUESTION}")
    assert names == {"apple"}
    assert all(
        owner(domain, names=names).official for domain in ("apple.com", "sec.gov", "who.int", "w3.org")
    )
    sites = ("hashnode.dev", "chase.com", "carbuzz.com", "car.com", "apple-news.info", "notgov.com")
    assert not any(owner(domain, names=names).official for domain in sites)


LICENCE = evidence_of(
    "ev_0001", "Terms\nThis licence does not grant any patent rights.\nIt covers copyright.\n"
)


def test_a_denial_that_the_cited_line_makes_itself_needs_no_coverage() -> None:
    assert codes(case_of("The licence does not grant patent rights [ev_0001:2].", LICENCE)) == []


def test_a_denial_that_the_cited_line_does_not_make_needs_it() -> None:
    answer = "The licence does not cover trademarks [ev_0001:3]."
    asked = case_of(answer, LICENCE, task="What does the licence cover?")
    assert codes(asked) == [("hard", "coverage_missing")]
    assert codes(case_of(answer, LICENCE)) == [("soft", "coverage_missing")]


def test_about_local_files_two_searches_of_them_suffice() -> None:
    hits = evidence_of("ev_0002", "0 hits\n", lead=True)
    case = case_of("No licence covers trademarks [ev_0001:3].", LICENCE, hits)
    first = lookup("licence trademark", "ev_0002", "search")
    second = lookup("trademarks covered logo brand", "ev_0002", "search")
    assert codes(msgspec.structs.replace(case, lookups=(first,))) == [("hard", "coverage_missing")]
    assert codes(msgspec.structs.replace(case, lookups=(first, second))) == []


def test_a_task_that_forbids_something_makes_no_claim_negative() -> None:
    case = case_of(
        "Python is a language [ev_0001:1].",
        evidence_of("ev_0001", "Python is a language.\n"),
        task="Write a summary of the Python docs; do not use Wikipedia.",
    )
    assert codes(case) == []


def test_what_a_command_printed_again_was_found_by_looking_at_everything() -> None:
    printed = evidence_of("ev_0001", "0 matches\n", tier="observed", tool="shell")
    case = case_of("No file holds the word [ev_0001:1].", printed, task="Which files hold the word?")
    assert codes(case) == [("hard", "coverage_missing")]
    again = Derivation(round=1, evidence="ev_0001", command="grep", outcome="same")
    assert codes(msgspec.structs.replace(case, derivations={"ev_0001": again})) == []


def test_a_complete_set_needs_lines_that_list_it() -> None:
    page = evidence_of(
        "ev_0001", "Members\nThe members are Austria, Belgium and Czechia.\nAustria joined in 1995.\n"
    )
    assert codes(case_of("All members are Austria, Belgium and Czechia [ev_0001:2].", page)) == []
    (found,) = negative(case_of("All members are Austria, Belgium and Czechia [ev_0001:3].", page))
    assert (found.severity, found.code, found.label) == ("soft", "set_unproven", "premature_conclusion")
    asked = "List all members of the club."
    assert codes(case_of("They are Austria, Belgium and Czechia [ev_0001:3].", page, task=asked)) == [
        ("soft", "set_unproven")
    ]


def test_the_only_one_is_proven_by_a_line_that_says_so() -> None:
    page = evidence_of("ev_0001", "Anna was the only survivor of the wreck.\nAnna survived the wreck.\n")
    assert codes(case_of("The only survivor of the wreck was Anna [ev_0001:1].", page)) == []
    assert codes(case_of("The only survivor of the wreck was Anna [ev_0001:2].", page)) == [
        ("soft", "set_unproven")
    ]


def test_searches_may_be_in_any_script() -> None:
    made = (lookup("苹果 汽车 发布"), lookup("发布 苹果 汽车"), lookup("лекарство одобрено"))
    case = case_of("苹果 没有 发布 汽车; лекарство не одобрено.", evidence_of("ev_0004", "hits\n", lead=True))
    claim = Claim(key="c1", text=case.answer, start=0, end=len(case.answer))
    families = searches(msgspec.structs.replace(case, lookups=made), claim).families
    assert families == ("苹果 汽车 发布", "лекарство одобрено")
