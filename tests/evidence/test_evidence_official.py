"""Who speaks officially is told by the registered domain, never by a word inside a host name."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.evidence.official import official_names, owner

APPLE = official_names("Has Apple released a car yet?")
CLASSES = {"official", "regulatory", "registry", "primary_literature", "commentary", "search", "unknown"}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Has Apple released a car yet?", {"apple"}),
        ("Car makers have said that Apple builds a car.", {"apple"}),
        ("Did the World Bank lend it?", {"world", "bank", "worldbank"}),
        ("Write a summary of what Nestlé said by Monday.", {"nestlé", "nestle"}),
        ("Hat die Müller AG zugestimmt?", {"hat", "müller", "muller", "mueller"}),
        ("苹果发布汽车了吗？", set()),
    ],
)
def test_the_names_of_a_question(text: str, names: set[str]) -> None:
    found = official_names(text)
    assert names <= found if "AG" in text else found == names


@pytest.mark.parametrize(
    "domain", ["apple.com", "developer.apple.com", "apple.de", "https://www.apple.com/newsroom/"]
)
def test_the_subject_owns_the_domain_of_its_name(domain: str) -> None:
    found = owner(domain, names=APPLE)
    assert (found.official, found.source_class) == (True, "official")
    assert found.reason.startswith("The name of apple.")


@pytest.mark.parametrize(
    "domain",
    [
        "carbuzz.com", "hashnode.dev", "chase.com", "car.com", "apple.com.evil.net", "apple-news.com",
        "apple.evil.net", "notapple.com", "apple.github.io", "apple.uk.com", "evil.net/apple.com",
        "https://evil.net/?apple.com", "https://evil.net\\@apple.com/", "notgov.com", "gov.evil.com",
        "eu.com", "company.eu", "127.0.0.1", "localhost", "", "  ", "http://", "a" * 5000,
    ],
)  # fmt: skip
def test_a_word_inside_an_address_makes_nobody_official(domain: str) -> None:
    assert not owner(domain, names=APPLE).official


def test_a_path_and_userinfo_own_nothing() -> None:
    assert not owner("https://apple.com@evil.net/", names=APPLE).official
    assert not owner("https://evil.net#@apple.com/", names=APPLE).official


@pytest.mark.parametrize(
    "domain",
    ["sec.gov", "who.int", "www.gov.uk", "fda.gov", "europa.eu", "ema.europa.eu", "w3.org", "un.org"],
)
def test_public_bodies_speak_officially(domain: str) -> None:
    found = owner(domain, names=APPLE)
    assert (found.official, found.source_class) == (True, "regulatory")


def test_an_archive_is_the_site_that_it_keeps() -> None:
    assert owner("https://web.archive.org/web/2020/https://www.apple.com/", names=APPLE).official


def test_a_person_may_list_official_domains() -> None:
    listed = frozenset({"https://www.Beats.com/", "news.example.org", "127.0.0.1:8001"})
    for domain in (
        "beats.com",
        "shop.beats.com",
        "news.example.org",
        "127.0.0.1:8001",
        "http://127.0.0.1:8001/x",
    ):
        found = owner(domain, names=frozenset(), official_domains=listed)
        assert (found.official, found.source_class) == (True, "official"), domain
        assert "listed as official by a person" in found.reason
    for domain in ("beats.com.evil.net", "example.org", "127.0.0.1:8002", "notbeats.com"):
        assert not owner(domain, names=frozenset(), official_domains=listed).official, domain


@pytest.mark.parametrize(
    ("domain", "kind"),
    [
        ("pubchem.ncbi.nlm.nih.gov", "registry"), ("clinicaltrials.gov", "registry"),
        ("pubmed.ncbi.nlm.nih.gov", "primary_literature"), ("doi.org", "primary_literature"),
        ("www.nature.com", "primary_literature"), ("en.wikipedia.org", "commentary"),
        ("old.reddit.com", "commentary"), ("someone.github.io", "commentary"), ("notreddit.com", "unknown"),
        ("www.google.co.uk", "search"), ("search.brave.com", "search"), ("brave.com", "unknown"),
        ("google.evl.com", "unknown"), ("example.com", "unknown"),
    ],
)  # fmt: skip
def test_the_class_of_a_source_comes_from_small_tables(domain: str, kind: str) -> None:
    found = owner(domain, names=APPLE)
    assert found.source_class == kind
    assert found.reason.endswith(".")


def test_the_subject_s_own_site_is_official_whatever_else_it_is() -> None:
    assert owner("google.com", names=official_names("Has Google launched it?")).source_class == "official"
    assert owner("reddit.com", names=official_names("Has Reddit launched it?")).official


@given(st.text(max_size=300), st.frozensets(st.text(max_size=20), max_size=5))
def test_any_text_has_an_owner(domain: str, listed: frozenset[str]) -> None:
    found = owner(domain, names=official_names(domain), official_domains=listed)
    assert found.source_class in CLASSES
    assert found.reason
