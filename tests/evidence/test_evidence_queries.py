"""What counts as the same query, what a query is after, and the query that an address carries."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.evidence.queries import (
    FAMILY_LIMIT,
    QUERY_LIMIT,
    family,
    is_package_index,
    is_search_engine,
    query_of_url,
    vector,
)


def test_order_case_and_inflection_make_no_new_family() -> None:
    key = family("Apple car release dates", [])
    assert key == "appl car date releas"
    for again in (
        "release date of the Apple car",
        "APPLE CARS released, date?",
        "Apple car release date 2025",
    ):
        assert family(again, [key]) == key


def test_other_words_are_another_family() -> None:
    key = family("Apple car release date", [])
    assert family("Apple vehicle launch announcement", [key]) != key
    assert family("tallest mountain", [key]) == "mountain tallest"


@pytest.mark.parametrize(
    "query",
    [
        "苹果 汽车 发布",
        "лекарство одобрено",
        "سيارة أبل",
        "애플 자동차",
        "क्या एप्पल",
        "the who",
        "🚗 🍏",
        "C++",
    ],
)
def test_a_query_in_any_script_has_a_family(query: str) -> None:
    key = family(query, [])
    assert key
    assert family(" ".join(reversed(query.split())), [key]) == key


def test_a_query_of_nothing_has_none() -> None:
    assert family("", ["appl car"]) == family(" \n ", ["appl car"]) == ""


def test_a_known_family_itself_goes_before_a_similar_one() -> None:
    assert family("red car", ["car", "car red"]) == "car red"
    assert family("blue car", ["car", "car red"]) == "car"


@given(st.text(max_size=600), st.lists(st.text(max_size=30), max_size=5))
def test_a_family_is_bounded_and_its_own_family(query: str, other: list[str]) -> None:
    known = [family(each, []) for each in other]
    key = family(query, known)
    assert len(key) <= FAMILY_LIMIT and key == key.strip() and "\n" not in key
    assert family(query, [*known, key]) == key


@given(st.lists(st.text("abcdefgh", min_size=1, max_size=12), min_size=1, max_size=80))
def test_the_order_of_words_never_counts(words: list[str]) -> None:
    assert family(" ".join(words), []) == family(" ".join(reversed(words)), [])


@pytest.mark.parametrize(
    ("text", "domain", "official", "intent"),
    [
        ("Apple car", "", False, "search"),
        ("Apple car official announcement", "", False, "ground_truth"),
        ("Apple Auto Pressemitteilung", "", False, "ground_truth"),
        ("苹果 汽车 官方", "", False, "ground_truth"),
        ("애플 자동차 공식", "", False, "ground_truth"),
        ("Apple car rumours", "", False, "context"),
        ("слухи об автомобиле", "", False, "context"),
        ("pressure of leakage", "", False, "search"),
        ("https://www.apple.com/", "apple.com", True, "ground_truth"),
        ("https://carbuzz.com/official-press/apple", "carbuzz.com", False, "general"),
        ("https://www.reddit.com/r/apple", "reddit.com", False, "context"),
        ("https://www.google.com/search?q=apple+car", "google.com", False, "search"),
        ("https://www.google.com/search?q=apple+car+leak", "google.com", False, "context"),
        ("", "", False, "general"),
    ],
)
def test_the_intent_of_a_query(text: str, domain: str, official: bool, intent: str) -> None:
    assert vector(text, domain, official) == intent


@pytest.mark.parametrize(
    ("url", "query"),
    [
        ("https://www.google.com/search?hl=en&q=apple+car%20release", "apple car release"),
        ("https://search.yahoo.com/search?p=apple+car", "apple car"),
        ("https://www.baidu.com/s?wd=%E8%8B%B9%E6%9E%9C", "苹果"),
        ("https://site.example/find?Query=apple", "apple"),
        ("https://site.example/?s=apple+car", "apple car"),
        ("https://x.com/status/1?s=20", ""),
        ("https://site.example/list?p=2", ""),
        ("https://pubchem.ncbi.nlm.nih.gov/compound/name/aspirin/JSON", "aspirin"),
        ("https://en.wikipedia.org/wiki/Apple_electric_car_project#History", "Apple electric car project"),
        ("https://site.example/search/apple%20car/2", "apple car"),
        ("https://site.example/search/index.php", ""),
        ("https://web.archive.org/web/2020/https://site.example/?q=apple", "apple"),
        ("https://site.example/a", ""),
        ("ftp://site.example/?q=apple", ""),
        ("not an address", ""),
        ("https://[", ""),
    ],
)
def test_an_address_may_carry_a_query(url: str, query: str) -> None:
    assert query_of_url(url) == query


@given(st.text(max_size=300))
def test_the_query_of_any_address_is_bounded_text(text: str) -> None:
    for url in (text, f"https://a.example/?q={text}", f"https://a.example/wiki/{text}"):
        query = query_of_url(url)
        assert len(query) <= QUERY_LIMIT and query == " ".join(query.split())


def test_search_engines_are_told_by_host() -> None:
    for host in ("google.com", "https://www.google.de/search?q=x", "html.duckduckgo.com", "search.brave.com"):
        assert is_search_engine(host), host
    for host in ("cloud.google.com", "notgoogle.com", "google.evl.com", "brave.com", "bing.com.evil.net", ""):
        assert not is_search_engine(host), host


def test_package_indexes_are_told_by_host() -> None:
    for host in (
        "pypi.org",
        "pypi.org:443",
        "files.pythonhosted.org.",
        "DE.archive.ubuntu.com",
        "index.crates.io",
    ):
        assert is_package_index(host), host
    for host in (
        "notpypi.org",
        "pypi.org.evil.net",
        "anaconda.org",
        "github.com",
        "https://evil.net/pypi.org",
        "",
    ):
        assert not is_package_index(host), host
