"""Every candidate and every question to a judge counts: in the log, the metrics, to each limit, in money."""

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pytest

from support.attacks import vera_here
from support.choosing import (
    APART,
    GOOD,
    NOTED,
    READ,
    SEARCH,
    SEEDED,
    Chosen,
    Play,
    choose,
    is_judge,
    nobody,
    prefers,
    resume,
    server,
)
from support.turns import final
from vera import events
from vera.session import check

PROMPT, CANDIDATE, VERDICT, CACHED = 1000, 50, 7, 600
FOUR = ("--num-candidates", "4")
STEPS = [[NOTED, READ, SEARCH, GOOD], [GOOD]]
FREE_OF_AGREEMENT = ("-c", "action_verifier.stop_on_agreement=false")


class Counted(Play):
    """The script on a server that counts the same for each call: PROMPT tokens in, CACHED of them from its
    cache; CANDIDATE out for each candidate, VERDICT for a judge's reply. `dear` are calls, by their number
    (from 0), for which it counts so many tokens out."""

    def __init__(self, steps: Any, judge: Any, dear: Mapping[int, int]) -> None:
        super().__init__(steps, judge)
        self._dear = dear

    def __call__(self, index: int, body: dict[str, Any]) -> Any:
        reply = super().__call__(index, body)
        said = reply if isinstance(reply, list) else [reply]
        each = VERDICT if is_judge(body) else CANDIDATE
        usage = {
            "prompt_tokens": PROMPT,
            "completion_tokens": self._dear.get(index, each * len(said)),
            "prompt_tokens_details": {"cached_tokens": CACHED},
        }
        whole = [{"content": one} if isinstance(one, str) else dict(one) for one in said]
        return [{**whole[0], "usage": usage}, *whole[1:]]


def counted(*steps: Any, judge: Any = None, dear: Mapping[int, int] = MappingProxyType({})) -> Counted:
    return Counted(list(steps) or STEPS, judge or prefers("terms.txt"), dear)


def run_four(tmp_path: Path, play: Play, *more: object, kind: str = "llm", **face: Any) -> Chosen:
    tmp_path.mkdir(exist_ok=True)
    with server(play, **face) as worker:
        return choose(tmp_path, worker, *FOUR, "--action-verifier", kind, *more)


def sample_of(metrics: str, name: str, **labels: str) -> float:
    """The sum of the samples of a metric that have these labels."""
    lines = [line for line in metrics.split("\n") if line.startswith((f"{name}{{", f"{name} "))]
    wanted = [line for line in lines if all(f'{key}="{value}"' in line for key, value in labels.items())]
    return sum(float(line.rpartition(" ")[2]) for line in wanted)


# What is counted


@pytest.mark.parametrize("more", [(), APART], ids=["by n", "one request each"])
def test_tokens_of_all_candidates_and_of_the_judge_are_spent(tmp_path: Path, more: tuple[str, ...]) -> None:
    play = counted()
    run = run_four(tmp_path, play, *more)
    assert run.ended.code == 0, run.ended.error
    spent, calls = run.state.spent, len(play.asked)
    assert calls == (8 if more else 2) and len(play.judged) == 1
    assert (spent.agent.prompt, spent.agent.completion) == (PROMPT * calls, CANDIDATE * 8)
    assert (spent.selector.prompt, spent.selector.completion, spent.selector.cached) == (
        PROMPT,
        VERDICT,
        CACHED,
    )
    assert spent.model_calls == calls + 1 and spent.unknown_calls == 0
    assert spent.tokens == spent.agent.total + spent.selector.total
    assert f"Spent: {calls + 1} model calls, {spent.tokens} tokens " in run.ended.out + run.ended.error


def test_each_call_is_in_the_log_with_role_tokens_cache_and_latency(tmp_path: Path) -> None:
    run = run_four(tmp_path, counted(), kind="pairwise")
    calls = run.of(events.Model)
    assert [each.scope for each in calls] == ["agent", *["selector"] * 6, "agent"]
    assert [each.step for each in calls] == [1] * 7 + [2]
    assert {each.prompt_tokens for each in calls} == {PROMPT}
    assert {each.cached_tokens for each in calls} == {CACHED}
    assert [each.completion_tokens for each in calls] == [4 * CANDIDATE, *[VERDICT] * 6, 4 * CANDIDATE]
    assert all(each.latency_s > 0 for each in calls)
    asked = [each for each in run.of(events.ModelIo) if each.scope == "selector"]
    assert all("Which of the candidates 1 to 2 should run?" in run.load(each.request) for each in asked)


def test_the_metrics_have_them_by_scope(tmp_path: Path) -> None:
    run = run_four(tmp_path, counted())
    metrics = vera_here("metrics", run.work, cwd=tmp_path).out
    name = "dra_model_tokens_total"
    assert sample_of(metrics, name, scope="agent") == 2 * (PROMPT + 4 * CANDIDATE)
    assert sample_of(metrics, name, scope="selector") == PROMPT + VERDICT
    assert sample_of(metrics, "dra_model_cached_tokens_total", scope="selector") == CACHED
    assert sample_of(metrics, "dra_selector_calls_total") == 1
    assert sample_of(metrics, "dra_selections_total", decider="selector") == 1
    assert sample_of(metrics, "dra_selections_total", decider="only_one") == 1


def test_a_server_that_does_not_count_is_estimated_for_all_candidates(tmp_path: Path) -> None:
    play = Play(STEPS, judge=prefers("terms.txt"))
    run = run_four(tmp_path, play, usage=False)
    alone = Play([[READ], [GOOD]], judge=nobody)
    with server(alone, usage=False) as worker:
        single = choose(tmp_path, worker, name="single")
    assert run.state.spent.unknown_calls == 3
    assert run.state.spent.agent.completion > 3 * single.state.spent.agent.completion
    assert run.state.spent.selector.prompt > 0 < run.state.spent.selector.completion


# Limits

LIMIT = 60_000
"""Tokens. Enough for four candidates at once; not after a call that takes nearly all of it."""
WITHIN = ("--budget-tokens", LIMIT, "-c", "model.max_tokens=300", "-c", "policy.stuck_limit=0")


def has_spent_its_tokens(run: Chosen) -> None:
    assert run.ended.code == 0, "extracts answer: " + run.ended.error
    ended = run.state.lane("main").ended
    assert ended is not None and ended.reason == "tokens"
    assert f"the token budget of {LIMIT} is spent" in ended.detail
    assert check(run.work).verdict == "SEALED"


@pytest.mark.parametrize("more", [(), APART], ids=["by n", "one request each"])
def test_candidates_count_to_the_token_budget_and_end_it(tmp_path: Path, more: tuple[str, ...]) -> None:
    run = run_four(tmp_path, counted([NOTED, READ, SEARCH, GOOD]), *WITHIN, *more)
    has_spent_its_tokens(run)
    assert run.of(events.Candidates)
    assert LIMIT // 2 < run.state.spent.tokens <= LIMIT


def test_the_judges_tokens_count_to_it_too(tmp_path: Path) -> None:
    play = counted([NOTED, READ, SEARCH, GOOD], dear={1: 50_000})
    run = run_four(tmp_path, play, *WITHIN)
    has_spent_its_tokens(run)
    assert run.state.spent.selector.completion == 50_000
    assert run.state.spent.agent.total < 10_000


def test_paid_candidates_of_the_step_in_which_the_budget_ends_are_kept_and_one_of_them_runs(
    tmp_path: Path,
) -> None:
    """Of four single requests the second takes all that is left: the others are not made."""
    play = counted([NOTED, READ, SEARCH, GOOD], judge=nobody, dear={1: 57_800})
    run = run_four(tmp_path, play, *WITHIN, *APART, kind="shortest", parallel=1)
    has_spent_its_tokens(run)
    assert len(play.asked) == 2
    (sampled,) = run.of(events.Candidates)
    assert (len(sampled.candidates), sampled.calls, sampled.asked) == (2, 2, 4)
    assert "budget" in sampled.problem
    assert len(run.of(events.Model)) == 2, "a call that was not made is not in the log"
    assert run.acted == ["read"] and [each.tool for each in run.of(events.Tool)] == ["read"]


def test_a_judge_that_the_budget_does_not_allow_is_not_asked_and_the_fallback_runs(tmp_path: Path) -> None:
    play = counted([READ, NOTED, SEARCH, GOOD], judge=nobody, dear={0: 58_500})
    run = run_four(tmp_path, play, *WITHIN)
    has_spent_its_tokens(run)
    (selection,) = run.selections
    assert (selection.decider, selection.fallback_reason) == ("fallback", "not_asked")
    assert "budget" in selection.reason and selection.judge_calls == 0
    assert run.acted == ["read"] and run.state.spent.selector.total == 0


def test_near_the_end_of_a_budget_one_turn_is_asked_for_instead_of_several(tmp_path: Path) -> None:
    play = counted([READ, NOTED, SEARCH], judge=nobody)
    run = run_four(tmp_path, play, *WITHIN, kind="majority")
    has_spent_its_tokens(run)
    wanted = [body.get("n", 1) for body in play.asked]
    assert wanted[0] == 4 and wanted[-1] == 1
    assert wanted == sorted(wanted, reverse=True), "once it is near its end it stays so"
    sampled = [each.step for each in run.of(events.Candidates)]
    assert [each.step for each in run.selections] == sampled == list(range(1, wanted.count(4) + 1))


def test_many_candidates_do_not_make_the_end_of_a_budget_come_early(tmp_path: Path) -> None:
    """Several are asked for while they fit; the model is told to answer once single turns run short."""
    play = counted([READ, NOTED, SEARCH], judge=nobody)
    with server(play) as worker:
        sixteen = ("--num-candidates", 16, "--action-verifier", "majority", "--max-steps", 5)
        run = choose(tmp_path, worker, *sixteen, *WITHIN)
    assert [body.get("n") for body in play.asked] == [16] * 5
    assert not any("tokens are left: answer now" in run.load(each.obs) for each in run.of(events.Tool))


def test_a_run_that_got_more_tokens_samples_on(tmp_path: Path) -> None:
    play = counted([READ, NOTED, SEARCH], [NOTED, READ, SEARCH], [GOOD], dear={1: 58_000})
    with server(play) as worker:
        first = choose(tmp_path, worker, *FOUR, "--action-verifier", "llm", *WITHIN)
        has_spent_its_tokens(first)
        run = resume(first, worker, "--budget-tokens", 0)
    assert run.ended.code == 0, run.ended.error
    assert [each.step for each in run.of(events.Candidates)] == [1, 2, 3]
    assert run.state.spent.tokens > LIMIT


# Money


PRICES = ("-c", "budget.input_price=2", "-c", "budget.output_price=10", "-c", "budget.cached_price=1")
OF_THE_JUDGE = (
    "-c", "budget.selector_input_price=20", "-c", "budget.selector_output_price=100",
    "-c", "budget.selector_cached_price=10",
)  # fmt: skip


def price(prompt: float, cached: float, output: float, completion: int) -> float:
    return ((PROMPT - CACHED) * prompt + CACHED * cached + completion * output) / 1e6


@pytest.mark.parametrize(("more", "judge"), [((), (2, 1, 10)), (OF_THE_JUDGE, (20, 10, 100))])
def test_the_judge_has_prices_of_its_own(
    tmp_path: Path, more: tuple[str, ...], judge: tuple[float, float, float]
) -> None:
    run = run_four(tmp_path, counted(), "--budget-cost", 10, *PRICES, *more)
    assert run.ended.code == 0, run.ended.error
    cost = 2 * price(2, 1, 10, 4 * CANDIDATE) + price(*judge, VERDICT)
    assert f"cost {cost:.6f}".rstrip("0") + "," in run.ended.error + run.ended.out


def test_a_judge_that_the_money_does_not_allow_is_not_asked_and_the_run_goes_on(tmp_path: Path) -> None:
    """A judge at ten a call, and thirty to spend; the model that answers costs next to nothing."""
    dear = ("-c", "budget.selector_input_price=10000", "-c", "budget.selector_output_price=10000")
    limits = ("--budget-cost", 30, "--max-steps", 6, *PRICES)
    steps = [[NOTED, READ, SEARCH, GOOD]]
    run = run_four(tmp_path, counted(*steps), *limits, *dear)
    cheap = run_four(tmp_path / "cheap", counted(*steps), *limits)
    assert [each.judge_calls for each in cheap.selections] == [1] * 6
    asked = sum(each.judge_calls for each in run.selections)
    assert 0 < asked < 3
    assert [each.judge_calls for each in run.selections] == [1] * asked + [0] * (6 - asked)
    assert {each.fallback_reason for each in run.selections[asked:]} == {"not_asked"}
    assert len(run.acted) == 6


def test_a_judge_that_was_too_dear_is_not_why_a_run_ends_or_is_not_mended(tmp_path: Path) -> None:
    wrong = final("A written offer must be valid for at least seven years [ev_0001:3].")
    dear = ("-c", "budget.selector_input_price=100000", "-c", "budget.selector_output_price=100000")
    play = counted([READ, NOTED], [wrong], [GOOD], judge=nobody)
    run = run_four(tmp_path, play, "--budget-cost", 10, *PRICES, *dear, "--verifier-rounds", 2)
    assert run.selections[0].fallback_reason == "not_asked"
    assert run.acted == ["read", "final", "final"]
    assert run.ended.code == 0, run.ended.error
    assert "budget" not in run.ended.out


def test_seeded_settings_reach_the_request_by_n(tmp_path: Path) -> None:
    play = counted()
    run_four(tmp_path, play, *SEEDED, *FREE_OF_AGREEMENT)
    assert [(body["n"], body["seed"], body["temperature"]) for body in play.asked] == [(4, 100, 0.8)] * 2
