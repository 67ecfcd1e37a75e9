"""The server cut, and did not say so."""

from support.asking import question
from vera.model.truncation import truncation
from vera.model.types import Choice, Request, Usage

CUT = (Choice(content="x", finish_reason="length"),)
WHOLE = (Choice(content="x"),)


def counted(prompt: int, completion: int) -> Usage:
    return Usage(prompt_tokens=prompt, completion_tokens=completion)


def test_a_power_of_two_in_all_with_finish_reason_length_is_a_full_context() -> None:
    said = truncation(question(max_tokens=1000), CUT, counted(4000, 96), None)
    assert said == "the server's context of 4096 tokens was full and cut the answer"


def test_the_known_context_is_recognised_too() -> None:
    assert "context of 5995" in truncation(question(max_tokens=1000), CUT, counted(5000, 995), 6000)


def test_an_answer_that_reached_its_own_limit_was_cut_by_us() -> None:
    assert truncation(question(max_tokens=96), CUT, counted(4000, 96), None) == ""


def test_an_answer_cut_long_before_its_limit_was_cut_by_the_server() -> None:
    assert "at 50 of the 1000" in truncation(question(max_tokens=1000), CUT, counted(100, 50), None)


def test_far_fewer_prompt_tokens_than_the_text_can_be_show_a_cut_prompt() -> None:
    long = question("word " * 20_000)
    assert "read only 4090 tokens" in truncation(long, WHOLE, counted(4090, 5), None)
    assert truncation(long, WHOLE, counted(20_000, 5), None) == ""


def test_a_doubtful_ratio_counts_only_at_a_context_size() -> None:
    text = question("word " * 6_000)
    assert truncation(text, WHOLE, counted(4090, 5), None) == ""
    assert truncation(text, WHOLE, counted(4096, 5), None) != ""
    assert truncation(text, WHOLE, counted(4090, 5), 4096) != ""


def test_without_usage_nothing_is_claimed() -> None:
    long: Request = question("word " * 20_000)
    assert truncation(long, CUT, Usage(), 4096) == ""
