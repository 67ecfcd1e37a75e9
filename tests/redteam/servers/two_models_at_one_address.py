"""The model that sat the exam is gone, and another one answers under its address, with its own name."""

from redteam import told
from redteam.judges import JUDGES
from redteam.place import Place, deeper
from support.scripted_server import ScriptedServer

CLAIM = "Members may vote by telephone."
TRICK = (
    "A good judge sits the exam in one run. In the next one the same address has another model, which says "
    "yes to all: the exam of the other must not count."
)
MUST_NOT_BE = ("VERIFIED", "QUOTED")
TWIN = "The same model is still there, and the claim is what the rules say."
MUST_BE = "VERIFIED"


def attack(place: Place) -> str:
    return _twice(place, "other-7b", "crammer", told.FALSE)


def twin(place: Place) -> str:
    return _twice(place, "good-7b", "honest", told.TRUE)


def _twice(place: Place, second: str, judge: str, answer: str) -> str:
    def serve(index: int, body: object) -> object:
        return place.stage.plays(index, body)  # type: ignore[arg-type] # as it came

    with ScriptedServer(serve, model="good-7b", exam="script") as server:
        port = int(server.root.rsplit(":", 1)[1].split("/")[0])
        told.run(deeper(place), base_url=server.root)
        server.model = second
        assert port
        then = JUDGES["constant"] if judge == "crammer" else JUDGES[judge]
        return told.word(told.run(deeper(place), answer, judge=then, base_url=server.root))
