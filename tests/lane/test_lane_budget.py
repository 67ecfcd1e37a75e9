"""The budget of a run: what is reserved before a call, what is counted after it, and what the log says."""

import asyncio
from collections.abc import Callable
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.lanes import INFO
from vera import events
from vera.lane.budget import (
    MIN_ANSWER,
    Budget,
    BudgetedModel,
    BudgetLimits,
    BudgetSpent,
    nearly_spent,
    says_spent,
    tokens_of_call,
    within,
)
from vera.model.types import Choice, Completion, Message, ModelError, ModelInfo, Request, Usage, wire
from vera.prices import UNIT, Prices, money
from vera.state import RunState
from vera.usage import RunUsage, Tokens, counted

PRICES = Prices(prompt=3_000_000, cached=300_000, completion=15_000_000)


def ask(text: str = "Is it so?", max_tokens: int = 400, n: int = 1) -> Request:
    return Request(messages=(Message(role="user", content=text),), max_tokens=max_tokens, n=n)


class Metered:
    """A model that takes what it is told to take, and waits in between when it has a `gate`."""

    info = INFO

    def __init__(
        self, usage: Callable[[Request], Usage], gate: asyncio.Event | None = None, content: str = "ok"
    ) -> None:
        self._usage, self._gate, self._content = usage, gate, content
        self.asked: list[Request] = []

    async def complete(self, request: Request) -> Completion:
        self.asked.append(request)
        if self._gate is not None:
            await self._gate.wait()
        return Completion(choices=(Choice(content=self._content),), usage=self._usage(request))

    async def close(self) -> None:
        """Nothing to close."""


def all_of_it(request: Request) -> Usage:
    return Usage(prompt_tokens=10, completion_tokens=request.max_tokens)


class Failing(Metered):
    async def complete(self, request: Request) -> Completion:
        raise ModelError("no")


# One call


def test_a_call_is_counted_by_what_the_server_says_it_took() -> None:
    budget = Budget(BudgetLimits(tokens=1000))
    usage = Usage(prompt_tokens=30, completion_tokens=20)
    asyncio.run(BudgetedModel(Metered(lambda _: usage), budget, PRICES).complete(ask()))
    assert budget.tokens == 50


def test_a_failed_call_gives_back_what_it_had_reserved() -> None:
    budget = Budget(BudgetLimits(tokens=1000))
    with pytest.raises(ModelError):
        asyncio.run(BudgetedModel(Failing(all_of_it), budget, PRICES).complete(ask()))
    assert budget.tokens == 0 and budget.refusal is None


def test_a_cancelled_call_gives_back_what_it_had_reserved() -> None:
    async def cancelled() -> int:
        budget = Budget(BudgetLimits(tokens=1000))
        model = BudgetedModel(Metered(all_of_it, asyncio.Event()), budget, PRICES)
        task = asyncio.create_task(model.complete(ask()))
        await asyncio.sleep(0)
        assert budget.tokens > 400
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        return budget.tokens

    assert asyncio.run(cancelled()) == 0


def test_the_last_tokens_go_into_a_shorter_answer() -> None:
    budget, model = Budget(BudgetLimits(tokens=1000)), Metered(all_of_it)
    asyncio.run(BudgetedModel(model, budget, PRICES).complete(ask(max_tokens=4000)))
    assert MIN_ANSWER < model.asked[0].max_tokens < 1000
    assert budget.tokens <= 1000


def test_an_answer_too_short_to_be_one_is_not_asked_for() -> None:
    budget, model = Budget(BudgetLimits(tokens=1000), RunUsage(agent=Tokens(prompt=800))), Metered(all_of_it)
    with pytest.raises(BudgetSpent) as spent:
        asyncio.run(BudgetedModel(model, budget, PRICES).complete(ask()))
    assert not model.asked and budget.refusal is spent.value and spent.value.limit == "tokens"
    assert str(spent.value).startswith("the token budget of 1000 is spent (800 are used, and the next call")
    assert says_spent(f"reading 1: {spent.value}")


def test_a_short_answer_is_asked_for_when_that_is_what_was_wanted() -> None:
    budget, model = Budget(BudgetLimits(tokens=100)), Metered(all_of_it)
    asyncio.run(BudgetedModel(model, budget, PRICES).complete(ask(max_tokens=20)))
    assert model.asked[0].max_tokens == 20


def test_a_prompt_that_does_not_fit_is_not_sent() -> None:
    model = Metered(all_of_it)
    with pytest.raises(BudgetSpent):
        asyncio.run(BudgetedModel(model, Budget(BudgetLimits(tokens=1000)), PRICES).complete(ask("x" * 9000)))
    assert not model.asked


def test_prompts_are_estimated_as_the_server_has_counted_them_before() -> None:
    """Of Chinese a token is about three bytes, or fewer."""

    async def reserved() -> int:
        budget, gate, request = Budget(BudgetLimits(tokens=20_000)), asyncio.Event(), ask("語" * 1000, 16)
        gate.set()
        server = Metered(lambda _: Usage(prompt_tokens=2000, completion_tokens=1), gate)
        model = BudgetedModel(server, budget, PRICES)
        await model.complete(request)
        gate.clear()
        before = budget.tokens
        task = asyncio.create_task(model.complete(request))
        await asyncio.sleep(0)
        held = budget.tokens - before
        gate.set()
        await task
        return held

    assert 2000 <= asyncio.run(reserved()) <= 2100


def test_each_of_several_candidates_is_reserved_for() -> None:
    budget = Budget(BudgetLimits(tokens=2000))
    with pytest.raises(BudgetSpent):
        asyncio.run(BudgetedModel(Metered(all_of_it), budget, PRICES).complete(ask(n=8)))


def test_the_built_in_model_and_a_run_without_limits_are_left_alone() -> None:
    model, free = Metered(all_of_it), Metered(all_of_it)
    free.info = ModelInfo(kind="builtin")
    assert within(model, Budget(BudgetLimits(seconds=60, searches=3)), PRICES) is model
    assert within(free, Budget(BudgetLimits(tokens=1)), PRICES) is free
    assert within(model, Budget(BudgetLimits(tokens=1)), PRICES) is not model


# Money


def test_cost_is_exact_whatever_the_number_of_calls() -> None:
    """A tenth of a millionth, ten million times: floats are off by then."""
    prices = Prices(prompt=100_000)  # 0.1 for a million tokens
    assert prices.of(Tokens(prompt=10_000_000)) == UNIT
    assert sum(prices.of(Tokens(prompt=1)) for _ in range(1000)) == prices.of(Tokens(prompt=1000))


def test_cached_tokens_have_their_own_price() -> None:
    assert PRICES.of(Tokens(prompt=1000, cached=900, completion=10)) == 100 * 3_000_000 + 900 * 300_000 + (
        10 * 15_000_000
    )


def test_the_verifiers_model_has_its_own_price() -> None:
    limits = BudgetLimits(agent=Prices(prompt=1), verifier=Prices(prompt=100))
    assert limits.cost_of(RunUsage(agent=Tokens(prompt=5), verifier=Tokens(prompt=7))) == 705


def test_a_cost_that_is_reached_ends_the_calls() -> None:
    limits = BudgetLimits(cost=UNIT // 100, agent=PRICES)
    budget = Budget(limits, RunUsage(agent=Tokens(prompt=3000)))
    with pytest.raises(BudgetSpent) as spent:
        asyncio.run(BudgetedModel(Metered(all_of_it), budget, PRICES).complete(ask()))
    assert spent.value.limit == "cost"
    assert str(spent.value).startswith("the cost budget of 0.01 is spent (0.009 is used, and")
    assert says_spent(str(spent.value))


def test_the_answer_is_as_long_as_the_money_lasts() -> None:
    model = Metered(all_of_it)
    budget = Budget(BudgetLimits(cost=UNIT // 100, agent=PRICES))
    asyncio.run(BudgetedModel(model, budget, PRICES).complete(ask(max_tokens=4000)))
    assert MIN_ANSWER < model.asked[0].max_tokens < 667
    assert budget.cost <= UNIT // 100


def test_answers_that_cost_nothing_are_not_limited_by_money() -> None:
    model = Metered(all_of_it)
    budget = Budget(BudgetLimits(cost=UNIT))
    asyncio.run(BudgetedModel(model, budget, Prices(prompt=1)).complete(ask(max_tokens=4000)))
    assert model.asked[0].max_tokens == 4000


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (0, "0"),
        (UNIT, "1"),
        (100 * UNIT, "100"),
        (UNIT * 5 // 2, "2.5"),
        (1, "0"),
        (UNIT // 10**6, "0.000001"),
    ],
)
def test_money_in_words(parts: int, said: str) -> None:
    assert money(parts) == said


@given(st.integers(0, 10**24))
def test_money_in_words_is_right_to_the_millionth(parts: int) -> None:
    assert abs(Decimal(money(parts)) * UNIT - parts) <= UNIT // 10**6 // 2


# Several lanes at once


def test_a_call_that_will_fit_waits_for_those_under_way() -> None:
    async def two() -> int:
        budget = Budget(BudgetLimits(tokens=1000))
        gate = asyncio.Event()
        first = Metered(lambda _: Usage(prompt_tokens=10, completion_tokens=10), gate)
        second = Metered(all_of_it)
        one = asyncio.create_task(BudgetedModel(first, budget, PRICES).complete(ask(max_tokens=800)))
        await asyncio.sleep(0)
        other = asyncio.create_task(BudgetedModel(second, budget, PRICES).complete(ask(max_tokens=800)))
        await asyncio.sleep(0.01)
        assert not second.asked
        gate.set()
        await asyncio.gather(one, other)
        return second.asked[0].max_tokens

    assert asyncio.run(two()) == 800


CALLS = st.lists(
    st.tuples(st.integers(0, 3000), st.integers(1, 3000), st.integers(0, 100), st.integers(0, 5)),
    max_size=12,
)


@given(CALLS, st.integers(1, 6000), st.booleans())
def test_lanes_together_never_take_more_than_there_is(
    calls: list[tuple[int, int, int, int]], limit: int, by_cost: bool
) -> None:
    """Whatever they ask and in whichever order they come back, as long as each keeps to what it was given."""
    limits = BudgetLimits(cost=limit * 10**6, agent=PRICES) if by_cost else BudgetLimits(tokens=limit)
    budget = Budget(limits)

    def is_kept() -> bool:
        return budget.cost <= limits.cost if by_cost else budget.tokens <= limits.tokens

    async def call(prompt: int, answer: int, share: int, pauses: int) -> tuple[int, int]:
        try:
            hold = await budget.reserve(prompt, answer, PRICES)
        except BudgetSpent:
            return 0, 0
        assert is_kept() and min(MIN_ANSWER, answer) <= hold.answer <= answer
        for _ in range(pauses):
            await asyncio.sleep(0)
        if share == 100:
            budget.release(hold)
            return 0, 0
        took = Tokens(prompt=prompt * share // 100, completion=hold.answer * share // 100)
        budget.settle(hold, took, PRICES)
        assert is_kept()
        return took.total, PRICES.of(took)

    async def everything() -> list[tuple[int, int]]:
        return await asyncio.gather(*(call(*each) for each in calls))

    took = asyncio.run(everything())
    assert budget.tokens == sum(tokens for tokens, _ in took)
    assert budget.cost == sum(cost for _, cost in took)


# What the log says


def logged(completion: Completion, request: Request, seq: int, scope: str) -> list[events.Event]:
    choice, usage = completion.choices[0], completion.usage
    return [
        events.Model(
            seq=seq,
            ts=float(seq),
            lane="main",
            step=1,
            scope=scope,
            latency_s=0,
            input_bytes=len(wire(request.messages)),
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cached_tokens=usage.cached_tokens,
        ),
        events.ModelIo(
            seq=seq + 1,
            ts=float(seq + 1),
            lane="main",
            step=1,
            scope=scope,
            at_seq=0,
            request_sha256="",
            request_bytes=0,
            parameters={},
            content=choice.content,
            reasoning=choice.reasoning,
            tool_calls=choice.tool_calls,
        ),
    ]


COUNTS = st.none() | st.integers(0, 10_000)
TOOL_CALLS = st.just(()) | st.just(({"id": "1", "function": {"name": "read", "arguments": "{}"}},))


@given(
    st.lists(
        st.tuples(
            st.builds(Usage, prompt_tokens=COUNTS, completion_tokens=COUNTS, cached_tokens=COUNTS),
            st.builds(
                Choice,
                content=st.text(st.characters(exclude_categories=["Cs"]), max_size=50),
                reasoning=st.text(st.characters(exclude_categories=["Cs"]), max_size=50),
                tool_calls=TOOL_CALLS,
            ),
            st.sampled_from(["agent", "verifier_judge"]),
        ),
        max_size=8,
    )
)
def test_what_the_budget_counts_is_what_the_log_says(calls: list[tuple[Usage, Choice, str]]) -> None:
    limits = BudgetLimits(tokens=10**9, cost=10**30, agent=PRICES, verifier=Prices(prompt=7, completion=11))
    budget, state = Budget(limits), RunState()

    async def run() -> None:
        for number, (usage, choice, scope) in enumerate(calls):
            prices = limits.agent if scope == "agent" else limits.verifier
            completion = Completion(choices=(choice,), usage=usage)

            class Given(Metered):
                async def complete(self, request: Request, given: Completion = completion) -> Completion:
                    return given

            request = ask("Is it so? " * number)
            await BudgetedModel(Given(all_of_it), budget, prices).complete(request)
            for record in logged(completion, request, 2 * number + 1, scope):
                state.apply(record)

    asyncio.run(run())
    assert (budget.tokens, budget.cost) == (state.spent.tokens, limits.cost_of(state.spent))
    unknown = [usage for usage, _, _ in calls if None in (usage.prompt_tokens, usage.completion_tokens)]
    assert (state.spent.model_calls, state.spent.unknown_calls) == (len(calls), len(unknown))


def test_a_budget_goes_on_from_what_the_log_says() -> None:
    spent = RunUsage(agent=Tokens(prompt=100, completion=20), verifier=Tokens(prompt=5))
    assert Budget(BudgetLimits(tokens=1000), spent).tokens == 125


def test_more_cached_than_read_is_no_discount() -> None:
    assert counted(10, 50, 1, 0).cached == 10


def test_a_call_without_a_count_is_estimated_by_its_bytes() -> None:
    completion = Completion(choices=(Choice(content="x" * 35),))
    assert tokens_of_call(completion, 70) == Tokens(prompt=20, completion=10)


# Nearly spent


@pytest.mark.parametrize(
    ("limits", "spent", "turn", "said"),
    [
        (BudgetLimits(), RunUsage(agent=Tokens(prompt=10**9), seconds=10**6), 5000, ""),
        (BudgetLimits(tokens=10_000), RunUsage(agent=Tokens(prompt=7000)), 0, ""),
        (
            BudgetLimits(tokens=10_000),
            RunUsage(agent=Tokens(prompt=7600)),
            0,
            "2400 of 10000 tokens are left",
        ),
        (
            BudgetLimits(tokens=10_000),
            RunUsage(agent=Tokens(prompt=5000)),
            2000,
            "5000 of 10000 tokens are left",
        ),
        (BudgetLimits(tokens=10_000), RunUsage(agent=Tokens(prompt=12_000)), 0, "0 of 10000 tokens are left"),
        (BudgetLimits(tokens=10**7), RunUsage(agent=Tokens(prompt=9 * 10**6)), 0, ""),
        (BudgetLimits(cost=UNIT, agent=Prices(prompt=UNIT // 100)), RunUsage(agent=Tokens(prompt=70)), 0, ""),
        (
            BudgetLimits(cost=UNIT, agent=Prices(prompt=UNIT // 100)),
            RunUsage(agent=Tokens(prompt=80)),
            0,
            "20 % of",
        ),
        (BudgetLimits(seconds=100), RunUsage(seconds=74), 0, ""),
        (BudgetLimits(seconds=100), RunUsage(seconds=80.5), 0, "19 of 100 seconds are left"),
        (BudgetLimits(seconds=86_400), RunUsage(seconds=85_000), 0, ""),
    ],
)
def test_a_lane_is_told_when_its_run_has_little_left(
    limits: BudgetLimits, spent: RunUsage, turn: int, said: str
) -> None:
    sentence = nearly_spent(limits, spent, turn)
    assert sentence.startswith(said) and bool(said) == sentence.endswith("answer now with what you have.")
