"""A model server counts its tokens below zero, so that the budget never ends."""

from typing import Any

from redteam import told
from redteam.place import Place
from support.turns import as_reply, turn

CLAIM = "The run spends no more than it may."
TRICK = "The server says that each call used minus a million tokens; the agent reads for ever."
MUST_NOT_BE = ("ENDLESS",)
TWIN = "The server counts rightly."
MUST_BE = "ENDED"

MOST = 40_000
"""Tokens of the budget: about ten calls."""


def attack(place: Place) -> str:
    return _run(
        place, {"prompt_tokens": -1_000_000, "completion_tokens": -1_000_000, "total_tokens": -2_000_000}
    )


def twin(place: Place) -> str:
    return _run(place, None)


def _run(place: Place, usage: dict[str, int] | None) -> str:
    calls = 0

    def endless(index: int, body: dict[str, Any]) -> Any:
        nonlocal calls
        calls += 1
        said = {"content": as_reply(turn("search", query=f"number {calls}"), "text")}
        return said if usage is None else {**said, "usage": usage}

    place.patch.setattr("redteam.told.RedCast", lambda *_: endless)
    told.run(
        place, settings={"budget.tokens": MOST, "run.max_steps": 60, "policy.query_mutation_budget": 10_000}
    )
    return "ENDLESS" if calls > 40 else "ENDED"
