"""The end of the log says VERIFIED, and the chain is made again; the seal stays."""

from redteam import altered
from redteam.place import Place
from support.altering import ENDS, edit
from support.verified import ANSWER

CLAIM = "An answer that was not proved is VERIFIED."
TRICK = "The status in the log is changed, and each hash is made again."
MUST_NOT_BE = ("VERIFIED", "QUOTED")
TWIN = "A session that was proved, as it is."
MUST_BE = "QUOTED"


def attack(place: Place) -> str:
    root = altered.session(place, text=f"{ANSWER} The Oder is 9999 kilometres long [ev_0002:4].")
    edit(root, ENDS, status="VERIFIED", exit_code=0)
    return altered.told(root)


def twin(place: Place) -> str:
    return altered.told(altered.session(place))
