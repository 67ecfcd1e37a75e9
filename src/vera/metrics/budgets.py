"""How much of its budgets an active run has used, by its log alone."""

from collections.abc import Mapping
from typing import Any

from vera import events

MAX_VALUE = 2.0**53
"""Of a limit, and of what one record may add: a log may come from anyone."""

MAX_RATIO = 1000.0
"""A limit of next to nothing gives no larger share than this."""


class Budgets:
    """The limits of a run and what it has used of them.

    A resume may change the limits without a word in the log, so after one there is nothing to say. Money is
    left out: its price is no figure of the log's records.
    """

    __slots__ = ("_began", "_limits", "_look_up_tokens", "_searches")

    def __init__(self) -> None:
        self._began = 0.0
        self._limits: Mapping[str, float] = {}
        self._look_up_tokens = 0.0
        self._searches = 0.0

    def see(self, record: events.Record) -> None:
        """What the record says of limits, or adds to what was used."""
        match record:
            case events.Session():
                self._began, self._limits = record.ts, _limits(record.settings)
            case events.Resumed():
                self._limits = {}
            case events.Search():
                self._searches += _possible(record.attempts)
            case events.LookUpSpent():
                self._searches += _possible(record.searches)
                self._look_up_tokens += _possible(record.agent_prompt + record.agent_completion)
                self._look_up_tokens += _possible(record.verifier_prompt + record.verifier_completion)
            case _:
                pass

    def used(self, tokens: int, step: int, now: float) -> Mapping[str, float]:
        """Of each budget that is limited the share that is used; `tokens` are those of the run's own calls,
        `now` is the time of its newest record."""
        spent = {
            "tokens": tokens + self._look_up_tokens,
            "seconds": now - self._began,
            "searches": self._searches,
            "steps": step,
        }
        return {
            budget: min(max(spent[budget] / limit, 0.0), MAX_RATIO) for budget, limit in self._limits.items()
        }


def _limits(settings: Mapping[str, Any]) -> Mapping[str, float]:
    """Budget → its limit, where it has one."""
    budget, run = (part if isinstance(part := settings.get(name), dict) else {} for name in ("budget", "run"))
    named = {
        "tokens": budget.get("tokens"),
        "seconds": budget.get("seconds"),
        "searches": budget.get("searches"),
        "steps": run.get("max_steps"),
    }
    return {
        name: float(limit)
        for name, limit in named.items()
        if isinstance(limit, (int, float)) and not isinstance(limit, bool) and 0 < limit <= MAX_VALUE
    }


def _possible(number: int) -> float:
    return float(min(max(number, 0), MAX_VALUE))
