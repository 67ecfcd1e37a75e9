"""LM Studio: `/api/v1/models` (0.4 and later) or `/api/v0/models` tell what is loaded, and how."""

import shlex
from typing import Any

from vera.model import loose
from vera.model.servers.base import Ask, Details, Server, Sighting, roomy


async def recognise(ask: Ask) -> Sighting | None:
    models = await _models(ask)
    if models is None:
        return None
    loaded = [name for model in models for name in _instances(model)]
    others = [_key(model) for model in models if not _instances(model)]
    return Sighting(models=tuple(filter(None, loaded + others)), loaded=tuple(loaded))


async def describe(ask: Ask, name: str) -> Details:
    for model in await _models(ask) or []:
        instances = _instances(model)
        if name != _key(model) and name not in instances:
            continue
        trained = loose.count(model.get("max_context_length")) or None
        if not instances:
            return Details(
                tools=_tools(model),
                weights=_quantisation(model),
                bytes=loose.count(model.get("size_bytes")),
                quantisation=_quantisation(model),
                warnings=(
                    f"{name} is not loaded; LM Studio will load it with its default context, often only "
                    f"4096 tokens. Load it yourself: {larger_context(name, roomy(trained))}",
                ),
            )
        config = instances.get(name) or next(iter(instances.values()))
        return Details(
            trained_tokens=trained,
            context_tokens=loose.count(config.get("context_length")) or None,
            parallel=min(loose.count(config.get("parallel")) or 1, 64),
            tools=_tools(model),
            weights=_quantisation(model),
            bytes=loose.count(model.get("size_bytes")),
            quantisation=_quantisation(model),
        )
    return Details()


def larger_context(name: str, tokens: int) -> str:
    return f"lms load {shlex.quote(name)} --context-length {tokens}"


async def _models(ask: Ask) -> list[dict[str, Any]] | None:
    """Its language models in either form, None if this is not LM Studio."""
    # For a route it does not know LM Studio answers HTTP 200 and an error object: shapes decide, not status.
    models = _with_keys(loose.mapping(await ask("/api/v1/models")).get("models"), {"key", "loaded_instances"})
    if models is None:
        models = _with_keys(loose.mapping(await ask("/api/v0/models")).get("data"), {"state", "id"}) or None
    return None if models is None else [m for m in models if m.get("type") in ("llm", "vlm")]


def _with_keys(listed: object, keys: set[str]) -> list[dict[str, Any]] | None:
    """The objects of a list that all have these keys; None for anything else."""
    if not isinstance(listed, list):
        return None
    models = [loose.mapping(item) for item in loose.items(listed)]
    return models if all(keys <= m.keys() for m in models) else None


def _key(model: dict[str, Any]) -> str:
    return loose.text(model.get("key")) or loose.text(model.get("id"))


def _instances(model: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The loaded instances by the name that requests use, each with its configuration."""
    if "state" in model:
        loaded = {"context_length": model.get("loaded_context_length")}
        return {_key(model): loaded} if model["state"] == "loaded" else {}
    found = {}
    for item in loose.items(model.get("loaded_instances")):
        instance = loose.mapping(item)
        found[loose.text(instance.get("id")) or _key(model)] = loose.mapping(instance.get("config"))
    return found


def _tools(model: dict[str, Any]) -> bool:
    abilities = model.get("capabilities")
    if isinstance(abilities, list):
        return "tool_use" in abilities
    return loose.mapping(abilities).get("trained_for_tool_use") is True


def _quantisation(model: dict[str, Any]) -> str:
    told = model.get("quantization")
    return loose.text(told) or loose.text(loose.mapping(told).get("name"))


SERVER = Server(
    kind="lmstudio",
    title="LM Studio",
    port=1234,
    recognise=recognise,
    describe=describe,
    larger_context=larger_context,
    takes_n=False,
)
