"""Cards: a label becomes one only when its place exists and may carry evidence."""

import math

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.rounds import WATER, case, check, derived, evidence, label, labels, page, sha256
from vera import events
from vera.attestation.cards import Cards, lower_bound_bp, make_cards, selector
from vera.attestation.objects import NOTE_LIMIT, Card, Source, parse
from vera.audit.source_text import SourceText
from vera.evidence.claim import Cite, Claim

THESIS = "sha256:" + "e" * 64
OUTPUT = b"counted\n312\n"


def claim(*cites: Cite, key: str = "c1", form: str = "statement") -> Claim:
    return Claim(key=key, text="The river is 312 km long.", start=0, end=25, cites=cites, form=form)


def made(
    *found: events.Evidence,
    given: events.VerifierLabels,
    claims: tuple[Claim, ...] = (claim(Cite("ev_0001", 2, 3)),),
    texts: tuple[bytes, ...] = (WATER, OUTPUT),
    checks: tuple[events.VerifierCheck, ...] = (),
    by_rule: bool = False,
    **changed: object,
) -> Cards:
    return make_cards(case(claims, found, texts, **changed), THESIS, [given], checks, by_rule=by_rule)


def only(cards: Cards) -> Card:
    (card,) = cards.cards.values()
    return card


def why(cards: Cards) -> str:
    assert not cards.cards
    (omission,) = cards.refused
    return omission.why


def test_a_card_holds_the_place_and_its_hash() -> None:
    cards = made(evidence("ev_0001"), given=labels("c1", label("ev_0001", 2, 2, "SUPPORTS", 2, 2)))
    card = only(cards)
    cut = WATER[card.span.start : card.span.end]
    assert cut == b"The river is 312 km long."
    assert card.span.sha256 == "sha256:" + sha256(cut)
    assert (card.span.first, card.span.last) == (2, 2)
    assert (card.span.prefix, card.span.suffix) == ("Water\n", "\nIt rises in the Eifel.\nIts name is old.\n")
    assert (card.claim, card.relation, card.evidence) == ("c1", "SUPPORTS", "ev_0001")
    assert card.maker == "judge-7b with prompt sha256:" + "a" * 64
    assert (card.confidence.agree, card.confidence.votes, card.confidence.low_bp) == (2, 2, 4250)
    assert cards.sources[card.source].name == "ev_0001.txt"
    assert not cards.refused


def test_what_a_rule_labels_has_no_share_of_readings() -> None:
    card = only(made(evidence("ev_0001"), given=labels("c1", label("ev_0001", 2, 2)), by_rule=True))
    assert (card.confidence.method, card.confidence.low_bp) == ("rule", 0)


def test_that_an_extract_stands_there_is_no_reading() -> None:
    extract = (claim(Cite("ev_0001", 2, 3), form="extract"),)
    card = only(made(evidence("ev_0001"), given=labels("c1", label("ev_0001", 2, 3)), claims=extract))
    assert card.confidence.method == "rule"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (label("ev_0001", 2, 5), "it has 4 lines"),
        (label("ev_0001", 0, 1), "it has 4 lines"),
        (label("ev_0001", 3, 2), "it has 4 lines"),
        (label("ev_0009", 1, 1), "there is no such evidence"),
        (label("ev_0001", 2, 2, "PROVES"), "'PROVES' is no relation"),
        (label("ev_0001", 1, 1), "neither the claim cites these lines nor a check captured them"),
        (label("ev_0001", 2, 4), "neither the claim cites these lines nor a check captured them"),
    ],
)
def test_a_label_whose_place_does_not_hold_is_no_card(given: events.SpanLabel, said: str) -> None:
    assert said in why(made(evidence("ev_0001"), given=labels("c1", given)))


def test_a_label_of_no_claim_is_no_card() -> None:
    assert "no such claim" in why(made(evidence("ev_0001"), given=labels("c9", label("ev_0001", 2, 2))))


@pytest.mark.parametrize("relation", ["CONTRADICTS", "QUALIFIES", "IRRELEVANT"])
def test_uncited_lines_of_a_source_may_speak_against_a_claim(relation: str) -> None:
    given = labels("c1", label("ev_0001", 4, 4, relation))
    assert only(made(evidence("ev_0001"), given=given)).relation == relation


def test_lines_that_a_check_captured_may_support() -> None:
    captured = check("c1", "yes", events.Cited(evidence="ev_0001", first=4, last=4))
    given = labels("c1", label("ev_0001", 4, 4))
    assert only(made(evidence("ev_0001"), given=given, checks=(captured,))).relation == "SUPPORTS"
    of_another = (claim(Cite("ev_0001", 2, 3)), claim(key="c2"))
    assert "neither" in why(
        made(evidence("ev_0001"), given=labels("c2", label("ev_0001", 2, 2)), claims=of_another)
    )


def test_adjacent_citations_of_one_evidence_are_one_place() -> None:
    two = (claim(Cite("ev_0001", 2), Cite("ev_0001", 3)),)
    assert only(made(evidence("ev_0001"), given=labels("c1", label("ev_0001", 2, 3)), claims=two))


def test_a_lead_is_no_card() -> None:
    lead = evidence("ev_0001", lead=True, tool="search")
    assert "lead" in why(made(lead, given=labels("c1", label("ev_0001", 2, 2))))


def test_an_unreadable_source_gives_its_reason() -> None:
    given = labels("c1", label("ev_0001", 2, 2))
    unreadable = {sha256(WATER): "it is not in the store"}
    assert "it is not in the store" in why(
        made(evidence("ev_0001"), given=given, texts=(), unreadable=unreadable)
    )


@pytest.mark.parametrize(("status", "fits"), [(200, True), (203, True), (404, False), (302, False)])
def test_a_page_carries_a_claim_only_when_the_server_gave_it(status: int, fits: bool) -> None:
    fetched = page("ev_0001", "https://a.example/", WATER, http_status=status)
    assert bool(made(fetched, given=labels("c1", label("ev_0001", 2, 2))).cards) == fits


def test_a_page_that_is_read_again_keeps_its_status_and_its_receipt() -> None:
    again = evidence("ev_0002", source="https://a.example/", media_type="text/html")
    claims = (claim(Cite("ev_0002", 2)),)
    given = labels("c1", label("ev_0002", 2, 2))
    failed = page("ev_0001", "https://a.example/", WATER, http_status=500)
    assert "HTTP 500" in why(made(failed, again, given=given, claims=claims))
    cards = made(page("ev_0001", "https://a.example/", WATER), again, given=given, claims=claims)
    (source,) = cards.sources.values()
    assert source.retrieval and source.raw


def printed(**changed: object) -> events.Evidence:
    command = {"tool": "shell", "tier": "observed", "source": "wc -l /input/a.txt", "exit_code": 0}
    return evidence("ev_0001", OUTPUT, **{**command, **changed})


@pytest.mark.parametrize("outcome", ["different", "failed", "unavailable", ""])
def test_output_that_a_clean_box_did_not_print_again_is_no_card(outcome: str) -> None:
    again = {"ev_0001": derived("ev_0001", outcome)} if outcome else {}
    cited = (claim(Cite("ev_0001", 2)),)
    given = labels("c1", label("ev_0001", 2, 2))
    assert "clean box" in why(made(printed(), given=given, claims=cited, derivations=again))


def test_output_that_a_clean_box_printed_again_is_a_card_on_its_cited_lines() -> None:
    again = {"ev_0001": derived("ev_0001")}
    cited = (claim(Cite("ev_0001", 2)),)
    cards = made(printed(), given=labels("c1", label("ev_0001", 2, 2)), claims=cited, derivations=again)
    assert cards.sources[only(cards).source].tier == "derived"
    beyond = labels("c1", label("ev_0001", 1, 1, "CONTRADICTS"))
    assert "cited lines" in why(made(printed(), given=beyond, claims=cited, derivations=again))


def test_output_of_a_failed_command_is_no_card() -> None:
    again = {"ev_0001": derived("ev_0001")}
    cited = (claim(Cite("ev_0001", 2)),)
    given = labels("c1", label("ev_0001", 2, 2))
    assert "exit code 3" in why(made(printed(exit_code=3), given=given, claims=cited, derivations=again))


def test_every_cited_source_is_an_object_even_without_a_card() -> None:
    cards = made(evidence("ev_0001"), given=labels("c1"))
    ((source_id, source),) = cards.sources.items()
    assert parse(cards.objects[source_id], Source) == source
    assert (source.name, source.tier) == ("ev_0001.txt", "captured")


@given(st.text("aé€😀\n", min_size=1, max_size=400), st.data())
def test_a_selector_finds_its_bytes_and_stays_short(text: str, data: st.DataObject) -> None:
    source = SourceText(text.encode())
    first = data.draw(st.integers(1, len(source.lines)))
    last = data.draw(st.integers(first, len(source.lines)))
    found = selector(source, sha256(source.data), first, last)
    assert sha256(source.data[found.start : found.end]) == found.sha256.removeprefix("sha256:")
    before, after = source.data[: found.start].decode(), source.data[found.end :].decode()
    assert (found.prefix, found.suffix) == (before[-64:], after[:64])


@given(st.integers(1, 5000), st.data())
def test_the_lower_bound_is_that_of_wilson(votes: int, data: st.DataObject) -> None:
    agree = data.draw(st.integers(0, votes))
    z = 1.6448536
    share = agree / votes
    root = z * math.sqrt(share * (1 - share) / votes + z * z / (4 * votes * votes))
    wilson = (share + z * z / (2 * votes) - root) / (1 + z * z / votes)
    assert lower_bound_bp(agree, votes) == pytest.approx(10_000 * wilson, abs=2)


@pytest.mark.parametrize(
    ("agree", "votes", "bound"), [(1, 1, 2698), (3, 3, 5258), (20, 20, 8808), (0, 5, 0), (1, 0, 0)]
)
def test_some_lower_bounds(agree: int, votes: int, bound: int) -> None:
    assert lower_bound_bp(agree, votes) == pytest.approx(bound, abs=1)


def test_the_notes_of_a_card_say_how_its_label_came_about() -> None:
    read = only(made(evidence("ev_0001"), given=labels("c1", label("ev_0001", 2, 2, "SUPPORTS", 2, 3))))
    assert read.notes == "2 of 3 readings of the lines say so."
    ruled = only(made(evidence("ev_0001"), given=labels("c1", label("ev_0001", 2, 2)), by_rule=True))
    assert ruled.notes == "Labelled by judge-7b, which gives the same label each time."
    extract = (claim(Cite("ev_0001", 2, 3), form="extract"),)
    shown = only(made(evidence("ev_0001"), given=labels("c1", label("ev_0001", 2, 3)), claims=extract))
    assert shown.notes == "The lines are shown as they are."


def test_a_hostile_name_of_a_judge_neither_breaks_nor_outgrows_the_notes() -> None:
    given = msgspec.structs.replace(labels("c1", label("ev_0001", 2, 2)), maker="a\nb\x1b[31m" + "x" * 900)
    notes = only(made(evidence("ev_0001"), given=given, by_rule=True)).notes
    assert len(notes) <= NOTE_LIMIT
    assert notes.isprintable()
