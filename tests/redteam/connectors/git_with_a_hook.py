"""The repository has a hook and a filter, which git would run when it checks files out."""

from redteam.gathered import run_git
from redteam.place import Place
from support.connecting import git, repository

CLAIM = "A command runs on this machine."
TRICK = "The repository brings hooks, a filter in its configuration, and attributes that ask for the filter."
MUST_NOT_BE = ("RAN",)
TWIN = "A repository without any."
MUST_BE = "GATHERED"


def attack(place: Place) -> str:
    repo, marker = place.folder / "repo", place.folder / "ran"
    repository(repo, {"a.txt": b"Members may vote by hand.\n", ".gitattributes": b"* filter=evil\n"})
    git(repo, "config", "filter.evil.smudge", f"touch {marker}; cat")
    git(repo, "config", "core.fsmonitor", f"touch {marker}")
    git(repo, "config", "uploadpack.packObjectsHook", f"touch {marker}; exec")
    for name in ("post-checkout", "post-merge", "pre-auto-gc"):
        hook = repo / ".git" / "hooks" / name
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {marker}\n")
        hook.chmod(0o755)
    return run_git(place, f"x=git:{repo}", marker)


def twin(place: Place) -> str:
    repository(place.folder / "repo", {"a.txt": b"Members may vote by hand.\n"})
    return run_git(place, f"x=git:{place.folder / 'repo'}", place.folder / "ran")
