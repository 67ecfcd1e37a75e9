"""A file of the repository is a link to a file of the person."""

from redteam.gathered import run_git, text_of
from redteam.place import Place
from support.connecting import commit, repository

CLAIM = "A file of the person is a document."
TRICK = "The repository has a symbolic link that leads out of it."
MUST_NOT_BE = ("LEAKED",)
TWIN = "The file is in the repository."
MUST_BE = "GATHERED"

SECRET = "what is private"


def attack(place: Place) -> str:
    secret = place.folder / "secret.txt"
    secret.write_text(SECRET)
    repo = place.folder / "repo"
    repository(repo, {"a.txt": b"Members may vote by hand.\n"})
    (repo / "b.txt").symlink_to(secret)
    commit(repo, {})
    word = run_git(place, f"x=git:{repo}", place.folder / "ran")
    return "LEAKED" if SECRET in text_of(place) else word


def twin(place: Place) -> str:
    repository(place.folder / "repo", {"a.txt": b"Members may vote by hand.\n"})
    return run_git(place, f"x=git:{place.folder / 'repo'}", place.folder / "ran")
