"""What a run has spent: a fold of its log into model calls, tokens, searches and time."""

from typing import Any

import msgspec

from vera import events
from vera.events import Event, text_size

BYTES_PER_TOKEN = 3.5
"""Assumed until a server's own count shows that its tokens are shorter. English prose has about 4.5."""

SELECTOR = "selector"
"""The scope of a call to whoever chooses among candidate turns (`Model.scope`)."""

EXTRACTS = "extracts"
"""The scope of a call to the built-in model where it answers in place of another one, and what the name of
its lane begins with. It has no tokens."""

GUIDED = "guided"
"""The scope of a call in which a model writes from numbered lines, what the name of its lane begins with, and
the mode of such a run."""

GATHERING = "gathering"
"""The name of the lane in which the host captures pages for a model that does not act."""


MAIN = "main"
"""The lane that answers the task of a run, and that of a report as a whole."""

PART = "part-"
"""What the name of the lane begins with that answers one sub-question of a report, before its number."""


def answers_itself(lane: str) -> bool:
    """Whether the lane is the main one, or that of a sub-question."""
    return lane == MAIN or lane.startswith(PART)


def payer(scope: str) -> str:
    """Whose tokens a call in this scope (`Model.scope`) takes: agent, verifier or selector."""
    return "verifier" if scope.startswith("verifier") else "selector" if scope == SELECTOR else "agent"


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


class RunUsage(msgspec.Struct, frozen=True, kw_only=True):
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


class SpentFold:
    """The fold: `apply` takes the records in order, `now` says what was spent up to the last."""

    __slots__ = (
        "_agent",
        "_builtin",
        "_last_ts",
        "_model_calls",
        "_searches",
        "_seconds",
        "_selector",
        "_uncounted",
        "_unknown_calls",
        "_verifier",
        "_working_since",
    )

    def __init__(self) -> None:
        self._agent, self._verifier, self._selector = _Sum(), _Sum(), _Sum()
        self._model_calls = self._unknown_calls = self._searches = 0
        self._seconds = 0.0
        self._uncounted: set[str] = set()
        self._working_since = 0.0
        self._last_ts = 0.0
        self._builtin = False

    def now(self, searches: int) -> RunUsage:
        """What was spent, with so many requests to search engines of the run's own."""
        return RunUsage(
            agent=self._agent.tokens,
            verifier=self._verifier.tokens,
            selector=self._selector.tokens,
            model_calls=self._model_calls,
            unknown_calls=self._unknown_calls,
            searches=self._searches + searches,
            seconds=round(self._seconds + max(0.0, self._last_ts - self._working_since), 3),
        )

    def awaits(self, lane: str) -> bool:
        """Whether the last answer of the lane was not counted: the record with its text tells of tokens."""
        return lane in self._uncounted

    def apply(self, event: Event) -> Tokens | None:
        """Add what the record cost: the tokens of a model call that it tells, None when it tells of none.

        `_uncounted` are the lanes whose last answer was not counted.
        """
        tokens = None
        match event:
            case events.Model():
                tokens = self._called(event)
            case events.ModelIo() if self.awaits(event.lane):
                size = text_size(event.content) + text_size(event.reasoning) + json_size(event.tool_calls)
                tokens = Tokens(completion=tokens_of(size) + tokens_of(event.other_bytes))
                self._sum_of(event.scope).add(tokens)
            case events.ModelServer():
                self._builtin = event.kind == "builtin"
            case events.Session() | events.Recovered() | events.Resumed():
                self._seconds += max(0.0, self._last_ts - self._working_since)
                self._working_since = event.ts
            case events.LookUpSpent():
                self._looked_up(event)
            case _:
                pass
        self._last_ts = event.ts
        return tokens

    def _called(self, call: events.Model) -> Tokens | None:
        self._uncounted.discard(call.lane)
        if call.scope == EXTRACTS:
            return None
        self._model_calls += 1
        if call.error or self._is_free(call):
            return None
        if call.completion_tokens is None:
            self._uncounted.add(call.lane)
        if call.prompt_tokens is None or call.completion_tokens is None:
            self._unknown_calls += 1
        tokens = counted(call.prompt_tokens, call.cached_tokens, call.completion_tokens, call.input_bytes)
        self._sum_of(call.scope).add(tokens)
        return tokens

    def _is_free(self, call: events.Model) -> bool:
        """Whether a program of ours was asked, the built-in model or the retriever, which has no tokens."""
        return call.scope == "thesis" or (self._builtin and not call.scope.startswith("verifier"))

    def _sum_of(self, scope: str) -> "_Sum":
        """Where the tokens of a call in this scope (`Model.scope`) are added up."""
        return {"verifier": self._verifier, "selector": self._selector}.get(payer(scope), self._agent)

    def _looked_up(self, event: events.LookUpSpent) -> None:
        """Add what a verification in its own session has spent."""
        self._agent.add(
            Tokens(prompt=event.agent_prompt, cached=event.agent_cached, completion=event.agent_completion)
        )
        self._verifier.add(
            Tokens(
                prompt=event.verifier_prompt,
                cached=event.verifier_cached,
                completion=event.verifier_completion,
            )
        )
        self._model_calls += event.model_calls
        self._unknown_calls += event.unknown_calls
        self._searches += event.searches


class _Sum:
    """Tokens, added up in place: a log has thousands of calls."""

    __slots__ = ("_cached", "_completion", "_prompt")

    def __init__(self) -> None:
        self._prompt = self._cached = self._completion = 0

    def add(self, tokens: Tokens) -> None:
        self._prompt += tokens.prompt
        self._cached += tokens.cached
        self._completion += tokens.completion

    @property
    def tokens(self) -> Tokens:
        return Tokens(prompt=self._prompt, cached=self._cached, completion=self._completion)
