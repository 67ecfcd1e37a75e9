"""A file of the folder is a link to a file of the person."""

from redteam import told
from redteam.place import Place
from support.turns import turn

CLAIM = "What is private."
TRICK = "A file of the folder is a link to a file of the person."
MUST_NOT_BE = ("VERIFIED", "QUOTED", "LEAKED", "BROKEN")
TWIN = "A folder of plain files."
MUST_BE = "VERIFIED"


def attack(place: Place) -> str:
    (place.folder / "secret.txt").write_text("Members may vote by telephone.\n")
    (place.folder / "documents").mkdir()
    (place.folder / "documents" / "evil.txt").symlink_to(place.folder / "secret.txt")
    turns = (told.READ, turn("read", path="evil.txt"))
    return told.word(told.run(place, "Members may vote by telephone [ev_0002:1].", *turns, rule="literal"))


def twin(place: Place) -> str:
    return told.word(told.run(place))
