"""A member that no export writes lies beside the others."""

from pathlib import Path

from redteam import altered
from redteam.place import Place

CLAIM = "A program lies in the bundle."
TRICK = "A member that no export writes lies beside the others."
MUST_NOT_BE = ("HOLDS",)
TWIN = "The bundle as it was written."
MUST_BE = "HOLDS"


def attack(place: Place) -> str:
    return altered.bundle(place, change)


def twin(place: Place) -> str:
    return altered.bundle(place)


def change(file: Path) -> None:
    altered.with_members(file, ("check.sh", b"echo VERIFIED"))
