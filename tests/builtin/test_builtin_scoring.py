"""Which lines the extractive model takes for an answer."""

from hypothesis import given, settings
from hypothesis import strategies as st

from vera.builtin.conversation import Excerpt
from vera.builtin.documents import Match
from vera.builtin.layout import MAX_CITED_LINES
from vera.builtin.question import analyse
from vera.builtin.scoring import Window, grown, windows
from vera.builtin.term_weights import weigh


def excerpt(text: str, first: int = 1, path: str = "a.txt") -> Excerpt:
    lines = dict(enumerate(text.split("\n"), first))
    return Excerpt(path, len(lines), lines, first, first + len(lines) - 1, "ev_0001")


def ranked(question: str, seen: Excerpt, name: Match | None = None) -> list[Window]:
    asked = analyse(question)
    return windows(asked, weigh(asked, [seen]), seen, name or Match())


def best_text(question: str, text: str) -> str:
    return ranked(question, excerpt(text))[0].text


def test_the_sentence_with_an_answer_of_the_kind_beats_a_mere_mention() -> None:
    text = "The tower of the light is famous.\n\nThe tower of the light stands 38 metres high."
    assert "38 metres" in best_text("How tall is the tower of the light?", text)


def test_a_heading_alone_is_no_answer() -> None:
    text = "## Notice period\n\nIt is three months.\n\n## Deposit\n\nIt is two rents."
    assert best_text("How long is the notice period?", text).endswith("It is three months.")


def test_a_question_in_the_text_leads_to_what_follows_it() -> None:
    text = "Q. How do I reset the alarm?\n\nA. Press the green button.\n\nQ. Who made it?\n\nA. We did."
    assert "green button" in best_text("How do I reset the alarm?", text)


def test_what_the_lead_in_says_counts_for_its_items() -> None:
    text = "The deposit is returned within:\n\n- 14 days if nothing is broken;\n\n- 60 days otherwise."
    assert "14 days" in best_text("Within how many days is the deposit returned if nothing is broken?", text)


def test_a_long_sentence_is_cited_where_it_answers() -> None:
    lines = [f"clause number {word} of this sentence says nothing at all," for word in "abcdefgh"]
    lines += ["accompanied by a written offer that is valid for at", "least three years,"]
    lines += [f"and clause {word} says no more than that either," for word in "abcdefgh"]
    window = ranked("For how many years is the written offer valid?", excerpt("\n".join(lines)))[0]
    assert window.first <= 9
    assert window.last >= 10
    assert window.last - window.first < MAX_CITED_LINES


def test_a_rare_word_weighs_more_than_a_common_one() -> None:
    text = "\n\n".join(["The pump is tested."] * 6 + ["The valve is tested."])
    assert "valve" in best_text("Is the pump or the valve tested?", text)


def test_a_rival_document_scores_lower() -> None:
    seen = excerpt("The written offer is valid for three years.")
    question = "How long is the written offer valid?"
    assert ranked(question, seen, Match(fit=0.0))[0].score < ranked(question, seen, Match(fit=1.0))[0].score


def test_a_text_without_the_words_has_no_window_worth_citing() -> None:
    found = ranked("What is the capital of Mongolia?", excerpt("The tower stands on a rock.\nIt is high."))
    assert all(window.coverage == 0 for window in found)


def test_a_window_grows_to_its_paragraph_but_not_over_six_lines() -> None:
    seen = excerpt("One two.\nThree four.\nFive six.\n\nSeven.")
    window = next(window for window in ranked("three four", seen) if (window.first, window.last) == (2, 2))
    assert (grown(window, seen).first, grown(window, seen).last) == (1, 3)
    long = excerpt("\n".join(f"Sentence {number} is here." for number in range(20)), first=5)
    window = next(window for window in ranked("sentence 9", long) if (window.first, window.last) == (14, 14))
    assert grown(window, long).last - grown(window, long).first == MAX_CITED_LINES - 1


def test_lines_that_were_not_shown_are_never_inside_a_window() -> None:
    seen = Excerpt("a.txt", 9, {1: "# Notice period", 2: "", 5: "Three months."}, 1, 5, "ev_0001")
    assert all(
        window.last <= 2 or window.first >= 5 for window in ranked("How long is the notice period?", seen)
    )


@settings(max_examples=50)
@given(
    st.text(max_size=60), st.lists(st.text(st.characters(exclude_characters="\n"), max_size=60), max_size=25)
)
def test_every_window_is_a_citation_of_lines_that_were_shown(question: str, lines: list[str]) -> None:
    seen = excerpt("\n".join(lines))
    found = ranked(question, seen)
    ranks = [(window.sure, window.score) for window in found]
    assert ranks == sorted(ranks, reverse=True)
    for window in found[:20]:
        wide = grown(window, seen)
        assert wide.first <= window.first <= window.last <= wide.last
        assert wide.last - wide.first < MAX_CITED_LINES
        assert {wide.first, wide.last} <= set(seen.lines)
