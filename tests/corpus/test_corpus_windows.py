"""The few lines of a chunk that answer a query."""

from hypothesis import given
from hypothesis import strategies as st

from vera.corpus.analyzer import Analyzer
from vera.corpus.query import Counts, Query, read
from vera.corpus.windows import MAX_LINES, InName, Window, best_window, in_name, rounded_out

ANALYZER = Analyzer()
NOWHERE = InName(frozenset(), 0.0)


def query_of(text: str, frequencies: dict[str, int] | None = None) -> Query:
    """A query over a thousand chunks, in which each word stands ten times unless it is said otherwise."""

    def count(match: str) -> int:
        return next((n for word, n in (frequencies or {}).items() if f'"{word}"' in match), 10)

    return read(text, Counts(chunks=1000, names=1000, of_chunks=count, of_names=lambda _: 10), ANALYZER)


def window_of(query: Query, text: str, name: str = "") -> Window | None:
    stems = {stem for term in query.phrases + query.terms for sequence in term.stems for stem in sequence}
    in_text, in_the_name = ANALYZER.places([text, name], stems)
    return best_window(query, in_text, in_name(query, in_the_name))


def test_the_window_is_where_the_words_stand_together() -> None:
    text = "offer\n\n\n\n\n\n\n\n\na written offer\nvalid for three years\n\n\n\n\n\n\n\n\nyears"
    window = window_of(query_of("How many years is a written offer valid?"), text)
    assert window is not None
    assert (window.first, window.last) == (9, 10)
    assert set(window.matched) == {"written", "offer", "valid", "years"}


def test_a_rare_word_outweighs_a_frequent_one() -> None:
    query = query_of("licence warranty", {"licence": 900, "warranty": 2})
    window = window_of(query, "licence licence licence\n" + "\n" * 10 + "warranty")
    assert window is not None
    assert window.matched == ("warranty",)


def test_words_that_follow_each_other_in_the_query_count_more_when_they_do_in_the_text() -> None:
    query = query_of("object code")
    together, apart = window_of(query, "the object code"), window_of(query, "code of an object")
    assert together is not None
    assert apart is not None
    assert together.score > apart.score


def test_what_the_name_says_need_not_be_said_by_the_lines() -> None:
    query = query_of("warranty of the GPL-3")
    text = "GPL 3\n" + "\n" * 10 + "there is no warranty"
    window = window_of(query, text, name="GPL-3")
    assert window is not None
    assert window.first == 11
    elsewhere = window_of(query, "there is no warranty", name="MPL-2.0")
    assert elsewhere is not None
    assert window.score > elsewhere.score


def test_without_any_word_there_is_no_window() -> None:
    assert window_of(query_of("warranty"), "nothing of the kind") is None


@given(st.lists(st.sampled_from(["offer", "valid years", "", "written", "other words"]), max_size=40))
def test_a_window_lies_in_the_text_and_is_never_long(lines: list[str]) -> None:
    window = window_of(query_of("written offer valid for years"), "\n".join(lines))
    if window is not None:
        assert 0 <= window.first <= window.last < len(lines)
        assert window.last - window.first < MAX_LINES
        assert 0 < window.score < 3


def rounded(lines: list[bytes], first: int, last: int) -> tuple[int, int]:
    wider = rounded_out(Window(first, last, 1.0, ()), lines)
    return wider.first, wider.last


def test_a_window_is_rounded_out_to_whole_sentences() -> None:
    lines = [b"End.", b"A sentence", b"that matters", b"and ends.", b"Another."]
    assert rounded(lines, 2, 2) == (1, 3)


def test_a_window_is_not_rounded_out_where_no_sentence_ends_near() -> None:
    lines = [b"key = value"] * 20
    assert rounded(lines, 10, 10) == (10, 10)


@given(st.lists(st.sampled_from([b"", b"word", b"end."]), min_size=1, max_size=30), st.data())
def test_rounding_out_keeps_the_window_and_the_bound(lines: list[bytes], data: st.DataObject) -> None:
    first = data.draw(st.integers(0, len(lines) - 1))
    last = data.draw(st.integers(first, min(len(lines) - 1, first + MAX_LINES - 1)))
    wider = rounded(lines, first, last)
    assert 0 <= wider[0] <= first <= last <= wider[1] < len(lines)
    assert wider[1] - wider[0] < MAX_LINES
