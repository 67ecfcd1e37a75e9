"""What each kind of model server tells of itself, in one shape."""

from collections.abc import Awaitable, Callable
from typing import Any, Protocol

import msgspec

ROOMY_CONTEXT = 32_768
"""Tokens. What VERA asks for where it may choose: its prompts stay below 24k."""

SMALLEST_USEFUL_CONTEXT = 16_384
"""Tokens. Below it a run loses what it has just read; the person is warned."""

MANY = 16
"""Requests at once for servers that batch without telling their limit."""


def roomy(trained_tokens: int | None) -> int:
    """The context to advise for a model that was trained for so many tokens (None: not known)."""
    return min(ROOMY_CONTEXT, trained_tokens or ROOMY_CONTEXT)


class Ask(Protocol):
    """Asks a server for one of its routes; None for anything but HTTP 200 with JSON."""

    async def __call__(self, path: str, body: dict[str, Any] | None = None) -> Any: ...


class Sighting(msgspec.Struct, frozen=True, kw_only=True):
    """A recognised server: the chat models it can serve, and those of them that are loaded. A name with
    control characters is left out: a name is printed in progress lines and in verdicts."""

    models: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for field in ("models", "loaded"):
            kept = tuple(name for name in getattr(self, field) if name.isprintable())
            msgspec.structs.force_setattr(self, field, kept)


class Details(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of one model on a server.

    `tools`: its template renders tool calls. `remote`: the server only passes requests on to another host.
    `weights`: the model's file, size and quantisation, as far as it is told; `bytes`, `quantisation` and
    `licence` the same for a person who chooses. `trained_tokens`: the context that the model
    was trained for.
    """

    context_tokens: int | None = None
    trained_tokens: int | None = None
    parallel: int = 1
    tools: bool = False
    remote: bool = False
    warnings: tuple[str, ...] = ()
    weights: str = ""
    bytes: int | None = None
    quantisation: str = ""
    licence: str = ""


class Server(msgspec.Struct, frozen=True, kw_only=True):
    """A kind of model server.

    `kind` is the name in `ModelInfo`, `title` the one people know; `port` its usual port. `strict_names`:
    it serves exactly the models it lists. `takes_n`: it makes several candidates in one request.
    `larger_context` gives the line to type for a context of so many tokens of a model.
    """

    kind: str
    title: str
    port: int
    recognise: Callable[[Ask], Awaitable[Sighting | None]]
    describe: Callable[[Ask, str], Awaitable[Details]]
    larger_context: Callable[[str, int], str]
    strict_names: bool = True
    takes_n: bool = True


def is_chat_model(name: str) -> bool:
    """Whether a model's name does not say that it only makes embeddings or ranks."""
    low = name.lower()
    return not any(word in low for word in ("embed", "rerank", "whisper"))
