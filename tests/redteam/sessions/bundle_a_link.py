"""A member is a symbolic link to a file of the person."""

import zipfile
from pathlib import Path

from redteam import altered
from redteam.place import Place

CLAIM = "A file of the person is read as evidence."
TRICK = "A member is a symbolic link to a file of the person."
MUST_NOT_BE = ("HOLDS",)
TWIN = "The bundle as it was written."
MUST_BE = "HOLDS"


def attack(place: Place) -> str:
    return altered.bundle(place, change)


def twin(place: Place) -> str:
    return altered.bundle(place)


def change(file: Path) -> None:
    info = zipfile.ZipInfo("reviews.jsonl")
    info.external_attr = 0o120777 << 16
    altered.with_members(file, (info, b"/etc/passwd"))
