"""A client asks for the web, which the person did not open."""

from redteam.callers import accepted, service
from redteam.place import Place

CLAIM = "The web is read."
TRICK = "A client asks for the web, which the person did not open."
MUST_NOT_BE = ("ACCEPTED",)
TWIN = "No web is asked for."
MUST_BE = "ACCEPTED"


def attack(place: Place) -> str:
    bodies = [
        ("verify", {"text": "It is so.", "scope": ["web"]}),
        ("research", {"question": "Is it so?", "web": True}),
        ("check", {"text": "It is so.", "fetch": True}),
    ]
    with service(place) as (made, client):
        token = made.token()
        words = [accepted(client, token, kind, body) for kind, body in bodies]
    return "ACCEPTED" if "ACCEPTED" in words else "REFUSED"


def twin(place: Place) -> str:
    with service(place) as (made, client):
        return accepted(client, made.token(), "verify", {"text": "It is so.", "input": "documents"})
