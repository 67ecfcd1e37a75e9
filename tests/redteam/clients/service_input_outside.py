"""A client names folders outside of the input root, by paths and by a link."""

from redteam.callers import accepted, service
from redteam.place import Place

CLAIM = "A folder of the person is read."
TRICK = "A client names folders outside of the input root, by paths and by a link."
MUST_NOT_BE = ("ACCEPTED",)
TWIN = "The input root itself."
MUST_BE = "ACCEPTED"


def attack(place: Place) -> str:
    (place.folder / "documents").mkdir()
    (place.folder / "secret").mkdir()
    (place.folder / "documents" / "out").symlink_to(place.folder / "secret")
    inputs = ("..", "documents/..", "documents/out", "/etc", "documents/../secret", "secret", "documents\0")
    bodies = [("verify", {"text": "It is so.", "input": each}) for each in inputs]
    with service(place) as (made, client):
        token = made.token()
        words = [accepted(client, token, kind, body) for kind, body in bodies]
    return "ACCEPTED" if "ACCEPTED" in words else "REFUSED"


def twin(place: Place) -> str:
    with service(place) as (made, client):
        return accepted(client, made.token(), "verify", {"text": "It is so.", "input": "documents"})
