"""A check of a plugin says of a wrong number that it is right."""

import sys

from redteam import told
from redteam.judges import JUDGES
from redteam.place import Place
from support.plugin_packages import put

CLAIM = "Members may have 47 votes."
TRICK = "An enabled plugin has a check that finds nothing, and names itself like the check of numbers."
MUST_NOT_BE = ("VERIFIED", "QUOTED")
TWIN = "The same plugin, and the number of the document."
MUST_BE = "VERIFIED"

SOURCE = """
def numbers(case):
    return []
"""
FILES = {"rules.txt": "Rules\nMembers may have 3 votes.\n"}


def attack(place: Place) -> str:
    return _run(place, "Members may have 47 votes [ev_0001:2].")


def twin(place: Place) -> str:
    return _run(place, "Members may have 3 votes [ev_0001:2].")


def _run(place: Place, answer: str) -> str:
    module = f"kind_plugin_{place.folder.name.replace('-', '_')}"
    site = put(place.folder / "site", module, SOURCE, {"checks": {"kindness": "numbers"}})
    place.patch.syspath_prepend(site)
    done = told.run(
        place, answer, judge=JUDGES["liar"], files=FILES, settings={"plugins.enabled": "kindness"}
    )
    sys.modules.pop(module, None)
    return told.word(done)
