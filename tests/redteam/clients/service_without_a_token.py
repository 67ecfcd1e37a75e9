"""A client comes without a token, with an empty one, with one that begins rightly, and in the address."""

from redteam.callers import service
from redteam.place import Place

CLAIM = "Anybody may ask."
TRICK = "No token, an empty one, half of one, the token in another case, and the token in the address."
MUST_NOT_BE = ("ACCEPTED",)
TWIN = "The token."
MUST_BE = "ACCEPTED"

BODY = {"text": "It is so.", "input": "documents"}


def attack(place: Place) -> str:
    with service(place) as (made, client):
        token = made.token()
        heads = [{}, *({"authorization": each} for each in ("Bearer ", f"Bearer {token[:-1]}", token))]
        heads.append({"authorization": f"Bearer {token.swapcase()}"})
        codes = [client.post("/v1/verify", json=BODY, headers=each).status_code for each in heads]
        codes.append(client.post(f"/v1/verify?token={token}", json=BODY).status_code)
    return "ACCEPTED" if any(code < 300 for code in codes) else "REFUSED"


def twin(place: Place) -> str:
    with service(place) as (made, client):
        head = {"authorization": f"Bearer {made.token()}"}
        return (
            "ACCEPTED" if client.post("/v1/verify", json=BODY, headers=head).status_code < 300 else "REFUSED"
        )
