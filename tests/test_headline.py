"""The words of a verdict: a pure function of RESULT, reason and rule, and one list for everything."""

import pytest

from vera.headline import (
    EXIT_CODES,
    HEADLINES,
    HOLDS,
    OPEN,
    STATUSES,
    UNDER_WAY,
    exit_code,
    headline,
    weakest,
    word_of,
)

RESULTS = ("SUPPORTED", "UNSUPPORTED", "DISPUTED", "INCONCLUSIVE")
REASONS = (
    "",
    "REFUTED",
    "NO_EVIDENCE",
    "PARTIAL",
    "BUDGET",
    "COVERAGE",
    "JUDGE_UNRELIABLE",
    "SCORE",
    "FINDINGS",
)
RULES = ("model", "literal", "containment")


@pytest.mark.parametrize(
    ("result", "reason", "rule", "word"),
    [
        ("SUPPORTED", "", "model", "VERIFIED"),
        ("SUPPORTED", "", "literal", "QUOTED"),
        ("SUPPORTED", "", "containment", "QUOTED"),
        ("UNSUPPORTED", "REFUTED", "literal", "REFUTED"),
        ("DISPUTED", "", "model", "DISPUTED"),
        ("INCONCLUSIVE", "PARTIAL", "model", "PARTIAL"),
        ("UNSUPPORTED", "PARTIAL", "literal", "PARTIAL"),
        ("UNSUPPORTED", "NO_EVIDENCE", "model", "UNRESOLVED"),
        ("INCONCLUSIVE", "SCORE", "model", "UNRESOLVED"),
        ("a stranger's word", "", "model", "UNRESOLVED"),
    ],
)
def test_the_word_of_a_verdict(result: str, reason: str, rule: str, word: str) -> None:
    assert headline(result, reason, rule) == word


def test_only_what_a_model_read_and_supports_is_verified() -> None:
    given = [(result, reason, rule) for result in RESULTS for reason in REASONS for rule in RULES]
    verified = [each for each in given if headline(*each) == "VERIFIED"]
    assert verified
    assert all((result, rule) == ("SUPPORTED", "model") for result, _, rule in verified)


def test_only_what_is_supported_holds() -> None:
    for result in RESULTS[1:]:
        for reason in REASONS:
            assert headline(result, reason, "model") in OPEN
    assert {word for word in HEADLINES if EXIT_CODES[word] == 0} == HOLDS == {"VERIFIED", "QUOTED"}


def test_the_exit_code_of_each_word() -> None:
    assert EXIT_CODES == {
        "VERIFIED": 0,
        "QUOTED": 0,
        "PARTIAL": 3,
        "UNRESOLVED": 3,
        "DISPUTED": 4,
        "REFUTED": 4,
    }


@pytest.mark.parametrize(
    ("word", "code", "require", "wanted"),
    [
        ("QUOTED", 0, "quoted", 0),
        ("QUOTED", 0, "verified", 3),
        ("VERIFIED", 0, "verified", 0),
        ("REFUTED", 4, "verified", 4),
        ("PARTIAL", 6, "verified", 6),
    ],
)
def test_what_is_required_lowers_the_exit_code_of_success_only(
    word: str, code: int, require: str, wanted: int
) -> None:
    assert exit_code(word, code, require) == wanted


def test_the_weakest_word_counts() -> None:
    assert weakest(["VERIFIED", "QUOTED", "VERIFIED"]) == "QUOTED"
    assert weakest(["DISPUTED", "REFUTED"]) == "REFUTED"
    assert weakest([]) == "VERIFIED"


def test_a_status_that_is_no_word_is_unresolved() -> None:
    assert [word_of(status) for status in (*UNDER_WAY, "", "verified")] == ["UNRESOLVED"] * 4
    assert [word_of(word) for word in HEADLINES] == list(HEADLINES)
    assert (*UNDER_WAY, *HEADLINES) == STATUSES
