"""The line rule: long lines are cut at sentences, and offsets stay where they can."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.extraction.canonical.lines import LINE_LIMIT, fold

SENTENCE = "This sentence is written only in order to have about a hundred characters, no more and no less. "


def lines_of(text: str) -> list[str]:
    return fold(text.encode()).decode().split("\n")


def test_a_line_of_the_limit_is_left_alone() -> None:
    line = "x" * LINE_LIMIT + "\n"
    assert fold(line.encode()) == line.encode()


def test_the_limit_counts_characters_and_not_bytes() -> None:
    line = "ж" * LINE_LIMIT
    assert lines_of(line) == [line]


def test_a_long_line_is_cut_after_its_sentences_and_no_byte_moves() -> None:
    text = (SENTENCE * 5).rstrip().encode()
    folded = fold(text)
    assert folded == text.replace(b". T", b".\nT")
    assert len(folded) == len(text)


def test_a_short_sentence_takes_the_next_one_along() -> None:
    assert lines_of("Yes. " + SENTENCE * 5 + "End.")[0] == "Yes. " + SENTENCE.rstrip()


def test_two_spaces_after_a_sentence_keep_one() -> None:
    text = (SENTENCE.replace(". ", ".  ") * 5).rstrip()
    assert lines_of(text)[0].endswith("less. ")


@pytest.mark.parametrize("word", ["Dr.", "Art.", "No.", "e.g.", "J.", "vs.", "Abs."])
def test_an_abbreviation_ends_no_sentence(word: str) -> None:
    start = "The rule that was read by everybody who took part in the hearing is known from and by"
    text = f"{start} {word} Smith " + "and so on and so on " * 20
    assert lines_of(text)[0].startswith(f"{start} {word} Smith")


def test_a_lower_case_word_after_a_full_stop_goes_on_with_the_sentence() -> None:
    text = "x" * 90 + " approx. ten " + "and so on " * 40
    assert "approx. ten" in lines_of(text)[0]


def test_chinese_is_cut_after_its_own_marks_with_a_newline_inserted() -> None:
    sentence = "研究即验证，模型只选择而不输入引文，任何人都可以检查每一个字节。"
    lines = lines_of(sentence * 20)
    assert "".join(lines) == sentence * 20
    assert all(line.endswith("。") for line in lines)


def test_a_closing_quote_stays_with_its_sentence() -> None:
    text = "「" + "研" * 100 + "。」次" + "究" * 400
    assert lines_of(text)[0].endswith("。」")


def test_a_sentence_longer_than_the_limit_is_cut_at_the_last_space() -> None:
    lines = lines_of("word " * 200)
    assert {len(line) for line in lines[:-1]} == {LINE_LIMIT - 1}


def test_a_row_without_spaces_is_cut_after_a_delimiter() -> None:
    lines = lines_of(",".join(["value"] * 200))
    assert all(line.endswith(",") for line in lines[:-1])
    assert "".join(lines) == ",".join(["value"] * 200)


def test_an_unbroken_string_is_cut_at_the_limit() -> None:
    assert [len(line) for line in lines_of("é" * 1000)] == [400, 400, 200]


def test_a_line_of_megabytes_is_cut_as_its_parts_would_be() -> None:
    text = (SENTENCE * 30_000).rstrip()
    assert set(lines_of(text)) == {SENTENCE.rstrip()}


LONG = st.lists(
    st.sampled_from(
        ["word ", "End. ", "no.", " ", "  ", "。", "字", "é", "x" * 90, "y" * 401, ",", "\t", "\n", "”", "A"]
    ),
    max_size=60,
).map("".join)


@given(LONG)
def test_no_line_is_longer_than_the_limit(text: str) -> None:
    assert all(len(line) <= LINE_LIMIT for line in lines_of(text))


@given(LONG)
def test_folding_twice_is_folding_once(text: str) -> None:
    once = fold(text.encode())
    assert fold(once) == once


@given(LONG)
def test_folding_changes_nothing_but_line_ends(text: str) -> None:
    folded = fold(text.encode()).decode()
    assert folded.replace("\n", "").replace(" ", "") == text.replace("\n", "").replace(" ", "")


@given(st.lists(st.sampled_from(["word ", "End. ", "x" * 60 + " ", "\n"]), max_size=80).map("".join))
def test_text_with_spaces_keeps_every_offset(text: str) -> None:
    folded = fold(text.encode()).decode()
    assert folded.replace("\n", " ") == text.replace("\n", " ")
