"""A lane's share of a run's budget: an equal part of what is left, and never more than there is."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vera.lane.budget import Budget, BudgetLimits, BudgetSpent, nearly_spent, says_spent
from vera.prices import Prices
from vera.usage import RunUsage, Tokens


def usage(tokens: int, seconds: float = 0.0) -> RunUsage:
    return RunUsage(agent=Tokens(prompt=tokens), seconds=seconds)


@given(st.integers(1, 10**9), st.integers(0, 10**9), st.integers(1, 9))
def test_shares_together_are_at_most_what_is_left(limit: int, spent: int, parts: int) -> None:
    share = Budget(BudgetLimits(tokens=limit), usage(spent)).share(usage(spent), parts)
    assert share.tokens >= 1 and (share.tokens == 1 or parts * share.tokens <= limit - spent)


def test_without_a_limit_a_share_has_none() -> None:
    budget = Budget(BudgetLimits())
    assert budget.share(usage(10), 3) == BudgetLimits() and budget.seconds_left(9.0) is None


def test_a_call_beyond_the_share_is_not_made_though_the_budget_has_room() -> None:
    budget = Budget(BudgetLimits(tokens=10_000), usage(1000))
    assert budget.share(usage(1000), 3).tokens == 3000
    with pytest.raises(
        BudgetSpent, match=r"token budget of 3000 is spent \(the share of this sub-question"
    ) as refused:
        asyncio.run(budget.reserve(3000, 500, Prices()))
    assert says_spent(str(refused.value)) and budget.refusal is not None
    budget.whole()
    assert budget.refusal is None and asyncio.run(budget.reserve(3000, 500, Prices())).answer == 500


def test_a_share_of_the_time_counts_from_where_its_lane_began() -> None:
    budget = Budget(BudgetLimits(seconds=100), usage(0, 40), opening_s=10)
    assert budget.share(usage(0, 40), 5).seconds == pytest.approx(10)
    assert budget.seconds_left(45) == pytest.approx(5)
    assert budget.out_of_time == "the share of the 100 seconds for this sub-question is spent"
    budget.whole()
    assert budget.seconds_left(45) == pytest.approx(45)


def test_a_lane_is_told_to_answer_near_the_end_of_its_share_only() -> None:
    share = BudgetLimits(tokens=4000)
    assert nearly_spent(share, usage(9000), before=usage(8000)) == ""
    assert nearly_spent(share, usage(11_500), before=usage(8000)).startswith("500 of 4000 tokens are left")


def test_a_budget_that_leaves_nothing_is_said() -> None:
    budget = Budget(BudgetLimits(tokens=1000, seconds=9))
    assert budget.spent_up(usage(0)) == ""
    assert budget.spent_up(usage(900)) == "the token budget of 1000 is spent"
    assert budget.spent_up(usage(0, 9.5)) == "the time budget of 9 seconds is spent"
