"""Which sub-questions a report has: what a person gives, a model proposes, or the task itself asks."""

from collections.abc import Sequence

import click
import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.agent.sub_questions import (
    MAX_LEFT_OUT,
    MAX_QUESTIONS,
    MAX_READ,
    ReadOff,
    covering,
    distinct,
    read_off,
    refused,
    usable,
)
from vera.attestation.composed import (
    CUT_SHORT,
    MAX_LENGTH,
    NOT_ASKED,
    NOT_CITED,
    OPEN_SENTENCES,
    OPEN_TITLE,
    Piece,
    laid_out,
    plain,
)
from vera.audit.claims import split
from vera.cli import sub_questions
from vera.events import Heading
from vera.headline import HOLDS, OPEN
from vera.report.headings import Headed


@pytest.mark.parametrize(
    ("task", "found"),
    [
        ("Who pays? And how much?", ["Who pays?", "And how much?"]),
        (
            "Compare the licences:\n- patents\n- Who may sell it?",
            ["Compare the licences: patents", "Who may sell it?"],
        ),
        ("1. Who pays?\n2) How much?\n", ["Who pays?", "How much?"]),
        ("誰が払いますか？ いくらですか？", ["誰が払いますか？", "いくらですか？"]),
        ("Who pays? Who PAYS?", []),
        ("Who pays?", []),
        ("Write about the licences.", []),
        ("- one thing only", []),
        ("", []),
    ],
)
def test_the_questions_that_a_task_asks_by_itself(task: str, found: list[str]) -> None:
    assert read_off(task) == ReadOff(tuple(found))


MANY = [f"Who pays fee {number}?" for number in range(40)]
LONG = "Who pays " + "and pays " * 40 + "?"


@pytest.mark.parametrize(
    ("task", "asked", "left_out"),
    [
        (" ".join(MANY[:9]), MANY[:8], MANY[8:9]),
        ("Please answer these:\n" + "\n".join(f"- {each}" for each in MANY[:9]), MANY[:8], MANY[8:9]),
        (" ".join(MANY), MANY[:8], [*MANY[8 : 7 + MAX_LEFT_OUT], " ".join(MANY[7 + MAX_LEFT_OUT :])]),
        (f"Who pays? {LONG} How much?", ["Who pays?", "How much?"], [LONG]),
        ("Is GPL 2.0 free? Is a.b/c?d=1 a page?", ["Is GPL 2.0 free?", "Is a.b/c?d=1 a page?"], []),
    ],
)
def test_what_a_report_cannot_ask_of_a_task_is_left_out_by_name(
    task: str, asked: list[str], left_out: list[str]
) -> None:
    assert read_off(task) == ReadOff(tuple(asked), tuple(left_out))


@pytest.mark.parametrize(
    "task",
    [
        "Who pays? How much? State the name of the person who may enter.",
        "Who pays? How much? State who pays.",
        "I have a bakery. Who pays? How much?",
        "Name the owner.\n- Who pays?\n- How much?",
        "Name the owner.\nThen compare:\n- fees\n- prices",
        "- Who pays?\n- How much?\nAnd name the owner.",
        "- Who pays?\n- How much?\n- " + "who pays " * 300,
        f"Who pays? How much? {'x ' * MAX_READ}",
        "Wer zahlt? Wie viel? Nenne den Besitzer.",
    ],
)
def test_a_task_that_says_more_than_its_questions_is_asked_as_a_whole(task: str) -> None:
    assert read_off(task) == ReadOff()


@given(st.text(max_size=400))
def test_what_is_read_off_a_task_is_bounded_and_plain(task: str) -> None:
    found = read_off(task)
    assert len(found.questions) <= MAX_QUESTIONS and len(found.questions) != 1
    assert all(each == plain(each) and 0 < len(each) <= MAX_LENGTH for each in found.questions)
    assert len(found.left_out) <= MAX_LEFT_OUT


@given(st.text(max_size=300))
def test_a_question_in_plain_form_is_one_line_that_cites_and_links_nothing(text: str) -> None:
    shown = plain(text)
    assert shown == plain(shown) and all(map(str.isprintable, shown))
    assert not set("\n[]【】") & set(shown) and not shown.startswith(("#", ">", "`"))


@pytest.mark.parametrize(
    ("proposal", "used"),
    [
        (
            ["Who pays the costs?", "who PAYS the costs?", "How much does it cost?"],
            ["Who pays the costs?", "How much does it cost?"],
        ),
        (["It costs a fee.", "Cost?", "?", "", "What costs " + "x" * MAX_LENGTH + "?"], []),
        (["Who pays the fee?", "What is a whale?", "Is it all done?"], []),
        (["What does it all cost?"], []),
        (
            [f"What did {number} cost?" for number in range(20)],
            [f"What did {number} cost?" for number in range(8)],
        ),
    ],
)
def test_what_can_be_used_of_a_proposal(proposal: list[str], used: list[str]) -> None:
    assert usable(proposal, "What does it all cost?") == used


def test_a_model_names_no_address_that_the_task_does_not_name() -> None:
    page, other = "https://bread.test/a", "http://collect.test/steal"
    proposal = [f"What says {page} of bread?", f"What says {other}?d=secret of bread?", "What is bread?"]
    assert usable(proposal, f"What says {page} of bread?!") == [proposal[0], proposal[2]]
    assert usable(proposal, "Write about bread.") == [proposal[2]]
    assert usable([f"Is bread on {page}?d=secret?", f"Is bread on {page}?"], f"Bread: {page}") == [
        f"Is bread on {page}?"
    ]


BRIDGE = "Is the bridge over the Gudenaa safe for heavy lorries?"


@pytest.mark.parametrize(
    ("questions", "task", "asked"),
    [
        (
            ["Who built the bridge?", "How long is it?"],
            BRIDGE,
            ["Who built the bridge?", "How long is it?", BRIDGE],
        ),
        (
            [f"Who built bridge {n}?" for n in range(8)],
            BRIDGE,
            [*(f"Who built bridge {n}?" for n in range(7)), BRIDGE],
        ),
        (
            ["How heavy may a lorry be on a safe bridge?", "Which bridges are over the Gudenaa?"],
            BRIDGE,
            ["How heavy may a lorry be on a safe bridge?", "Which bridges are over the Gudenaa?"],
        ),
        (["Was kostet das Brot?", "Wer backt?"], "Was kostet welches Brot, und wer backt es?", None),
        (
            ["What is a?", "What is b?"],
            "Name " + "x" * 999,
            ["What is a?", "What is b?", "Name " + "x" * 999],
        ),
    ],
)
def test_a_task_that_says_more_than_what_was_proposed_is_asked_last(
    questions: list[str], task: str, asked: list[str] | None
) -> None:
    assert covering(questions, task) == (asked or questions)


def test_what_says_nothing_is_no_sub_question_and_too_many_are_refused() -> None:
    assert distinct(["", " \x00 ", "???", "Who?", "who?"]) == ["Who?"]
    assert refused(["Who pays?"] * MAX_QUESTIONS) == ""
    assert "at most 8" in refused(["Who pays?"] * (MAX_QUESTIONS + 1))


@pytest.mark.parametrize("sentence", [CUT_SHORT, NOT_ASKED, NOT_CITED, *OPEN_SENTENCES.values()])
def test_what_is_said_of_an_open_sub_question_is_a_claim_that_nobody_checked(sentence: str) -> None:
    """So that a report with one is at most PARTIAL, by the rule that holds for every answer."""
    claims = split(f"It is so [ev_0001:1].\n\n{sentence}")
    assert [claim.load_bearing for claim in claims] == [True, False]


def test_every_word_of_an_open_sub_question_has_its_sentence() -> None:
    assert set(OPEN_SENTENCES) == set(OPEN) and not set(OPEN_SENTENCES) & HOLDS


PIECES = [
    Piece(number=1, question="# Who *pays*? [x](y)", blocks=("A pays [ev_0001:1].", "B too [ev_0001:2].")),
    Piece(number=2, question="How much?", open_because=OPEN_SENTENCES["UNRESOLVED"]),
    Piece(
        number=3, question="When?", blocks=("At noon [ev_0002:1].",), open_because=OPEN_SENTENCES["PARTIAL"]
    ),
]


def test_the_text_has_what_was_answered_and_then_what_stayed_open() -> None:
    text, headings = laid_out(PIECES)
    assert Headed(text, headings).text == (
        "## 1. Who *pays*? (x)(y)\n\nA pays [ev_0001:1].\n\nB too [ev_0001:2].\n\n"
        "## 3. When?\n\nAt noon [ev_0002:1].\n\n"
        f"## {OPEN_TITLE}\n\n### 2. How much?\n\n{OPEN_SENTENCES['UNRESOLVED']}\n\n"
        f"### 3. When?\n\n{OPEN_SENTENCES['PARTIAL']}"
    )
    assert "#" not in text


@given(
    st.text(max_size=60),
    st.lists(
        st.builds(Heading, at=st.integers(-5, 70), text=st.text(max_size=9), level=st.integers(-9, 9)),
        max_size=5,
    ),
)
def test_headings_of_any_log_change_no_character_of_a_text(text: str, headings: list[Heading]) -> None:
    headed = Headed(text, headings)
    assert all(headed.text[headed.place(at)] == char for at, char in enumerate(text))


class Asked:
    """A person at a terminal who says these things, and whose editor leaves these texts."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, said: Sequence[str], edited: Sequence[str | None] = ()
    ) -> None:
        answers, texts = iter(said), iter(edited)
        monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
        monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
        monkeypatch.setattr(click, "prompt", lambda *_, **__: next(answers))
        monkeypatch.setattr(click, "edit", lambda *_, **__: next(texts))


QUESTIONS = ["Who pays?", "How much?"]


def test_without_a_terminal_the_sub_questions_are_taken_as_they_are() -> None:
    assert sub_questions.revise(QUESTIONS) == QUESTIONS


def test_on_a_terminal_a_person_accepts_edits_or_calls_the_run_off(monkeypatch: pytest.MonkeyPatch) -> None:
    Asked(monkeypatch, ["y"])
    assert sub_questions.revise(QUESTIONS) == QUESTIONS
    Asked(monkeypatch, ["what", "c"])
    assert sub_questions.revise(QUESTIONS) is None
    Asked(monkeypatch, ["e", "y"], ["# a comment\nWhen?\n\nWhen?\nHow much?\n"])
    assert sub_questions.revise(QUESTIONS) == ["When?", "How much?"]
    Asked(monkeypatch, ["e", "y"], [None])
    assert sub_questions.revise(QUESTIONS) == QUESTIONS
    Asked(monkeypatch, ["e", "e", "y"], ["", "\n".join(f"Who is {n}?" for n in range(9))])
    assert sub_questions.revise(QUESTIONS) == QUESTIONS
