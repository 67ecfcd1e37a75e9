"""What the conventions for generative AI say of a span, in the names of OpenInference.

Phoenix reads these names, and Langfuse the kind of a span, `input.value`, `output.value`, `session.id` and
`gen_ai.usage.cost`. The names are those of OpenInference's specification (`spec/semantic_conventions.md` of
`Arize-ai/openinference`, commit 00e2b51) and of Langfuse's property mapping (its page on OpenTelemetry,
commit 0d827ab of `langfuse/langfuse-docs`).
"""

from collections.abc import Mapping

from vera.export.otel_span import Value

KIND = "openinference.span.kind"
KINDS: Mapping[str, str] = {
    "chat": "LLM",
    "execute_tool": "TOOL",
    "retrieval": "RETRIEVER",
    "invoke_agent": "AGENT",
}
"""`gen_ai.operation.name` → the kind of span; any other is CHAIN, a link between such steps."""

NAMES: Mapping[str, str] = {
    "gen_ai.input.messages": "input.value",
    "gen_ai.output.messages": "output.value",
    "gen_ai.tool.call.arguments": "input.value",
    "gen_ai.tool.call.result": "output.value",
    "gen_ai.retrieval.query.text": "input.value",
}
OF_KIND: Mapping[str, Mapping[str, str]] = {
    "TOOL": {"gen_ai.tool.name": "tool.name"},
    "LLM": {
        "gen_ai.provider.name": "llm.system",
        "gen_ai.request.model": "llm.model_name",
        "gen_ai.usage.input_tokens": "llm.token_count.prompt",
        "gen_ai.usage.cache_read.input_tokens": "llm.token_count.prompt_details.cache_read",
        "gen_ai.usage.output_tokens": "llm.token_count.completion",
        "gen_ai.usage.cost": "llm.cost.total",
    },
}
"""Names of one kind of span alone: an agent above model calls is not to be counted once more."""

_JSON = frozenset({"gen_ai.input.messages", "gen_ai.output.messages"})


def also(known: Mapping[str, Value], session: str) -> dict[str, Value]:
    """The attributes of a span, and what they are in OpenInference; each has the id of its session."""
    kind = known.get(KIND) or KINDS.get(str(known.get("gen_ai.operation.name")), "CHAIN")
    names = {**NAMES, **OF_KIND.get(str(kind), {})}
    other = {names[name]: value for name, value in known.items() if name in names}
    types: dict[str, Value] = {
        f"{names[name].partition('.')[0]}.mime_type": "application/json" for name in _JSON & known.keys()
    }
    return {**known, **other, **types, KIND: kind, "session.id": session}
