"""A member differs from another one only in capitals, which some disks take for the same."""

from pathlib import Path

from redteam import altered
from redteam.place import Place

CLAIM = "A second answer lies beside the first one."
TRICK = "A member differs from another one only in capitals, which some disks take for the same."
MUST_NOT_BE = ("HOLDS",)
TWIN = "The bundle as it was written."
MUST_BE = "HOLDS"


def attack(place: Place) -> str:
    return altered.bundle(place, change)


def twin(place: Place) -> str:
    return altered.bundle(place)


def change(file: Path) -> None:
    altered.with_members(file, ("ANSWER.md", b"The Elbe is 9999 kilometres long."))
