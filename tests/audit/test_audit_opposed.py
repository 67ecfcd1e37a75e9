"""A cited sentence that is nearly the claim and says the opposite is told; one that agrees is not."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from support.cited import cited
from vera.audit.checks.opposed import RULES, opposed
from vera.text.language import language

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
    ("hedge", "The new dye fades in the sun.", "The new dye may fade in the sun."),
    ("hedge", "Dort entsteht ein Lager für die Stadt.",
     "Möglicherweise entsteht dort ein Lager für die Stadt."),
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


FILLER = [f"Line {number} of the report is about the weather on the island." for number in range(60)]
OTHER_FILLER = {
    "de": [
        f"Die Zeile {number} ist nur eine von vielen über das Wetter auf der Insel." for number in range(60)
    ],
    "fr": [
        f"La ligne {number} est une des pages sur la pluie et le vent dans les bois." for number in range(60)
    ],
}
IN_A_LONG_SOURCE = [
    # what a rule may find turned round is no word that is missing
    ("contrary", "The gap in March rose to 5 m.", "The gap in March fell to 5 m."),
    ("contrary", "The gap in March had widened.", "The gap in March had narrowed."),
    ("contrary", "Hikers pay more than residents for the boat.",
     "Hikers pay less than residents for the boat."),
    # nor are small words of German and French, nor who tells it, nor a reference in brackets, nor a number
    ("modality", "Die Kaution müssen die Mieter in drei Raten zahlen (§ 4 des Vertrags).",
     "Sie dürfen die Kaution in drei Raten zahlen; die erste ist zu Beginn des Monats fällig."),
    ("contrary",
     "Pour s'inscrire, il faut une pièce d'identité et un justificatif de domicile de plus de trois mois.",
     "L'usager doit présenter une pièce d'identité et un justificatif de domicile de moins de trois mois."),
    ("hedge", "The report says that the fall reflects the pressure on budgets.",
     "We believe that the fall probably reflects the pressure on budgets."),
    ("bound",
     "Die Kosten kleiner Reparaturen tragen die Mieter, wenn sie mehr als 100 Euro im Einzelfall betragen.",
     "Die Kosten kleiner Reparaturen tragen die Mieter bis zu 100,00 € im Einzelfall."),
    # two sentences together
    ("bound", "The new bakery at Thrapston can make more than 1.4 million loaves.",
     "Our new bakery at Thrapston opened in May. It cost £5 million and can make up to 1.4 million loaves."),
    ("negation", "Brennan sends a rolling forecast, and these forecasts are binding.",
     "The buyer sends a rolling forecast in each month. Forecasts are not binding."),
    # the word that is turned round, and not another of its kind
    ("quantifier", "All of the Irish sites use grid power.",
     "All of our bakeries are new; some of our Irish sites use grid power."),
    ("modality", "Outside container mode, the daemon may be started as root.",
     "The daemon must be started as root, except in container mode, where it may run under any user."),
    ("negation", "File names and file sizes are encrypted.",
     "File names are encrypted, but file sizes are not."),
    ("negation", "In fünf Jahren haben alle Molkereien im Land die Werke verkauft.",
     "In fünf Jahren haben nicht alle, aber die meisten Molkereien im Land die Werke verkauft."),
    ("negation", "Elle nécessite une inscription à la mairie.",
     "Elle ne nécessite pas d'inscription à la mairie."),
    # who does what
    ("roles", "Carl Dorn bought the firm of Anna Berg.", "Anna Berg bought the firm of Carl Dorn."),
    ("roles", "The Supplier may terminate with immediate effect if the Buyer misses three delivery dates.",
     "The Buyer may terminate with immediate effect if the Supplier misses three delivery dates."),
    ("roles", "Die Vermieterin darf die Wohnung ohne Zustimmung der Mieter nicht untervermieten.",
     "Die Mieter dürfen die Wohnung ohne Zustimmung der Vermieterin nicht untervermieten."),
    ("roles", "Her father sold a piece of land, because her mother did not want her to study.",
     "Her father did not want her to study; her mother sold a piece of land."),
]  # fmt: skip


@pytest.mark.parametrize(("kind", "claim", "line"), IN_A_LONG_SOURCE)
def test_in_a_long_source_the_sentence_is_found(kind: str, claim: str, line: str) -> None:
    filler = OTHER_FILLER.get(language(line) or language(claim), FILLER)
    assert kinds(claim, *filler, line, *filler) == [kind]


@pytest.mark.parametrize("line", sorted({line for _, _, line in IN_A_LONG_SOURCE}))
def test_in_a_long_source_its_own_words_raise_nothing(line: str) -> None:
    filler = OTHER_FILLER.get(language(line), FILLER)
    assert kinds(line, *filler, line, *filler) == []


@pytest.mark.parametrize(
    ("claim", "line"),
    [
        ("Late goods cost 5 euros, never more than 9.", "Late goods cost 5 euros, up to 9 at most."),
        ("Cdr Rosewarne said that the channel is silting.", "He said that the channel is silting."),
        ("In May the board meets in Paris.", "The board meets in Paris in May."),
        ("Treadmill training can improve the gait.", "Treadmill training may improve the gait."),
        ("The dye may fade in the sun.", "The dye may fade in the sun and could crack."),
        ('Karin Voss said: "The deal is fair to both."', '"The deal is fair to both", Karin Voss said.'),
        ("Pipes narrower than 40 mm show more vibration.", "Pipes of less than 40 mm show vibration."),
    ],
)
def test_what_is_said_in_other_words_is_not_told(claim: str, line: str) -> None:
    assert kinds(claim, *FILLER, line) == []


def told(claim: str, *lines: str) -> tuple[str, int, int]:
    (found,) = opposed(cited(claim, "\n".join(lines) + "\n"))
    return found.message, found.first, found.last


def test_the_message_says_in_which_lines_what_stands() -> None:
    message = "Line 61 of ev_0001 is nearly the same, but with “dürfen” (modality): read it again."
    line = "Die Mieter dürfen das Haus versichern."
    assert told("Die Mieter müssen das Haus versichern.", *OTHER_FILLER["de"], line) == (message, 61, 61)
    message = "Lines 3-4 of ev_0001 are nearly the same, but with “fell” (contrary): read it again."
    wrapped = ("The sales of butter in the shops of the island", "fell in the spring.")
    assert told("The sales of butter in the shops rose.", "News", "", *wrapped) == (message, 3, 4)


def test_a_word_of_the_claim_alone_is_not_said_to_stand_there() -> None:
    message = "Line 1 of ev_0001 is nearly the same, but without “never” (negation): read it again."
    assert told("Dogs are never fed in the garden.", "Dogs are fed in the garden.")[0] == message


def test_a_name_is_shown_without_the_stop_behind_it() -> None:
    claim = "The sample of nurses was small, said Tom Beck."
    assert "“Mara Iyer”" in told(claim, "The sample of nurses was small, said Mara Iyer.")[0]


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
