"""What a run has spent: a fold of its log into model calls, tokens, searches and time."""

from typing import Any

import msgspec

from vera import events
from vera.events import Event, text_size

BYTES_PER_TOKEN = 3.5
"""Assumed until a server's own count shows that its tokens are shorter. English prose has about 4.5."""

SELECTOR = "selector"
"""The scope of a call to whoever chooses among candidate turns (`Model.scope`)."""


def tokens_of(size: int) -> int:
    """About how many tokens a text of `size` bytes is, rounded up: for servers that do not count."""
    return -(-2 * size // 7)


def json_size(tool_calls: tuple[dict[str, Any], ...]) -> int:
    """The size in bytes of tool calls as JSON; nothing for none."""
    return len(msgspec.json.encode(tool_calls)) if tool_calls else 0


class Tokens(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens of model calls; `cached` is that part of `prompt` which a server had in its cache."""

    prompt: int = 0
    cached: int = 0
    completion: int = 0

    @property
    def total(self) -> int:
        return self.prompt + self.completion

    def __add__(self, other: "Tokens") -> "Tokens":
        return Tokens(
            prompt=self.prompt + other.prompt,
            cached=self.cached + other.cached,
            completion=self.completion + other.completion,
        )


def counted(prompt: int | None, cached: int | None, completion: int | None, prompt_bytes: int) -> Tokens:
    """The tokens of one call as its server counted them; a prompt that it did not count is estimated."""
    prompt = tokens_of(prompt_bytes) if prompt is None else max(0, prompt)
    return Tokens(prompt=prompt, cached=min(max(0, cached or 0), prompt), completion=max(0, completion or 0))


class Spent(msgspec.Struct, frozen=True, kw_only=True):
    """What a run has spent, its resumes included.

    `agent`, `verifier` and `selector` (who chooses among candidate turns) are the tokens of those: their
    models may differ in price. Of all `model_calls` the server left `unknown_calls` without a full count:
    their tokens are estimated from bytes. A call that failed counts no tokens (no server says what it took),
    the built-in model none either. `searches` are requests to search engines, `seconds` the time in which a
    process worked on the run.
    """

    agent: Tokens = Tokens()
    verifier: Tokens = Tokens()
    selector: Tokens = Tokens()
    model_calls: int = 0
    unknown_calls: int = 0
    searches: int = 0
    seconds: float = 0.0

    @property
    def prompt_tokens(self) -> int:
        return self.agent.prompt + self.verifier.prompt + self.selector.prompt

    @property
    def completion_tokens(self) -> int:
        return self.agent.completion + self.verifier.completion + self.selector.completion

    @property
    def tokens(self) -> int:
        return self.agent.total + self.verifier.total + self.selector.total

    def with_look_up(self, event: events.LookUpSpent) -> "Spent":
        """These with what a verification in a session of its own has spent."""
        looked = Tokens(
            prompt=event.agent_prompt, cached=event.agent_cached, completion=event.agent_completion
        )
        judged = Tokens(
            prompt=event.verifier_prompt, cached=event.verifier_cached, completion=event.verifier_completion
        )
        return msgspec.structs.replace(
            self,
            agent=self.agent + looked,
            verifier=self.verifier + judged,
            model_calls=self.model_calls + event.model_calls,
            unknown_calls=self.unknown_calls + event.unknown_calls,
            searches=self.searches + event.searches,
        )

    def plus(self, scope: str, tokens: Tokens) -> "Spent":
        """These with the tokens of a call that was made in this scope (`Model.scope`)."""
        if scope.startswith("verifier"):
            return msgspec.structs.replace(self, verifier=self.verifier + tokens)
        if scope == SELECTOR:
            return msgspec.structs.replace(self, selector=self.selector + tokens)
        return msgspec.structs.replace(self, agent=self.agent + tokens)


class SpentFold:
    """The fold: `apply` takes the records in order, `now` says what was spent up to the last."""

    __slots__ = ("_builtin", "_last_ts", "_spent", "_uncounted", "_working_since")

    def __init__(self) -> None:
        self._spent = Spent()
        self._uncounted: set[str] = set()
        self._working_since = 0.0
        self._last_ts = 0.0
        self._builtin = False

    def now(self, searches: int) -> Spent:
        """What was spent, with so many requests to search engines of the run's own."""
        worked = self._spent.seconds + max(0.0, self._last_ts - self._working_since)
        asked = self._spent.searches + searches
        return msgspec.structs.replace(self._spent, searches=asked, seconds=round(worked, 3))

    @property
    def calls(self) -> Spent:
        """What the records say was spent, without searches of the run's own and time since it went on.

        The same object until a record adds to it, and so is each of its buckets.
        """
        return self._spent

    def apply(self, event: Event) -> None:
        """Add what the record cost. `_uncounted` are the lanes whose last answer was not counted."""
        spent = self._spent
        match event:
            case events.ModelServer():
                self._builtin = event.kind == "builtin"
            case events.Session() | events.Recovered() | events.Resumed():
                worked = max(0.0, self._last_ts - self._working_since)
                self._working_since = event.ts
                self._spent = msgspec.structs.replace(spent, seconds=spent.seconds + worked)
            case events.LookUpSpent():
                self._spent = spent.with_look_up(event)
            case events.Model():
                self._uncounted.discard(event.lane)
                spent = msgspec.structs.replace(spent, model_calls=spent.model_calls + 1)
                if not event.error and not self._is_free(event):
                    spent = self._with_call(spent, event)
                self._spent = spent
            case events.ModelIo() if event.lane in self._uncounted:
                size = text_size(event.content) + text_size(event.reasoning) + json_size(event.tool_calls)
                tokens = tokens_of(size) + tokens_of(event.other_bytes)
                self._spent = spent.plus(event.scope, Tokens(completion=tokens))
            case _:
                pass
        self._last_ts = event.ts

    def _is_free(self, call: events.Model) -> bool:
        """Whether a program of ours was asked, the built-in model or the seeker, which has no tokens."""
        return call.scope == "thesis" or (self._builtin and not call.scope.startswith("verifier"))

    def _with_call(self, spent: Spent, call: events.Model) -> Spent:
        if call.completion_tokens is None:
            self._uncounted.add(call.lane)
        known = call.prompt_tokens is not None and call.completion_tokens is not None
        tokens = counted(call.prompt_tokens, call.cached_tokens, call.completion_tokens, call.input_bytes)
        if not known:
            spent = msgspec.structs.replace(spent, unknown_calls=spent.unknown_calls + 1)
        return spent.plus(call.scope, tokens)
