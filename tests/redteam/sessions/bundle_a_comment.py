"""The zip has a comment, which programs show when it is opened."""

import zipfile
from pathlib import Path

from redteam import altered
from redteam.place import Place

CLAIM = "VERIFIED by a court."
TRICK = "The zip has a comment, which programs show when it is opened."
MUST_NOT_BE = ("HOLDS",)
TWIN = "The bundle as it was written."
MUST_BE = "HOLDS"


def attack(place: Place) -> str:
    return altered.bundle(place, change)


def twin(place: Place) -> str:
    return altered.bundle(place)


def change(file: Path) -> None:
    with zipfile.ZipFile(file, "a") as archive:
        archive.comment = b"VERIFIED by a court"
