"""What a run may spend and has spent, in words."""

from collections.abc import Iterator

from vera.report.view.words import limit_in, number
from vera.state import RunState

LANE = "main"
UNLIMITED = "unlimited"


def budgets_of(state: RunState, cost: str, *, idle: float = 0.0) -> tuple[tuple[str, str, str], ...]:
    """(name, used, limit). `cost` is what the tokens cost, '' where no price is known; `idle` the seconds
    since the last record in which a process worked."""
    return tuple(_lines(state, cost, idle))


def _lines(state: RunState, cost: str, idle: float) -> Iterator[tuple[str, str, str]]:
    settings = state.session.settings if state.session else {}
    spent, asked = state.spent, state.requested
    seconds = limit_in(settings, "budget", "seconds")
    tokens = limit_in(settings, "budget", "tokens")
    searches = limit_in(settings, "budget", "searches")
    if asked is not None:  # the budget of a request is beside that of the run: the smaller one ends it
        seconds, tokens = _smaller(seconds, asked.seconds), _smaller(tokens, asked.tokens)
        searches = _smaller(searches, asked.searches)
    yield "steps", number(state.steps), _most(limit_in(settings, "run", "max_steps"))
    yield "tokens", number(spent.tokens), _most(tokens)
    if cost:
        yield "cost", cost, _most(limit_in(settings, "budget", "cost"))
    yield "seconds", number(round(spent.seconds + idle)), _most(seconds)
    yield "search requests", number(spent.searches), _most(searches)
    yield (
        "rounds of verification",
        str(len(state.rounds)),
        _most(limit_in(settings, "verification", "rounds")),
    )
    if brave := state.engine("brave").calls:
        yield "calls to Brave", str(brave), _most(limit_in(settings, "brave", "max_calls"))


def _smaller(one: float, other: float) -> float:
    """The smaller of two limits, where 0 means no limit."""
    return min(one, other) if one and other else one or other


def _most(limit: float) -> str:
    return number(limit) if limit > 0 else UNLIMITED
