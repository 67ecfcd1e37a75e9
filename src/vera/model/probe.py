"""Finding model servers on this machine, and telling what kind each is: by what it says, not by its port."""

import asyncio
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from vera.model.failure import Failure
from vera.model.servers.base import Ask, Details, Server, Sighting
from vera.model.servers.registry import GENERIC, SERVERS
from vera.model.transport import Transport
from vera.model.types import ModelError
from vera.model.url import is_local, normalise, server_root

PORTS = tuple(server.port for server in SERVERS if server.port)
"""The usual ports of the servers we know; any of them may belong to something else."""

CONNECT_S = 0.3
ANSWER_S = 3.0
"""A machine that runs a model is busy: a server that answers within milliseconds was missed at 1.5 s."""


class Found(msgspec.Struct, frozen=True, kw_only=True):
    """A model server that answers on this machine; names of models, the loaded ones first."""

    kind: str
    title: str
    base_url: str
    models: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()


async def discover(
    ports: Sequence[int] | None = None, environ: Mapping[str, str] | None = None
) -> list[Found]:
    """Model servers listening on loopback, those with a loaded model first, those without any last.

    Looks at `ports` (by default the usual ones, and where OLLAMA_HOST points if that is local), in
    parallel, for at most `CONNECT_S` each; an open port has `ANSWER_S` for its answers. No key is sent.
    """
    if ports is None:
        places = [f"http://127.0.0.1:{port}" for port in PORTS]
        place = ollama_place(os.environ if environ is None else environ)
        if place and place not in places:
            places.append(place)
    else:
        places = [f"http://127.0.0.1:{port}" for port in ports]
    looked = await asyncio.gather(*map(_look, places))
    found = [one for one in looked if one is not None]
    return sorted(found, key=lambda one: (not one.loaded, not one.models))


async def describe(found: Found, names: Sequence[str]) -> list[Details]:
    """What a found server tells of its models, in the order of `names`; it has `ANSWER_S` for all of it, and
    nothing is known of a model that it has not told of by then. No key is sent."""
    server = next(server for server in SERVERS if server.kind == found.kind)
    told = [Details()] * len(names)
    transport = Transport(found.base_url)
    try:
        async with asyncio.timeout(ANSWER_S):
            ask = sub_session(transport, ANSWER_S)
            for place, name in enumerate(names):
                told[place] = await server.describe(ask, name)
    except TimeoutError:
        pass
    finally:
        await transport.close()
    return told


async def fingerprint(
    ask: Ask, first: str = "", servers: Sequence[Server] = ()
) -> tuple[Server, Sighting] | None:
    """The kind of the server behind `ask`, and the models it has; None if it is no model server.

    `first` is the kind that it showed itself as before: while it does, no other is tried. `servers` are kinds
    that plugins know, tried behind ours and before the generic one.
    """
    known = (*SERVERS[:-1], *servers, GENERIC)
    for server in known:
        if server.kind == first and (sighting := await server.recognise(ask)) is not None:
            return server, sighting
    sightings = await asyncio.gather(*(server.recognise(ask) for server in known))
    for server, sighting in zip(known, sightings, strict=True):
        if sighting is not None:
            return server, sighting
    return None


def sub_session(transport: Transport, seconds: float = 5.0, *, models: Any = None) -> Ask:
    """Asks through `transport`; each route once, whatever the number of questions about it. `models` is the
    list of models where it has been asked for already."""
    root = server_root(transport.base_url)
    answers: dict[tuple[str, bytes], Any] = {}
    if models is not None:
        answers["/v1/models", msgspec.json.encode(None)] = models
    turns: defaultdict[tuple[str, bytes], asyncio.Lock] = defaultdict(asyncio.Lock)

    async def fetch(path: str, body: dict[str, Any] | None) -> Any:
        # A base with its own path may not have /v1: the models are listed beside the chat route.
        url = f"{transport.base_url}/models" if path == "/v1/models" else f"{root}{path}"
        try:
            status, answer = await transport.ask(url, body, seconds=seconds)
        except Failure:
            return None
        return answer if status == 200 else None

    async def ask(path: str, body: dict[str, Any] | None = None) -> Any:
        key = (path, msgspec.json.encode(body))
        async with turns[key]:
            if key not in answers:
                answers[key] = await fetch(path, body)
        return answers[key]

    return ask


def ollama_place(environ: Mapping[str, str]) -> str:
    """The address in OLLAMA_HOST or OLLAMA_BASE_URL, '' when there is none or it is not local.

    As Ollama reads it: no scheme means http and port 11434, 0.0.0.0 is every address of this machine.
    """
    text = (environ.get("OLLAMA_HOST") or environ.get("OLLAMA_BASE_URL") or "").strip().strip("'\"")
    if not text:
        return ""
    with_scheme = "://" in text
    try:
        base = normalise(text)
    except ModelError:
        return ""
    scheme, _, rest = server_root(base).partition("://")
    authority, slash, path = rest.partition("/")
    has_port = authority.rpartition("]")[2].rpartition(":")[1] == ":"
    if not with_scheme and not has_port:
        authority += ":11434"
    authority = authority.replace("0.0.0.0", "127.0.0.1").replace("[::]", "127.0.0.1")
    place = f"{scheme}://{authority}{slash}{path}"
    return place if is_local(place) else ""


async def _look(place: str) -> Found | None:
    if not await _is_open(place):
        return None
    transport = Transport(place)
    try:
        async with asyncio.timeout(ANSWER_S):
            seen = await fingerprint(sub_session(transport, ANSWER_S))
    except TimeoutError:
        return None
    finally:
        await transport.close()
    if seen is None:
        return None
    server, sighting = seen
    if not sighting.models and server.port == 0:
        return None
    return Found(
        kind=server.kind,
        title=server.title,
        base_url=transport.base_url,
        models=sighting.models,
        loaded=sighting.loaded,
    )


async def _is_open(place: str) -> bool:
    url = urlsplit(place)
    port = url.port or (443 if url.scheme == "https" else 80)
    try:
        async with asyncio.timeout(CONNECT_S):
            _, writer = await asyncio.open_connection(url.hostname, port)
    except (OSError, TimeoutError):
        return False
    writer.close()
    return True
