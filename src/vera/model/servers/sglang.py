"""SGLang: `/get_model_info` names the model, `/get_server_info` its limits; it batches many requests."""

import shlex
from typing import Any

from vera.model import loose
from vera.model.servers.base import MANY, Ask, Details, Server, Sighting


async def recognise(ask: Ask) -> Sighting | None:
    about = loose.mapping(await ask("/get_model_info"))
    if "model_path" not in about:
        return None
    names = [loose.text(card.get("id")) for card in await _cards(ask)]
    names = [name for name in names if name] or [loose.text(about.get("model_path"))]
    return Sighting(models=tuple(names), loaded=tuple(names))


async def describe(ask: Ask, name: str) -> Details:
    limits = loose.mapping(await ask("/get_server_info")) or loose.mapping(await ask("/server_info"))
    cards = await _cards(ask)
    card = next((c for c in cards if c.get("id") == name), cards[0] if cards else {})
    context = loose.count(card.get("max_model_len")) or loose.count(limits.get("context_length"))
    return Details(
        context_tokens=context or None,
        parallel=min(loose.count(limits.get("max_running_requests")) or MANY, 64),
    )


def larger_context(name: str, tokens: int) -> str:
    return f"python -m sglang.launch_server --model-path {shlex.quote(name)} --context-length {tokens}"


async def _cards(ask: Ask) -> list[dict[str, Any]]:
    listed = loose.mapping(await ask("/v1/models")).get("data")
    return [loose.mapping(item) for item in loose.items(listed)]


SERVER = Server(
    kind="sglang",
    title="SGLang",
    port=30000,
    recognise=recognise,
    describe=describe,
    larger_context=larger_context,
    strict_names=False,
)
