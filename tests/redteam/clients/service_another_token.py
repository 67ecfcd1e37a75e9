"""A client reads the job of another one, by its id."""

from redteam.callers import service
from redteam.place import Place
from support.services import ask, bearer, ended

CLAIM = "What another one asked is read."
TRICK = "The id of the job is known, and asked for with another token: the job, its events, its bundle."
MUST_NOT_BE = ("READ",)
TWIN = "The token that began the job."
MUST_BE = "READ"

PLACES = ("/v1/jobs/{}", "/v1/jobs/{}/events", "/v1/jobs/{}/bundle")


def attack(place: Place) -> str:
    return _read(place, "other")


def twin(place: Place) -> str:
    return _read(place, "one")


def _read(place: Place, who: str) -> str:
    with service(place) as (made, client):
        tokens = {"one": made.token("one"), "other": made.token("other")}
        name = ask(client, tokens["one"], "verify", {"text": "It is so.", "input": "documents"}).json()["id"]
        ended(client, tokens["one"], name)
        codes = [client.get(each.format(name), headers=bearer(tokens[who])).status_code for each in PLACES]
    return "READ" if 200 in codes else "REFUSED"
