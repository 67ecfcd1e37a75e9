"""The folder has a pipe that nobody writes into, a socket and a link to an endless device."""

import contextlib
import os
import socket

from redteam import told
from redteam.place import Place
from support.turns import turn

CLAIM = "The run never ends."
TRICK = "The folder has a pipe that nobody writes into, a socket and a link to an endless device."
MUST_NOT_BE = ("VERIFIED", "QUOTED", "LEAKED", "BROKEN")
TWIN = "A folder of plain files."
MUST_BE = "VERIFIED"


def attack(place: Place) -> str:
    folder = place.folder / "documents"
    folder.mkdir()
    os.mkfifo(folder / "pipe.txt")
    (folder / "endless.txt").symlink_to("/dev/zero")
    with socket.socket(socket.AF_UNIX) as listening, contextlib.chdir(folder):
        listening.bind("socket.txt")
    turns = (told.READ, turn("read", path="pipe.txt"), turn("read", path="endless.txt"))
    return told.word(told.run(place, "Members may vote by telephone [ev_0002:1].", *turns, rule="literal"))


def twin(place: Place) -> str:
    return told.word(told.run(place))
