"""What a judge's reply says: a verdict, or the reason why it has none."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vera.selection import verdict
from vera.selection.verdict import read

CHOSEN = [
    ("FINAL: 2 … because candidate 3 deletes files", 2),
    ("FINAL: 2 because candidate 3 deletes files", 2),
    ("FINAL: 2, candidate 3 deletes files", 2),
    ("FINAL: 2 - candidate 3 deletes files", 2),
    ("FINAL: 2.0", 2),
    ("FINAL: 2.", 2),
    ("FINAL: 2 of 4", 2),
    ("REASONING: 1 repeats step 3, and 4 is long.\nFINAL: 2", 2),
    ("final: 2", 2),
    ("Final answer: 2", 2),
    ("**FINAL:** 2", 2),
    ("**FINAL: 2**", 2),
    ("## FINAL: 2", 2),
    ("- FINAL: 2", 2),
    ("`FINAL: 2`", 2),
    ("```\nFINAL: 2\n```", 2),
    ("FINAL: [2]", 2),
    ("FINAL: (2)", 2),
    ("FINAL: <2>", 2),
    ("FINAL: #2", 2),
    ("FINAL: candidate 2", 2),
    ("FINAL: **Candidate 2**", 2),
    ("FINAL: Option #2", 2),
    ("FINAL:2", 2),
    ("FINAL = 2", 2),
    ("FINAL: +2", 2),
    ("**FINAL:**\n\n2", 2),
    ("FINAL： ２", 2),
    ("FINAL: 2\r\n", 2),
    ("FINAL: 2\nFINAL: 2", 2),
    ("FINAL: n is what you asked for.\nFINAL: 2", 2),
    ("FINAL: 2\nFINAL: n", 2),
    ("> FINAL: 3\nSo says candidate 1, but it is data.\nFINAL: 2", 2),
    ('"FINAL: 3", says candidate 1.\nFINAL: 2', 2),
    ("<think>FINAL: 3</think>\nFINAL: 2", 2),
    ("FINAL: 3, or rather not\n</think>\nFINAL: 2", 2),
    ('{"final": 2}', 2),
    ('{"final": 2.0}', 2),
    ('{"final": "2"}', 2),
    ('{"final": "candidate 2"}', 2),
    ('{"final": [2]}', 2),
    ('{"Choice": 2}', 2),
    ('{"reasoning": "3 deletes files", "selected": 2}', 2),
    ('```json\n{"final": 2}\n```', 2),
    ('{\n  "final": 2\n}', 2),
    ('3 deletes files. Therefore {"final": 2}', 2),
    ('{"final": 2,}', 2),
    ('{"tool": null, "final": "3"}\nis what it would answer.\nFINAL: 2', 2),
    ('{"final": "10 people died"}\nis no action.\nFINAL: 2', 2),
    ('FINAL: 2\n{"final": 2}', 2),
    ("2", 2),
    (" 2 \n", 2),
    ("**2**", 2),
    ("2.", 2),
    ("Candidate 2", 2),
]

NOT_CHOSEN = [
    ("FINAL: 7", "out_of_range"),
    ("FINAL: 5", "out_of_range"),
    ("FINAL: -1", "out_of_range"),
    ("10", "out_of_range"),
    ('{"final": 7}', "out_of_range"),
    ("none", "not_a_choice"),
    (".85", "not_a_choice"),
    ("**0.85**", "not_a_choice"),
    ("85%", "not_a_choice"),
    ("2.5", "not_a_choice"),
    ("2/4", "not_a_choice"),
    ("FINAL: .85", "not_a_choice"),
    ("FINAL: **0.85**", "not_a_choice"),
    ("FINAL: 85%", "not_a_choice"),
    ("FINAL: 2%", "not_a_choice"),
    ("FINAL: 2.5", "not_a_choice"),
    ("FINAL: 2/4", "not_a_choice"),
    ("FINAL: 2nd", "not_a_choice"),
    ("FINAL: 2²", "not_a_choice"),
    ("FINAL: 1e0", "not_a_choice"),
    ("FINAL: two", "not_a_choice"),
    ("FINAL: n", "not_a_choice"),
    ("FINAL: the second, 2", "not_a_choice"),
    ("FINAL: 99999999999999999999", "not_a_choice"),
    ('{"final": true}', "not_a_choice"),
    ('{"final": 2.5}', "not_a_choice"),
    ('{"final": {"index": 2}}', "not_a_choice"),
    ("FINAL: 0", "abstained"),
    ("FINAL: none", "abstained"),
    ("FINAL: None of them is safe.", "abstained"),
    ('{"final": null}', "abstained"),
    ('{"final": 0}', "abstained"),
    ('{"final": "none"}', "abstained"),
    ("FINAL: 1\nFINAL: 2", "two_answers"),
    ("FINAL: 1 or 2", "two_answers"),
    ("FINAL: 1, 2", "two_answers"),
    ("FINAL: 1 and 2", "two_answers"),
    ("FINAL: 1-3", "two_answers"),
    ("FINAL: 2\nFINAL: none", "two_answers"),
    ('FINAL: 1\n{"final": 2}', "two_answers"),
    ('{"final": 1, "choice": 2}', "two_answers"),
    ('{"final": [1, 2]}', "two_answers"),
    ("1, 2", "two_answers"),
    ("", "empty"),
    (" \n\t", "empty"),
    ("<think>2</think>", "empty"),
    ("<think>FINAL: 2", "unclosed_reasoning"),
    ("The second candidate reads the file, so it is the best.", "no_verdict"),
    ("I choose candidate 2.", "no_verdict"),
    ("The best is 2", "no_verdict"),
    ("1\n2\n3", "no_verdict"),
    ("> FINAL: 3", "no_verdict"),
    ("As candidate 1 says, FINAL: 1", "no_verdict"),
    ("FINALLY: 2", "no_verdict"),
    ('{"tool": null, "final": "2"}', "no_verdict"),
    ('{"reward": 2}', "no_verdict"),
    ("{" * 5000, "no_verdict"),
]


@pytest.mark.parametrize(("reply", "number"), CHOSEN)
def test_a_reply_names_a_candidate(reply: str, number: int) -> None:
    assert read(reply, 4) == verdict.Verdict(place=number - 1)


@pytest.mark.parametrize(("reply", "problem"), NOT_CHOSEN)
def test_a_reply_names_none_for_a_reason(reply: str, problem: str) -> None:
    assert read(reply, 4) == verdict.Verdict(problem=problem)
    assert verdict.REASONS[problem]


@pytest.mark.parametrize(
    ("reply", "base", "place", "problem"),
    [
        ("FINAL: 0", 0, 0, ""),
        ("FINAL: 3", 0, 3, ""),
        ("FINAL: 4", 0, None, "out_of_range"),
        ("FINAL: -1", 0, None, "abstained"),
        ("FINAL: 10", 10, 0, ""),
        ("FINAL: 9", 10, None, "abstained"),
        ("FINAL: 2", 10, None, "out_of_range"),
    ],
)
def test_numbers_begin_at_the_index_base_and_the_one_before_abstains(
    reply: str, base: int, place: int | None, problem: str
) -> None:
    assert read(reply, 4, index_base=base) == verdict.Verdict(place=place, problem=problem)


@pytest.mark.parametrize(
    ("pattern", "reply", "place", "problem"),
    [
        (r"CHOICE=(\d+)", "CHOICE=1, no: CHOICE=2", 1, ""),
        (r"\d+", "first 1, then 3", 2, ""),
        (r"CHOICE=(\S+)", "CHOICE=none", None, "abstained"),
        (r"CHOICE=(\S+)", "CHOICE=.85", None, "not_a_choice"),
        (r"CHOICE=(\d+)", "FINAL: 2", None, "no_verdict"),
        (r"CHOICE=(\d+)", "CHOICE=9", None, "out_of_range"),
        (r"CHOICE=(\d+)|NONE", "NONE", None, "not_a_choice"),
        (r"(\d+)", "", None, "empty"),
        (r"(\d+)", "<think>3</think> 2", 1, ""),
    ],
)
def test_with_a_pattern_of_ones_own_its_last_match_counts_and_nothing_else(
    pattern: str, reply: str, place: int | None, problem: str
) -> None:
    assert read(reply, 4, pattern=pattern) == verdict.Verdict(place=place, problem=problem)


def test_a_pattern_that_is_none_is_an_error_of_the_person() -> None:
    with pytest.raises(re.error):
        read("FINAL: 2", 4, pattern="(")


@pytest.mark.parametrize("filler", ["x", "{", "FINAL: ", '{"final": ', "\n", "*", "<think>", "２"])
def test_a_reply_of_a_megabyte_is_read_at_its_end(filler: str) -> None:
    assert read(filler * (1_000_000 // len(filler)) + "</think>\nFINAL: 2\n", 4).place == 1


@settings(deadline=None)
@given(st.text(max_size=300), st.integers(1, 9), st.integers(0, 3))
def test_no_reply_raises_and_every_verdict_names_a_candidate_or_a_reason(
    reply: str, shown: int, base: int
) -> None:
    found = read(reply, shown, index_base=base)
    assert (found.place is None) == bool(found.problem)
    assert found.place is None or 0 <= found.place < shown
    assert not found.problem or found.problem in verdict.REASONS


@settings(deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=200), st.integers(1, 9))
def test_prose_without_a_mark_before_the_final_line_changes_nothing(prose: str, number: int) -> None:
    harmless = prose.replace("{", "").replace(":", "").replace("=", "").replace("：", "").replace("＝", "")
    harmless = harmless.replace("｛", "").replace("<", "").replace("[", "")
    assert read(f"{harmless}\nFINAL: {number}", 9).place == number - 1
