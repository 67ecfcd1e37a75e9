"""The changed log is sealed again with a stranger's key."""

import random

from redteam import altered
from redteam.place import Place
from support.altering import CHANGES

CLAIM = "Each claim was proved in court."
TRICK = "The reason in the log is changed, and the whole is sealed with a stranger's key."
MUST_NOT_BE = ("VERIFIED", "QUOTED")
TWIN = "The session as it is."
MUST_BE = "QUOTED"


def attack(place: Place) -> str:
    root = altered.session(place)
    CHANGES["reason"](root, altered.stranger(place), random.Random(0))
    return altered.told(root)


def twin(place: Place) -> str:
    return altered.told(altered.session(place))
