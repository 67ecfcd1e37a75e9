"""An answer as blocks, its citations as links, and what changed between two answers."""

import time

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.run_pages import ANSWER, CLAIMS, FIRST_ANSWER, HOSTILE, ROUNDS
from vera.report.html.answer import Block, blocks, lead
from vera.report.html.difference import MAX_LINES, MAX_WORDS, Change, aligned, changes
from vera.report.view.model import CitedSource, ClaimView

SOURCES = (CitedSource("ev_0001", "rivers/elbe.txt"), CitedSource("ev_0002", "manual.pdf", (1, 9, 20)))


def test_headings_lists_paragraphs_and_code_are_told_apart() -> None:
    text = "# One\nText\nmore\n\n- a\n- b\n  goes on\n1. c\n\n```\n# no heading\n- no item\n```\nEnd"
    found = [
        (block.kind, ["".join(each.text for each in part) for part in block.parts])
        for block in blocks(text, ())
    ]
    assert found == [
        ("heading", ["One"]),
        ("paragraph", ["Text\nmore"]),
        ("list", ["a", "b\n  goes on"]),
        ("numbered", ["1. c"]),
        ("code", ["# no heading\n- no item"]),
        ("paragraph", ["End"]),
    ]


def test_a_citation_knows_its_card_and_its_claim() -> None:
    cited = [
        each
        for block in blocks(ANSWER, CLAIMS)
        for line in block.parts
        for part in line
        for each in part.cited
    ]
    assert [(each.place, each.claim, each.card.first if each.card else None) for each in cited] == [
        ("ev_0009:1", 3, 1),
        ("ev_0002:12", 1, 12),
        ("ev_0005:3-4", 1, 3),
        ("ev_0003:7", 2, 7),
        ("ev_0005:9", 4, 9),
        ("ev_0003:2", 5, 2),
    ]


def test_a_citation_leads_to_the_card_whose_lines_hold_it_and_to_no_other_of_its_source() -> None:
    (card, *_) = CLAIMS[0].cards
    wide = msgspec.structs.replace(card, first=10, last=20)
    claims = [msgspec.structs.replace(CLAIMS[0], cards=(wide,))]
    name = card.evidence
    (block,) = blocks(f"Within [{name}:12-14], beyond [{name}:30], all of it [{name}].", claims)
    found = [each for part in block.parts[0] for each in part.cited]
    assert [each.card for each in found] == [wide, None, wide]


def test_a_citation_without_a_card_says_what_is_wrong_with_it() -> None:
    why = "There is no evidence ev_0042; cite one that was seen in this session."
    claims = [msgspec.structs.replace(CLAIMS[0], findings=(why,))]
    (block,) = blocks("See [ev_0042:1].", claims)
    (found,) = block.parts[0][1].cited
    assert (found.card, found.claim, found.why) == (None, 1, why)


def test_a_citation_of_what_no_card_has_leads_nowhere() -> None:
    (block,) = blocks("See [ev_0042:1].", CLAIMS)
    assert [[(each.card, each.claim) for each in part.cited] for part in block.parts[0]] == [
        [],
        [(None, 0)],
        [],
    ]


@given(st.text(alphabet="#-*1. \n[]ev_02:abc\t", max_size=300))
def test_no_character_of_an_answer_that_carries_meaning_is_lost(text: str) -> None:
    shown = "".join(each.text for block in blocks(text, ()) for part in block.parts for each in part)
    assert (
        [c for c in shown if c in "abcev:"] == [c for c in text if c in "abcev:"]
        or "`" in text
        or "~" in text
    )


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_answer_takes_no_time(text: str) -> None:
    begin = time.process_time()
    blocks(text, CLAIMS)
    changes(text, text + " x")
    assert time.process_time() - begin < 5


def test_what_changed_is_told_word_by_word() -> None:
    found = changes("The Elbe is 1,094 km long.", "The Elbe is 1,091 km long [ev_0001:1].", SOURCES, SOURCES)
    assert found is not None
    assert [(each.kind, each.text) for each in found] == [
        ("same", "The Elbe is "),
        ("gone", "1,094"),
        ("new", "1,091"),
        ("same", " km long"),
        ("new", " "),
        ("new", "elbe.txt 1"),
        ("same", "."),
    ]


def test_the_end_of_a_sentence_is_not_marked_as_new_when_a_sentence_follows() -> None:
    before = "One [ev_0001:1].\n\nTwo [ev_0002:2]."
    after = f"{before}\n\nThree [ev_0001:3]."
    same = ("One ", "elbe.txt 1", ".\n\nTwo ", "manual.pdf p. 1, 2", ".")
    more = ("\n\nThree ", "elbe.txt 3", ".")
    for kind, found in (
        ("new", changes(before, after, SOURCES, SOURCES)),
        ("gone", changes(after, before, SOURCES, SOURCES)),
    ):
        assert found is not None
        told = [("same", each) for each in same] + [(kind, each) for each in more]
        assert [(each.kind, each.text) for each in found] == told


def test_a_citation_changes_as_a_whole() -> None:
    before, after = "It is long [ev_0001:2-3].", "It is long [ev_0001:2-4], and wide."
    found = changes(before, after, SOURCES, SOURCES)
    assert found is not None
    changed = [each.text for each in found if each.kind != "same"]
    assert changed == ["elbe.txt 2–3", "elbe.txt 2–4", ", and wide"]
    assert [each.cites for each in found if each.kind != "same"] == [True, True, False]


def test_what_changed_names_sources_as_the_answer_does_and_never_by_ids_of_the_log() -> None:
    found = changes(
        "One [ev_0002:9-10; ev_0001]. Two 【ev_0042:1】.", "One [ev_0002:9-10; ev_0001].", SOURCES, SOURCES
    )
    assert found is not None
    assert [(each.kind, each.text) for each in found] == [
        ("same", "One "),
        ("same", "manual.pdf p. 2, 9–10"),
        ("same", " "),
        ("same", "elbe.txt"),
        ("same", "."),
        ("gone", " Two "),
        ("gone", "unknown source"),
        ("gone", "."),
    ]


def test_the_same_lines_are_the_same_citation_in_a_session_that_has_another_id_for_them() -> None:
    there = (CitedSource("ev_0007", "https://a.example/rivers/elbe.txt"), CitedSource("ev_0008", "elbe.txt"))
    assert changes("It is long [ev_0001:2].", "It is long [ev_0008:2].", SOURCES, there) == (
        Change("same", "It is long "),
        Change("same", "elbe.txt 2", cites=True),
        Change("same", "."),
    )
    assert changes("It is long [ev_0001:2].", "It is long [ev_0007:2].", SOURCES, there) == (
        Change("same", "It is long "),
        Change("gone", "elbe.txt 2", cites=True),
        Change("new", "a.example/rivers/elbe.txt 2", cites=True),
        Change("same", "."),
    )


def test_answers_that_are_compared_line_by_line_have_no_ids_of_the_log() -> None:
    line = "It is long [ev_0001:2].\n"
    found = changes(line * 1500, line * 1501, SOURCES, SOURCES)
    assert found is not None and found[-1] == Change("new", "It is long [elbe.txt 2].\n")


@given(st.text(max_size=200), st.text(max_size=200))
def test_the_changes_make_both_answers(before: str, after: str) -> None:
    found = changes(before, after)
    assert found is not None
    assert "".join(each.text for each in found if each.kind != "new") == before
    assert "".join(each.text for each in found if each.kind != "gone") == after


def test_answers_with_little_in_common_are_shown_one_after_the_other() -> None:
    before = "Under the GPL version 3 a written offer must be valid for at least three years."
    after = "No lines were found that answer this for sure: extracts are chosen by word match."
    assert changes(before, after) == (Change("gone", before), Change("new", after))
    assert changes("", after) == (Change("new", after),)


def test_long_answers_are_compared_by_lines_and_endless_ones_not_at_all() -> None:
    long = "word " * 10 + "\n"
    before, after = long * (MAX_WORDS // 15), long * (MAX_WORDS // 15) + "more\n"
    found = changes(before, after)
    assert found is not None and found[-1].text.endswith("more\n")
    assert changes("a\n" * (MAX_LINES + MAX_WORDS), "b") is None


def test_the_same_claim_stands_beside_itself_and_a_changed_one_beside_what_it_was() -> None:
    pairs = aligned(ROUNDS[0].claims, ROUNDS[1].claims)
    assert [(each.before and each.before.text, each.after and each.after.text) for each in pairs] == [
        ("The Elbe is 1,094 kilometres long.", "The Elbe is 1,094 kilometres long."),
        ("The Rhine is 1,320 kilometres long.", "The Rhine is 1,233 kilometres long."),
        (
            "The Rhine is 226 kilometres longer than the Elbe.",
            "The Rhine is 139 kilometres longer than the Elbe.",
        ),
        ("The Elbe rises in the Giant Mountains.", "The Elbe rises in the Giant Mountains."),
        (None, "The Rhine rises in the Swiss Alps."),
    ]


def test_a_claim_that_grew_stands_beside_what_it_was() -> None:
    before = ClaimView(
        key="c1", text="Under the GPL 3 an offer must be valid for at least five years.", verdict="unresolved"
    )
    after = ClaimView(
        key="c1",
        text="Under the GPL 3 an offer must be valid for at least three years, and for as long as you offer "
        "spare parts or customer support for that product model.",
        verdict="supported",
    )
    assert [(each.before, each.after) for each in aligned([before], [after])] == [(before, after)]
    other = ClaimView(key="c2", text="An offer is valid.", verdict="supported")
    assert [each.before for each in aligned([before], [other])] == [None, before]


def test_a_claim_that_is_gone_comes_last() -> None:
    gone = ClaimView(key="c9", text="Something else entirely", verdict="supported")
    pairs = aligned([gone], CLAIMS[:1])
    assert [(each.before, each.after) for each in pairs] == [(None, CLAIMS[0]), (gone, None)]


def test_the_first_and_the_second_answer_differ_in_four_places() -> None:
    found = changes(FIRST_ANSWER, ANSWER)
    assert found is not None
    assert [each.text for each in found if each.kind == "gone"][:1] == ["226"]


def leading(text: str) -> tuple[list[str], list[str]]:
    """The texts of the blocks of the beginning and of the rest."""
    begin, rest = lead(blocks(text, ()))

    def said(block: Block) -> str:
        return " / ".join("".join(each.text for each in part) for part in block.parts)

    return [said(block) for block in begin], [said(block) for block in rest]


LONG = "word " * 60


def test_an_answer_begins_with_its_first_block_and_the_headings_over_it() -> None:
    assert leading("") == ([], [])
    assert leading("# A\n## B") == (["A", "B"], [])
    assert leading("# A\n\none\n\ntwo") == (["A", "one"], ["two"])
    assert leading("- a\n- b\n- c") == (["a"], ["b / c"])
    assert leading("```\ncode\n```\ntext") == (["code"], ["text"])


def test_a_long_paragraph_begins_with_the_sentence_of_its_first_citation() -> None:
    begin, rest = leading(f"It is so [ev_0001:3]. {LONG}")
    assert (begin, rest) == (["It is so [ev_0001:3]."], [LONG])
    assert leading(f"It is so [ev_0001:3], and {LONG}")[1] == []
    assert leading(f"{LONG}[ev_0001:3].")[1] == []
    assert leading(f"{LONG} nothing is cited")[1] == []
    assert leading("Short [ev_0001:3]. It stays whole.")[1] == []
