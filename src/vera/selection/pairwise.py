"""`pairwise`: a judge compares the actions with most votes two by two, each pair in both orders.

Which action is the good one is inferred as a posterior over the compared actions, exactly one of which is
taken to be good:

- Prior. The model that sampled the candidates is taken at its word: an action is the good one with the
  probability with which it is sampled, which its share of the votes estimates (self-consistency, Wang et al.
  2023, arXiv:2203.11171). `vote_weight` is the power of that share: 0 ignores votes.
- Evidence. A pair counts when the judge names the same action in both orders, so that the place where it
  stood decided nothing (position bias: Zheng et al. 2023, arXiv:2306.05685; Wang et al. 2023,
  arXiv:2305.17926). Where one of the two is good it is named with probability `RELIABILITY`, else either
  with probability one half: the comparison of Bradley and Terry (1952) with two strengths, good and other. A
  pair whose orders disagree shows the bias and says as much for one as for the other: a half each.

So log P(k is good | votes, verdicts) = w · log(votes of k) + Σ log(2 · RELIABILITY) over the pairs that k
won + Σ log(2 · (1 - RELIABILITY)) over those that it lost + a constant. A pair without two usable replies
says nothing.
"""

import asyncio
import itertools
import math
from collections.abc import Sequence

import msgspec

from vera.selection import verdict
from vera.selection.options import SelectionOptions
from vera.selection.selector import ActionCluster, Judge, SelectionContext, SelectorChoice

RELIABILITY = 0.7
"""How often a judge that names the same action in both orders names the good one. A cautious figure: with
`vote_weight` 1 one comparison outweighs two votes to one, and not three to one. In simulations with a noisy
judge (`benchmarks/selection.py`) it is the best compromise over good and bad judges."""

_WON = math.log(2 * RELIABILITY)
_LOST = math.log(2 * (1 - RELIABILITY))
_EQUAL = 1e-9


class Comparison(msgspec.Struct, frozen=True, kw_only=True):
    """One question about the options at the places `first` and `second`, shown in that order.

    `winner` is the place that was named; None with the `problem` and its `reason`.
    """

    first: int
    second: int
    reply: str
    winner: int | None = None
    problem: str = ""
    reason: str = ""


class Pairwise:
    """All questions are asked at once; how many run side by side is for the model's client to say."""

    judges = True

    async def select(
        self, options: Sequence[ActionCluster], scene: SelectionContext, judge: Judge, how: SelectionOptions
    ) -> SelectorChoice:
        compared = most_voted(options, how.max_compared)
        pairs = [
            order
            for one, other in itertools.combinations(compared, 2)
            for order in ((one, other), (other, one))
        ]
        asked = await asyncio.gather(*(_compare(options, pair, scene, judge, how) for pair in pairs))
        replies = tuple(each.reply for each in asked)
        preferred = _preferences(asked)
        if not preferred:
            told = next(each for each in asked if each.problem)
            return SelectorChoice(problem=told.problem, reason=told.reason, order=compared, replies=replies)
        scores = _scores(compared, options, preferred, how.vote_weight)
        best = max(scores.values())
        tied = tuple(place for place in compared if best - scores[place] < _EQUAL)
        split = sum(winner is None for _, _, winner in preferred)
        return SelectorChoice(
            chosen=tied[0],
            tied=tied,
            reason=f"{len(preferred)} of {len(pairs) // 2} pairs were judged in both orders, {split} of them "
            "without a preference",
            order=compared,
            scores=tuple(round(scores.get(place, 0.0), 6) for place in range(len(options))),
            replies=replies,
        )


def _scores(
    compared: Sequence[int],
    options: Sequence[ActionCluster],
    preferred: Sequence[tuple[int, int, int | None]],
    vote_weight: float,
) -> dict[int, float]:
    """The scores of the places: what their votes weigh, and the pairs that they won and lost."""
    scores = {place: vote_weight * math.log(options[place].votes) for place in compared}
    for first, second, winner in preferred:
        if winner is not None:
            scores[winner] += _WON
            scores[second if winner == first else first] += _LOST
    return scores


def most_voted(options: Sequence[ActionCluster], most: int) -> tuple[int, ...]:
    """The places of at most `most` options (two at least), those with most votes, the earlier first among
    equals."""
    return tuple(sorted(range(len(options)), key=lambda place: -options[place].votes)[: max(2, most)])


async def _compare(
    options: Sequence[ActionCluster],
    pair: tuple[int, int],
    scene: SelectionContext,
    judge: Judge,
    how: SelectionOptions,
) -> Comparison:
    first, second = pair
    reply = await judge(scene, [options[first], options[second]])
    if reply.problem:
        return Comparison(
            first=first, second=second, reply=reply.content, problem=reply.problem, reason=reply.reason
        )
    read = verdict.read(reply.content, 2, index_base=how.selection_index_base, pattern=how.selection_regex)
    if read.place is None:
        reason = verdict.REASONS[read.problem]
        return Comparison(
            first=first, second=second, reply=reply.content, problem=read.problem, reason=reason
        )
    return Comparison(first=first, second=second, reply=reply.content, winner=pair[read.place])


def _preferences(asked: Sequence[Comparison]) -> list[tuple[int, int, int | None]]:
    """Of each pair with a verdict in both orders the two places and the one that both name, None for none."""
    by_order = {(each.first, each.second): each.winner for each in asked}
    found = []
    for (first, second), winner in by_order.items():
        back = by_order[second, first]
        if first < second and winner is not None and back is not None:
            found.append((first, second, winner if winner == back else None))
    return found
