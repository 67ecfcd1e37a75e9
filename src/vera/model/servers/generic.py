"""Any other OpenAI-compatible server: `/v1/models` is all it promises."""

from vera.model import loose
from vera.model.servers.base import Ask, Details, Server, Sighting, is_chat_model


async def recognise(ask: Ask) -> Sighting | None:
    listed = loose.mapping(await ask("/v1/models")).get("data")
    if not isinstance(listed, list):
        return None
    names = [loose.text(loose.mapping(item).get("id")) for item in loose.items(listed)]
    return Sighting(models=tuple(name for name in names if name and is_chat_model(name)))


async def describe(ask: Ask, name: str) -> Details:
    """Some list a context length under one of several names; none tells how much it serves at once."""
    listed = loose.items(loose.mapping(await ask("/v1/models")).get("data"))
    card = next((c for c in map(loose.mapping, listed) if c.get("id") == name), {})
    fields = ("context_length", "max_model_len", "context_window", "max_context_length")
    known = [count for field in fields if (count := loose.count(card.get(field)))]
    return Details(context_tokens=known[0] if known else None)


def larger_context(name: str, tokens: int) -> str:
    return ""


SERVER = Server(
    kind="openai",
    title="an OpenAI-compatible server",
    port=0,
    recognise=recognise,
    describe=describe,
    larger_context=larger_context,
    strict_names=False,
)
