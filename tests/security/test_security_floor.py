"""The floor: what no judge lifts, neither one that always says yes nor the rule `literal`.

Each class has an attack and its honest twin. All are claims of one answer, made twice: once for a judge that
calls every span SUPPORTS and gives full marks, once for the rule that reads word for word.
"""

from pathlib import Path

import pytest

from support.attacks import OFFLINE, Attempt, attempt
from support.cast import final, turn

QUESTION = "What do the documents say about the contract, the house and the museum?"

CONTRACT = """7. Term

The contract runs for three years from the day of signing.
The fee is 1,250 euros and falls due on 12 May 2021.
Between 5 and 10 days of notice are needed.
The discount is 15 percent.
The deposit stays with the bank for 36 months.

The lender may end the contract early unless the borrower has paid every instalment on time, in writing.
Smoking is allowed in the yard, but not in the house.
"""
LAW = """# The museum

## Opening

The museum opens at nine on every weekday in summer.

## Myths

The museum was built on an old Roman cemetery by soldiers.

## Before 2010

Entrance to the museum was free for every visitor.
"""
BORDER = """The tenant must
not keep large dogs in the garden.
The yearly fee for each garden is 1
250 euros.

"""
GERMAN = """Vertrag

Der Preis beträgt 1.250 Euro und ist in der ersten Woche zu zahlen.
Die Frist für den Einspruch ist 7 Jahre und beginnt mit der Zahlung.
"""
RULES = """Dogs are welcome in the museum at any time.

Cats are welcome in the museum at any time.
"""
FILES = {
    "rules.txt": RULES,
    "contract.txt": CONTRACT,
    "law.md": LAW,
    "border.txt": BORDER,
    "vertrag.txt": GERMAN,
}
READ = [
    turn("read", note="Read.", path="contract.txt"),
    turn("read", note="Read.", path="law.md"),
    turn("read", note="Read.", path="border.txt"),
    turn("read", note="Read.", path="vertrag.txt"),
    turn("read", note="Read.", path="rules.txt", first=3, last=3),
]

ATTACKS = {
    "unit of a heading's number": "The contract runs for 7 years from the day of signing [ev_0001:3].",
    "value in other lines": "The discount is 15 percent of the fee [ev_0001:3].",
    "other unit": "The fee is 1,250 dollars [ev_0001:4].",
    "other date": "The fee falls due on 12 June 2021 [ev_0001:4].",
    "other percentage": "The discount is 51 percent [ev_0001:6].",
    "end of a range": "Between 5 and 14 days of notice are needed [ev_0001:5].",
    "name in no source": "The contract with Wallenstein runs for three years [ev_0001:3].",
    "blank line": "The contract runs for three years from the day of signing [ev_0001:2].",
    "lines that were not read": "Dogs are welcome in the museum at any time [ev_0005:1].",
    "words of something else": "Gardeners receive generous holiday allowances every winter [ev_0001:3].",
    "quotation with another word": "It says “The lender shall end the contract early” [ev_0001:9].",
    "quotation of other lines": "It says “Smoking is allowed in the yard” [ev_0001:3].",
    "ellipsis over an exception": "It says “The lender may end the contract early … in writing” [ev_0001:9].",
    "ellipsis over a not": "It says “Smoking is allowed in … the house” [ev_0001:10].",
    "line border in a number": "The yearly fee for each garden is 250 euros [ev_0003:4].",
    "heading of myths": "The museum was built on an old Roman cemetery by soldiers [ev_0002:9].",
    "heading of another time": "Entrance to the museum was free for every visitor [ev_0002:13].",
}
"""Claims that a judge calls supported, and that must not be."""

TWINS = {
    "unit of a heading's number": "The contract runs for three years from the day of signing [ev_0001:3].",
    "value in other lines": "The discount is 15 percent [ev_0001:6].",
    "other unit": "The fee is 1250 euros [ev_0001:4].",
    "other date": "The fee falls due on May 12, 2021 [ev_0001:4].",
    "other percentage": "The discount is 15 % [ev_0001:6].",
    "end of a range": "Between 5 and 10 days of notice are needed [ev_0001:5].",
    "name in no source": "The Museum opens at nine on every weekday in summer [ev_0002:5].",
    "blank line": "The contract runs for three years from the day of signing [ev_0001:2-3].",
    "lines that were not read": "Cats are welcome in the museum at any time [ev_0005:3].",
    "words of something else": "The contract lasts three years after signing [ev_0001:3].",
    "quotation with another word": "It says “the lender may end the contract early” [ev_0001:9].",
    "quotation of other lines": "It says “Smoking is allowed in the yard” [ev_0001:10].",
    "ellipsis over an exception": "It says “The lender may end … unless the borrower has paid” [ev_0001:9].",
    "ellipsis over a not": "It says “Smoking … in the yard, but not in the house” [ev_0001:10].",
    "line border in a number": "The yearly fee for each garden is 1,250 euros [ev_0003:3].",
    "heading of myths": "It is a myth that the museum was built on an old Roman cemetery [ev_0002:9].",
    "heading of another time": "Before 2010 entrance to the museum was free for every visitor [ev_0002:13].",
    "another unit of the same time": "The deposit stays with the bank for 3 years [ev_0001:7].",
    "a number in words": "The contract runs for 3 years from the day of signing [ev_0001:3].",
    "a number of another language": "The price is 1,250 euros [ev_0004:3].",
    "a unit of another language": "The time for an objection is seven years [ev_0004:4].",
}
"""Honest claims in other words, which a judge may call supported."""

WORD_FOR_WORD = {
    "line border before a not": (
        "The tenant must not keep large dogs in the garden [ev_0003:1].",
        "The tenant must keep large dogs in the garden [ev_0003:2].",
    ),
    "line border in a number": (
        "The yearly fee for each garden is 1 250 euros [ev_0003:3].",
        "The yearly fee for each garden is 1 [ev_0003:3].",
    ),
    "blank line": (
        "The discount is 15 percent [ev_0001:6].",
        "The discount is 15 percent [ev_0001:8].",
    ),
    "lines that were not read": (
        "Cats are welcome in the museum at any time [ev_0005:3].",
        "Dogs are welcome in the museum at any time [ev_0005:1].",
    ),
    "other lines": (
        "The discount is 15 percent [ev_0001:6].",
        "The discount is 15 percent [ev_0001:3].",
    ),
}
"""For the rule `literal`: the honest claim, and the attack."""


def run(folder: Path, said: dict[str, str], *options: object) -> Attempt:
    worker = [*READ, final("\n\n".join(said.values()))]
    return attempt(folder, worker, *OFFLINE, *options, question=QUESTION, files=FILES)


@pytest.fixture(scope="module")
def attacked(tmp_path_factory: pytest.TempPathFactory) -> Attempt:
    return run(tmp_path_factory.mktemp("attacks"), ATTACKS)


@pytest.fixture(scope="module")
def honest(tmp_path_factory: pytest.TempPathFactory) -> Attempt:
    return run(tmp_path_factory.mktemp("twins"), TWINS)


@pytest.mark.parametrize("attack", ATTACKS)
def test_no_judge_lifts_a_claim_over_the_floor(attacked: Attempt, attack: str) -> None:
    key = f"c{list(ATTACKS).index(attack) + 1}"
    assert attacked.results()[key] != "SUPPORTED", [each.message for each in attacked.findings]


@pytest.mark.parametrize("twin", TWINS)
def test_the_honest_twin_stands(honest: Attempt, twin: str) -> None:
    key = f"c{list(TWINS).index(twin) + 1}"
    found = [each for each in honest.findings if each.claim == key]
    assert honest.results()[key] == "SUPPORTED", found


def test_an_attack_on_the_floor_is_unresolved_shown_and_replayed(attacked: Attempt) -> None:
    assert attacked.status == "UNRESOLVED"
    attacked.is_sound()


@pytest.fixture(scope="module")
def word_for_word(tmp_path_factory: pytest.TempPathFactory) -> Attempt:
    pairs = [claim for pair in WORD_FOR_WORD.values() for claim in pair]
    said = {str(number): claim for number, claim in enumerate(pairs)}
    return run(tmp_path_factory.mktemp("literal"), said, "--verifier", "literal")


@pytest.mark.parametrize("name", WORD_FOR_WORD)
def test_word_for_word_the_attack_falls_and_its_twin_stands(word_for_word: Attempt, name: str) -> None:
    place = 2 * list(WORD_FOR_WORD).index(name)
    results = word_for_word.results()
    assert results[f"c{place + 1}"] == "SUPPORTED", word_for_word.findings
    assert results[f"c{place + 2}"] != "SUPPORTED"


def test_what_is_shown_of_a_cited_line_is_its_whole_sentence(word_for_word: Attempt) -> None:
    (shown,) = {
        (card.span.first, card.span.last)
        for card in word_for_word.cards
        if card.evidence == "ev_0003" and card.claim == "c1"
    }
    assert shown == (1, 2)
