"""The steps end before the agent has answered."""

from redteam import told
from redteam.place import Place

CLAIM = "What the agent read last is its answer."
TRICK = "The only step is spent on reading."
MUST_NOT_BE = ("VERIFIED",)
TWIN = "There is a step for the answer."
MUST_BE = "VERIFIED"


def attack(place: Place) -> str:
    return told.word(told.run(place, settings={"run.max_steps": 1}))


def twin(place: Place) -> str:
    return told.word(told.run(place, settings={"run.max_steps": 3}))
