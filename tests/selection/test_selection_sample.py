"""Candidates of one step, sampled from a real HTTP server that plays a script."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from support.asking import Pauses, question, until, with_client
from support.scripted_server import Fault, ScriptedServer, Slow
from support.tiny_llama import TinyLlama
from vera.lane.budget import MIN_ANSWER, Budget, BudgetedModel, BudgetLimits, BudgetSpent
from vera.model.client import ChatClient
from vera.model.connect import connect
from vera.model.ollama import OllamaWire
from vera.model.retry import RetryPolicy
from vera.model.types import ModelInfo, Request
from vera.prices import Prices
from vera.selection.options import Sampling
from vera.selection.sample import NoCandidate, Sampled, sample

ONCE = RetryPolicy(attempts=1)
LATENCY_S = 0.2


def info(parallel: int = 4, **more: object) -> ModelInfo:
    return ModelInfo(kind="openai", parallel=parallel, **more)  # type: ignore[arg-type]  # any of its fields


def four(**fields: Any) -> Sampling:
    return Sampling(**{"num_candidates": 4, **fields})


def step(
    server: ScriptedServer, sampling: Sampling, request: Request | None = None, **settings: Any
) -> Sampled:
    """One step by a client of its own; pauses between attempts take no time."""
    return steps(server, sampling, request, times=1, **settings)[0]


def steps(
    server: ScriptedServer, sampling: Sampling, request: Request | None = None, *, times: int, **settings: Any
) -> list[Sampled]:
    pauses = Pauses()
    settings = {"info": info(), "clock": pauses.clock, "sleep": pauses.sleep, **settings}

    async def ask(client: ChatClient) -> list[Sampled]:
        return [await sample(client, request or question(), sampling) for _ in range(times)]

    return with_client(server, ask, **settings)


def contents(sampled: Sampled) -> list[str]:
    done = [call.completion for call in sampled.calls if call.completion is not None]
    return [choice.content for completion in done for choice in completion.choices]


def asked_n(server: ScriptedServer) -> list[int | None]:
    return [request.body.get("n") for request in server.requests]


def by_seed(replies: Mapping[int | None, Any]) -> Callable[[int, dict[str, Any]], Any]:
    """A script that answers each request by its seed."""
    return lambda index, body: replies[body.get("seed")]


# in one request


def test_one_request_asks_for_all_where_the_server_can() -> None:
    with ScriptedServer([["a", "b", "c", "d"]]) as server:
        sampled = step(server, four())
    assert contents(sampled) == ["a", "b", "c", "d"]
    assert asked_n(server) == [4]
    assert len(sampled.calls) == 1 and sampled.calls[0].request.n == 4
    assert sampled.problem == ""


def test_all_of_one_request_share_the_sampling() -> None:
    request = question(temperature=0.1, max_tokens=50, sampling={"top_p": 0.5, "top_k": 3})
    sampling = four(temperature=0.9, max_tokens=70, fields={"top_p": 0.8, "seed": 7})
    with ScriptedServer([["a", "b", "c", "d"]]) as server:
        step(server, sampling, request)
    (sent,) = (recorded.body for recorded in server.requests)
    assert (sent["temperature"], sent["max_tokens"]) == (0.9, 70)
    assert (sent["top_p"], sent["top_k"], sent["seed"]) == (0.8, 3, 7)


def test_without_a_sampling_of_its_own_the_runs_is_used() -> None:
    with ScriptedServer([["a", "b", "c", "d"]]) as server:
        step(server, four(), question(temperature=0.1, max_tokens=50))
    assert (server.requests[0].body["temperature"], server.requests[0].body["max_tokens"]) == (0.1, 50)


def test_one_candidate_is_asked_for_as_a_single_turn() -> None:
    with ScriptedServer(["a"]) as server:
        sampled = step(server, Sampling(temperature=0.9, fields={"seed": 7}), question(temperature=0.1))
    assert contents(sampled) == ["a"]
    assert server.requests[0].body["temperature"] == 0.1
    assert not {"n", "seed"} & server.requests[0].body.keys()


# a server that gives fewer


def test_a_short_answer_is_topped_up_at_once() -> None:
    def script(index: int, body: dict[str, Any]) -> Any:
        return ["a", "b"] if index == 0 else Slow(LATENCY_S, f"seed {body['seed']}")

    request, sampling = question(temperature=0.1), four(temperature=0.9, fields={"seed": 5})
    with ScriptedServer(script) as server:
        sampled = step(server, sampling, request)
    assert contents(sampled) == ["a", "b", "seed 7", "seed 8"]
    assert asked_n(server) == [4, None, None]
    assert [recorded.body["temperature"] for recorded in server.requests] == [0.9, 0.9, 0.9]
    assert server.most_at_once == 2
    assert sampled.problem == ""


def test_each_call_has_its_own_cost() -> None:
    with ScriptedServer(["a", "b", "c", "d"], honours_n=False) as server:
        sampled = step(server, four())
    usages = [call.completion.usage for call in sampled.calls if call.completion is not None]
    assert [usage.completion_tokens for usage in usages] == [1, 1, 1, 1]
    assert len({usage.prompt_tokens for usage in usages}) == 1


def test_a_server_that_ignores_n_is_asked_for_it_in_the_first_step_only() -> None:
    with ScriptedServer([Slow(LATENCY_S, "x")], honours_n=False, exhausted="repeat") as server:
        first, second = steps(server, four(), times=2)
    assert len(contents(first)) == len(contents(second)) == 4
    assert asked_n(server) == [4, *[None] * 3, *[None] * 4]
    assert server.most_at_once == 4


def test_a_server_that_refuses_n_is_asked_for_it_in_the_first_step_only() -> None:
    with ScriptedServer(["x"], refuses=["n"], exhausted="repeat") as server:
        first, second = steps(server, four(), times=2)
    assert len(contents(first)) == len(contents(second)) == 4
    assert asked_n(server) == [4, *[None] * 8]
    assert first.problem == second.problem == ""


@pytest.mark.parametrize("fault", [Fault(500), Fault(400, body={"error": "multiple completions: no"})])
def test_a_server_that_breaks_on_n_is_asked_one_by_one_and_not_for_n_again(fault: Fault) -> None:
    with ScriptedServer(lambda index, body: fault if "n" in body else "x") as server:
        first, second = steps(server, four(), times=2, retries=RetryPolicy(attempts=3))
    attempts = 3 if fault.status == 500 else 1
    assert asked_n(server) == [*[4] * attempts, *[None] * 8]
    assert len(contents(first)) == len(contents(second)) == 4
    assert (len(first.calls), len(second.calls)) == (5, 4)
    assert f"HTTP {fault.status}" in first.calls[0].problem and first.problem == ""


def test_a_short_outage_does_not_speak_against_n() -> None:
    def script(index: int, body: dict[str, Any]) -> Any:
        return Fault(503) if index == 0 else ["x"] * int(body.get("n", 1))

    with ScriptedServer(script) as server:
        first, second = steps(server, four(), times=2, retries=ONCE)
    assert (len(first.calls), len(second.calls)) == (5, 1)
    assert asked_n(server) == [4, *[None] * 4, 4]


def test_more_than_was_asked_for_is_left_out() -> None:
    with ScriptedServer(lambda index, body: ["a", "b", "c"]) as server:
        together = step(server, Sampling(num_candidates=2))
        alone = step(server, Sampling(num_candidates=2, use_n=False))
    assert contents(together) == ["a", "b"]
    assert contents(alone) == ["a", "a"]


# one by one


@pytest.mark.parametrize(("parallel", "at_once"), [(1, 1), (2, 2), (4, 4), (16, 4)])
def test_as_many_are_in_flight_as_the_endpoint_serves(parallel: int, at_once: int) -> None:
    with ScriptedServer([Slow(LATENCY_S, "x")], exhausted="repeat") as server:
        sampled = step(server, four(use_n=False), info=info(parallel))
    assert len(contents(sampled)) == 4
    assert asked_n(server) == [None] * 4
    assert server.most_at_once == at_once


def test_a_server_known_to_ignore_n_gets_single_requests_at_once() -> None:
    with ScriptedServer([Slow(LATENCY_S, "x")], exhausted="repeat") as server:
        step(server, four(), info=info(gives_n=False))
    assert asked_n(server) == [None] * 4
    assert server.most_at_once == 4


@pytest.mark.parametrize("kind", ["lmstudio", "ollama"])
def test_servers_that_ignore_n_are_known_by_their_kind(kind: str) -> None:
    async def ask() -> Sampled:
        client = await connect(server.base_url, protocol="text")
        try:
            return await sample(client, question(), four())
        finally:
            await client.close()

    with ScriptedServer(["x"], kind=kind, exhausted="repeat") as server:
        assert len(contents(asyncio.run(ask()))) == 4
    assert asked_n(server) == [None] * 4


def test_the_first_is_asked_for_as_a_single_turn_and_the_others_by_the_sampling() -> None:
    request = question(temperature=0.1, max_tokens=50, sampling={"top_k": 3})
    sampling = four(use_n=False, temperature=0.9, max_tokens=70, fields={"top_p": 0.8})
    with ScriptedServer(["x"], exhausted="repeat") as server:
        sampled = step(server, sampling, request, info=info(1))
    first, *others = (recorded.body for recorded in server.requests)
    assert (first["temperature"], first["max_tokens"], first["top_k"]) == (0.1, 50, 3)
    assert "top_p" not in first
    assert sampled.calls[0].request == request
    for other in others:
        assert (other["temperature"], other["max_tokens"]) == (0.9, 70)
        assert (other["top_k"], other["top_p"]) == (3, 0.8)


def test_each_has_a_seed_of_its_own() -> None:
    sampling = four(use_n=False, fields={"seed": 40})
    with ScriptedServer(by_seed({None: "first", 41: "b", 42: "c", 43: "d"})) as server:
        assert contents(step(server, sampling)) == ["first", "b", "c", "d"]
    with ScriptedServer(by_seed({40: "first", 41: "b", 42: "c", 43: "d"})) as server:
        seeded = step(server, four(use_n=False), question(sampling={"seed": 40}))
    assert contents(seeded) == ["first", "b", "c", "d"]


def test_candidates_stand_in_the_order_of_their_requests_not_of_their_arrival() -> None:
    late = {None: Slow(0.3, "a"), 1: Slow(0.2, "b"), 2: Slow(0.1, "c"), 3: "d"}
    with ScriptedServer(by_seed(late)) as server:
        sampled = step(server, four(use_n=False, fields={"seed": 0}))
    assert contents(sampled) == ["a", "b", "c", "d"]


def test_ollamas_own_route_is_asked_one_by_one() -> None:
    with ScriptedServer(["x"], kind="ollama", exhausted="repeat") as server:
        sampled = step(
            server,
            four(temperature=0.9, fields={"seed": 3}),
            info=info(gives_n=False),
            wire=OllamaWire(32_768),
        )
    options = [recorded.body["options"] for recorded in server.requests]
    assert len(contents(sampled)) == 4
    assert sorted(option.get("seed", 0) for option in options) == [0, 4, 5, 6]


# stragglers


def test_a_straggler_is_cancelled_and_its_request_closed() -> None:
    async def ask(client: ChatClient) -> Sampled:
        sampled = await sample(client, question(), four(use_n=False, straggler_s=1.0, fields={"seed": 0}))
        await until(lambda: server.cancelled)
        return sampled

    with ScriptedServer(by_seed({None: "a", 1: Slow(60, "never"), 2: "c", 3: "d"})) as server:
        sampled = with_client(server, ask, info=info())
    assert contents(sampled) == ["a", "c", "d"]
    assert server.cancelled == 1
    straggler = sampled.calls[1]
    assert straggler.completion is None and straggler.made
    assert straggler.problem.startswith("cancelled: ")
    assert sampled.problem == straggler.problem


def test_before_the_first_answer_nobody_is_a_straggler() -> None:
    with ScriptedServer([Slow(2.0, "x")], exhausted="repeat") as server:
        sampled = step(server, four(use_n=False, straggler_s=1.9))
    assert len(contents(sampled)) == 4


def test_waiting_for_a_place_makes_no_straggler() -> None:
    with ScriptedServer([Slow(0.5, "x")], exhausted="repeat") as server:
        sampled = step(server, four(use_n=False, straggler_s=0.9), info=info(1))
    assert len(contents(sampled)) == 4
    assert server.most_at_once == 1


def test_a_failure_is_no_answer_that_others_are_measured_by() -> None:
    replies = {None: Fault(400), 1: Slow(2.0, "b"), 2: Slow(2.0, "c"), 3: Slow(2.0, "d")}
    with ScriptedServer(by_seed(replies)) as server:
        sampled = step(server, four(use_n=False, straggler_s=1.9, fields={"seed": 0}))
    assert contents(sampled) == ["b", "c", "d"]


# calls that fail


def test_a_call_that_fails_does_not_cost_the_others() -> None:
    with ScriptedServer(by_seed({None: "a", 1: Fault(400, body="no luck"), 2: "c", 3: "d"})) as server:
        sampled = step(server, four(use_n=False, fields={"seed": 0}))
    assert contents(sampled) == ["a", "c", "d"]
    assert "no luck" in sampled.calls[1].problem
    assert sampled.problem == sampled.calls[1].problem


def test_when_all_fail_the_first_error_is_raised_with_the_calls() -> None:
    replies = {None: Slow(0.1, Fault(503, body="one")), 1: Fault(400, body="two")}
    sampling = Sampling(num_candidates=2, use_n=False, fields={"seed": 0})
    with (
        ScriptedServer(by_seed(replies)) as server,
        pytest.raises(NoCandidate, match="HTTP 503: one") as none,
    ):
        step(server, sampling, retries=ONCE)
    assert none.value.transient
    assert [call.completion for call in none.value.calls] == [None, None]
    assert "HTTP 400: two" in none.value.calls[1].problem
    assert all(call.made for call in none.value.calls)


def test_when_the_server_is_gone_it_is_said_once() -> None:
    with ScriptedServer([]) as server:
        pass
    with pytest.raises(NoCandidate, match="No model server answers") as none:
        step(server, four(), retries=ONCE)
    assert [call.request.n for call in none.value.calls] == [4, 1, 1, 1, 1]


# a budget


def budgeted(server: ScriptedServer, tokens: int, sampling: Sampling, parallel: int = 4) -> Sampled:
    """One step with this many tokens left; the prompt takes about 10."""

    async def ask(client: ChatClient) -> Sampled:
        model = BudgetedModel(client, Budget(BudgetLimits(tokens=tokens)), Prices())
        return await sample(model, question(max_tokens=MIN_ANSWER), sampling)

    return with_client(server, ask, info=info(parallel))


def long_answer() -> dict[str, Any]:
    usage = {"prompt_tokens": 10, "completion_tokens": MIN_ANSWER, "total_tokens": 10 + MIN_ANSWER}
    return {"content": "x", "usage": usage}


@pytest.mark.parametrize("parallel", [1, 4])
def test_what_was_paid_is_kept_when_the_budget_refuses_the_next(parallel: int) -> None:
    with ScriptedServer([long_answer()], exhausted="repeat") as server:
        sampled = budgeted(server, 3 * MIN_ANSWER, four(use_n=False), parallel)
    assert len(contents(sampled)) == 2
    assert [call.made for call in sampled.calls] == [True, True, False, False]
    assert "token budget" in sampled.problem
    assert len(server.requests) == 2


def test_a_budget_too_small_for_all_at_once_still_buys_some() -> None:
    with ScriptedServer([long_answer()], exhausted="repeat") as server:
        sampled = budgeted(server, 3 * MIN_ANSWER, four())
    assert asked_n(server) == [None, None]
    assert [call.made for call in sampled.calls] == [False, True, True, False, False]


def test_a_step_of_which_nothing_was_asked_is_refused_as_a_single_call_is() -> None:
    with ScriptedServer([]) as server, pytest.raises(BudgetSpent) as spent:
        budgeted(server, MIN_ANSWER // 2, four())
    assert spent.value.limit == "tokens"
    assert not server.requests


def test_an_error_of_the_server_is_told_rather_than_the_budgets() -> None:
    script = [Fault(400, body="no luck")]
    with (
        ScriptedServer(script, exhausted="repeat") as server,
        pytest.raises(NoCandidate, match="no luck") as none,
    ):
        budgeted(server, 2 * MIN_ANSWER, four())
    assert none.value.calls[0].made is False


# cancellation and faults of our own


@pytest.mark.parametrize(("use_n", "open_requests"), [(True, 1), (False, 4)])
def test_a_cancelled_step_leaves_no_request_open(use_n: bool, open_requests: int) -> None:
    async def ask(client: ChatClient) -> None:
        task = asyncio.create_task(sample(client, question(), four(use_n=use_n)))
        await until(lambda: len(server.requests) == open_requests)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: server.cancelled == open_requests)
        # All places of the client are free again.
        assert len(contents(await sample(client, question(), four(use_n=False)))) == 4

    def script(index: int, body: dict[str, Any]) -> Any:
        return Slow(60, "never") if index < open_requests else "x"

    with ScriptedServer(script) as server:
        with_client(server, ask, info=info())
    assert server.cancelled == open_requests


class Broken:
    """A model with a fault of ours: its first call raises what no model raises, the others wait."""

    def __init__(self) -> None:
        self.info = info()
        self.asked = self.cancelled = 0

    async def complete(self, request: Request) -> Any:
        self.asked += 1
        if self.asked == 1:
            await asyncio.sleep(0)
            raise ZeroDivisionError
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise

    async def close(self) -> None:
        """Nothing to close."""


def test_an_error_that_no_model_raises_ends_all_calls() -> None:
    model = Broken()
    with pytest.raises(ZeroDivisionError):
        asyncio.run(sample(model, question(), four(use_n=False)))
    assert (model.asked, model.cancelled) == (4, 3)


# a real server


@pytest.mark.needs("llama")
@pytest.mark.parametrize(("slots", "calls", "gives_n"), [(4, 1, True), (2, 4, False)])
def test_llama_cpp_gives_as_many_at_once_as_it_has_slots(
    tmp_path_factory: pytest.TempPathFactory, slots: int, calls: int, gives_n: bool
) -> None:
    """It refuses a larger `n` (HTTP 400), and is then asked one by one."""

    async def ask(llama: TinyLlama) -> tuple[Sampled, bool | None]:
        client = await connect(llama.base_url, protocol="text")
        try:
            sampled = await sample(client, question("play", max_tokens=12), four(temperature=1.5))
            return sampled, client.info.gives_n
        finally:
            await client.close()

    with TinyLlama(tmp_path_factory.mktemp("llama"), context=2048, parallel=slots) as llama:
        sampled, learnt = asyncio.run(ask(llama))
    assert len(contents(sampled)) == 4
    assert (len(sampled.calls), learnt) == (calls, gives_n)


@pytest.mark.needs("llama")
def test_llama_cpp_gives_four_one_by_one_with_the_prompt_in_its_cache(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    async def ask(llama: TinyLlama) -> Sampled:
        client = await connect(llama.base_url, protocol="text")
        try:
            request = question("the same beginning " * 20, max_tokens=12)
            return await sample(client, request, four(use_n=False, temperature=1.5, fields={"seed": 1}))
        finally:
            await client.close()

    with TinyLlama(tmp_path_factory.mktemp("llama"), context=2048, parallel=1) as llama:
        sampled = asyncio.run(ask(llama))
    assert len(contents(sampled)) == 4
    last = sampled.calls[-1].completion
    assert last is not None and last.usage.cached_tokens and last.usage.prompt_tokens
    assert last.usage.cached_tokens > 0.9 * last.usage.prompt_tokens
