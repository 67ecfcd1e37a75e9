"""When the only sentence that says so much of what is asked is presented as the answer."""

import pytest

from vera.builtin.apart import told_apart
from vera.builtin.conversation import Excerpt
from vera.builtin.documents import Match
from vera.builtin.question import analyse
from vera.builtin.scoring import windows
from vera.builtin.term_weights import weigh

ASKED = "Which old wooden boxes does the caretaker keep behind the cellar stairs?"
SAID = "The caretaker keeps some old wooden boxes of apples behind the stairs."
OTHERS = (
    "The tenant pays the rent in March.",
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
    found = told_apart([windows(asked, lexis, each, Match()) for each in seen])
    return any(window.sure for each in found for window in each)


def test_the_only_sentence_that_says_most_of_what_is_asked_answers() -> None:
    assert is_sure(ASKED, SAID)


def test_a_second_sentence_that_says_as_much_leaves_it_open() -> None:
    assert not is_sure(ASKED, SAID, "Behind the stairs the caretaker keeps old wooden boxes, with toys.")


def test_the_same_sentence_in_two_places_is_one() -> None:
    assert is_sure(ASKED, SAID, SAID)


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
def test_too_little_nothing_new_a_heading_and_what_is_open_do_not(said: str) -> None:
    assert not is_sure(ASKED, said)


def test_a_question_of_a_kind_needs_an_expression_of_it() -> None:
    question = "When does the caretaker carry old wooden boxes behind the cellar stairs?"
    assert is_sure(question, "The caretaker carries old wooden boxes behind the stairs on 6 March 2022.")
    assert not is_sure(question, "The caretaker carries old wooden boxes behind the stairs with care.")


def test_a_question_in_chinese_tells_no_sentences_apart() -> None:
    assert not is_sure("看门人把旧木箱放在哪个楼梯后面？", "看门人把旧木箱放在楼梯后面，里面有苹果。")


def test_a_question_of_few_words_tells_no_sentences_apart() -> None:
    said = "The old mill has a wheel of oak."
    assert not is_sure("Which wheel has the mill in Ostley?", said)


def test_what_the_question_asks_for_by_a_noun_has_to_be_said() -> None:
    said = "Loan Topaz was granted with a principal of 463,000 euros."
    lenders = (f"The lender of the boat {name} is known." for name in ("Ada", "Isla", "Kestrel", "Morvern"))
    assert not is_sure("Which lender granted Loan Topaz?", said, *lenders)
