"""How the extractive model reads the layout of a text."""

from hypothesis import given
from hypothesis import strategies as st

from vera.builtin.layout import MAX_CITED_LINES, Piece, pieces


def laid_out(text: str, first: int = 1, tabular: bool = False) -> list[Piece]:
    return pieces(dict(enumerate(text.split("\n"), first)), tabular=tabular)


def test_a_sentence_is_put_together_over_wrapped_lines() -> None:
    found = laid_out("It was built of granite. It stands\n38 metres high. It\nflashes.", first=7)
    assert [(piece.first, piece.last, piece.text) for piece in found] == [
        (7, 7, "It was built of granite."),
        (7, 8, "It stands 38 metres high."),
        (8, 9, "It flashes."),
    ]


def test_abbreviations_and_numbers_do_not_end_a_sentence() -> None:
    found = laid_out("Dr. Weller, e.g. in No. 4, paid 3.50 euros. Then J. Brekke left.")
    assert [piece.text for piece in found] == [
        "Dr. Weller, e.g. in No. 4, paid 3.50 euros.",
        "Then J. Brekke left.",
    ]


def test_a_long_sentence_is_cut_at_its_lines() -> None:
    found = laid_out("\n".join(["A clause that goes on;"] * 9))
    assert [(piece.first, piece.last) for piece in found] == [(line, line) for line in range(1, 10)]
    assert [piece.starts for piece in found] == [True] + [False] * 8
    assert all(piece.clause_start for piece in found)
    assert [piece.ends for piece in found] == [False] * 8 + [True]


def test_headings_are_the_context_of_what_follows() -> None:
    found = laid_out("# Policy\n\n## Leave\n\nTen days.\n\n## Pay\n\nMonthly.")
    assert [piece.context for piece in found if not piece.heading] == [("Policy", "Leave"), ("Policy", "Pay")]


def test_a_lead_in_belongs_to_each_item_of_its_list() -> None:
    found = laid_out("You may do so in one of these ways:\n\n  a) By post.\n\n  b) By hand.\n\nNothing else.")
    contexts = {piece.text: piece.context for piece in found}
    assert contexts["b) By hand."][:1] == ("You may do so in one of these ways:",)
    assert contexts["Nothing else."] == ()


def test_the_option_of_a_manual_is_the_tag_of_its_text() -> None:
    found = laid_out("       -p port, --port port\n              Serve on this port.  The default is 8417.")
    assert found[-1].text == "The default is 8417."
    assert found[-1].context == ("-p port, --port port",)


def test_an_answer_stands_under_its_question() -> None:
    found = laid_out("**Q: How do I reset it?**\n\nA: Press the button.\n\n**Q: Who made it?**\n\nA: We did.")
    contexts = {piece.text: piece.context for piece in found}
    assert "**Q: How do I reset it?**" in contexts["A: Press the button."]
    assert "**Q: How do I reset it?**" not in contexts["A: We did."]


def test_each_row_of_a_table_is_a_piece() -> None:
    assert len(laid_out("name,code\nOne. Two,ALB", tabular=True)) == 2
    assert len({piece.block for piece in laid_out("| a | b |\n| c | d |")}) == 2


def test_lines_that_were_not_shown_end_a_paragraph() -> None:
    found = pieces({1: "The first half of", 9: "another sentence."})
    assert [piece.text for piece in found] == ["The first half of", "another sentence."]


def test_a_hyphen_at_the_end_of_a_line_is_undone() -> None:
    assert laid_out("The de\u2010\nfault is 22.")[0].text == "The default is 22."


def test_chinese_sentences_end_at_their_full_stop() -> None:
    assert [piece.text for piece in laid_out("茶产于山。水温八十五度。")] == ["茶产于山。", "水温八十五度。"]


@given(st.lists(st.text(st.characters(exclude_characters="\n"), max_size=40), max_size=30))
def test_pieces_are_in_order_and_never_longer_than_a_citation(lines: list[str]) -> None:
    found = laid_out("\n".join(lines))
    for piece in found:
        assert 1 <= piece.first <= piece.last <= max(len(lines), 1)
        assert piece.last - piece.first < MAX_CITED_LINES
    assert [piece.first for piece in found] == sorted(piece.first for piece in found)


def test_the_term_of_a_definition_list_is_the_context_of_its_paragraph() -> None:
    paragraph = "Sets how long the server waits until a client that does not answer is given up. " * 2
    found = laid_out(f"Some settings follow.\nwait_timeout (integer)\n{paragraph}The default is 60 seconds.")
    assert found[-1].text == "The default is 60 seconds."
    assert found[-1].context == ("wait_timeout (integer)",)
