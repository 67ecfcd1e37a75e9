"""When a name of the question stands in a sentence for the built-in model."""

import pytest

from vera.builtin.conversation import Excerpt
from vera.builtin.documents import Match
from vera.builtin.question import analyse
from vera.builtin.scoring import windows
from vera.builtin.term_weights import weigh


def is_sure(question: str, text: str) -> bool:
    seen = Excerpt("manual.txt", 1, {1: text}, 1, 1, "ev_0001")
    asked = analyse(question)
    return any(window.sure for window in windows(asked, weigh(asked, [seen]), seen, Match()))


@pytest.mark.parametrize(
    ("question", "text", "sure"),
    [
        ("When was BIND version 9 released?", "BIND version 9 was released in September 2000.", True),
        ("When was BIND version 9 released?", "BIND 9 was released in September 2000.", True),
        ("When was BIND 9 released?", "BIND version 9 was released in September 2000.", True),
        ("When was BIND version 9 released?", "BIND version 8 was released in May 1997.", False),
        ("When was BIND version 9 released?", "Unbound version 9 was released in May 2007.", False),
        ("What is the default setting for MAX_COLUMN?", "The default setting for MAX_COLUMN is 2000.", True),
        ("What is the default setting for MAX_COLUMN?", "The maximum setting for MAX_COLUMN is 2000.", False),
        ("What is the default setting for MAX_COLUMN?", "The default setting for MAX_ROW is 2000.", False),
    ],
)
def test_a_version_between_a_name_and_its_number_says_nothing(question: str, text: str, sure: bool) -> None:
    assert is_sure(question, text) is sure
