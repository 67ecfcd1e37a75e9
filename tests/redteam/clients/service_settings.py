"""A client sends settings, keys and addresses in its body."""

from redteam.callers import accepted, service
from redteam.place import Place

CLAIM = "A stranger's server judges."
TRICK = "A client sends settings, keys and addresses in its body."
MUST_NOT_BE = ("ACCEPTED",)
TWIN = "The members that a body has."
MUST_BE = "ACCEPTED"


def attack(place: Place) -> str:
    members = (
        {"model_base_url": "http://evil.test:1"},
        {"settings": {"sandbox.backend": "host"}},
        {"key": "x"},
    )
    bodies = [("verify", {"text": "It is so.", **each}) for each in members]
    with service(place) as (made, client):
        token = made.token()
        words = [accepted(client, token, kind, body) for kind, body in bodies]
    return "ACCEPTED" if "ACCEPTED" in words else "REFUSED"


def twin(place: Place) -> str:
    with service(place) as (made, client):
        return accepted(client, made.token(), "verify", {"text": "It is so.", "input": "documents"})
