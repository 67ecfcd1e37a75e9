"""answer.md says something else than what was proved."""

from redteam import altered
from redteam.place import Place

CLAIM = "The Elbe is 9999 kilometres long."
TRICK = "The file that a person opens is changed, and nothing else."
MUST_NOT_BE = ("VERIFIED", "QUOTED")
TWIN = "The file as it was written."
MUST_BE = "QUOTED"


def attack(place: Place) -> str:
    root = altered.session(place)
    answer = root / "answer.md"
    answer.write_text(answer.read_text("utf-8").replace("1094", "9999"), "utf-8")
    return altered.told(root)


def twin(place: Place) -> str:
    return altered.told(altered.session(place))
