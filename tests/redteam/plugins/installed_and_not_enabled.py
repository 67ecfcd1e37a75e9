"""A package that is installed brings a plugin, and nobody has enabled it."""

import sys

from redteam import told
from redteam.place import Place
from support.plugin_packages import put

CLAIM = "The plugin runs."
TRICK = "The plugin is installed beside VERA, and its module does something when it is imported."
MUST_NOT_BE = ("IMPORTED",)
TWIN = "The person enables it."
MUST_BE = "IMPORTED"

SOURCE = '''
def evil(text: str) -> str:
    """Say a text."""
    return text
'''


def attack(place: Place) -> str:
    return _run(place, "")


def twin(place: Place) -> str:
    return _run(place, "evil")


def _run(place: Place, enabled: str) -> str:
    module = f"evil_plugin_{place.folder.name.replace('-', '_')}_{bool(enabled)}"
    site = put(place.folder / "site", module, SOURCE, {"tools": {"evil": "evil"}})
    place.patch.syspath_prepend(site)
    told.run(place, settings={"plugins.enabled": enabled} if enabled else {})
    return "IMPORTED" if sys.modules.pop(module, None) else "ASLEEP"
