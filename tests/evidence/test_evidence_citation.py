"""Citations in an answer: forgiving about spelling, strict about what they are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.evidence.citation import CITATION_LIMIT, Citation, find_citations, place_name


def found(text: str) -> list[tuple[str, int | None, int | None]]:
    return [(citation.evidence, citation.first, citation.last) for citation in find_citations(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[ev_0003:12-14]", [("ev_0003", 12, 14)]),
        ("[ev_0003:12]", [("ev_0003", 12, 12)]),
        ("[ev_0003]", [("ev_0003", None, None)]),
        ("[ev_0003:12–14]", [("ev_0003", 12, 14)]),
        ("[ ev_0003 : 12 — 14 ]", [("ev_0003", 12, 14)]),
        ("[ev_0003:L12-L14]", [("ev_0003", 12, 14)]),
        ("【ev_0003:12】", [("ev_0003", 12, 12)]),
        (
            "[ev_0003:12-14, ev_0007:3; ev_0009]",
            [("ev_0003", 12, 14), ("ev_0007", 3, 3), ("ev_0009", None, None)],
        ),
        ("[ev_0003:12-14, 20]", [("ev_0003", 12, 14), ("ev_0003", 20, 20)]),
        ("[ev_0003:1 ev_0004:2]", [("ev_0003", 1, 1), ("ev_0004", 2, 2)]),
        ("[ev_0003:1][ev_0004:2]", [("ev_0003", 1, 1), ("ev_0004", 2, 2)]),
        ("[ev_0003:14-12]", [("ev_0003", 14, 12)]),
        ("[ev_123456:0]", [("ev_123456", 0, 0)]),
    ],
)
def test_what_is_a_citation(text: str, expected: list[tuple[str, int | None, int | None]]) -> None:
    assert found(f"Before {text} after.") == expected


@pytest.mark.parametrize(
    "text",
    [
        "ev_0003:12",
        "(ev_0003:12)",
        "[see ev_0003:12]",
        "[ev_0003:12 and more]",
        "[ev_0003:12-]",
        "[ev_0003:1,,2]",
        "[ev_0003 12]",
        "[ev_x:1]",
        "[EV_0003]",
        "[1]",
        "[ev_0003:1000000000000000000000000000000]",
        "[ev_0000000000000003:1]",
        "[ev_0003:12",
    ],
)
def test_what_is_none(text: str) -> None:
    assert found(text) == []


def test_the_place_is_that_of_the_bracket() -> None:
    text = "Three years [ev_0003:12, ev_0004:1]."
    assert find_citations(text) == [Citation("ev_0003", 12, 12, 12, 35), Citation("ev_0004", 1, 1, 12, 35)]
    assert text[12:35] == "[ev_0003:12, ev_0004:1]"


def test_there_is_a_bound() -> None:
    assert len(find_citations("[ev_1]" * (CITATION_LIMIT + 5))) == CITATION_LIMIT


@pytest.mark.parametrize(
    "piece", ["[", "[ev_1", "[ev_1:1,", "[ev_1:1" + " " * 1900 + "x]", "[ev_1" + " ," * 900 + "]"]
)
def test_hostile_text_takes_linear_time(piece: str) -> None:
    # A megabyte each: quadratic work would not end within the test's time limit.
    find_citations(piece * (1_000_000 // len(piece)))


@given(st.text("ev_012:-,; []【】–x", max_size=80))
def test_any_text_gives_citations_that_stand_in_it(text: str) -> None:
    for citation in find_citations(text):
        bracket = text[citation.start : citation.end]
        assert citation.evidence in bracket
        assert bracket[0] in "[【" and bracket[-1] in "]】"
        assert (citation.first is None) == (citation.last is None)


@given(
    st.lists(
        st.tuples(st.integers(0, 99_999), st.integers(1, 999_999), st.integers(0, 50)), min_size=1, max_size=6
    )
)
def test_what_is_written_is_found_again(marks: list[tuple[int, int, int]]) -> None:
    items = [(f"ev_{number:04}", first, first + more) for number, first, more in marks]
    text = "; ".join(f"{evidence}:{first}-{last}" for evidence, first, last in items)
    assert found(f"x [{text}] y") == items


@pytest.mark.parametrize("name", ["ev_0003", "ev_0003:12", "ev_0003:12-14"])
def test_a_place_is_named_as_it_is_cited(name: str) -> None:
    (read,) = found(f"[{name}]")
    assert place_name(*read) == name
