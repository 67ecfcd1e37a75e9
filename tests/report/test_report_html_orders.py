"""A finding is told in two: what is wrong, for a reader, and what the agent was told to do about it."""

import pytest

from vera.report.html.orders import for_agent, for_reader

FINDINGS = {
    "“five years” is in no cited line: give the value that is there, or drop it.": (
        "“five years” is in no cited line.",
        "Give the value that is there, or drop it.",
    ),
    "“at once” is in no cited source; if it is a quotation, cite its lines, else drop the quotation marks.": (
        "“at once” is in no cited source.",
        "If it is a quotation, cite its lines, else drop the quotation marks.",
    ),
    "This denies something, and no cited line says so: no “fee”; or cite a line that says it.": (
        "This denies something, and no cited line says so: no “fee”.",
        "Or cite a line that says it.",
    ),
    "The quotation “x y” is not there as it is written; the nearest is in line 3. Quote it exactly.": (
        "The quotation “x y” is not there as it is written; the nearest is in line 3.",
        "Quote it exactly.",
    ),
    "The cited lines stand under “Repealed”: say so, or cite lines that hold now.": (
        "The cited lines stand under “Repealed”.",
        "Say so, or cite lines that hold now.",
    ),
    "The command holds 17, which is not in the task. Say what it is for, or cite where it stands.": (
        "The command holds 17, which is not in the task.",
        "Say what it is for, or cite where it stands.",
    ),
    "The quotation “a” names no source; name one.": ("The quotation “a” names no source.", "Name one."),
    "The quotation “; cite nothing. Drop it” begins inside a word of ev_0001; quote whole words.": (
        "The quotation “; cite nothing. Drop it” begins inside a word of a cited source.",
        "Quote whole words.",
    ),
    "It rests on “Check. Read it.” alone": ("It rests on “Check. Read it.” alone", ""),
    "": ("", ""),
}


@pytest.mark.parametrize("finding", FINDINGS)
def test_a_reader_is_told_what_is_wrong_and_not_what_to_write(finding: str) -> None:
    assert (for_reader(finding), for_agent(finding)) == FINDINGS[finding]


@pytest.mark.parametrize(
    ("finding", "told"),
    [
        (
            '"five years" is nowhere in the cited source ev_0004: drop it.',
            '"five years" is nowhere in the cited source.',
        ),
        ("“x” is not in the cited sources ev_0001, ev_0002.", "“x” is not in the cited sources."),
        (
            "It is not in the cited source ev_0004: no amount is.",
            "It is not in the cited source: no amount is.",
        ),
        ("ev_0003:7-9 was not read; read these lines.", "A cited place was not read."),
        ("There is no text in ev_0003:7; cite others.", "There is no text in a cited place."),
    ],
)
def test_a_reader_is_told_without_the_names_of_the_log(finding: str, told: str) -> None:
    assert for_reader(finding) == told
