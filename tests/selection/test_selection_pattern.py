"""A person's own pattern for verdicts is tried before it is used."""

import pytest

from vera.selection import pattern


@pytest.mark.parametrize("fit", [r"(\d+)", r"FINAL:\s*(\d+)", r"(?i)^choice\W+(\d+)$", "", "\0"])
def test_a_pattern_that_is_fast_is_used(fit: str) -> None:
    assert pattern.problem(fit) == ""


@pytest.mark.parametrize("slow", [r"(a+)+$", r"(\w+\s?)+$", r"(x+x+)+y"])
def test_a_pattern_that_a_hostile_reply_could_hang_is_refused(
    slow: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pattern, "SECONDS", 1.0)
    assert pattern.problem(slow) == "it takes more than 1 seconds to search 1000 characters"


@pytest.mark.parametrize("broken", ["(", "[", "*", "(?P<a>.)(?P<a>.)"])
def test_what_is_no_pattern_is_said(broken: str) -> None:
    assert pattern.problem(broken).startswith("it is no regular expression (")
