"""An honest session or bundle, and what a person is told of it after somebody changed it."""

import zipfile
from collections.abc import Callable
from pathlib import Path

from redteam.place import Place
from support.attacks import vera_here
from support.verified import verified
from vera.attestation.bundle import pack
from vera.attestation.keys import Signer, load_or_create
from vera.attestation.outcome import outcome_here


def own(place: Place) -> Signer:
    """The person's key."""
    return load_or_create()


def stranger(place: Place) -> Signer:
    return load_or_create(place.folder / "stranger")


def session(place: Place, name: str = "session", signer: Signer | None = None, **more: str) -> Path:
    """A session that is QUOTED."""
    verified(place.folder / name, signer or own(place), **more)
    for path in (place.folder / name).rglob("store/*/*"):
        path.chmod(0o644)
    return place.folder / name


def told(root: Path) -> str:
    """The word of a session where it holds in replay, as well; else ALTERED."""
    word = outcome_here(root).word
    replayed = vera_here("replay", root, cwd=root.parent)
    return word if replayed.code == 0 else "ALTERED"


def bundle(place: Place, change: Callable[[Path], None] | None = None) -> str:
    """HOLDS where the bundle replays after the change."""
    file = place.folder / "bundle.zip"
    pack(session(place), file)
    if change is not None:
        change(file)
    replayed = vera_here("replay", file, cwd=place.folder)
    place.told = {"said": replayed.out + replayed.error}
    return "HOLDS" if replayed.code == 0 else "ALTERED"


def with_members(file: Path, *members: tuple[zipfile.ZipInfo | str, bytes]) -> None:
    """Add members to a bundle."""
    with zipfile.ZipFile(file, "a") as archive:
        for info, data in members:
            archive.writestr(info, data)
