"""A member has an absolute name."""

from pathlib import Path

from redteam import altered
from redteam.place import Place

CLAIM = "A file anywhere on the disk is written."
TRICK = "A member has an absolute name."
MUST_NOT_BE = ("HOLDS",)
TWIN = "The bundle as it was written."
MUST_BE = "HOLDS"


def attack(place: Place) -> str:
    return altered.bundle(place, change)


def twin(place: Place) -> str:
    return altered.bundle(place)


def change(file: Path) -> None:
    altered.with_members(file, (str(file.parent / "evil.txt"), b"evil"))
