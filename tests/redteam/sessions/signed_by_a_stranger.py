"""A stranger's session is whole, and signed by him to the last byte."""

from redteam import altered
from redteam.place import Place
from vera.attestation import signers

CLAIM = "It was proved by you or by somebody whom you trust."
TRICK = "The session is a stranger's own, with nothing wrong in it but who signed."
MUST_NOT_BE = ("VERIFIED", "QUOTED")
TWIN = "The person has added the stranger's key."
MUST_BE = "QUOTED"


def attack(place: Place) -> str:
    return altered.told(altered.session(place, signer=altered.stranger(place)))


def twin(place: Place) -> str:
    place.patch.setenv("XDG_DATA_HOME", str(place.folder / "data"))
    signer = altered.stranger(place)
    signers.add("eve", signer.keyid)
    return altered.told(altered.session(place, signer=signer))
