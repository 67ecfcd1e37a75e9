"""The bundle has its log twice, and the second one says something else."""

import zipfile
from pathlib import Path

from redteam import altered
from redteam.place import Place

CLAIM = "Another log stands behind the verdict."
TRICK = "The bundle has its log twice, and the second one says something else."
MUST_NOT_BE = ("HOLDS",)
TWIN = "The bundle as it was written."
MUST_BE = "HOLDS"


def attack(place: Place) -> str:
    return altered.bundle(place, change)


def twin(place: Place) -> str:
    return altered.bundle(place)


def change(file: Path) -> None:
    with zipfile.ZipFile(file) as archive:
        log = archive.read("trace.jsonl")
    altered.with_members(file, ("trace.jsonl", log.replace(b"1094", b"1095")))
