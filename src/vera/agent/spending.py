"""The budget of a run: from its settings, for its models, and in words."""

from typing import Any

from pydantic import ValidationError

from vera.config.settings import BudgetSettings
from vera.lane.budget import UNIT, Budget, Limits, Prices, money, says_spent, within
from vera.model.types import Model
from vera.spent import BYTES_PER_TOKEN, Spent
from vera.state import Round, RunState


def limits_of(settings: BudgetSettings) -> Limits:
    """The limits and prices in whole numbers; a price that is not known counts as nothing."""
    given, paid = settings.input_price, settings.output_price
    cached = _first(settings.cached_price, given)
    asked = _first(settings.verifier_input_price, given)
    read = settings.verifier_cached_price
    if read is None:
        read = cached if settings.verifier_input_price is None else asked
    return Limits(
        tokens=settings.tokens,
        cost=_per_token(settings.cost) * (UNIT // 1_000_000),
        seconds=settings.seconds,
        searches=settings.searches,
        agent=Prices(prompt=_per_token(given), cached=_per_token(cached), completion=_per_token(paid)),
        verifier=Prices(
            prompt=_per_token(asked),
            cached=_per_token(read),
            completion=_per_token(_first(settings.verifier_output_price, paid)),
        ),
        selector=Prices(
            prompt=_per_token(_first(settings.selector_input_price, given)),
            cached=_per_token(
                _first(settings.selector_cached_price, _first(settings.selector_input_price, cached))
            ),
            completion=_per_token(_first(settings.selector_output_price, paid)),
        ),
    )


def within_budget(
    model: Model, verifier: Model | None, budget: Budget, state: RunState
) -> tuple[Model, Model | None]:
    """The model that answers and the one that verifies, both within the budget.

    How long their tokens are was seen already where the run is a resumed one.
    """
    seen, limits = bytes_per_token(state), budget.limits
    return (
        within(model, budget, limits.agent, seen),
        within(verifier, budget, limits.verifier, seen) if verifier is not None else None,
    )


def bytes_per_token(state: RunState) -> float:
    """The fewest that a lane of the run has seen."""
    return min((lane.bytes_per_token for lane in state.lanes.values()), default=BYTES_PER_TOKEN)


def was_cut_short(done: Round) -> bool:
    """Whether the verdict of a round lacks what the budget did not allow to be asked."""
    said = [
        done.questions.problem if done.questions else "",
        *(check.reason for check in done.checks),
        *(labels.problem for labels in done.labels),
        done.score.problem if done.score else "",
    ]
    return any(map(says_spent, said))


def spent(state: RunState) -> dict[str, Any]:
    """What the run has spent up to now, for programs; `cost` is None where no price is known."""
    total = state.spent
    return {
        "model_calls": total.model_calls,
        "unknown_calls": total.unknown_calls,
        "prompt_tokens": total.prompt_tokens,
        "completion_tokens": total.completion_tokens,
        "cost": _cost(state, total),
        "searches": total.searches,
        "seconds": total.seconds,
    }


def in_words(state: RunState) -> str:
    """The same as a sentence; '' for a run that spent nothing but time, as with the built-in model."""
    total = state.spent
    if not total.tokens and not total.searches:
        return ""
    tokens = f"{total.tokens} tokens ({total.prompt_tokens} in, {total.completion_tokens} out"
    if total.unknown_calls:
        tokens += f"; estimated for {_count(total.unknown_calls, 'call')} that the server did not count"
    parts = [_count(total.model_calls, "model call"), f"{tokens})"]
    if cost := _cost(state, total):
        parts.append(f"cost {cost}")
    if total.searches:
        parts.append(_count(total.searches, "search request"))
    return f"Spent: {', '.join([*parts, f'{total.seconds:.1f} seconds'])}."


def _cost(state: RunState, total: Spent) -> str | None:
    """By the prices in the log, so that anyone computes the same."""
    logged = state.session.settings.get("budget") if state.session else None
    try:
        # A log from before a price was known lacks its name.
        prices = dict.fromkeys(name for name in BudgetSettings.model_fields if name.endswith("_price"))
        settings = BudgetSettings.model_validate({**prices, **(logged or {})})
    except ValidationError:
        return None
    if settings.input_price is None and settings.output_price is None:
        return None
    return money(limits_of(settings).cost_of(total))


def _first(price: float | None, otherwise: float | None) -> float | None:
    return otherwise if price is None else price


def _per_token(price: float | None) -> int:
    """A price for a million tokens as parts of UNIT for one, exact to the millionth."""
    return round((price or 0.0) * 1_000_000)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
