"""A client asks for evidence of a session in another folder."""

from redteam.callers import SECRET, mcp_call
from redteam.place import Place

CLAIM = "A session of somebody else is read."
TRICK = "A client asks for evidence of a session in another folder."
MUST_NOT_BE = ("LEAKED",)
TWIN = "A report is checked."
MUST_BE = "ANSWERED"


def attack(place: Place) -> str:
    (place.folder / "other").mkdir()
    (place.folder / "other" / "attestation.json").write_text(SECRET)
    asked = {"card_id": "sha256:" + "0" * 64, "session": str(place.folder / "other")}
    return _word(place, mcp_call(place, "get_evidence", **asked))


def twin(place: Place) -> str:
    return _word(place, mcp_call(place, "check_report", text="Members may vote by hand."))


def _word(place: Place, said: object) -> str:
    place.told = {"said": said}
    refused = isinstance(said, dict) and "refused" in said
    return "LEAKED" if SECRET in str(said) else "REFUSED" if refused else "ANSWERED"
