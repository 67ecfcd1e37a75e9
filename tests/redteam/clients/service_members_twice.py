"""A member of the body comes twice, so that one reader sees another value than the next."""

from redteam.callers import accepted, service
from redteam.place import Place

CLAIM = "The value that was checked is the one that is used."
TRICK = "A member of the body comes twice, so that one reader sees another value than the next."
MUST_NOT_BE = ("ACCEPTED",)
TWIN = "Each member once."
MUST_BE = "ACCEPTED"


def attack(place: Place) -> str:
    body = b'{"text": "It is so.", "text": "It is not so.", "input": "documents"}'
    with service(place) as (made, client):
        head = {"authorization": f"Bearer {made.token()}", "content-type": "application/json"}
        answer = client.post("/v1/verify", content=body, headers=head)
    return "ACCEPTED" if answer.status_code < 300 else "REFUSED"


def twin(place: Place) -> str:
    with service(place) as (made, client):
        return accepted(client, made.token(), "verify", {"text": "It is so.", "input": "documents"})
