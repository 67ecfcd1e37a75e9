"""A blob of the store unpacks to a gigabyte."""

import hashlib
import zipfile
from pathlib import Path

from redteam import altered
from redteam.place import Place

CLAIM = "Nothing, but the disk is full."
TRICK = "A blob of the store unpacks to a gigabyte."
MUST_NOT_BE = ("HOLDS",)
TWIN = "The bundle as it was written."
MUST_BE = "HOLDS"


def attack(place: Place) -> str:
    return altered.bundle(place, change)


def twin(place: Place) -> str:
    return altered.bundle(place)


def change(file: Path) -> None:
    name = hashlib.sha256(b"x").hexdigest()
    info = zipfile.ZipInfo(f"store/{name[:2]}/{name}")
    info.compress_type = zipfile.ZIP_DEFLATED
    altered.with_members(file, (info, bytes(1 << 26)))
