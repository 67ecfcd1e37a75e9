"""Ollama: `/api/tags`, `/api/ps` and `/api/show` tell what is installed, loaded and trained for."""

from typing import Any

from vera.model import loose
from vera.model.servers.base import (
    ROOMY_CONTEXT,
    SMALLEST_USEFUL_CONTEXT,
    Ask,
    Details,
    Server,
    Sighting,
    is_chat_model,
)


async def recognise(ask: Ask) -> Sighting | None:
    version = loose.mapping(await ask("/api/version")).get("version")
    if not isinstance(version, str):
        return None
    tags = loose.mapping(await ask("/api/tags")).get("models")
    if not isinstance(tags, list):
        return None
    loaded = _names(loose.mapping(await ask("/api/ps")).get("models"))
    installed = _names(tags)
    return Sighting(models=(*loaded, *(n for n in installed if n not in loaded)), loaded=loaded)


async def describe(ask: Ask, name: str) -> Details:
    """The context here is the one that will be asked for with each request (`num_ctx`).

    A model that is loaded with a useful context keeps it: another value would load it again.
    """
    shown = loose.mapping(await ask("/api/show", {"model": name}))
    facts = loose.mapping(shown.get("model_info"))
    trained = loose.count(facts.get(f"{loose.text(facts.get('general.architecture'))}.context_length"))
    running = _running_context(await ask("/api/ps"), name)
    context = running if running >= SMALLEST_USEFUL_CONTEXT else ROOMY_CONTEXT
    remote = _is_remote({"name": name, **shown})
    quantisation = loose.text(loose.mapping(shown.get("details")).get("quantization_level"))
    warning = (
        f"{name} does not run on this machine: Ollama sends your question, the agent's notes and the "
        "passages it reads from your files on to its cloud."
    )
    return Details(
        context_tokens=min(context, trained) if trained else context,
        tools="tools" in loose.items(shown.get("capabilities")),
        remote=remote,
        warnings=(warning,) if remote else (),
        weights=quantisation,
        bytes=_bytes(await ask("/api/tags"), name),
        quantisation=quantisation,
        licence=loose.text(facts.get("general.license")),
    )


def larger_context(name: str) -> str:
    return f"OLLAMA_CONTEXT_LENGTH={ROOMY_CONTEXT} ollama serve"


def _running_context(ps: Any, name: str) -> int:
    for item in loose.items(loose.mapping(ps).get("models")):
        model = loose.mapping(item)
        if name in (model.get("name"), model.get("model")):
            return loose.count(model.get("context_length")) or 0
    return 0


def _bytes(tags: Any, name: str) -> int | None:
    cards = (loose.mapping(item) for item in loose.items(loose.mapping(tags).get("models")))
    return next((loose.count(card.get("size")) for card in cards if card.get("name") == name), None)


def _names(models: Any) -> tuple[str, ...]:
    """The names of chat models, those that run elsewhere last."""
    cards = sorted((loose.mapping(item) for item in loose.items(models)), key=_is_remote)
    names = [loose.text(card.get("name")) for card in cards]
    return tuple(name for name in names if name and is_chat_model(name))


def _is_remote(card: dict[str, Any]) -> bool:
    return bool(card.get("remote_host")) or loose.text(card.get("name")).endswith(("-cloud", ":cloud"))


SERVER = Server(
    kind="ollama",
    title="Ollama",
    port=11434,
    recognise=recognise,
    describe=describe,
    larger_context=larger_context,
    takes_n=False,
)
