"""Reasoning in the text of an answer."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.model.reasoning import split_reasoning


@pytest.mark.parametrize(
    ("content", "answer", "reasoning"),
    [
        ("plain", "plain", ""),
        ("<think>why</think>\n\nso", "so", "why"),
        ("  \n<think>\na\n</think><think>b</think>so", "so", "a\nb"),
        ("<think>never closed", "", "never closed"),
        ("[THINK]why[/THINK]so", "so", "why"),
        ("the template opened it\n</think>\n\nso", "so", "the template opened it"),
        ("\n</think>\n\nso", "so", ""),
    ],
)
def test_reasoning_at_the_beginning_is_set_apart(content: str, answer: str, reasoning: str) -> None:
    assert split_reasoning(content) == (answer, reasoning)


@pytest.mark.parametrize(
    "content",
    [
        "Models write <think>…</think> first.",
        '{"command": "grep \'</think>\' log"}',
        "a\n</thinking-cap> b",
        "",
    ],
)
def test_an_answer_about_such_tags_keeps_them(content: str) -> None:
    assert split_reasoning(content) == (content, "")


@given(st.lists(st.sampled_from(["<think>", "</think>", "\n", "x", " "]), max_size=40).map("".join))
def test_nothing_of_the_answer_is_invented(content: str) -> None:
    answer, _ = split_reasoning(content)
    assert content.endswith(answer)


def test_a_million_empty_blocks_take_no_time() -> None:
    began = time.process_time()
    split_reasoning("<think></think>" * 1_000_000)
    assert time.process_time() - began < 5
