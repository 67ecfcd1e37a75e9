"""Words of the pages: one for each fact, names that a reader knows, and what of a line a claim shares."""

import msgspec
import pytest

from support.run_pages import EMPTY, FINISHED, THESIS
from vera.report.html.answer import Cited
from vera.report.html.document import report_html
from vera.report.html.wording import (
    age,
    cite_label,
    headline,
    same_words,
    tone,
    without_code,
)
from vera.report.pictures.graph import graph_svg
from vera.report.standing import MODEL_FAILED
from vera.report.view.model import CardView, PdfPlace
from vera.report.view.words import number

CARD = CardView(
    id="c", relation="SUPPORTS", evidence="ev_0002", first=257, last=267, source="licences/GPL-3.txt",
    source_id="ab" * 32,
)  # fmt: skip


def test_a_refuted_thesis_is_red_under_its_own_heading() -> None:
    page = report_html(THESIS, work_dir="./work/thesis", integrity="The log is SEALED.")
    assert (headline(THESIS.header), tone(THESIS.header)) == ("Refuted", "bad")
    assert "tone-bad" in page and ">Thesis</h2>" in page and ">Answer</h2>" not in page


def test_failed_stopped_and_never_begun_have_each_a_word_and_no_colour_of_a_verdict() -> None:
    def said(phase: str) -> tuple[str, str]:
        header = msgspec.structs.replace(EMPTY.header, phase=phase)
        return headline(header), tone(header)

    assert said(MODEL_FAILED) == ("Model failed", "failed")
    assert said("stopped") == ("Stopped", "stopped")
    assert said("new") == ("Not started", "new")


def test_the_result_of_a_round_is_a_word_and_its_reason_has_no_code() -> None:
    rounds = report_html(FINISHED, work_dir="./work/rivers")
    assert ">Unresolved</td>" in rounds and ">Verified</td>" in rounds
    assert "Not supported" not in rounds
    assert without_code("REFUTED: the cited sources contradict it") == "The cited sources contradict it"
    assert without_code("ev_0001: it is not there") == "ev_0001: it is not there"


def test_a_citation_has_the_name_of_its_source_and_human_lines() -> None:
    pdf = msgspec.structs.replace(
        CARD, source="docs/manual.pdf", pdf=PdfPlace(sha256="cd" * 32, page=2, first=1)
    )
    page = msgspec.structs.replace(CARD, source="https://example.org/terms")
    assert " ".join(cite_label(Cited("ev_0002:258-261", 258, 261, CARD))) == "GPL-3.txt 258–261"
    assert " ".join(cite_label(Cited("ev_0002:258", 258, 258, CARD))) == "GPL-3.txt 258"
    assert " ".join(cite_label(Cited("ev_0002", 0, 0, CARD))) == "GPL-3.txt"
    assert " ".join(cite_label(Cited("ev_0002:9-10", 9, 10, pdf))) == "manual.pdf p. 2, 9–10"
    assert " ".join(cite_label(Cited("ev_0002:3", 3, 3, page))) == "example.org/terms 3"
    assert " ".join(cite_label(Cited("ev_0009:3", 3, 3))) == "ev_0009:3"


def test_an_amount_that_is_another_one_is_marked_apart_from_the_words_that_match() -> None:
    line = "written offer, valid for at least three years and"
    pieces = list(same_words(line, "The offer is valid for five years"))
    assert "".join(text for text, _ in pieces) == line
    assert [text for text, kind in pieces if kind == "same"] == ["offer", "valid"]
    assert [text for text, kind in pieces if kind == "other"] == ["three years"]
    agreed = list(same_words(line, "The offer is valid for three years"))
    assert [text for text, kind in agreed if kind == "other"] == []
    assert {"three", "years"} <= {text for text, kind in agreed if kind == "same"}


@pytest.mark.parametrize("claim", ["", "x" * 100_000, "9" * 5000 + " years", "\u202e\x00 three years"])
def test_no_claim_loses_a_character_of_a_line(claim: str) -> None:
    line = "at least three years, 1,000 km or 5 % (§ 9) — ٣ سنوات 三年 " * 20
    assert "".join(text for text, _ in same_words(line, claim)) == line


def test_a_number_and_an_age_have_one_form() -> None:
    assert number(3_066_521) == "3\u202f066\u202f521" and number(7) == "7"
    assert [age(each) for each in (5, 59, 60, 7199, 86_400 * 3)] == ["now", "now", "1 min", "1 h", "3 d"]


def test_the_boxes_of_the_graph_of_claims_lead_to_claims_and_cited_lines() -> None:
    drawn = graph_svg(FINISHED.claims, "/s/x")
    card = next(card for claim in FINISHED.claims for card in claim.cards)
    assert 'href="#claim-1"' in drawn and f'href="/s/x/source/{card.source_id}' in drawn
    assert "<a " not in graph_svg(FINISHED.claims) or "/s/" not in graph_svg(FINISHED.claims)
