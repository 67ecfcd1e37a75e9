"""A file of the store is a link to a file outside of the session."""

from redteam import altered
from redteam.place import Place

CLAIM = "The source says so."
TRICK = "A source in the store is a link to a file that can be changed at any time."
MUST_NOT_BE = ("VERIFIED", "QUOTED")
TWIN = "The source is in the store."
MUST_BE = "QUOTED"


def attack(place: Place) -> str:
    root = altered.session(place)
    for blob in sorted(root.glob("store/*/*")):
        if b"Elbe is 1094" in blob.read_bytes():
            outside = place.folder / f"outside-{blob.name}"
            blob.rename(outside)
            outside.write_bytes(outside.read_bytes().replace(b"1094", b"1095"))
            blob.symlink_to(outside)
    return altered.told(root)


def twin(place: Place) -> str:
    return altered.told(altered.session(place))
