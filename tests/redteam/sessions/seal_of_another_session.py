"""The seal and the attestation of one session of the person, put into another one."""

import shutil

from redteam import altered
from redteam.place import Place
from support.verified import ANSWER

CLAIM = "An answer that was not proved is QUOTED."
TRICK = (
    "Seal and attestation of a good session of the same person lie in a bad one, with the good one's store."
)
MUST_NOT_BE = ("VERIFIED", "QUOTED")
TWIN = "They lie where they were made."
MUST_BE = "QUOTED"


def attack(place: Place) -> str:
    good = altered.session(place, "good")
    bad = altered.session(place, "bad", text=f"{ANSWER} The Oder is 9999 kilometres long [ev_0002:4].")
    for name in ("attestation.json", "seal.json"):
        shutil.copy(good / name, bad / name)
    shutil.copytree(good / "store", bad / "store", dirs_exist_ok=True)
    return altered.told(bad)


def twin(place: Place) -> str:
    return altered.told(altered.session(place, "good"))
