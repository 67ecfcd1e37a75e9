"""When lines are likely enough to be presented as the answer."""

import msgspec
import pytest

from vera.builtin.acceptance import ACCEPTANCE, accepted
from vera.builtin.conversation import Excerpt
from vera.builtin.documents import Match
from vera.builtin.question import analyse
from vera.builtin.scoring import Said, Window, windows
from vera.builtin.term_weights import weigh

ASKED = "Which old wooden boxes does the caretaker usually keep behind the stairs?"
SAID = "The caretaker keeps some old wooden boxes of apples behind the stairs."
OTHERS = (
    "The tenant usually pays the rent in March.",
    "The lamp in the attic is broken.",
    "A key lies under the doormat.",
    "The garden has two gates.",
    "The cellar is dry.",
)


def is_sure(question: str, *files: str) -> bool:
    """Whether lines of one of the files, beside those of OTHERS, are presented as an answer."""
    seen = []
    for place, text in enumerate((*files, *OTHERS)):
        lines = dict(enumerate(text.split("\n"), 1))
        seen.append(Excerpt(f"{place}.txt", len(lines), lines, 1, len(lines), f"ev_{place:04}"))
    asked = analyse(question)
    lexis = weigh(asked, seen)
    found = accepted([windows(asked, lexis, each, Match()) for each in seen])
    return any(window.sure for each in found for window in each)


def test_a_sentence_that_lacks_a_word_answers_where_none_says_as_much() -> None:
    assert is_sure(ASKED, SAID)
    assert is_sure(ASKED, SAID, SAID)


def test_what_is_asked_about_and_stands_in_no_text_is_told_nowhere() -> None:
    assert not is_sure(ASKED.replace("usually", "secretly"), SAID)


SENTENCE = Said("a b c", 3, 4, own=0.9, missing=0.2, length=12, terms=6, answers=False, may=True)


def window(said: Said, path: str = "a.txt", score: float = 1.0) -> Window:
    return Window(
        path, "ev_0001", said.first, said.last, score, 1.0, 1.0, said.text, sure=said.answers, said=(said,)
    )


def odds_of(said: Said, *others: Window, score: float = 1.0) -> float:
    """The log-odds of a sentence, by the bound at which it is no longer presented."""
    low, high = -20.0, 20.0
    while high - low > 1e-6:
        middle = (low + high) / 2
        weights = msgspec.structs.replace(ACCEPTANCE, enough=middle, enough_where_said=middle)
        shown = accepted([[window(said, score=score)], list(others)], weights)[0][0].sure
        low, high = (middle, high) if shown else (low, middle)
    return low


def test_more_that_is_missing_more_words_and_a_lower_score_make_an_answer_less_likely() -> None:
    plain = odds_of(SENTENCE)
    assert odds_of(msgspec.structs.replace(SENTENCE, missing=0.3)) < plain
    assert odds_of(msgspec.structs.replace(SENTENCE, length=40)) < plain
    assert odds_of(SENTENCE, score=0.9) < plain
    assert odds_of(msgspec.structs.replace(SENTENCE, terms=3)) < plain


def test_another_sentence_that_says_as_much_makes_an_answer_less_likely() -> None:
    other = msgspec.structs.replace(SENTENCE, text="d e f")
    assert odds_of(SENTENCE, window(other, "b.txt")) < odds_of(SENTENCE)


def test_the_same_words_elsewhere_and_other_words_on_the_same_lines_are_no_other_sentence() -> None:
    assert odds_of(SENTENCE, window(SENTENCE, "b.txt")) == odds_of(SENTENCE)
    overlapping = msgspec.structs.replace(SENTENCE, text="c d", first=4, last=5)
    assert odds_of(SENTENCE, window(overlapping)) == odds_of(SENTENCE)


def test_what_says_all_that_is_demanded_needs_less_but_not_nothing() -> None:
    bound = odds_of(SENTENCE)
    weights = msgspec.structs.replace(ACCEPTANCE, enough=bound + 1, enough_where_said=bound - 1)
    saying = msgspec.structs.replace(SENTENCE, answers=True)
    assert not accepted([[window(SENTENCE)]], weights)[0][0].sure
    assert accepted([[window(saying)]], weights)[0][0].sure
    assert not accepted([[window(saying, score=0.2)]], weights)[0][0].sure


def test_what_may_not_answer_never_does() -> None:
    barred = msgspec.structs.replace(SENTENCE, may=False)
    assert not accepted([[window(barred, score=9.0)]])[0][0].sure


@pytest.mark.parametrize(
    "said",
    [
        "The caretaker keeps some old boxes of apples.",
        "The caretaker keeps some old wooden boxes behind the stairs:",
        "The caretaker keeps old wooden boxes behind the stairs.",
        "# The caretaker keeps some old wooden boxes of apples behind the stairs",
        "It is not known which old wooden boxes the caretaker keeps behind the stairs, and with apples.",
    ],
    ids=["too-little", "lead-in", "nothing-new", "heading", "open"],
)
def test_too_little_a_lead_in_nothing_new_a_heading_and_what_is_open_do_not(said: str) -> None:
    assert not is_sure(ASKED, said)


def test_a_question_of_a_kind_needs_an_expression_of_it() -> None:
    question = "When does the caretaker usually carry old wooden boxes behind the stairs?"
    assert is_sure(question, "The caretaker carries old wooden boxes behind the stairs on 6 March 2022.")
    assert not is_sure(question, "The caretaker carries old wooden boxes behind the stairs with care.")


def test_no_sentence_is_weighed_for_a_question_in_chinese() -> None:
    assert not is_sure("看门人把旧木箱放在哪个楼梯后面？", "看门人把旧木箱放在楼梯后面，里面有苹果。")


def test_a_question_of_few_words_needs_them() -> None:
    said = "The old mill has a wheel of oak."
    assert not is_sure("Which wheel has the mill in Ostley?", said)


def test_what_the_question_asks_for_by_a_noun_has_to_be_said() -> None:
    said = "Loan Topaz was granted with a principal of 463,000 euros."
    lenders = (f"The lender of the boat {name} is known." for name in ("Ada", "Isla", "Kestrel", "Morvern"))
    assert not is_sure("Which lender granted Loan Topaz?", said, *lenders)
