"""The local header of a member has another name than the directory at the end."""

from pathlib import Path

from redteam import altered
from redteam.place import Place

CLAIM = "The answer is another one."
TRICK = (
    "The local header of a member has another name than the directory at the end, so that two programs "
    "unpack two files."
)
MUST_NOT_BE = ("HOLDS",)
TWIN = "The bundle as it was written."
MUST_BE = "HOLDS"


def attack(place: Place) -> str:
    return altered.bundle(place, change)


def twin(place: Place) -> str:
    return altered.bundle(place)


def change(file: Path) -> None:
    data = file.read_bytes()
    at = data.index(b"answer.md")
    file.write_bytes(data[:at] + b"answer.xx" + data[at + 9 :])
