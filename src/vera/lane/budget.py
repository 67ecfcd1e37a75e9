"""What a run may spend, and a model that stays within it: tokens and cost are reserved before a call, and
what the call took is counted after it.

Lanes that ask at the same time share one `Budget`, so that together they never reserve more than there is. A
call that would fit once others are back waits for them. Money is counted in whole numbers (`UNIT`).
"""

import asyncio
import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from vera.model.types import Choice, Completion, Model, ModelInfo, NotAsked, Request, wire
from vera.prices import PriceList, Prices, money
from vera.usage import BYTES_PER_TOKEN, RunUsage, Tokens, counted, json_size, tokens_of

Limited = Literal["tokens", "cost"]

MIN_ANSWER = 256
"""Tokens of an answer below which asking is no use: a turn with its thought and an action takes about 150."""

MAX_KEPT_TOKENS = 200_000
MAX_KEPT_SECONDS = 600.0
"""Of a large budget this much is kept for the answer and its verification, of a smaller one a quarter."""

TURNS_KEPT = 3
"""A lane is told to answer while so many turns still fit: the one under way, the answer, and one to spare."""


_SPENT = re.compile(r"\bthe (?:token|cost) budget of \S{1,40} is spent\b")


class BudgetLimits(msgspec.Struct, frozen=True, kw_only=True):
    """The most that a run may spend over all its resumes; 0 is unlimited. `cost` is in parts of UNIT.

    `agent`, `verifier` and `selector` are the prices of their models.
    """

    tokens: int = 0
    cost: int = 0
    seconds: float = 0.0
    searches: int = 0
    agent: Prices = Prices()
    verifier: Prices = Prices()
    selector: Prices = Prices()

    def cost_of(self, spent: RunUsage) -> int:
        """What was spent on models, in parts of UNIT."""
        prices = PriceList(agent=self.agent, verifier=self.verifier, selector=self.selector)
        return prices.of(spent)


class BudgetSpent(NotAsked):
    """No further call fits into what is left of `limit`."""

    def __init__(self, limit: Limited, message: str) -> None:
        super().__init__(message)
        self.limit = limit


class Hold(msgspec.Struct, frozen=True, eq=False):
    """What one call has reserved: tokens, cost, and how many of the tokens are for its answer."""

    tokens: int
    cost: int
    answer: int


class Budget:
    """What is spent and what is reserved of a run's tokens and money, for all its lanes.

    `spent` is what the log says when the process begins. From then on it counts what each call took, in the
    same way as the log's fold does (`RunState.spent`), because a call is logged only after it came back.
    `opening_s` are seconds that the process took for the run before its session began.
    """

    def __init__(
        self,
        limits: BudgetLimits,
        spent: RunUsage = RunUsage(),  # noqa: B008 (it is frozen)
        opening_s: float = 0.0,
    ) -> None:
        self.limits = limits
        self.opening_s = opening_s
        self._now = limits
        self._before = RunUsage()
        self._tokens = spent.tokens
        self._cost = limits.cost_of(spent)
        self._holds: set[Hold] = set()
        self._back = asyncio.Event()
        self._refusal: BudgetSpent | None = None

    @property
    def refusal(self) -> BudgetSpent | None:
        """The last call that did not fit and that the run cannot do without; None while all did."""
        return self._refusal

    def share(self, spent: RunUsage, parts: int) -> BudgetLimits:
        """The limits of a lane that begins now, after so much was `spent`: one of `parts` equal parts of what
        is left. Until the next share nothing beyond it can be reserved."""
        cost, seconds = self.limits.cost_of(spent), spent.seconds + self.opening_s
        own = msgspec.structs.replace(
            self.limits,
            tokens=_part_of(self.limits.tokens, spent.tokens, parts),
            cost=_part_of(self.limits.cost, cost, parts),
            searches=_part_of(self.limits.searches, spent.searches, parts),
            seconds=max(0.001, (self.limits.seconds - seconds) / parts) if self.limits.seconds else 0.0,
        )
        self._now = msgspec.structs.replace(
            own,
            tokens=own.tokens and own.tokens + spent.tokens,
            cost=own.cost and own.cost + cost,
            searches=own.searches and own.searches + spent.searches,
            seconds=own.seconds and own.seconds + seconds,
        )
        self._before, self._refusal = spent, None
        return own

    def whole(self) -> None:
        """From here on all that is left may be spent."""
        self._now, self._before, self._refusal = self.limits, RunUsage(), None

    def seconds_left(self, worked_s: float) -> float | None:
        """Seconds left of the run or of the share, after `worked_s` in its session; None without a limit."""
        return self._now.seconds - worked_s - self.opening_s if self._now.seconds else None

    @property
    def out_of_time(self) -> str:
        """That the time is spent, as half a sentence."""
        if self._now is self.limits:
            return f"the time budget of {self.limits.seconds:g} seconds is spent"
        return f"the share of the {self.limits.seconds:g} seconds for this sub-question is spent"

    def spent_up(self, spent: RunUsage) -> str:
        """Which limit of the run leaves nothing for a further call, as half a sentence; '' for none."""
        limits = self.limits
        if limits.tokens and limits.tokens - spent.tokens < MIN_ANSWER:
            return f"the token budget of {limits.tokens} is spent"
        if limits.cost and limits.cost_of(spent) >= limits.cost:
            return f"the cost budget of {money(limits.cost)} is spent"
        if limits.seconds and spent.seconds + self.opening_s >= limits.seconds:
            return f"the time budget of {limits.seconds:g} seconds is spent"
        return ""

    @property
    def tokens(self) -> int:
        """Tokens spent and reserved."""
        return self._tokens + sum(hold.tokens for hold in self._holds)

    @property
    def cost(self) -> int:
        """Cost spent and reserved, in parts of UNIT."""
        return self._cost + sum(hold.cost for hold in self._holds)

    async def reserve(
        self, prompt: int, answer: int, prices: Prices, candidates: int = 1, *, needed: bool = True
    ) -> Hold:
        """Reserve a call of `prompt` tokens that may give `candidates` answers of `answer` tokens each.

        When all of it does not fit, it waits for the calls that are under way; then the answers are made
        shorter, down to MIN_ANSWER. Raises BudgetSpent when that does not fit either, which is the run's
        `refusal` where the call was `needed`.
        """
        try:
            while (hold := self._try(prompt, answer, prices, candidates)) is None:
                await self._back.wait()
        except BudgetSpent as refusal:
            if needed:
                self._refusal = refusal
            raise
        return hold

    def settle(self, hold: Hold, tokens: Tokens, prices: Prices) -> None:
        """The call is back and took these tokens: they are spent, and what it had reserved is free."""
        self._tokens += tokens.total
        self._cost += prices.of(tokens)
        self.release(hold)

    def add(self, spent: RunUsage) -> None:
        """Count what a verification in its own session has spent."""
        self._tokens += spent.tokens
        self._cost += self.limits.cost_of(spent)

    def release(self, hold: Hold) -> None:
        """What a call had reserved is free again: it failed or was cancelled, if it was not settled."""
        self._holds.discard(hold)
        self._back.set()
        self._back = asyncio.Event()

    def _try(self, prompt: int, answer: int, prices: Prices, candidates: int) -> Hold | None:
        room, limit = min(self._room(prompt, prices, candidates), default=(answer, None))
        if room < answer and self._holds:
            return None
        if limit and room < min(MIN_ANSWER, answer):
            raise self._spent(limit, prompt + candidates * min(MIN_ANSWER, answer), prices)
        answer = min(answer, room)
        tokens = Tokens(prompt=prompt, completion=candidates * answer)
        cost = prompt * prices.dearest_prompt + tokens.completion * prices.completion
        hold = Hold(tokens.total, cost, answer)
        self._holds.add(hold)
        return hold

    def _room(self, prompt: int, prices: Prices, candidates: int) -> Iterator[tuple[int, Limited]]:
        """By each limit, how long each of the answers may be (negative: not even the prompt fits)."""
        if self._now.tokens:
            yield (self._now.tokens - self.tokens - prompt) // candidates, "tokens"
        if self._now.cost:
            left = self._now.cost - self.cost - prompt * prices.dearest_prompt
            if left < 0 or prices.completion:
                yield left // (candidates * max(1, prices.completion)), "cost"

    def _spent(self, limit: Limited, needed: int, prices: Prices) -> BudgetSpent:
        whose = "" if self._now is self.limits else "the share of this sub-question; "
        if limit == "tokens":
            before = self._before.tokens
            used = f"{whose}{self._tokens - before} are used, and the next call needs about {needed}"
            return BudgetSpent(limit, f"the token budget of {self._now.tokens - before} is spent ({used})")
        cost = self.limits.cost_of(self._before)
        used = f"{whose}{money(self._cost - cost)} is used, and the next call needs about {needed} tokens"
        return BudgetSpent(limit, f"the cost budget of {money(self._now.cost - cost)} is spent ({used})")


def _part_of(limit: int, spent: int, parts: int) -> int:
    """One of so many parts of what is left of a limit, at least 1; 0 where there is no limit."""
    return max(1, (limit - spent) // parts) if limit else 0


class BudgetedModel:
    """A model within a budget. `complete` also raises BudgetSpent, for a call that was then not made; where
    its calls are not `needed`, that does not end the run."""

    def __init__(
        self,
        model: Model,
        budget: Budget,
        prices: Prices,
        bytes_per_token: float = BYTES_PER_TOKEN,
        *,
        needed: bool = True,
    ) -> None:
        self._model = model
        self._budget = budget
        self._prices = prices
        self._bytes_per_token = bytes_per_token
        self._needed = needed

    @property
    def info(self) -> ModelInfo:
        return self._model.info

    async def complete(self, request: Request) -> Completion:
        """As Model.complete, with an answer as long as the budget allows."""
        message_bytes = len(wire(request.messages))
        size = message_bytes + json_size(request.tools)
        if request.schema:
            size += len(msgspec.json.encode(request.schema))
        candidates = max(1, request.n)
        prompt = int(size / self._bytes_per_token) + 1
        hold = await self._budget.reserve(
            prompt, request.max_tokens, self._prices, candidates, needed=self._needed
        )
        try:
            if hold.answer < request.max_tokens:
                request = msgspec.structs.replace(request, max_tokens=hold.answer)
            completion = await self._model.complete(request)
            self._budget.settle(hold, tokens_of_call(completion, message_bytes), self._prices)
        finally:
            self._budget.release(hold)
        if read := completion.usage.prompt_tokens:
            self._bytes_per_token = max(0.5, min(self._bytes_per_token, size / read))
        return completion

    async def close(self) -> None:
        await self._model.close()


def tokens_of_call(completion: Completion, prompt_bytes: int) -> Tokens:
    """What a call took by its server's count, estimated where there is none."""
    usage = completion.usage
    tokens = counted(usage.prompt_tokens, usage.cached_tokens, usage.completion_tokens, prompt_bytes)
    if usage.completion_tokens is not None:
        return tokens
    # Estimated as the log has it: the first answer, and the others together.
    first, *others = map(_size_of, completion.choices)
    return tokens + Tokens(completion=tokens_of(first) + tokens_of(sum(others)))


def _size_of(choice: Choice) -> int:
    texts = (choice.content, choice.reasoning)
    return sum(len(text.encode("utf-8", "replace")) for text in texts) + json_size(choice.tool_calls)


def within(
    model: Model,
    budget: Budget,
    prices: Prices,
    bytes_per_token: float = BYTES_PER_TOKEN,
    *,
    needed: bool = True,
) -> Model:
    """The model within the budget; itself where nothing limits it. A run goes on without a call that is not
    `needed`."""
    limits = budget.limits
    if model.info.kind == "builtin" or not (limits.tokens or limits.cost):
        return model
    return BudgetedModel(model, budget, prices, bytes_per_token, needed=needed)


def nearly_spent(
    limits: BudgetLimits,
    spent: RunUsage,
    turn: int = 0,
    first: int = 0,
    before: RunUsage = RunUsage(),  # noqa: B008 (it is frozen)
) -> str:
    """The sentence that tells a lane's model to answer, while its answer and the verification of that still
    fit; '' as long as there is more. `turn` is about how many tokens one more turn takes, `first` how many
    are to be spent before it. `before` is what the run had spent when the limits began to count.
    """
    kept = TURNS_KEPT * turn + first
    tokens = limits.tokens - (spent.tokens - before.tokens)
    if limits.tokens and tokens <= max(min(limits.tokens // 4, MAX_KEPT_TOKENS), kept):
        return f"{max(0, tokens)} of {limits.tokens} tokens are left: answer now with what you have."
    cost = limits.cost - (limits.cost_of(spent) - limits.cost_of(before))
    if limits.cost and cost <= max(limits.cost // 4, kept * limits.agent.prompt):
        share = max(0, cost) * 100 // limits.cost
        return f"{share} % of the money for this run is left: answer now with what you have."
    seconds = limits.seconds - (spent.seconds - before.seconds)
    if limits.seconds and seconds <= min(limits.seconds / 4, MAX_KEPT_SECONDS):
        left = f"{max(0, int(seconds))} of {limits.seconds:g} seconds are left"
        return f"{left}: answer now with what you have."
    return ""


def says_spent(text: str) -> bool:
    """Whether the text reports a call that did not fit into its budget."""
    return _SPENT.search(text) is not None
