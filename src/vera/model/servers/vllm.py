"""vLLM: the card of a model in `/v1/models` tells its context; it batches many requests."""

import shlex
from typing import Any

from vera.model import loose
from vera.model.servers.base import MANY, Ask, Details, Server, Sighting


async def recognise(ask: Ask) -> Sighting | None:
    cards = await _cards(ask)
    version = loose.mapping(await ask("/version")).get("version")
    if not isinstance(version, str) or not any("max_model_len" in card for card in cards):
        return None
    names = tuple(filter(None, (loose.text(card.get("id")) for card in cards)))
    return Sighting(models=names, loaded=names)


async def describe(ask: Ask, name: str) -> Details:
    for card in await _cards(ask):
        if card.get("id") == name:
            return Details(context_tokens=loose.count(card.get("max_model_len")) or None, parallel=MANY)
    return Details(parallel=MANY)


def larger_context(name: str, tokens: int) -> str:
    return f"vllm serve {shlex.quote(name)} --max-model-len {tokens}"


async def _cards(ask: Ask) -> list[dict[str, Any]]:
    listed = loose.mapping(await ask("/v1/models")).get("data")
    return [loose.mapping(item) for item in loose.items(listed)]


SERVER = Server(
    kind="vllm",
    title="vLLM",
    port=8000,
    recognise=recognise,
    describe=describe,
    larger_context=larger_context,
)
