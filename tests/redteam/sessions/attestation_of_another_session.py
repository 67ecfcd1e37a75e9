"""The attestation of one session of the person, put into another one of the person."""

import shutil

from redteam import altered
from redteam.place import Place
from support.verified import ANSWER

CLAIM = "An answer that was not proved is QUOTED."
TRICK = "The signed attestation of a good session of the same person lies in a bad one."
MUST_NOT_BE = ("VERIFIED", "QUOTED")
TWIN = "It lies where it was made."
MUST_BE = "QUOTED"


def attack(place: Place) -> str:
    good = altered.session(place, "good")
    bad = altered.session(place, "bad", text=f"{ANSWER} The Oder is 9999 kilometres long [ev_0002:4].")
    shutil.copy(good / "attestation.json", bad / "attestation.json")
    return altered.told(bad)


def twin(place: Place) -> str:
    return altered.told(altered.session(place, "good"))
