"""What a look-up for a thesis covered and what it did not, read from a real log and told with pointers."""

from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.asked import asked, open_asked, thesis_record
from support.rounds import WATER, evidence, label, labels, page, policy
from support.verified import answer, begin, gathered, keep
from vera import events
from vera.attestation.build import Built, build
from vera.attestation.coverage import MIN_FAMILIES, NOVELTY_STOP_BP, enough, novelty
from vera.attestation.look_up import MAX_LINKS, Failed, Looked
from vera.attestation.objects import Caps, Coverage, Findings, Lens, Omission, Quota, canonical, parse
from vera.attestation.record import Record
from vera.audit import containment
from vera.session import Session

RIVER = "The Elbe is 1094 kilometres long"
PAPER = b"The Elbe is 1094 kilometres long, says this paper of a first publisher.\n"
OTHER = b"Quite another text: 1094 kilometres is what the Elbe measures from spring to sea.\n"


def coverage_of(built: Built) -> Coverage:
    return parse(built.objects[built.attestation.coverage], Coverage)


def omitted(built: Built) -> dict[str, Omission]:
    return {each.cell: each for each in coverage_of(built).omissions}


def detectors(built: Built) -> dict[str, str]:
    return {each.detector: each.blind_spot for each in built.attestation.hyperthesis}


@pytest.mark.parametrize(
    ("families", "expected"),
    [
        ([], 10_000),
        ([[], []], 10_000),
        ([["a", "b"]], 10_000),
        ([["a", "b"], ["a", "b"]], 0),
        ([["a", "b"], ["a", "c"]], 5_000),
        ([["a", "a", "a"], ["b"]], 10_000),
        ([["a"], ["a"], ["b"]], 3_333),
    ],
)
def test_novelty_is_the_share_of_results_that_one_family_alone_gave(
    families: list[list[str]], expected: int
) -> None:
    assert novelty(families) == expected


@given(st.lists(st.lists(st.sampled_from("abcdefgh"), max_size=8), max_size=8))
def test_novelty_is_a_share_and_does_not_depend_on_order(families: list[list[str]]) -> None:
    mixed = [Random(7).sample(family, len(family)) for family in reversed(families)]
    assert 0 <= novelty(families) == novelty(mixed) <= 10_000


def test_asking_stops_after_six_families_that_bring_nothing_new() -> None:
    same = [["a", "b"]] * MIN_FAMILIES
    assert enough(same)
    assert not enough(same[1:])
    assert not enough([*same[1:], ["c", "d", "e"]])
    assert novelty([*same[1:], ["c", "d", "e"]]) >= NOVELTY_STOP_BP
    assert enough([[]] * MIN_FAMILIES)


def fetched(session: Session, url: str, text: bytes, *links: str, **members: object) -> None:
    """A page that was fetched, with its raw bytes."""
    raw = b"<html>" + b"".join(f'<a href="{link}">x</a>'.encode() for link in links) + text
    keep(
        session,
        "fetch",
        {"url": url},
        url,
        text,
        **{
            "raw": events.Blob(session.store.put(raw), len(raw)),
            "http_status": 200,
            "media_type": "text/html",
            "extractor": "html/selectolax-1.0.2/rules-1",
            **members,
        },
    )


def searched(session: Session, query: str, *urls: str) -> None:
    text = "".join(f"[{rank}] A page\n    {url}\n" for rank, url in enumerate(urls, 1)).encode() + b"\n"
    keep(session, "brave_search", {"query": query}, "search of the web", text, lead=True)


@pytest.fixture
def web(tmp_path: Path) -> Record:
    """A thesis that was looked up on the web until its budget of sources ended."""
    asks = {"scope": "web,files,kb,connectors", "sources": 2, "languages": "en", "not_before": "2020-01-01"}
    session = open_asked(tmp_path / "s", RIVER, **asks)
    try:
        searched(session, "Elbe length", "https://one.example/a", "https://three.example/paper")
        searched(session, "how long is the river Elbe", "https://three.example/paper", "rivers.txt")
        links = ("https://www.primary.example/report?a=1&amp;b=2#page", "https://one.example/own")
        fetched(session, "https://one.example/a", PAPER, *links, "https://facebook.example/")
        fetched(session, "https://two.example/b", OTHER, *links, "https://facebook.example/", "not a link")
        fetched(session, "https://two.example/c", b"Gone.\n", http_status=404)
        session.emit(
            events.ToolStarted(step=1, call="call_0099", tool="fetch", args='{"url": "https://x.example"}')
        )
        session.emit(
            events.Tool(
                step=1, call="call_0099", tool="fetch", outcome="failed", obs="", error_type="timeout"
            )
        )
        session.emit(events.LaneEnded(reason="budget", detail="sources"), lane="thesis")
        begin(session, 1, answer(session, f"{RIVER} [ev_0003:1][ev_0004:1]."), literal="containment/1")
        return gathered(session, 1)
    finally:
        session.close()


def test_the_log_tells_what_was_asked_what_failed_and_how_it_ended(web: Record) -> None:
    assert web.asked is not None
    looked = web.asked.looked
    assert looked.cut == "sources"
    assert ("https://one.example/a", "https://three.example/paper") in looked.families
    assert looked.failed == (
        Failed(name="https://two.example/c", why="The server answered 404.", pointer="ev_0005"),
        Failed(name="https://x.example", why="fetch failed: timeout.", pointer="call_0099"),
    )
    assert looked.links["https://one.example/a"][0] == "https://www.primary.example/report?a=1&b=2"
    assert (looked.files, looked.kb) == (None, False)


def test_what_was_not_covered_is_told_with_where_to_look(web: Record) -> None:
    found = omitted(build(web))
    assert {"files", "kb", "connectors", "languages en", "https://x.example", "https://two.example/c"} <= set(
        found
    )
    report = found["https://www.primary.example/report?a=1&b=2"]
    assert report.why == "Fetched pages of 2 publishers link to it, and it was not read."
    assert report.pointer == "https://www.primary.example/report?a=1&b=2"
    assert found["https://three.example/paper"].why == (
        "2 searches found it, and no line of it was taken as evidence."
    )
    assert not {"https://facebook.example/", "https://one.example/own", "https://one.example/a"} & set(found)


def test_coverage_states_novelty_and_the_cap_and_the_types_of_sources(web: Record) -> None:
    assert web.asked is not None
    coverage = coverage_of(build(web))
    assert coverage.families == len(web.asked.looked.families)
    assert coverage.novelty_bp == novelty(web.asked.looked.families)
    assert coverage.cut == "sources"
    assert [cluster.types for cluster in coverage.clusters] == [("unknown",), ("unknown",)]


def test_what_a_thesis_cannot_rule_out_is_named(web: Record) -> None:
    named = detectors(build(web))
    assert {"budget_cap", "time_bound", "may_change"} <= set(named)
    assert named["budget_cap"].startswith("The look-up ended at its budget of sources (2)")
    assert "from 2020-01-01" in named["time_bound"]
    assert "scope_left_out" not in named
    narrow = asked(scope="web", volatility="static", allow_domains="one.example", deny_domains="bad.example")
    named = detectors(build(thesis_record(about=narrow)))
    assert named["scope_left_out"].endswith("there: kb, files, connectors.")
    assert "only one.example; not bad.example" in named["closed_sources"]
    assert not {"may_change", "time_bound", "budget_cap"} & set(named)


def test_a_cell_that_the_lens_wants_and_nobody_fills_is_an_omission() -> None:
    lens = Lens(
        name="mine", description="", quotas=(Quota(source_type="official"), Quota(source_type="primary"))
    )
    looked = Looked(files=1, families=(("https://gov.example/x",),))
    about = asked(looked=looked, lens=lens)
    found = (labels("c1", label("ev_0001", 2, 2)),)
    missing = omitted(build(thesis_record(about=about, labels=found)))
    assert missing["c1 × official"].why.startswith(
        "The lens mine wants 1 of type official for this claim, and 0"
    )
    assert missing["c1 × official"].pointer == "https://gov.example/x"
    assert "c1 × primary" not in missing


@pytest.mark.parametrize(
    ("asks", "why"),
    [
        ({"scope": "web", "allow_domains": "b.example"}, "www.a.example is none of the allowed domains"),
        ({"scope": "web", "deny_domains": "example,a.example"}, "the domain a.example is denied"),
        ({"scope": "files"}, "web is not in the scope"),
        ({"scope": "web", "source_types": "official"}, "its type is unknown, which is none of those"),
        ({"scope": "web", "allow_domains": "a.example"}, ""),
        ({"scope": "web", "deny_domains": "b.example"}, ""),
    ],
)
def test_a_source_that_the_request_does_not_let_count_carries_no_card(
    asks: dict[str, object], why: str
) -> None:
    got = page("ev_0001", "https://www.a.example/x", WATER)
    found = (labels("c1", label("ev_0001", 2, 2)),)
    built = build(
        thesis_record("The river is 312 km long [ev_0001:2].", got, about=asked(**asks), labels=found)
    )
    assert bool(built.attestation.cards) is not bool(why)
    said = [each.why for each in coverage_of(built).omissions if "does not count" in each.why]
    assert [f"What ev_0001:2 says does not count: {why}" in each for each in said] == ([True] if why else [])


def test_an_archived_page_counts_as_the_page_that_it_keeps() -> None:
    got = page("ev_0001", "https://web.archive.org/web/20240101000000/https://a.example/x", WATER)
    found = (labels("c1", label("ev_0001", 2, 2)),)
    for asks, cards in (({"allow_domains": "a.example"}, 1), ({"deny_domains": "a.example"}, 0)):
        about = asked(scope="web", **asks)
        built = build(thesis_record("The river is 312 km long [ev_0001:2].", got, about=about, labels=found))
        assert len(built.attestation.cards) == cards


def test_kb_counts_only_where_it_is_in_the_scope() -> None:
    old = evidence("ev_0001", tool="kb")
    found = (labels("c1", label("ev_0001", 2, 2)),)
    for scope, cards in (("kb", 1), ("files", 0)):
        built = build(
            thesis_record(
                "The river is 312 km long [ev_0001:2].", old, about=asked(scope=scope), labels=found
            )
        )
        assert len(built.attestation.cards) == cards


def test_a_page_of_very_many_links_is_read_up_to_a_bound(tmp_path: Path) -> None:
    session = open_asked(tmp_path / "s", RIVER, scope="web")
    try:
        fetched(session, "https://one.example/a", PAPER, *(f"https://x{n}.example/a" for n in range(2000)))
        fetched(session, "https://two.example/b", b"<a href=" * 100_000)
        begin(session, 1, answer(session, f"{RIVER} [ev_0001:1]."))
        record = gathered(session, 1)
    finally:
        session.close()
    assert record.asked is not None
    assert len(record.asked.looked.links["https://one.example/a"]) == MAX_LINKS
    assert record.asked.looked.links["https://two.example/b"] == ()
    assert len(canonical(coverage_of(build(record)))) < 100_000


def test_the_request_says_what_quorum_the_audit_asks_for_and_which_pages_count() -> None:
    about = asked(scope="web", risk="high", not_after="2019-12-31")
    got = page("ev_0001", "https://a.example/x", b"Published: 2021-05-03\n" + WATER)
    built = build(
        thesis_record(
            "The river is 312 km long [ev_0001:3].",
            got,
            about=about,
            texts=(b"Published: 2021-05-03\n" + WATER,),
            labels=(labels("c1", label("ev_0001", 3, 3)),),
        )
    )
    codes = {each.code for each in parse(built.objects[built.attestation.findings], Findings).findings}
    assert "not_independent" in codes and "outside_window" not in codes
    assert built.attestation.cards == ()
    said = "published on 2021-05-03, and only pages to 2019-12-31 were asked for"
    (late,) = (each for each in coverage_of(built).omissions if said in each.why)
    assert (late.cell, late.pointer) == ("c1", "ev_0001:3")


def test_a_session_without_a_request_has_nothing_of_this() -> None:
    record = msgspec.structs.replace(thesis_record(), asked=None)
    built = build(record)
    assert record.request is None
    assert (
        not {"families", "novelty_bp", "cut"}
        & msgspec.json.decode(built.objects[built.attestation.coverage]).keys()
    )
    assert (built.attestation.request, built.attestation.expires_at) == ("", "")


def test_the_budget_is_in_an_attested_object() -> None:
    kept = coverage_of(build(thesis_record())).budget
    assert kept == Caps(sources=12, searches=24, tokens=200_000, bytes=64 << 20, milliseconds=600_000)
    earlier = thesis_record(policy=policy("literal", reduce="reduce/3", literal=containment.VERSION))
    assert coverage_of(build(earlier)).budget is None


def test_a_page_that_a_constraint_excludes_is_told_with_the_constraint() -> None:
    looked = Looked(families=(("https://bad.test/a", "https://good.test/b"), ("https://good.test/b",)))
    found = thesis_record(about=asked(looked=looked, scope="files,web", deny_domains="bad.test"))
    why = {cell: each.why for cell, each in omitted(build(found)).items()}
    assert (
        why["https://bad.test/a"] == "A search found it, and it was not read: the domain bad.test is denied."
    )
    assert why["https://good.test/b"] == "2 searches found it, and no line of it was taken as evidence."
