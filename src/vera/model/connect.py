"""From a base URL to a client that knows its server: kind, model, context length, parallelism, protocol."""

import math
import time
from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

import msgspec

from vera.model import failure, loose
from vera.model.client import TIMEOUT_S, TOTAL_DEADLINE_S, ChatClient
from vera.model.failure import Connection, Failure
from vera.model.ollama import OllamaWire
from vera.model.openai import OpenAIWire
from vera.model.probe import fingerprint, sub_session
from vera.model.retry import RetryPolicy
from vera.model.servers.base import (
    ROOMY_CONTEXT,
    SMALLEST_USEFUL_CONTEXT,
    Ask,
    Details,
    Server,
    Sighting,
    roomy,
)
from vera.model.servers.registry import GENERIC
from vera.model.transport import Transport
from vera.model.types import Completion, Message, ModelError, ModelInfo, Probed, Request
from vera.model.url import host_of

Protocol = Literal["auto", "text", "json_schema", "tools"]

HOSTED_PARALLEL = 8
"""Requests at once to a hosted endpoint: far below every provider's limits, enough for a run's lanes."""

NAMES_SHOWN = 8
PROBE_TOKENS = 200
MIN_PROBE_S = 1.0
MIN_MEASURED = 4
MIN_MEASURED_S = 0.05
"""Tokens of an answer, and seconds that they took, from which on a speed is told."""

PROBE_WORDS = ("vera-1", "vera-2")


class _Endpoint(msgspec.Struct, frozen=True, kw_only=True):
    """A model on a server, as far as asking has shown."""

    base_url: str
    local: bool
    key: str | None
    server: Server
    sighting: Sighting
    name: str
    picked: bool
    details: Details
    context_tokens: int | None
    own: bool = False


async def connect(
    base_url: str,
    name: str = "",
    key: str | None = None,
    *,
    timeout_s: float = TIMEOUT_S,
    total_deadline_s: float = TOTAL_DEADLINE_S,
    protocol: Protocol = "auto",
    context_tokens: int | None = None,
    assumed: str = "",
    weights: str = "",
    seconds: float = 0.0,
    servers: Sequence[Server] = (),
    progress: Callable[[str], None] = lambda sentence: None,
) -> ChatClient:
    """A client for the server at `base_url`, ready to use; its `info` says what was found out.

    A local server (loopback, private networks, `*.local`) is fingerprinted; an empty `name` takes the
    model it has loaded. With `auto` the protocol is `json_schema` if the server keeps to a schema when
    asked with one that the prompt does not mention, else `tools` if it says that the model's template
    has them and the context is no small one, else `text`. `context_tokens` overrides what the server says
    (and is what Ollama is asked to provide). A hosted endpoint is asked for nothing but its list of models,
    and `auto` means `text`.

    `assumed` is what was found a moment ago, as KIND/PROTOCOL (`assumption`). While the server still shows
    itself as that kind no other is tried, and the protocol is not probed; else it counts for nothing.

    `weights` names the file that VERA serves there itself. `seconds` is the time budget of the run (0: none),
    of which the probe takes a quarter at most; `servers` are kinds that plugins know; `progress` is told when
    it begins.

    Raises ModelError: nothing answers there, the key is refused, no such model, none to choose.
    """
    if protocol not in get_args(Protocol):
        choices = "|".join(get_args(Protocol))
        raise ModelError(f"{protocol!r} is no protocol; use one of them: --protocol {choices}")
    endpoint = await _examine(base_url, name, key, context_tokens, assumed, servers)
    if protocol == "auto":
        protocol = _assumed_protocol(assumed, endpoint)
    probed = Probed()
    if protocol == "auto":
        most_s = min(timeout_s * 2, max(MIN_PROBE_S, seconds / 4) if seconds else math.inf)
        if endpoint.local:
            progress(f"Asking {endpoint.name} for a first word (at most {most_s:.0f} s)")
        probe = _client(endpoint, "text", timeout_s, most_s, RetryPolicy(attempts=1))
        began = time.monotonic()
        try:
            protocol, speed = await _best_protocol(probe, endpoint.details)
        finally:
            await probe.close()
        probed = Probed(seconds=time.monotonic() - began, tokens_a_second=speed)
    if weights:
        details = msgspec.structs.replace(endpoint.details, weights=weights)
        endpoint = msgspec.structs.replace(endpoint, details=details, own=True)
    return _client(endpoint, protocol, timeout_s, total_deadline_s, RetryPolicy(), probed)


def assumption(kind: str, protocol: str) -> str:
    """What was found of a server, in the form that `connect` takes."""
    return f"{kind}/{protocol}"


async def keeps_to_schema(client: ChatClient) -> tuple[bool, float]:
    """Whether the server constrains its model by a JSON schema: the schema's words are not in the prompt. And
    how many tokens a second it wrote, 0 where that cannot be told."""
    schema = {
        "type": "object",
        "properties": {"probe": {"type": "string", "enum": list(PROBE_WORDS)}},
        "required": ["probe"],
        "additionalProperties": False,
    }
    request = Request(
        messages=(Message(role="user", content="ping"),),
        temperature=0.0,
        max_tokens=PROBE_TOKENS,
        schema=schema,
    )
    try:
        completion = await client.complete(request)
    except ModelError:
        return False, 0.0
    answer = loose.decode(completion.choices[0].content.encode())
    return answer in [{"probe": word} for word in PROBE_WORDS], _speed(completion)


def _speed(completion: Completion) -> float:
    """Tokens a second after the first one; 0 for an answer of too few tokens or too little time."""
    tokens, seconds = completion.usage.completion_tokens or 0, completion.latency_s - completion.first_byte_s
    return (tokens - 1) / seconds if tokens >= MIN_MEASURED and seconds >= MIN_MEASURED_S else 0.0


async def _examine(
    base_url: str,
    name: str,
    key: str | None,
    context_tokens: int | None,
    assumed: str,
    servers: Sequence[Server],
) -> _Endpoint:
    transport = Transport(base_url, key)
    try:
        status, listed = await _reach(transport)
        ask = sub_session(transport, models=listed if status == 200 else None)
        server, sighting = await _identify(transport, ask, status, assumed, servers)
        chosen = _chosen(name, server, sighting, transport)
        details = await server.describe(ask, chosen)
    finally:
        await transport.close()
    return _Endpoint(
        base_url=transport.base_url,
        local=transport.local,
        key=transport.key,
        server=server,
        sighting=sighting,
        name=chosen,
        picked=not name,
        details=details,
        context_tokens=context_tokens or details.context_tokens,
    )


async def _reach(transport: Transport) -> tuple[int, Any]:
    """The HTTP status of the list of models, and the list. Raises ModelError if no one answers, or the key is
    refused."""
    place = Connection(url=transport.base_url, key=transport.key)
    try:
        status, answer = await transport.ask(f"{transport.base_url}/models", seconds=10.0)
    except Failure as problem:
        raise failure.error_of(problem) from problem
    if status in (401, 403):
        raise failure.error_of(failure.refused(place, status, msgspec.json.encode(answer)))
    return status, answer


async def _identify(
    transport: Transport, ask: Ask, status: int, assumed: str, servers: Sequence[Server]
) -> tuple[Server, Sighting]:
    if not transport.local:
        return GENERIC, await GENERIC.recognise(ask) or Sighting()
    seen = await fingerprint(ask, first=assumed.partition("/")[0], servers=servers)
    if seen is not None:
        return seen
    if status == 200:
        return GENERIC, Sighting()
    raise ModelError(
        f"Something answers at {transport.base_url}, but it is no model server (HTTP {status} for its list "
        "of models). See which servers run here: vera doctor"
    )


def _chosen(name: str, server: Server, sighting: Sighting, transport: Transport) -> str:
    where = f"{server.title} at {transport.base_url}"
    if name:
        return _named(name, server, sighting, where)
    if sighting.loaded:
        return sighting.loaded[0]
    if sighting.models and (transport.local or len(sighting.models) == 1):
        return sighting.models[0]
    if sighting.models:
        host = host_of(transport.base_url)
        raise ModelError(f"{host} offers several models: {_offers(sighting)}. Choose one: --model-name NAME")
    raise ModelError(f"{where} lists no model. Load one there, or name it: --model-name NAME")


def _named(name: str, server: Server, sighting: Sighting, where: str) -> str:
    """The name by which the server knows the model that was asked for. Raises ModelError."""
    # Ollama takes a name without a tag for its tag "latest".
    known = [full for full in (name, f"{name}:latest") if full in sighting.models]
    if server.strict_names and not known:
        offers = _offers(sighting)
        has = f"It has: {offers}. Choose one: --model-name NAME" if offers else "It has none at all."
        raise ModelError(f"{where} has no model {name!r}. {has}")
    return known[0] if known else name


def _offers(sighting: Sighting) -> str:
    return ", ".join(sighting.models[:NAMES_SHOWN]) + (", …" if len(sighting.models) > NAMES_SHOWN else "")


def _client(
    endpoint: _Endpoint,
    protocol: str,
    timeout_s: float,
    total_deadline_s: float,
    retries: RetryPolicy,
    probed: Probed = Probed(),  # noqa: B008 (it is frozen)
) -> ChatClient:
    server, context = endpoint.server, endpoint.context_tokens
    info = ModelInfo(
        kind=server.kind,
        base_url=endpoint.base_url,
        name=endpoint.name,
        context_tokens=context,
        parallel=endpoint.details.parallel if endpoint.local else HOSTED_PARALLEL,
        protocol=protocol,
        local=endpoint.local and not endpoint.details.remote,
        warnings=_warnings(endpoint),
        gives_n=None if server.takes_n else False,
        weights=endpoint.details.weights,
        own=endpoint.own,
    )
    return ChatClient(
        endpoint.base_url,
        endpoint.name,
        endpoint.key,
        info=info,
        wire=OllamaWire(context) if server.kind == "ollama" and context else OpenAIWire(),
        timeout_s=timeout_s,
        total_deadline_s=total_deadline_s,
        retries=retries,
        larger_context=_larger_context(endpoint),
        probed=probed,
    )


def _warnings(endpoint: _Endpoint) -> tuple[str, ...]:
    server, name, context = endpoint.server, endpoint.name, endpoint.context_tokens
    warnings = list(endpoint.details.warnings)
    if endpoint.picked and name not in endpoint.sighting.loaded and len(endpoint.sighting.models) > 1:
        warnings.append(
            f"{server.title} says of no model that it is loaded; taking {name}. "
            "To choose another: --model-name NAME"
        )
    if context is not None and context < SMALLEST_USEFUL_CONTEXT:
        warnings.append(
            f"The context of {name} is {context} tokens; below {SMALLEST_USEFUL_CONTEXT} a run forgets what "
            f"it has just read.{_way_to_larger_context(endpoint, context)}"
        )
    if endpoint.key and not endpoint.local and endpoint.base_url.startswith("http:"):
        warnings.append(f"The key travels unencrypted to {host_of(endpoint.base_url)}; use https:// instead.")
    return tuple(warnings)


def _way_to_larger_context(endpoint: _Endpoint, context: int) -> str:
    """The sentence on what can be done about a small context; '' where nothing is known."""
    trained = endpoint.details.trained_tokens
    if trained and context >= trained:
        return " The model was trained for no more."
    line = _larger_context(endpoint)
    return f" Start it with a larger one: {line}" if line else ""


def _larger_context(endpoint: _Endpoint) -> str:
    """The line to type for a larger context, '' where the model was trained for no larger one."""
    most, context = roomy(endpoint.details.trained_tokens), endpoint.context_tokens
    return endpoint.server.larger_context(endpoint.name, most) if context is None or context < most else ""


def _assumed_protocol(assumed: str, endpoint: _Endpoint) -> Protocol:
    """The protocol that was found before, `auto` where what the server says of itself speaks against it."""
    kind, _, protocol = assumed.partition("/")
    if kind != endpoint.server.kind:
        return "auto"
    if protocol == "json_schema" and endpoint.local:
        return "json_schema"
    if protocol == "tools" and endpoint.details.tools:
        return "tools"
    return "text" if protocol == "text" and not endpoint.details.tools else "auto"


async def _best_protocol(
    client: ChatClient, details: Details
) -> tuple[Literal["text", "json_schema", "tools"], float]:
    """The protocol, and how many tokens a second the model wrote when it was asked (0: not known)."""
    keeps, speed = await keeps_to_schema(client) if client.info.local else (False, 0.0)
    if keeps:
        return "json_schema", speed
    roomy_enough = (client.info.context_tokens or ROOMY_CONTEXT) >= SMALLEST_USEFUL_CONTEXT
    # The functions take three times the tokens of the text form's list of tools.
    return ("tools" if details.tools and roomy_enough else "text"), speed
