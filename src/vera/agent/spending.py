"""The budget of a run: from its settings, for its models, and in words."""

from typing import Any

from vera.config.settings import BudgetSettings
from vera.lane.budget import Budget, BudgetLimits, says_spent, within
from vera.lane.turns import ANSWER_TOKENS
from vera.model.types import Model, Probed
from vera.prices import UNIT, cost_in_words, per_token, prices_of
from vera.state import Round, RunState
from vera.usage import BYTES_PER_TOKEN, RunUsage

SLOW_STEP_S = 20.0
"""A step that may take longer is told of before the first one."""


def limits_of(settings: BudgetSettings) -> BudgetLimits:
    """The limits and prices in whole numbers; a price that is not known counts as nothing."""
    prices = prices_of(settings)
    return BudgetLimits(
        tokens=settings.tokens,
        cost=per_token(settings.cost) * (UNIT // 1_000_000),
        seconds=settings.seconds,
        searches=settings.searches,
        agent=prices.agent,
        verifier=prices.verifier,
        selector=prices.selector,
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


def slowness(name: str, probed: Probed) -> str:
    """What a step may take of a model as slow as its probe was, in a sentence; '' for a fast one, or where
    nothing was measured."""
    fast = probed.tokens_a_second
    step_s = ANSWER_TOKENS / fast if fast else 0.0
    if step_s < SLOW_STEP_S:
        return ""
    speed = f"{fast:.1f}" if fast < 10 else f"{fast:.0f}"
    took = f"{step_s:.0f} seconds" if step_s < 100 else _count(round(step_s / 60), "minute")
    return f"{name} writes about {speed} tokens/s: a step may take {took}, and longer for long prompts"


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


def _cost(state: RunState, total: RunUsage) -> str | None:
    return cost_in_words(state.session.settings, total) if state.session else None


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
