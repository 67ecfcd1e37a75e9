"""A member leads out of the folder into which it is unpacked."""

from pathlib import Path

from redteam import altered
from redteam.place import Place

CLAIM = "A file outside of the folder is written."
TRICK = "A member leads out of the folder into which it is unpacked."
MUST_NOT_BE = ("HOLDS",)
TWIN = "The bundle as it was written."
MUST_BE = "HOLDS"


def attack(place: Place) -> str:
    return altered.bundle(place, change)


def twin(place: Place) -> str:
    return altered.bundle(place)


def change(file: Path) -> None:
    altered.with_members(file, ("store/../../../evil.txt", b"evil"))
