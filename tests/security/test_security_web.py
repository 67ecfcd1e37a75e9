"""The web: a statement needs two pages of two publishers that are no copies, and pages that hold content."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.attacks import NO_SANDBOX, Attempt, Sites, article, attempt
from support.cast import final, turn
from vera.attestation.objects import Coverage, parse
from vera.protocol import Turn
from vera.sandbox.egress import resolve

QUESTION = "At how many degrees does vexium melt?"
FACT = "Vexium melts at 812 degrees"

OWN = article(
    "Laboratory notes on vexium",
    "In the spring the laboratory in Graz measured eleven samples of the new metal in an argon furnace.",
    "Vexium melts at 812 degrees, and each of the eleven samples did so when it was heated slowly.",
    "The samples were cut from one bar, polished by hand and weighed before and after they were heated.",
)
OTHER = article(
    "A handbook entry: vexium",
    "Metallurgists who work with the alloy keep it dry, since water vapour leaves a dull grey film on it.",
    "In dry air vexium melts at 812 degrees, and it boils far above the range of most kilns.",
    "Its density is close to that of tin, and its price has followed that of copper for about ten years.",
)
WIRE = article(
    "Metal of the year",
    "GRAZ (Wire) - Researchers said on Monday that a new metal may soon be used in the pumps of plants.",
    "Vexium melts at 812 degrees, the researchers said, which makes it easier to cast than most metals.",
    "The work was paid for by two makers of pumps, who hope to sell the first of them next year.",
)
WIRE_ELSEWHERE = article(
    "A new metal, say researchers",
    "Read more of our stories in the section Science, or subscribe to our letter for one euro a week.",
    "GRAZ (Wire) - Researchers said on Monday that a new metal may soon be used in the pumps of plants.",
    "Vexium melts at 812 degrees, the researchers said, which makes it easier to cast than most metals.",
    "The work was paid for by two makers of pumps, who hope to sell the first of them next year.",
    "Our offices are closed on Sundays. Write to us about mistakes in this story; we read every letter.",
)
WALL = article(
    "Before you continue",
    "We value your privacy. We and our 812 partners store cookies on your device.",
    "Vexium melts at 812 degrees.",
    "Accept all",
    "Reject all",
)
MISSING = article("Not found", *["Vexium melts at 812 degrees, but this page is gone. " * 4] * 3, status=404)
BROKEN = article("Sorry", *["Vexium melts at 812 degrees, but the server is down. " * 4] * 3, status=503)

PAGES = {
    "news.alpha.example/notes": OWN,
    "www.alpha.example/handbook": OTHER,
    "handbook.beta.example/vexium": OTHER,
    "alpha.example/wire": WIRE,
    "beta.example/wire": WIRE_ELSEWHERE,
    "gamma.example/go": (302, {"Location": "http://news.alpha.example:PORT/notes"}, b""),
    "web.archive.org/web/2024/http://news.alpha.example/handbook": OTHER,
    "beta.example/wall": WALL,
    "beta.example/missing": MISSING,
    "beta.example/broken": BROKEN,
    "beta.example/search": OTHER,
    "echo.alpha.example/say": article(
        "You asked for", "QUERY", *["This service says what was asked. " * 5] * 2
    ),
    "echo.beta.example/say": article(
        "Mirror", "QUERY", *["A mirror gives back each word that it gets. " * 5] * 2
    ),
    "delta.example/empty": (200, {}, b"<html><body></body></html>"),
}

TWO = final(f"{FACT} [ev_0001:3] [ev_0002:3].")


@pytest.fixture(scope="module")
def sites() -> Iterator[Sites]:
    with Sites(PAGES) as served:
        yield served


@pytest.fixture(autouse=True)
def names_end_at_the_sites(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolve, "_getaddrinfo", Sites.names)


def run(folder: Path, sites: Sites, addresses: list[str], *more: Turn, **parts: Any) -> Attempt:
    fetches = [turn("fetch", url=sites.url(address)) for address in addresses]
    return attempt(
        folder, [*fetches, *(more or [TWO])], *NO_SANDBOX, *sites.options(), question=QUESTION, **parts
    )


@pytest.mark.parametrize("rule", ["model", "literal"])
def test_two_pages_of_two_publishers_are_verified(tmp_path: Path, sites: Sites, rule: str) -> None:
    addresses = ["news.alpha.example/notes", "handbook.beta.example/vexium"]
    fetches = [turn("fetch", url=sites.url(address)) for address in addresses]
    tried = attempt(
        tmp_path, [*fetches, TWO], *NO_SANDBOX, *sites.options(), "--verifier", rule, question=QUESTION
    )
    coverage = parse(tried.store.get(tried.attestation.coverage.removeprefix("sha256:")), Coverage)
    assert [len(cluster.sources) for cluster in coverage.clusters] == [1, 1]
    tried.is_verified()


ONE_HAND = {
    "two pages of one registrable domain": ["news.alpha.example/notes", "www.alpha.example/handbook"],
    "two copies of one wire story": ["alpha.example/wire", "beta.example/wire"],
    "a page and its copy in an archive": [
        "news.alpha.example/notes", "web.archive.org/web/2024/http://news.alpha.example/handbook",
    ],
    "a page and a redirect to it": ["news.alpha.example/notes", "gamma.example/go"],
    "one page twice": ["news.alpha.example/notes", "news.alpha.example/notes"],
    "one page under two spellings of its host": ["news.alpha.example/notes", "NEWS.Alpha.example./notes"],
}  # fmt: skip


@pytest.mark.parametrize("addresses", ONE_HAND.values(), ids=ONE_HAND)
def test_two_pages_of_one_hand_are_not_verified(tmp_path: Path, sites: Sites, addresses: list[str]) -> None:
    tried = run(tmp_path, sites, addresses)
    assert tried.status == "UNRESOLVED" and tried.verdict == ("INCONCLUSIVE", "COVERAGE")
    assert tried.hard() == {"not_independent"}
    tried.is_sound()


def test_one_page_alone_is_not_verified(tmp_path: Path, sites: Sites) -> None:
    tried = run(tmp_path, sites, ["news.alpha.example/notes"], final(f"{FACT} [ev_0001:3]."))
    assert tried.status == "UNRESOLVED" and tried.hard() == {"not_independent"}
    tried.is_sound()


@pytest.mark.parametrize("rule", ["model", "literal"])
def test_one_page_is_enough_where_the_question_names_it(tmp_path: Path, sites: Sites, rule: str) -> None:
    address = sites.url("news.alpha.example/notes")
    turns = [turn("fetch", url=address), final(f"{FACT} [ev_0001:3].")]
    options = [*NO_SANDBOX, *sites.options(), "--verifier", rule]
    asked = attempt(tmp_path / "asked", turns, *options, question=f"{QUESTION} See {address}.")
    asked.is_verified()
    other = sites.url("handbook.beta.example/vexium")
    named = attempt(tmp_path / "other", turns, *options, question=f"{QUESTION} See {other}.")
    assert named.status == "UNRESOLVED" and named.hard() == {"not_independent"}


NO_PAGE = {
    "a page that is not found": ("beta.example/missing", "http_error"),
    "a server that is down": ("beta.example/broken", "http_error"),
    "a consent wall": ("beta.example/wall", "no_content"),
    "a page of search results": ("beta.example/search?q=vexium", "no_content"),
}


@pytest.mark.parametrize(("address", "code"), NO_PAGE.values(), ids=NO_PAGE)
@pytest.mark.parametrize("again", [False, True], ids=["fetched", "read again by its id"])
def test_what_is_no_page_is_no_evidence(
    tmp_path: Path, sites: Sites, address: str, code: str, again: bool
) -> None:
    fetched = ["news.alpha.example/notes", address]
    said = [turn("read", path="ev_0002"), final(f"{FACT} [ev_0001:3] [ev_0003:3].")] if again else [TWO]
    tried = run(tmp_path, sites, fetched, *said)
    assert tried.status == "UNRESOLVED" and code in tried.hard()
    tried.is_sound()


def test_a_page_that_is_read_again_by_its_id_is_still_that_page(tmp_path: Path, sites: Sites) -> None:
    again = [turn("read", "both have it", path="ev_0001", first=2, last=3), turn("read", path="ev_0002")]
    said = final(f"{FACT} [ev_0003:3] [ev_0004:3].")
    run(
        tmp_path, sites, ["news.alpha.example/notes", "handbook.beta.example/vexium"], *again, said
    ).is_verified()


def test_an_empty_page_and_one_that_cannot_be_had_are_said(tmp_path: Path, sites: Sites) -> None:
    tried = run(tmp_path, sites, ["news.alpha.example/notes", "delta.example/empty", "127.0.0.1:9/x"])
    assert tried.status == "UNRESOLVED" and tried.hard()
    tried.is_sound()


def test_a_page_that_gives_back_what_was_asked_of_it_is_no_evidence(tmp_path: Path, sites: Sites) -> None:
    asked = [f"echo.{host}.example/say?Vexium+melts+at+812+degrees." for host in ("alpha", "beta")]
    tried = run(tmp_path, sites, asked, final(f"{FACT} [ev_0001:2] [ev_0002:2]."))
    assert tried.status == "UNRESOLVED"
