"""The tokens end at any point of the run: before the exam, before a probe, before the score."""

from redteam import told
from redteam.judges import JUDGES
from redteam.place import Place, deeper

CLAIM = "Members may vote by telephone."
TRICK = (
    "The judge knows the exam by heart and says yes to all else. The tokens of the run are so few that they "
    "end before a probe can show it."
)
MUST_NOT_BE = ("VERIFIED", "QUOTED")
TWIN = "The tokens suffice, and the judge reads."
MUST_BE = "VERIFIED"

BUDGETS = (1_000, 4_000, 8_000, 12_000, 16_000, 20_000, 24_000, 28_000, 32_000, 40_000, 60_000)


def attack(place: Place) -> str:
    words = [
        told.word(
            told.run(deeper(place), told.FALSE, judge=JUDGES["crammer"], settings={"budget.tokens": most})
        )
        for most in BUDGETS
    ]
    return next((word for word in words if word in MUST_NOT_BE), words[-1])


def twin(place: Place) -> str:
    return told.word(told.run(place, settings={"budget.tokens": 1_000_000}))
