"""The lines of a card that its claim cites: they are marked, named, copied and linked; what was read around
them is not."""

from itertools import pairwise

import msgspec
import pytest
from selectolax.lexbor import LexborHTMLParser

from support.run_pages import FINISHED
from vera.evidence.claim import Cite
from vera.report.html.answer import blocks, previews
from vera.report.html.citing import as_bibtex, as_text
from vera.report.html.document import report_html
from vera.report.html.links import Links
from vera.report.html.shown import excerpts
from vera.report.html.wording import cited_lines, numbered, same_words, sed_lines
from vera.report.view.cards import joined, with_cited
from vera.report.view.model import CardView, ClaimView

SOURCE = "ab" * 32
CARD = CardView(
    id="c", relation="SUPPORTS", evidence="ev_0002", first=257, last=267, source="licences/GPL-3.txt",
    source_id=SOURCE, quotation=tuple(f"text {number}" for number in range(257, 268)), maker="a-model",
)  # fmt: skip


def cited(*cites: Cite, card: CardView = CARD) -> CardView:
    (made,) = with_cited([card], cites, {})
    return made


def claim(*cards: CardView) -> ClaimView:
    return ClaimView(key="c1", text="It is text 259.", verdict="supported", cards=cards)


def test_a_card_has_the_lines_that_its_claim_cites_of_it() -> None:
    one = cited(Cite("ev_0002", 258, 261), Cite("ev_0003", 262, 263))
    assert (one.cited, one.extent) == (((258, 261),), (258, 261))
    assert (one.first, one.last) == (257, 267), "what was read stays what it was"
    assert cited(Cite("ev_0002", 300, 310)).marked == ((257, 267),), "none of them is cited: all count"
    assert cited(Cite("ev_0002", 258, 261), Cite("ev_0002")).marked == ((257, 267),), "all of it is cited"
    assert cited(Cite("ev_0002", 250, 258)).marked == ((257, 258),), "it has no other of these lines"
    assert cited(Cite("ev_0002", 261)).marked == ((261, 261),)


def test_places_that_touch_are_one_and_others_stay_apart() -> None:
    assert joined([(5, 6), (1, 3), (4, 4), (9, 8)]) == ((1, 6),)
    assert joined([(1, 3), (5, 6)]) == ((1, 3), (5, 6))


@pytest.mark.parametrize(
    ("places", "words", "script"),
    [
        (((258, 261),), "lines 258–261", "258,261p"),
        (((258, 258),), "line 258", "258p"),
        (((258, 258), (260, 261)), "lines 258, 260–261", "258p;260,261p"),
        ((), "lines 257–267", "257,267p"),
    ],
)
def test_they_are_named_copied_and_cut_out_and_no_others(
    places: tuple[tuple[int, int], ...], words: str, script: str
) -> None:
    card = msgspec.structs.replace(CARD, cited=places)
    assert cited_lines(card) == words and sed_lines(card) == script
    assert f", {words}, sha256" in as_text(card)
    assert f"-{card.extent[0]}," in as_bibtex(card) and words.replace("–", "--") in as_bibtex(card)
    first, last = card.extent
    assert f"?first={first}&last={last}#L{first}" in Links("/s/x").source(card)


def test_only_they_are_marked_in_a_report() -> None:
    card = msgspec.structs.replace(CARD, cited=((258, 259), (262, 262)))
    page = msgspec.structs.replace(
        FINISHED, claims=(claim(card),), answer="It is text 259 [ev_0002:258-259]."
    )
    tree = LexborHTMLParser(report_html(page, work_dir="./w"))
    (lines, *_) = tree.css("#claims .lines")
    assert [node.text() for node in lines.css("mark")] == ["text 258", "text 259", "text 262"]
    assert [node.text() for node in lines.css(".around")] == [
        f"text {number}" for number in (257, 260, 261, *range(263, 268))
    ]


def test_a_preview_has_all_the_lines_of_its_place_and_one_on_each_side() -> None:
    answer = "It is text [ev_0002:258-266]. And [ev_0002:259]. And again [ev_0002:259]. All of [ev_0002]."
    shown = previews(blocks(answer, (claim(CARD),)))
    assert [each.preview for each in shown] == ["peek-ev_0002-258-266", "peek-ev_0002-259", "peek-ev_0002"]
    assert all(each.card is not None for each in shown)
    lines = [[number for number, _ in numbered(each.card, around=(1, 1))] for each in shown if each.card]
    assert lines == [list(range(257, 268)), [258, 259, 260], list(range(257, 268))]


def test_the_same_reading_is_said_once_and_another_one_beside_it() -> None:
    one = msgspec.structs.replace(CARD, cited=((258, 261),))
    (both,) = excerpts((one, msgspec.structs.replace(one, id="d")))
    assert len(both.readings) == 1
    (others,) = excerpts(
        (one, msgspec.structs.replace(one, cited=((259, 263),)), cited(Cite("ev_0002", 258)))
    )
    assert len(others.readings) == 3 and others.card.cited == ((258, 263),)
    (makers,) = excerpts((one, msgspec.structs.replace(one, maker="literal/9")))
    assert [each.maker for each in makers.readings] == ["a-model", "literal/9"]


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("5.2. If You", []),
        ("2.1 of this License", ["License"]),
        ("version 2.0 of the License", ["2.0", "License"]),
    ],
)
def test_a_number_is_compared_as_a_whole(line: str, same: list[str]) -> None:
    pieces = list(same_words(line, "Under the Apache License 2.0 they end"))
    assert [text for text, kind in pieces if kind == "same"] == same
    assert all(left[0] or right[0] for left, right in pairwise(pieces))
