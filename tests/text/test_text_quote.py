"""A quotation is found where it stands, up to how it is set, and never because something similar is there."""

import re

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from vera.text.quotation import QUOTE_LIMIT, find_quotations
from vera.text.quote import QuoteIndex, locate

TEXT = """The Licence

Scope
This page covers “all work” — and 15 people paid 1.5 million, or 10² dollars.
We de-
scribe the well-known  ﬁne café\u00a0(cafe\u0301) rules.[12] It is **very important** to run `make test` now.
> A mailed line
> goes on here. It was unsupported and 50% off; at -5 degrees 2*3*4 is 24.
这是一个
测试文本的例子。 Nelson's column stands. End of "it".
"""
DATA = TEXT.encode()


def stands(quote: str) -> str | None:
    """The bytes at the returned offsets, None when nothing was found or a word was cut."""
    found = locate(quote, TEXT)
    return DATA[found.start : found.end].decode() if found and found.whole else None


@pytest.mark.parametrize(
    ("quote", "there"),
    [
        ("15 people paid 1.5 million,", "15 people paid 1.5 million,"),
        ('this page covers "all work" -- and', "This page covers “all work” — and"),
        ("This page covers ‘all work’", "This page covers “all work”"),
        ("people paid 1.5 million.", "people paid 1.5 million"),
        ("We describe the well-known fine café (café) rules.", None),
        ("It is very important to run make test now", "It is **very important** to run `make test` now"),
        ("rules. It is very", "rules.[12] It is **very"),
        ("A mailed line goes on here.", "A mailed line\n> goes on here."),
        ("这是一个测试文本", "这是一个\n测试文本"),
        ("Scope: This page covers", "Scope\nThis page covers"),
        ("[T]his page covers", "This page covers"),
    ],
)
def test_typography_and_layout_do_not_count(quote: str, there: str | None) -> None:
    found = stands(quote)
    assert found is not None
    assert there is None or found == there


@pytest.mark.parametrize(
    "quote",
    [
        "16 people paid 1.5 million",
        "5 people paid 1.5 million",
        "15 people paid 1",
        "10 dollars",
        "102 dollars",
        "supported and 50% off",
        "It was unsupported and 50",
        "5 degrees 2*3*4",
        "degrees 234 is 24",
        "degrees 2*3*4 is 2",
        "cafe",
        "thiS page covers",
        "This page covers all work",
        "wellknown",
        "verything important",
        "Nelson' column",
        "这是两个测试文本",
    ],
)
def test_what_differs_is_not_there(quote: str) -> None:
    assert stands(quote) is None


def test_offsets_are_bytes_and_lines_are_those_of_the_text() -> None:
    found = locate("Nelson's column stands.", TEXT)
    assert found is not None and found.form == "exact"
    assert (found.first, found.last) == (10, 10)
    assert DATA[found.start : found.end] == b"Nelson's column stands."
    over_two = locate("describe the well-known", TEXT)
    assert over_two is not None and (over_two.first, over_two.last, over_two.form) == (5, 6, "folded")


def test_offsets_are_right_behind_bytes_that_are_no_utf8() -> None:
    data = b"\xff\xfe \xc3 before\nthe bridge was opened\n"
    found = QuoteIndex(data).locate("the bridge was opened")
    assert found is not None and data[found.start : found.end] == b"the bridge was opened"


def test_parts_around_an_ellipsis_stand_in_order_and_near_each_other() -> None:
    found = locate("This page covers … 15 people [...] or 10² dollars", TEXT)
    assert found is not None and len(found.parts) == 3
    assert [DATA[a:b].decode() for a, b in found.parts] == ["This page covers", "15 people", "or 10² dollars"]
    assert locate("15 people … This page covers", TEXT) is None
    assert locate("This page covers … 16 people", TEXT) is None
    far = "It was said once. " + "x " * 3000 + "It was denied."
    assert locate("It was said … It was denied", far) is None


def test_a_quotation_that_cuts_a_word_is_located_but_not_whole() -> None:
    found = locate("supported and 50% off", TEXT)
    assert found is not None and not found.whole


def test_a_pdf_may_break_words_anywhere_but_numbers_never() -> None:
    data = b"The agree ment of 1 5 May\n"
    assert QuoteIndex(data).locate("The agreement of") is None
    found = QuoteIndex(data, loose=True).locate("The agreement of")
    assert found is not None and data[found.start : found.end] == b"The agree ment of"
    assert QuoteIndex(data, loose=True).locate("agreement of 15 May") is None


def test_the_nearest_passage_shows_what_differs() -> None:
    found = QuoteIndex(TEXT.encode()).nearest("This page covers “all work” — and 16 people paid 1.5 million")
    assert found is not None and (found.first, found.last) == (4, 4)
    assert "[-16-] {+15+}" in found.marked
    assert QuoteIndex(TEXT.encode()).nearest("nothing of this stands anywhere") is None


def test_the_difference_is_bounded() -> None:
    found = QuoteIndex(("word " * 1000).encode()).nearest("word " * 300 + "other " * 100)
    assert found is None or len(found.marked) <= 500


@settings(suppress_health_check=[HealthCheck.filter_too_much])  # many cuts hold no letter
@given(st.text(alphabet="ab “”'’-–\n\u00ad.…1é ", max_size=80), st.data())
def test_what_is_cut_out_of_a_text_is_found_in_it_and_folds_to_the_same(
    text: str, data: st.DataObject
) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    quote = text[start:end].strip()
    assume(any(map(str.isalnum, quote)))
    found = locate(quote, text)
    if found is not None:
        there = "".join(text.encode()[first:last].decode() for first, last in found.parts)
        assert letters(there).casefold() == letters(quote).casefold()


def letters(text: str) -> str:
    return re.sub(r"[^\w]", "", text)


WORDS = [
    "the",
    "river",
    "bridge",
    "was",
    "opened",
    "by",
    "queen",
    "anna",
    "on",
    "27",
    "may",
    "1937",
    "after",
    "200,000",
    "people",
    "had",
    "crossed",
    "it",
]


@given(st.integers(0, len(WORDS) - 4), st.integers(4, 10), st.data())
def test_one_changed_character_is_never_there(start: int, length: int, data: st.DataObject) -> None:
    text = " ".join(WORDS)
    quote = " ".join(WORDS[start : start + length])
    index = data.draw(st.sampled_from([i for i, char in enumerate(quote) if char.isalnum()]))
    other = data.draw(st.sampled_from("abcdefghijklmnopqrstuvwxyz0123456789"))
    changed = quote[:index] + other + quote[index + 1 :]
    assume(changed.lower() != quote)
    found = locate(changed, text)
    assert found is None or not found.whole


@pytest.mark.parametrize(
    ("statement", "quoted"),
    [
        ("He said “the quick brown fox” of a “War”.", ["the quick brown fox"]),
        ("It's Bob's, and the boys' cat isn't \"very nice at all\".", ["very nice at all"]),
        ('A 5" pipe and a 6" pipe are long.', []),
        ("„Das ist ein Test“ und «c'est un test».", ["Das ist ein Test", "c'est un test"]),
        ("»Noch ein Test hier« sagt er.", ["Noch ein Test hier"]),
        ("“outer with “inner quote here” and tail” x", ["outer with “inner quote here” and tail"]),
        ("‘British quotes don’t end here’, he said.", ["British quotes don’t end here"]),
        ("It says:\n\n> block line one\n> and two\n\nafter", ["block line one\nand two"]),
        ("An unclosed “quote here and then a “closed one stands here”.", ["closed one stands here"]),
        ("「这是引用的文本内容」", ["这是引用的文本内容"]),
        ("rock ’n’ roll and the ’90s were there", []),
    ],
)
def test_quotations_are_found_by_their_marks(statement: str, quoted: list[str]) -> None:
    found = find_quotations(statement)
    assert [quotation.text for quotation in found] == quoted
    for quotation in found:
        assert quotation.text.split("\n")[0] in statement[quotation.start : quotation.end]


@pytest.mark.parametrize("unit", ["“", '"', "‘x ", "> \n", "…", "*a", "[1", "\u0301a", "a-\n", "é ﬁ "])
def test_hostile_text_is_read_within_bounds(unit: str) -> None:
    text = unit * (200_000 // len(unit))
    find_quotations(text)
    index = QuoteIndex(text.encode())
    assert index.locate("what … stands … nowhere") is None
    assert index.locate(text) is None or len(text) <= QUOTE_LIMIT
    index.nearest("a x é " * 100)
