"""A client asks for a report by an absolute path."""

from redteam.callers import SECRET, mcp_call
from redteam.place import Place

CLAIM = "A file of the person is a report."
TRICK = "A client asks for a report by an absolute path."
MUST_NOT_BE = ("LEAKED",)
TWIN = "The report lies in the folder."
MUST_BE = "ANSWERED"


def attack(place: Place) -> str:
    return _word(place, mcp_call(place, "check_report", path=str(place.folder / "secret.md")))


def twin(place: Place) -> str:
    (place.folder / "documents").mkdir()
    (place.folder / "documents" / "report.md").write_text("Members may vote by hand.\n")
    return _word(place, mcp_call(place, "check_report", path="report.md"))


def _word(place: Place, said: object) -> str:
    place.told = {"said": said}
    refused = isinstance(said, dict) and "refused" in said
    return "LEAKED" if SECRET in str(said) else "REFUSED" if refused else "ANSWERED"
