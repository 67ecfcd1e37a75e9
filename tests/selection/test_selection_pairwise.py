"""Comparison in pairs: both orders, votes as a prior, a posterior."""

import math
from collections.abc import Sequence

import pytest

from support.selecting import options, pick, prefers, says
from vera.selection.pairwise import RELIABILITY, most_voted
from vera.selection.selector import ActionCluster, SelectionContext, SelectorReply


def test_every_pair_is_asked_in_both_orders_about_two_options_at_a_time() -> None:
    asked: list[tuple[int, ...]] = []

    async def judge(scene: SelectionContext, shown: Sequence[ActionCluster]) -> SelectorReply:
        asked.append(tuple(option.index for option in shown))
        return SelectorReply(content="FINAL: 1")

    pick("pairwise", options((9, 1), (9, 1), (9, 1)), judge)
    assert sorted(asked) == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]


def test_at_most_so_many_are_compared_those_with_most_votes_and_the_earlier_of_equals() -> None:
    shown = options((9, 1), (9, 2), (9, 1), (9, 3), (9, 1))
    assert most_voted(shown, 3) == (3, 1, 0)
    picked = pick("pairwise", shown, prefers(lambda option: -option.index), max_compared=3)
    assert picked.order == (3, 1, 0)
    assert len(picked.replies) == 6


def test_two_are_compared_where_less_is_asked_for() -> None:
    assert most_voted(options((9, 1), (9, 1)), 0) == (0, 1)


def test_the_one_that_wins_in_both_orders_is_chosen() -> None:
    picked = pick("pairwise", options((9, 1), (9, 1), (9, 1)), prefers(lambda option: option.index))
    assert picked.chosen == 2
    assert picked.tied == (2,)
    assert picked.reason == "3 of 3 pairs were judged in both orders, 0 of them without a preference"


@pytest.mark.parametrize("reply", ["FINAL: 1", "FINAL: 2"])
def test_a_judge_that_sees_only_the_place_leaves_the_votes_to_decide(reply: str) -> None:
    assert pick("pairwise", options((9, 1), (9, 2)), says(reply)).chosen == 1


def test_without_preference_and_with_equal_votes_all_are_tied() -> None:
    picked = pick("pairwise", options((9, 1), (8, 1)), says("FINAL: 1"))
    assert picked.tied == (0, 1)
    assert picked.scores == (0.0, 0.0)


@pytest.mark.parametrize(("votes", "weight", "chosen"), [(2, 1.0, 1), (3, 1.0, 0), (9, 0.0, 1), (2, 2.0, 0)])
def test_one_comparison_outweighs_two_votes_to_one_and_not_three(
    votes: int, weight: float, chosen: int
) -> None:
    judge = prefers(lambda option: option.index)
    assert pick("pairwise", options((9, votes), (9, 1)), judge, vote_weight=weight).chosen == chosen


def test_the_scores_are_the_log_posterior_up_to_a_constant() -> None:
    """Against Bayes' rule written out: P(k) ∝ votes of k · Π P(verdict | k is the good one)."""
    shown = options((9, 2), (9, 1), (9, 3))
    picked = pick("pairwise", shown, prefers(lambda option: [1, 2, 0][option.index]))
    winners = {(0, 1): 1, (0, 2): 0, (1, 2): 1}

    def likelihood(good: int) -> float:
        return math.prod(
            0.5 if good not in pair else RELIABILITY if winner == good else 1 - RELIABILITY
            for pair, winner in winners.items()
        )

    joint = [option.votes * likelihood(place) for place, option in enumerate(shown)]
    expected = [value / sum(joint) for value in joint]
    weights = [math.exp(score) for score in picked.scores]
    assert [weight / sum(weights) for weight in weights] == pytest.approx(expected, abs=1e-5)
    assert picked.chosen == expected.index(max(expected))


def test_a_pair_without_two_usable_replies_counts_nothing() -> None:
    async def judge(scene: SelectionContext, shown: Sequence[ActionCluster]) -> SelectorReply:
        pair = {option.index for option in shown}
        if pair == {0, 1}:
            return SelectorReply(content="FINAL: 2" if shown[0].index == 0 else "No idea.")
        best = max(option.index for option in shown)
        return SelectorReply(content=f"FINAL: {1 + [option.index for option in shown].index(best)}")

    picked = pick("pairwise", options((9, 1), (9, 1), (9, 1)), judge)
    assert picked.chosen == 2
    assert picked.scores[0] == picked.scores[1]
    assert picked.reason.startswith("2 of 3 pairs")


def test_with_one_order_of_each_pair_alone_nothing_is_decided() -> None:
    async def judge(scene: SelectionContext, shown: Sequence[ActionCluster]) -> SelectorReply:
        forward = shown[0].index < shown[1].index
        return (
            SelectorReply(content="FINAL: 1") if forward else SelectorReply(problem="deadline", reason="late")
        )

    picked = pick("pairwise", options((9, 1), (9, 1)), judge)
    assert (picked.chosen, picked.problem, picked.reason) == (None, "deadline", "late")
