"""Cited lines made whole: which lines a sentence runs through, and where it ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.text.headings import over
from vera.text.span import Lines
from vera.text.whole_sentences import line, runs_on, whole


def made_whole(text: str, first: int, last: int = 0) -> tuple[int, int, str]:
    data = text.encode()
    found = whole(Lines(data), first, last or first)
    return found.first, found.last, data[found.start : found.end].decode()


@pytest.mark.parametrize(
    ("text", "cited", "expected"),
    [
        ("The tenant must\nnot smoke.", 1, (1, 2, "The tenant must\nnot smoke.")),
        ("The tenant must\nNOT smoke.", 2, (1, 2, "The tenant must\nNOT smoke.")),
        ("The yearly fee is 1\n250 euros.", 1, (1, 2, "The yearly fee is 1\n250 euros.")),
        ("The yearly fee is 1,\n250 euros.", 2, (1, 2, "The yearly fee is 1,\n250 euros.")),
        ("The fee is 1.\n250 euros it is.", 1, (1, 2, "The fee is 1.\n250 euros it is.")),
        ("Der Mieter darf\nHunde nicht halten.", 1, (1, 2, "Der Mieter darf\nHunde nicht halten.")),
        ("合同期限为三\n年,不得转让。", 1, (1, 2, "合同期限为三\n年,不得转让。")),
        ("One ends. Two goes\non here. Three is\nno part.", 1, (1, 2, "One ends. Two goes\non here.")),
        ("One goes\non. Two goes\non too.", 3, (2, 3, "Two goes\non too.")),
    ],
)
def test_a_line_border_cuts_no_sentence(text: str, cited: int, expected: tuple[int, int, str]) -> None:
    assert made_whole(text, cited) == expected


@pytest.mark.parametrize(
    ("text", "cited"),
    [
        ("It is so.\nIt is not.", 1),
        ("name,amount\na,307\nb,118", 2),
        ('{\n  "a": 5,\n  "b": 7\n}', 2),
        ("- one item\n- not another", 1),
        ("# Heading\nnot part of it", 1),
        ("version: 3\nlicense: none", 1),
        ("GENERAL LICENSE\nVersion 3", 1),
        ("Notice period\n\nnot counted", 1),
        ("12\n345\n678", 2),
        ("a | 1\nb | 2", 1),
    ],
)
def test_rows_items_headings_and_whole_sentences_keep_their_lines(text: str, cited: int) -> None:
    first, last, _ = made_whole(text, cited)
    assert (first, last) == (cited, cited)


@given(
    st.lists(st.sampled_from(["word", "12", ".", "Not", "not", "a,1", "# x", "", "- ", "é"]), min_size=1),
    st.data(),
)
def test_what_is_made_whole_holds_what_was_cited(words: list[str], data: st.DataObject) -> None:
    lines = Lines("\n".join(" ".join(words[index : index + 3]) for index in range(len(words))).encode())
    if not len(lines):
        return
    first = data.draw(st.integers(1, len(lines)))
    found = whole(lines, first, first)
    start, end = lines.bounds(first, first)
    assert found.first <= first <= found.last
    assert found.start <= start <= end <= found.end


def test_a_text_without_an_end_is_not_walked_through() -> None:
    found = whole(Lines(b"and so on it goes with words\n" * 10_000), 5000, 5000)
    assert found.last - found.first <= 120
    assert not runs_on("", "not")


def test_the_headings_over_a_line_are_the_nearest_and_those_above_it() -> None:
    lines = Lines(b"# Page\n\n## Myths\n\nIt is so.\n\n## Facts\n\nIt is not so.\n")
    assert over(lambda number: line(lines, number), 5) == ("Myths", "Page")
    assert over(lambda number: line(lines, number), 9) == ("Facts", "Page")
    plain = Lines(b"Myths\nThe moon is made of cheese.\nIt is green.\nFacts\nThe moon is made of rock.\n")
    assert over(lambda number: line(plain, number), 3) == ("Myths",)
    assert over(lambda number: line(plain, number), 5) == ("Facts",)


def test_a_row_of_one_cell_is_a_heading_of_the_rows_below_it() -> None:
    rows = ["| Point | Date |", "| **Refused** | |", "| The rent falls. | 2 May |", "", "It is so, they say."]
    assert over(lambda number: rows[number - 1], 3) == ("Refused",)
    assert over(lambda number: rows[number - 1], 5) == ()


def test_headings_without_marks_are_ranked_by_what_they_begin_with() -> None:
    def of(text: str, number: int) -> tuple[str, ...]:
        lines = Lines(text.encode())
        return over(lambda each: line(lines, each), number)

    numbered = "2 Charges\n2.1 Hours\nIt is open.\n3 Repealed provisions\n3.1 Days\nIt is shut.\n"
    assert of(numbered, 3) == ("2.1 Hours", "2 Charges")
    assert of(numbered, 6) == ("3.1 Days", "3 Repealed provisions")
    underlined = "Today\n=====\n\nIt is so.\n\nWishes\n======\n\nIt is not so.\n"
    assert of(underlined, 4) == ("Today",)
    assert of(underlined, 9) == ("Wishes",)
    assert of("协会章程\n\n一、现行条款\n会费三百元。\n\n二、已废止的条款\n会费二百元。\n", 7) == (
        "二、已废止的条款",
        "协会章程",
    )
    assert of("MYTHS\nThe moon\nIt is made of cheese.\n", 3) == ("The moon", "MYTHS")
