"""Figures about rejecting claims, against numbers worked out by hand."""

import pytest
from checks.figures import Outcome, baselines, intervals, rejecting, share_interval
from hypothesis import given
from hypothesis import strategies as st

from vera.bench.figures import wilson

OUTCOMES = [
    *[Outcome(wrong=True, hard=True, found=True)] * 3,
    *[Outcome(wrong=True, hard=False, found=True)] * 3,
    *[Outcome(wrong=True, hard=False, found=False)] * 2,
    *[Outcome(wrong=False, hard=True, found=True)] * 1,
    *[Outcome(wrong=False, hard=False, found=True)] * 1,
    *[Outcome(wrong=False, hard=False, found=False)] * 6,
]


def test_the_figures_of_sixteen_claims() -> None:
    assert rejecting(OUTCOMES) == {
        "hard_precision": 0.75,
        "hard_recall": 0.375,
        "hard_false_veto": 0.125,
        "precision": 0.75,
        "recall": 0.75,
        "f1": 0.75,
        "balanced_accuracy": 0.75,
    }


def test_baselines_do_not_look() -> None:
    beside = baselines(OUTCOMES)
    assert beside["never_reject"] == {"precision": None, "recall": 0.0, "f1": 0.0, "balanced_accuracy": 0.5}
    assert beside["always_reject"] == {
        "precision": 0.5,
        "recall": 1.0,
        "f1": 0.6667,
        "balanced_accuracy": 0.5,
    }


def test_nothing_measured_gives_no_figure() -> None:
    assert set(rejecting([]).values()) == {None}
    assert set(intervals([], seed=0).values()) == {None}
    assert wilson(0, 0) is None


def test_wilson_of_ten_of_ten() -> None:
    assert wilson(10, 10) == pytest.approx((0.7225, 1.0), abs=1e-4)


def test_an_interval_holds_its_figure_and_the_seed_decides_it() -> None:
    figures, found = rejecting(OUTCOMES), intervals(OUTCOMES, seed=5)
    for name, value in figures.items():
        bounds = found[name]
        assert value is not None and bounds is not None
        assert bounds[0] <= value <= bounds[1]
    assert found == intervals(OUTCOMES, seed=5)
    assert found != intervals(OUTCOMES, seed=6)


def test_a_share_that_cannot_vary_still_has_an_interval() -> None:
    assert share_interval([True] * 20, seed=0) == wilson(20, 20)


@given(st.lists(st.builds(Outcome, st.booleans(), st.booleans(), st.booleans()), max_size=40))
def test_every_figure_is_a_share(outcomes: list[Outcome]) -> None:
    for value in rejecting(outcomes).values():
        assert value is None or 0 <= value <= 1
