"""How each kind of model server presents itself: the routes that a fingerprint reads, besides chat."""

from collections.abc import Callable
from typing import Any, Protocol


class Face(Protocol):
    """What a scripted server says of itself."""

    kind: str
    protocol: str
    model: str
    other_models: tuple[str, ...]
    loaded: bool
    context: int
    parallel: int
    lmstudio_api: str


def about(server: Face, path: str) -> tuple[int, Any]:
    """What a server of this kind says of itself at `path`."""
    cards = [{"id": name, "object": "model"} for name in (server.model, *server.other_models)]
    routes: dict[str, Any] = {"/v1/models": {"object": "list", "data": cards}}
    if server.kind in FACES:
        routes.update(FACES[server.kind](server))
    if path in routes:
        return 200, routes[path]
    if server.kind == "lmstudio":
        return 200, {"error": f"Unexpected endpoint or method. (GET {path})"}
    return 404, {"detail": "Not Found"}


def _llamacpp(server: Face) -> dict[str, Any]:
    tools = server.protocol == "tools"
    return {
        "/health": {"status": "ok"},
        "/props": {
            "default_generation_settings": {"n_ctx": server.context},
            "total_slots": server.parallel,
            "model_path": f"/models/{server.model}",
            "chat_template": "{{ messages }}",
            "chat_template_caps": {"supports_tools": tools, "supports_tool_calls": tools},
        },
    }


def _lmstudio(server: Face) -> dict[str, Any]:
    tools = server.protocol == "tools"
    if server.lmstudio_api == "v0":
        state = "loaded" if server.loaded else "not-loaded"
        first: dict[str, Any] = {
            "id": server.model,
            "type": "llm",
            "state": state,
            "max_context_length": 131_072,
        }
        first["capabilities"] = ["tool_use"] if tools else []
        if server.loaded:
            first["loaded_context_length"] = server.context
        others: list[dict[str, Any]] = [
            {"id": name, "type": "llm", "state": "not-loaded"} for name in server.other_models
        ]
        return {"/api/v0/models": {"object": "list", "data": [first, *others]}}
    config = {"context_length": server.context, "parallel": server.parallel}
    instances = [{"id": server.model, "config": config}] if server.loaded else []
    card: dict[str, Any] = {"type": "llm", "key": server.model, "loaded_instances": instances}
    card["capabilities"] = {"trained_for_tool_use": tools}
    idle = [{"type": "llm", "key": name, "loaded_instances": []} for name in server.other_models]
    embedding = {"type": "embedding", "key": "text-embedding-small", "loaded_instances": []}
    return {"/api/v1/models": {"models": [embedding, *idle, card]}}


def _ollama(server: Face) -> dict[str, Any]:
    running = [{"name": server.model, "model": server.model, "context_length": server.context}]
    capabilities = ["completion", "tools"] if server.protocol == "tools" else ["completion"]
    facts = {"general.architecture": "llama", "general.license": "mit", "llama.context_length": 131_072}
    names = (server.model, *server.other_models)
    return {
        "/api/version": {"version": "0.12.0"},
        "/api/tags": {"models": [{"name": name, "model": name, "size": 12_345} for name in names]},
        "/api/ps": {"models": running if server.loaded else []},
        "/api/show": {"capabilities": capabilities, "model_info": facts},
    }


def _vllm(server: Face) -> dict[str, Any]:
    card = {"id": server.model, "object": "model", "owned_by": "vllm", "max_model_len": server.context}
    return {"/version": {"version": "0.11.0"}, "/v1/models": {"object": "list", "data": [card]}}


def _sglang(server: Face) -> dict[str, Any]:
    card = {"id": server.model, "object": "model", "owned_by": "sglang", "max_model_len": server.context}
    return {
        "/get_model_info": {"model_path": server.model, "is_generation": True},
        "/get_server_info": {"context_length": None, "max_running_requests": 24},
        "/v1/models": {"object": "list", "data": [card]},
    }


FACES: dict[str, Callable[[Face], dict[str, Any]]] = {
    "llamacpp": _llamacpp,
    "lmstudio": _lmstudio,
    "ollama": _ollama,
    "vllm": _vllm,
    "sglang": _sglang,
}
