"""llama.cpp's own server: `/props` tells the context of a slot, the slots and the template's abilities."""

import shlex

from vera.model import loose
from vera.model.gguf import quantisation_of
from vera.model.servers.base import ROOMY_CONTEXT, Ask, Details, Server, Sighting, is_chat_model


async def recognise(ask: Ask) -> Sighting | None:
    props = loose.mapping(await ask("/props"))
    if "default_generation_settings" not in props or "chat_template" not in props:
        return None
    listed = loose.items(loose.mapping(await ask("/v1/models")).get("data"))
    names = [loose.text(loose.mapping(item).get("id")) for item in listed]
    names = [name for name in names if name and is_chat_model(name)]
    names = names or [loose.text(props.get("model_alias")) or loose.text(props.get("model_path"))]
    return Sighting(models=tuple(names), loaded=tuple(names[:1]))


async def describe(ask: Ask, name: str) -> Details:
    props = loose.mapping(await ask("/props"))
    settings = loose.mapping(props.get("default_generation_settings"))
    abilities = loose.mapping(props.get("chat_template_caps"))
    card = next(iter(loose.items(loose.mapping(await ask("/v1/models")).get("data"), 1)), None)
    return Details(
        context_tokens=loose.count(settings.get("n_ctx")) or None,
        parallel=loose.count(props.get("total_slots")) or 1,
        tools=abilities.get("supports_tools") is True and abilities.get("supports_tool_calls") is True,
        weights=loose.text(props.get("model_path")),
        bytes=loose.count(loose.mapping(loose.mapping(card).get("meta")).get("size")),
        quantisation=quantisation_of(loose.text(props.get("model_path"))),
    )


def larger_context(name: str) -> str:
    return f"llama-server -m {shlex.quote(name or 'FILE.gguf')} -c {ROOMY_CONTEXT} -np 1"


SERVER = Server(
    kind="llamacpp",
    title="llama.cpp",
    port=8080,
    recognise=recognise,
    describe=describe,
    larger_context=larger_context,
    strict_names=False,
)
