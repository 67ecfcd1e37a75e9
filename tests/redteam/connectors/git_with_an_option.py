"""The address of a repository begins with a dash, so that git takes it for an option."""

from redteam.gathered import run_git
from redteam.place import Place
from support.connecting import repository

CLAIM = "A command runs on this machine."
TRICK = "The address is --upload-pack=…, which git would run."
MUST_NOT_BE = ("RAN",)
TWIN = "The address is a folder with a repository."
MUST_BE = "GATHERED"


def attack(place: Place) -> str:
    marker = place.folder / "ran"
    return run_git(place, f"x=git:--upload-pack=touch {marker};", marker)


def twin(place: Place) -> str:
    repository(place.folder / "repo", {"a.txt": b"Members may vote by hand.\n"})
    return run_git(place, f"x=git:{place.folder / 'repo'}", place.folder / "ran")
