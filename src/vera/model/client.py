"""The chat client: one request in, one completion out, whatever the server does in between."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from vera.model.dialect import refused_protocol, without_refused_field
from vera.model.failure import Failure, Place, error_of
from vera.model.openai import OpenAIWire
from vera.model.retry import RetryPolicy, with_retries
from vera.model.slots import Slots
from vera.model.transport import Transport, Waits
from vera.model.truncation import truncation
from vera.model.types import Choice, Completion, ModelError, ModelInfo, Request, Usage
from vera.model.wire import Dialect, Reply, Wire

TIMEOUT_S = 150.0
TOTAL_DEADLINE_S = 1800.0
PROMPT_BYTES_A_SECOND = 200
"""The slowest reading of a prompt that is waited for: 50 tokens of 4 bytes a second, a laptop's CPU."""

MOST_DIALECT_CHANGES = 4


class ChatClient:
    """A `Model` behind HTTP. Made by `connect`, which finds out what `info` says.

    `timeout_s` is the longest silence: between two bytes of an answer, and before its first word, where
    the time to read the prompt is added (`PROMPT_BYTES_A_SECOND`). `total_deadline_s` bounds all attempts
    at one request together. At most `info.parallel` requests run at once; others wait, at no cost to
    their deadline. `clock` and `sleep` exist for tests of the pauses.
    """

    def __init__(
        self,
        base_url: str,
        name: str,
        key: str | None = None,
        *,
        info: ModelInfo | None = None,
        wire: Wire | None = None,
        dialect: Dialect | None = None,
        timeout_s: float = TIMEOUT_S,
        total_deadline_s: float = TOTAL_DEADLINE_S,
        retries: RetryPolicy | None = None,
        larger_context: str = "",
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._transport = Transport(base_url, key)
        base = self._transport.base_url
        self._info = info or ModelInfo(kind="openai", base_url=base, name=name, local=self._transport.local)
        self._name = name
        self._wire = wire or OpenAIWire()
        self._dialect = dialect or Dialect()
        self._timeout_s = timeout_s
        self._total_deadline_s = total_deadline_s
        self._retries = retries or RetryPolicy()
        self._clock = clock
        self._sleep = sleep
        self._slots = Slots(self._info.parallel)
        self._place = Place(url=base, model=name, key=self._transport.key, larger_context=larger_context)

    @property
    def info(self) -> ModelInfo:
        return self._info

    async def complete(self, request: Request) -> Completion:
        """Answer `request` with up to `n` choices; fewer only when some of them failed.

        A server that gives fewer candidates than asked for gets the others as single requests, after
        the first, whose prompt it then has in its cache. Raises ModelError when there is no choice at all.
        """
        first = await self._complete_once(request)
        if len(first.choices) >= request.n:
            return first
        self._dialect = msgspec.structs.replace(self._dialect, n=False)
        singles = [_single(request, number) for number in range(len(first.choices), request.n)]
        others = await asyncio.gather(*map(self._complete_once, singles), return_exceptions=True)
        return _together([first, *map(_completion_or_none, others)])

    async def close(self) -> None:
        """Close the connections. Requests still running fail."""
        await self._transport.close()

    async def _complete_once(self, request: Request) -> Completion:
        weight = request.n if self._dialect.n else 1
        async with self._slots.hold(weight):
            began = self._clock()
            deadline = began + self._total_deadline_s
            try:
                (reply, first_s), attempts = await with_retries(
                    lambda: self._attempt(request, deadline),
                    self._retries,
                    deadline=deadline,
                    clock=self._clock,
                    sleep=self._sleep,
                )
            except Failure as failure:
                raise self._explained(failure, request) from failure
            return Completion(
                choices=reply.choices,
                usage=reply.usage,
                latency_s=self._clock() - began,
                first_byte_s=first_s,
                attempts=attempts,
                truncated=truncation(request, reply.choices, reply.usage, self._info.context_tokens),
            )

    async def _attempt(self, request: Request, deadline: float) -> tuple[Reply, float]:
        for _ in range(MOST_DIALECT_CHANGES):
            dialect = self._dialect
            try:
                return await self._post(request, dialect, deadline)
            except Failure as failure:
                changed = without_refused_field(dialect, request, failure)
                if changed is None:
                    raise
                self._dialect = changed
        return await self._post(request, self._dialect, deadline)

    async def _post(self, request: Request, dialect: Dialect, deadline: float) -> tuple[Reply, float]:
        body = _encoded(self._wire.body(self._name, request, dialect))
        left = max(0.0, deadline - self._clock())
        waits = Waits(
            first_s=self._timeout_s + len(body) / PROMPT_BYTES_A_SECOND,
            between_s=self._timeout_s,
            until=asyncio.get_running_loop().time() + left,
        )
        url = self._wire.url(self._place.url)
        return await self._transport.post(url, body, self._wire.reader(request), waits, self._place)

    def _explained(self, failure: Failure, request: Request) -> ModelError:
        protocol = refused_protocol(request, failure)
        error = error_of(failure)
        if not protocol:
            return error
        return ModelError(f"{error} It does not support the {protocol} protocol; use: --protocol text")


def _encoded(body: dict[str, Any]) -> bytes:
    try:
        return msgspec.json.encode(body)
    except UnicodeEncodeError:
        # A lone surrogate, as in the name of a file that is no UTF-8, has no bytes of its own.
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")


def _single(request: Request, number: int) -> Request:
    """The request for candidate `number` alone: with a seed of its own, or it would repeat the first."""
    sampling = dict(request.sampling)
    if isinstance(sampling.get("seed"), int):
        sampling["seed"] += number
    return msgspec.structs.replace(request, n=1, sampling=sampling)


def _completion_or_none(outcome: Completion | BaseException) -> Completion | None:
    if isinstance(outcome, BaseException) and not isinstance(outcome, ModelError):
        raise outcome
    return outcome if isinstance(outcome, Completion) else None


def _together(completions: list[Completion | None]) -> Completion:
    """Several completions of one request as one; each paid for its own prompt."""
    done = [c for c in completions if c is not None]
    choices: tuple[Choice, ...] = tuple(choice for c in done for choice in c.choices)
    return Completion(
        choices=choices,
        usage=Usage(
            prompt_tokens=_sum([c.usage.prompt_tokens for c in done]),
            completion_tokens=_sum([c.usage.completion_tokens for c in done]),
            cached_tokens=_sum([c.usage.cached_tokens for c in done]),
        ),
        latency_s=done[0].latency_s + max((c.latency_s for c in done[1:]), default=0.0),
        first_byte_s=done[0].first_byte_s,
        attempts=max(c.attempts for c in done),
        truncated=next((c.truncated for c in done if c.truncated), ""),
    )


def _sum(counts: list[int | None]) -> int | None:
    known = [count for count in counts if count is not None]
    return sum(known) if known else None
