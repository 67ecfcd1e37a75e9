"""What goes to a model and what comes back, for every kind of server and for the built-in model."""

from typing import Any, Protocol

import msgspec


class Message(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One chat message in the OpenAI wire form (`encode` it as it is)."""

    role: str
    content: str | None = None
    tool_calls: list[dict[str, Any]] | None = None
    tool_call_id: str | None = None


def wire(messages: tuple[Message, ...]) -> bytes:
    """The messages as the JSON array that goes to the server; `model_io` keeps its sha256."""
    return msgspec.json.encode(messages)


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """A request for one completion, or for `n` of them from one prompt.

    `max_tokens` bounds the answer; `schema` asks for JSON constrained by it (`response_format`
    json_schema); `tools` are OpenAI function definitions. `logprobs` asks for the probabilities of the
    answer's tokens (`Choice.tokens`), which a server may not give. `sampling` holds further fields of the
    wire form (`top_p`, `seed`, …) as they are.
    """

    messages: tuple[Message, ...]
    temperature: float = 0.2
    max_tokens: int = 4096
    n: int = 1
    schema: dict[str, Any] | None = None
    tools: tuple[dict[str, Any], ...] = ()
    logprobs: bool = False
    sampling: dict[str, Any] = {}


class Usage(msgspec.Struct, frozen=True, kw_only=True):
    """Tokens as the server counted them; None where it did not say. Of a stream that the client ended,
    `completion_tokens` are counted by what came."""

    prompt_tokens: int | None = None
    completion_tokens: int | None = None
    cached_tokens: int | None = None


class Token(msgspec.Struct, frozen=True):
    """One token of an answer: its text, the natural logarithm of its probability, and the likeliest tokens at
    its place (itself among them, as a rule), each as (text, logprob)."""

    text: str
    logprob: float
    top: tuple[tuple[str, float], ...] = ()


class Choice(msgspec.Struct, frozen=True, kw_only=True):
    """One candidate answer. `content` is free of reasoning, which stands apart; never None.

    `tokens` are those that the server gave probabilities of, which may begin before the content (reasoning);
    empty when it gave none.
    """

    content: str = ""
    reasoning: str = ""
    tool_calls: tuple[dict[str, Any], ...] = ()
    finish_reason: str = "stop"
    tokens: tuple[Token, ...] = ()


class Completion(msgspec.Struct, frozen=True, kw_only=True):
    """A model's reply with what it cost. Times in seconds; `truncated` names how the server cut, or ''."""

    choices: tuple[Choice, ...]
    usage: Usage = Usage()
    latency_s: float = 0.0
    first_byte_s: float = 0.0
    attempts: int = 1
    truncated: str = ""


class ModelInfo(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a model and its server after the probe.

    `kind` is one of builtin, openai, lmstudio, ollama, vllm, llamacpp, sglang; `context_tokens` the real
    context length (None: unknown); `parallel` how many requests the endpoint serves at once; `protocol`
    the turn form chosen for it (text, json_schema, tools); `warnings` sentences for the person. `gives_n`
    says whether it answers a request for `n` candidates with n of them (None: not known yet). `weights` tells
    the model's file, size and quantisation, as far as the server says; `own`: a file that VERA serves itself,
    at another address each time.
    """

    kind: str
    base_url: str = ""
    name: str = ""
    context_tokens: int | None = None
    parallel: int = 1
    protocol: str = "text"
    local: bool = True
    warnings: tuple[str, ...] = ()
    gives_n: bool | None = None
    weights: str = ""
    own: bool = False


class Probed(msgspec.Struct, frozen=True, kw_only=True):
    """What the probe of a server took: seconds, and how many tokens a second its model wrote (0: not
    measured)."""

    seconds: float = 0.0
    tokens_a_second: float = 0.0


class ModelError(Exception):
    """The model could not answer: a sentence for the person, and whether trying later may help."""

    def __init__(self, message: str, *, transient: bool = False) -> None:
        super().__init__(message)
        self.transient = transient


class NotAsked(ModelError):
    """The call was not made: nothing was sent, and it cost nothing."""


class Model(Protocol):
    """Anything that answers a Request: an HTTP client, the built-in extractive model, a test's script."""

    @property
    def info(self) -> ModelInfo: ...

    async def complete(self, request: Request) -> Completion:
        """One call: at least one choice, and fewer than `n` where the server gives fewer.

        Raises ModelError when no answer could be had within the deadline, NotAsked when none was asked for.
        """
        ...

    async def close(self) -> None: ...
