"""The chat client: one request in, one completion out, whatever the server does in between."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from vera.model.dialect import refused_protocol, without_refused_field
from vera.model.failure import Connection, Failure, error_of
from vera.model.openai import OpenAIWire
from vera.model.retry import RetryPolicy, with_retries
from vera.model.slots import Slots
from vera.model.transport import Transport, Waits
from vera.model.truncation import truncation
from vera.model.types import Completion, Message, ModelError, ModelInfo, Probed, Request
from vera.model.wire import Dialect, Wire, WireReply

TIMEOUT_S = 150.0
TOTAL_DEADLINE_S = 1800.0
PROMPT_BYTES_A_SECOND = 200
"""The slowest reading of a prompt that is waited for: 50 tokens of 4 bytes a second, a laptop's CPU."""

MAX_DIALECT_CHANGES = 4

AGAINST_N = frozenset({400, 422, 500, 501})
"""Answers of a server that may not be able to give several candidates, besides refusing the field by name."""

MIN_MEASURED_TOKENS = 20
"""Fewer say little of how fast a model writes."""


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
        probed: Probed = Probed(),  # noqa: B008 (it is frozen)
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._transport = Transport(base_url, key)
        base = self._transport.base_url
        self._info = info or ModelInfo(kind="openai", base_url=base, name=name, local=self._transport.local)
        self.probed = probed
        self._name = name
        self._wire = wire or OpenAIWire()
        self._dialect = dialect or Dialect()
        self._written_tokens, self._writing_s = 0, 0.0
        self._failed_with_n: tuple[Message, ...] | None = None
        if self._info.gives_n is False or not self._dialect.n:
            self._give_up_n()
        self._timeout_s = timeout_s
        self._total_deadline_s = total_deadline_s
        self._retries = retries or RetryPolicy()
        self._clock = clock
        self._sleep = sleep
        self._slots = Slots(self._info.parallel)
        self._place = Connection(url=base, model=name, key=self._transport.key, larger_context=larger_context)

    @property
    def info(self) -> ModelInfo:
        return self._info

    @property
    def tokens_a_second(self) -> float | None:
        """How fast the model wrote, without the time for reading prompts; None when it wrote too little."""
        enough = self._written_tokens >= MIN_MEASURED_TOKENS and self._writing_s > 0
        return self._written_tokens / self._writing_s if enough else None

    async def complete(self, request: Request) -> Completion:
        """Answer `request` with one completion: up to `n` choices, where the server gives several at once.

        Whether it does is learnt from the first such request, or from its refusal, and told by
        `info.gives_n`; a server that does not is asked for one. Raises ModelError when there is no choice.
        """
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
                if request.n > 1 and self._dialect.n and failure.status in AGAINST_N:
                    self._failed_with_n = request.messages
                raise self._explained(failure, request) from failure
            self._learn_n(request, len(reply.choices))
            # What no one asked for is no candidate.
            choices = reply.choices[: max(1, request.n)]
            latency_s = self._clock() - began
            tokens = reply.usage.completion_tokens or 0
            if attempts == 1 and len(reply.choices) == 1 and tokens > 1:
                self._written_tokens += tokens - 1  # the first word ends the reading of the prompt
                self._writing_s += latency_s - first_s
            return Completion(
                choices=choices,
                usage=reply.usage,
                latency_s=latency_s,
                first_byte_s=first_s,
                attempts=attempts,
                truncated=truncation(request, choices, reply.usage, self._info.context_tokens),
            )

    async def close(self) -> None:
        """Close the connections. Requests still running fail."""
        await self._transport.close()

    async def _attempt(self, request: Request, deadline: float) -> tuple[WireReply, float]:
        for _ in range(MAX_DIALECT_CHANGES):
            dialect = self._dialect
            try:
                return await self._post(request, dialect, deadline)
            except Failure as failure:
                changed = without_refused_field(dialect, request, failure)
                if changed is None:
                    raise
                self._dialect = changed
                if not changed.n:
                    self._give_up_n()
        return await self._post(request, self._dialect, deadline)

    async def _post(self, request: Request, dialect: Dialect, deadline: float) -> tuple[WireReply, float]:
        body = _encoded(self._wire.body(self._name, request, dialect))
        left = max(0.0, deadline - self._clock())
        waits = Waits(
            first_s=self._timeout_s + len(body) / PROMPT_BYTES_A_SECOND,
            between_s=self._timeout_s,
            until=asyncio.get_running_loop().time() + left,
        )
        url = self._wire.url(self._place.url)
        return await self._transport.post(url, body, self._wire.reader(request), waits, self._place)

    def _learn_n(self, request: Request, given: int) -> None:
        if request.n > 1 and self._dialect.n and self._info.gives_n is None:
            if given >= request.n:
                self._info = msgspec.structs.replace(self._info, gives_n=True)
            else:
                self._give_up_n()
        elif request.n == 1 and request.messages == self._failed_with_n:
            # The same prompt is answered as soon as one candidate is asked for.
            self._give_up_n()

    def _give_up_n(self) -> None:
        self._dialect = msgspec.structs.replace(self._dialect, n=False)
        self._info = msgspec.structs.replace(self._info, gives_n=False)

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
        # A lone surrogate, as in the name of a file that is no UTF-8, has no bytes in UTF-8.
        return json.dumps(body, ensure_ascii=False).encode("utf-8", "replace")
