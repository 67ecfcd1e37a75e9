"""Simulated steps: what the judge sees, and which rule wins where."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import pytest
from choosing.comparison import NOISES, POLICIES, measure, paired
from choosing.rules import OURS, PEERS, rules
from choosing.simulation import ACTIONS, NoisyJudge, Setting, steps
from choosing.tables import as_text

from vera.config import defaults
from vera.runtime.choosing import options_of
from vera.selection.options import SelectionOptions

STEPS = 2000
SEED = 7
RIGHT = [
    (good, count) for good, count in POLICIES if Setting(good=good, candidates=count, noise=1).is_mode_right
]


@cache
def chosen(setting: Setting, name: str) -> Sequence[bool]:
    """Whether a rule, with the options of a run, chooses well at each step of a setting."""
    rule = rules(SelectionOptions(seed=SEED))[name]

    async def all_steps() -> list[bool]:
        drawn = steps(setting, STEPS, SEED)
        return [(await rule(setting, step, f"{SEED}:{name}:{step.number}")).good for step in drawn]

    return asyncio.run(all_steps())


def settings(noise: str) -> list[Setting]:
    """The policies of the study whose favourite action is the good one."""
    return [Setting(good=good, candidates=count, noise=NOISES[noise]) for good, count in RIGHT]


def over_all(noise: str, name: str) -> list[bool]:
    return [good for setting in settings(noise) for good in chosen(setting, name)]


def test_the_favourite_is_right_in_the_first_four_policies_and_wrong_in_the_last_two() -> None:
    assert list(POLICIES[:4]) == RIGHT


def test_the_bench_measures_what_a_run_uses() -> None:
    of_a_run = defaults({"action_verifier.enabled": True}).action_verifier
    assert options_of(of_a_run) == SelectionOptions(selector=OURS)


def test_shares_are_a_distribution() -> None:
    for each, count in POLICIES:
        shares = Setting(good=each, candidates=count, noise=1).shares
        assert len(shares) == ACTIONS
        assert sum(shares) == pytest.approx(1)


@pytest.mark.parametrize("noise", ["moderate", "high"])
@pytest.mark.parametrize("peer", PEERS)
def test_pairwise_beats_each_peer_where_the_favourite_is_right(noise: str, peer: str) -> None:
    _, (least, _) = paired(over_all(noise, OURS), over_all(noise, peer))
    assert least > 0


@pytest.mark.parametrize("noise", ["moderate", "high"])
@pytest.mark.parametrize("peer", PEERS)
def test_pairwise_loses_to_no_peer_in_any_of_these_rows(noise: str, peer: str) -> None:
    for setting in settings(noise):
        _, (_, most) = paired(chosen(setting, OURS), chosen(setting, peer))
        assert most > 0, setting


def test_a_judge_without_error_and_bias_finds_the_good_action_whenever_it_is_there() -> None:
    setting = Setting(good=0.4, candidates=4, noise=0.0, bias=0.0)
    (row,) = measure([setting], 300, how=SelectionOptions(stop_on_agreement=False))["rows"]
    best = row["rules"]["oracle"]["success"]
    assert {row["rules"][name]["success"] for name in ("listwise", "pointwise", "llm")} == {best}


def test_nothing_beats_the_oracle_and_baselines_ask_nobody() -> None:
    (row,) = measure([Setting(good=0.6, candidates=4, noise=1.0)], 300)["rows"]
    best = row["rules"]["oracle"]["success"]
    assert all(rule["success"] <= best for rule in row["rules"].values())
    for name in ("first", "random", "shortest", "majority", "oracle"):
        assert row["rules"][name]["calls"] == 0
    assert row["rules"]["listwise"]["calls"] == 1
    assert row["rules"]["pointwise"]["calls"] == 4


def test_the_same_seed_gives_the_same_figures() -> None:
    one = [Setting(good=0.6, candidates=4, noise=1.0)]
    assert measure(one, 100, 3) == measure(one, 100, 3)
    assert measure(one, 100, 3) != measure(one, 100, 4)


def test_a_lasting_error_is_the_same_in_each_question_of_a_step() -> None:
    setting = Setting(good=0.6, candidates=4, noise=2.0, lasting=1.0)
    (step,) = steps(setting, 1, 0)
    judge = NoisyJudge(setting, step, "lot")
    assert judge.score(1) == judge.score(1)
    assert judge.calls == 2


def test_the_first_place_is_favoured_by_the_bias() -> None:
    setting = Setting(good=0.6, candidates=4, noise=0.0, bias=1.5)
    (step,) = steps(setting, 1, 0)
    assert NoisyJudge(setting, step, "lot").best([1, 0]) == 0


def test_the_table_names_the_rows_where_pairwise_does_not_win() -> None:
    rows = [
        Setting(good=0.2, candidates=4, noise=NOISES["low"]),
        Setting(good=0.8, candidates=4, noise=3.0),
        Setting(good=0.6, candidates=4, noise=NOISES["moderate"]),
    ]
    figures = measure(rows, STEPS, SEED)
    assert verdicts(figures, "pointwise")[0] == "worse"
    assert verdicts(figures, "majority")[1] == "worse"
    assert verdicts(figures, "pointwise")[2] == "better"
    shown = as_text({"simulation": figures})
    assert "loses to majority: 0.8/4 3 (-" in shown
    assert "loses to pointwise: 0.2/4 low (-" in shown
    assert "0.6/4 moderate" not in shown
    assert "0.2*" in shown
    assert max(map(len, shown.splitlines())) <= 110


def verdicts(figures: Mapping[str, Any], peer: str) -> list[str]:
    return [row["against"][peer]["verdict"] for row in figures["rows"]]
