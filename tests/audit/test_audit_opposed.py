"""A cited sentence that is nearly the claim and says the opposite is told; one that agrees is not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.cited import cited
from vera.audit.checks.opposed import RULES, opposed

TESTS = Path(__file__).parents[1]


def kinds(claim: str, *lines: str, **fields: str) -> list[str]:
    found = list(opposed(cited(claim, "\n".join(lines) + "\n", **fields)))
    assert all((each.code, each.severity) == ("opposed", "soft") for each in found)
    return [each.detail.partition(":")[0] for each in found]


ATTACKS = [
    ("negation", "Dogs are allowed in the garden.", "Dogs are not allowed in the garden."),
    ("negation", "Dogs are never fed in the garden.", "Dogs are fed in the garden."),
    ("negation", "Hunde sind im Garten erlaubt.", "Hunde sind im Garten nicht erlaubt."),
    ("negation", "Les chiens sont admis dans le jardin.", "Les chiens ne sont pas admis dans le jardin."),
    ("modality", "The tenant may insure the house.", "The tenant must insure the house."),
    ("modality", "Der Mieter darf das Haus versichern.", "Der Mieter muss das Haus versichern."),
    ("modality", "Le locataire peut assurer la maison.", "Le locataire doit assurer la maison."),
    ("modality", "The filter must be cleaned monthly.", "The filter should be cleaned monthly."),
    ("bound", "The fine is over 100 euros for smoking.", "The fine is up to 100 euros for smoking."),
    ("bound", "Gäste bleiben mindestens 3 Nächte im Haus.", "Gäste bleiben höchstens 3 Nächte im Haus."),
    ("order in time", "The deposit is paid before the handover.", "The deposit is paid after the handover."),
    ("quantifier", "All rooms were painted in spring.", "Some rooms were painted in spring."),
    ("quantifier", "Some rooms were painted in spring.", "All rooms were painted in spring."),
    ("contrary", "Sales of butter rose sharply.", "Sales of butter fell sharply."),
    ("contrary", "The test took longer than the survey.", "The test took shorter than the survey."),
    ("cause", "Short sleep caused poor memory.", "Short sleep was associated with poor memory."),
    ("roles", "The board sued the ferry company.", "The ferry company sued the board."),
    ("speaker", "Tom Beck said the first sample of nurses was small.",
     "Mara Iyer said the first sample of nurses was small."),
    ("pairing", "The crane costs 900 and the shed 40.", "The crane costs 40 and the shed 900."),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "claim", "line"), ATTACKS)
def test_a_sentence_that_says_the_opposite_is_told(kind: str, claim: str, line: str) -> None:
    assert kinds(claim, "The report of the year", line) == [kind]


@pytest.mark.parametrize("line", sorted({line for _, _, line in ATTACKS}))
def test_a_claim_in_the_words_of_its_source_raises_nothing(line: str) -> None:
    assert kinds(line, line) == []


@pytest.mark.parametrize(
    ("claim", "line"),
    [
        ("The garden is open in May to all dogs.", "The garden must be open to all dogs in May."),
        ("Dogs are allowed in the garden.", "Dogs are allowed in the garden, which is not fenced."),
        ("The fine is over 100 euros.", "The fine is more than 100 euros."),
        ("The company was sued by the board.", "The board sued the company."),
        ("Sales of butter rose.", "Sales of butter rose while sales of cheese fell."),
        ("Iyer said the sample was small.", "Mara Iyer said the sample was small."),
        ("Adults pay 9 dollars.", "Adults pay 9 dollars and children pay 4 dollars."),
        (
            "The warranty ends after 24 months or 8,000 operating hours.",
            "24 months from delivery, or 8,000 operating hours, whichever ends the warranty first.",
        ),
        ("Sales rose 7 percent in 2020.", "Sales rose 5 percent in 2019 and 7 percent in 2020."),
        ("The deposit is paid before the handover.", "Before the handover the deposit is paid."),
    ],
)
def test_what_agrees_is_not_told(claim: str, line: str) -> None:
    assert kinds(claim, line) == []


def test_a_second_sentence_that_agrees_settles_it() -> None:
    claim, no = "Dogs are allowed in the garden.", "Dogs are not allowed in the garden."
    assert kinds(claim, no) == ["negation"]
    assert kinds(claim, no, claim) == []


def test_a_sentence_about_something_else_is_not_compared() -> None:
    assert kinds("Dogs are allowed in the garden.", "Cars are not allowed in the yard.") == []


def test_the_title_of_the_page_counts_as_said() -> None:
    claim = "The Harlow study of nurses lasted long."
    assert kinds(claim, "It lasted not long.") == []
    assert kinds(claim, "It lasted not long.", title="The Harlow study of nurses") == ["negation"]


def test_in_a_long_source_the_best_lines_are_compared() -> None:
    rest = [f"Line {number} is about the weather on the island." for number in range(400)]
    denied = "Dogs are not allowed in the garden."
    assert kinds("Dogs are allowed in the garden.", *rest, denied) == ["negation"]


def test_another_language_is_not_compared() -> None:
    claim = "The dogs are allowed in the garden and not in the house."
    assert kinds(claim, "Die Hunde sind im Garten nicht erlaubt und nicht in dem Haus.") == []


def test_every_kind_has_an_attack() -> None:
    assert {kind for kind, _, _ in ATTACKS} == set(RULES)


SEVERAL = ("The crane costs 900 to 950 and the shed 40.", "The crane costs 40 and the shed 900 to 950.")


def test_of_several_oppositions_every_process_tells_the_same() -> None:
    """Python orders a set of texts by a seed of the process, and what is told is attested."""
    program = (
        "import sys; from support.cited import cited; from vera.audit.checks.opposed import opposed; "
        "print([each.detail for each in opposed(cited(*sys.argv[1:]))])"
    )
    told = set()
    for seed in range(4):
        environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(TESTS)}
        words = [sys.executable, "-c", program, *SEVERAL]
        told.add(subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout)
    assert told == {"['pairing: 900']\n"}
