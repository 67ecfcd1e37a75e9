"""Which sources are one: addresses unwrapped to their registrable domain, and texts that hold each other."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.evidence.domains import registrable_domain, unwrap
from vera.evidence.independence import SourceDoc, clusters, containment


@pytest.mark.parametrize(
    ("wrapped", "inner"),
    [
        ("https://web.archive.org/web/20200101000000id_/https://a.com/x", "https://a.com/x"),
        ("https://web.archive.org/web/2020*/http://a.com", "http://a.com"),
        ("https://web.archive.org/https://a.com/x", "https://a.com/x"),
        ("https://archive.ph/2020.01.01-000000/https://a.com/x", "https://a.com/x"),
        ("https://webarchive.nationalarchives.gov.uk/ukgwa/20200101000000/https://a.uk/b", "https://a.uk/b"),
        ("https://www.google.com/amp/s/www.a.com/news", "https://www.a.com/news"),
        ("https://www-a-com.cdn.ampproject.org/c/s/www.a.com/news", "https://www.a.com/news"),
        ("https://webcache.googleusercontent.com/search?q=cache:abc:https://a.org/y+z", "https://a.org/y"),
        ("https://www.google.com/url?q=https://a.com/x&sa=1", "https://a.com/x"),
        ("https://duckduckgo.com/l/?uddg=https%3A%2F%2Fa.com%2Fx", "https://a.com/x"),
        ("https://my--site-org.translate.goog/wiki", "https://my-site.org/wiki"),
        ("https://r.jina.ai/https://a.de/a", "https://a.de/a"),
        (
            "https://web.archive.org/web/2020/https://www.google.com/url?q=https://web.archive.org/web/2019/http://d.com/",
            "http://d.com/",
        ),
    ],
)
def test_archives_caches_and_redirects_are_taken_off(wrapped: str, inner: str) -> None:
    assert unwrap(wrapped) == inner


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.com/web/20200101000000/https://nytimes.com/a",
        "https://www.google.com/search?q=nytimes.com",
        "https://archive.ph/AbCd1",
        "https://a.com/url?q=https://b.com",
        "/input/report.pdf",
        "",
    ],
)
def test_nothing_else_is_unwrapped(url: str) -> None:
    assert unwrap(url) == url


@pytest.mark.parametrize(
    ("url", "domain"),
    [
        ("https://news.bbc.co.uk/1", "bbc.co.uk"),
        ("HTTPS://WWW.BBC.co.uk.:443/x", "bbc.co.uk"),
        ("https://foo.github.io/a", "foo.github.io"),
        ("https://bücher.example/x", "xn--bcher-kva.example"),
        ("https://xn--bcher-kva.example/x", "xn--bcher-kva.example"),
        ("http://127.0.0.1:8000/x", "127.0.0.1:8000"),
        ("http://[::1]/x", "::1:80"),
        ("http://localhost:3000/", "localhost:3000"),
        ("https://web.archive.org/web/2020/https://news.bbc.co.uk/1", "bbc.co.uk"),
        ("http://[broken", ""),
        ("report.pdf", ""),
        ("mailto:a@b.example", ""),
        ("", ""),
    ],
)
def test_registrable_domains(url: str, domain: str) -> None:
    assert registrable_domain(url) == domain


@given(st.text(max_size=200))
def test_any_address_can_be_asked_about(url: str) -> None:
    unwrap(url)
    registrable_domain(url)
    registrable_domain(f"https://{url}")


RNG = random.Random(4)
VOCABULARY = [f"word{number}" for number in range(3000)]


def story(lines: int = 30) -> list[str]:
    return [" ".join(RNG.choices(VOCABULARY, k=14)) + "." for _ in range(lines)]


STORY = story()
EDITS = {
    "the same": STORY,
    "a quarter of boilerplate": STORY + story(8),
    "the first half": STORY[:15],
    "a third": STORY[10:20],
    "shuffled": RNG.sample(STORY, len(STORY)),
    "every twentieth word": [
        " ".join(w if n % 20 else "x" for n, w in enumerate(s.split(), 1)) for s in STORY
    ],
    "wrapped otherwise": " ".join(STORY).replace(" word1", "\nword1").split("\n"),
}


def doc(key: str, lines: list[str], url: str = "") -> SourceDoc:
    return SourceDoc(key=key, url=url or f"https://{key}.example/", text="\n".join(lines))


def groups(*docs: SourceDoc) -> list[tuple[str, ...]]:
    return [group.sources for group in clusters(docs)]


@pytest.mark.parametrize("edit", EDITS)
def test_an_edited_copy_is_a_copy(edit: str) -> None:
    (group,) = clusters([doc("a", STORY), doc("b", EDITS[edit])])
    assert group.links[0].shared >= 30 and group.links[0].domain == ""


def test_pages_on_other_things_are_independent() -> None:
    assert groups(doc("a", STORY), doc("b", story())) == [("a",), ("b",)]


def test_three_copies_of_a_wire_story_are_one_although_each_line_stands_three_times() -> None:
    assert groups(doc("a", STORY), doc("b", STORY), doc("c", STORY), doc("d", story())) == [
        ("a", "b", "c"),
        ("d",),
    ]


def test_pages_of_one_registrable_domain_are_one_whatever_their_text() -> None:
    found = clusters(
        [
            doc("a", STORY, "https://news.bbc.co.uk/1"),
            doc("b", story(), "https://web.archive.org/web/2020/https://www.bbc.co.uk/2"),
        ]
    )
    assert [(group.key, group.sources) for group in found] == [("bbc.co.uk", ("a", "b"))]
    assert found[0].links[0].domain == "bbc.co.uk"


def test_the_boilerplate_of_a_site_makes_no_copy() -> None:
    frame = story(20)
    site = [doc(f"p{n}", frame + story(6), f"https://site.example/{n}") for n in range(2)]
    other = doc("o", frame[:10] + story(6), "https://other.example/")
    assert groups(*site, other) == [("p0", "p1"), ("o",)]


def test_a_site_that_shows_a_story_twice_does_not_hide_its_copy() -> None:
    twice = [doc(f"p{n}", STORY, f"https://site.example/{n}") for n in range(2)]
    assert groups(*twice, doc("copy", STORY)) == [("p0", "p1", "copy")]


def test_short_lines_of_many_sites_and_the_wayback_banner_do_not_count() -> None:
    menu = ["Skip to main content here", "All rights reserved by us", "We use cookies on this site"] * 3
    banner = ["The Wayback Machine - https://web.archive.org/web/2020/https://x.example/", "12 captures"]
    docs = [doc(key, [*banner, *menu, *story(2)]) for key in "abc"]
    assert groups(*docs) == [("a",), ("b",), ("c",)]


def test_one_common_sentence_makes_no_copies_of_short_pages() -> None:
    common = "The minister said that the bridge will open in spring."
    one = [common, "A commuter waits here every single day for a boat that is always late."]
    two = [common, "Engineers tested cables under heavy load while winter storms passed over them."]
    assert groups(doc("a", one), doc("b", two)) == [("a",), ("b",)]
    assert groups(doc("a", ["Closed."]), doc("b", ["closed"])) == [("a", "b")]


def test_chinese_text_is_compared_by_characters() -> None:
    text = "".join(chr(0x4E00 + RNG.randrange(2000)) for _ in range(300))
    assert groups(doc("a", [text]), doc("b", [text[50:200]])) == [("a", "b")]


def test_containment_is_of_the_smaller_set() -> None:
    whole, part = set(range(40)), set(range(12, 20))
    assert containment(whole, part) == containment(part, whole) == 1
    assert containment(whole, set()) == 0


def test_nothing_and_empty_texts_give_no_copies() -> None:
    assert clusters([]) == ()
    assert groups(doc("a", []), doc("b", [])) == [("a",), ("b",)]
