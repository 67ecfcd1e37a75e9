"""What a record of the log says as attributes of a span.

Names are those of OpenTelemetry's semantic conventions for generative AI (all of status Development; here as
of commit 002c8a6 of `open-telemetry/semantic-conventions-genai`), with `gen_ai.usage.cost`, which Langfuse
reads, and `vera.*` for what is ours. `otel_openinference` says the same in OpenInference's names.

A function here gives every name that applies, with None for what is not known. Content is what was asked,
said, searched, found, and any sentence that may quote it; the conventions leave it out unless asked for:
`read` gives '' then, and `bounded` drops its names.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

import msgspec

from vera import events
from vera.decode_errors import DECODE_ERRORS
from vera.events import Text
from vera.export.otel_span import Attributes, Value, cut, within

Read = Callable[[Text], str]
Known = Mapping[str, Value | None]
Message = tuple[str, Text]
"""A role and what it says."""


AGENT = "vera"
VERIFIER = "verifier"
SELECTOR = "selector"
EVALUATION = "gen_ai.evaluation.result"
OTHER = "_OTHER"
"""The conventions' `error.type` for an error without its own word."""

CONTENT = frozenset(
    {
        "gen_ai.evaluation.explanation",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
        "gen_ai.retrieval.query.text",
        "gen_ai.system_instructions",
        "gen_ai.tool.call.arguments",
        "gen_ai.tool.call.result",
        "input.value",
        "output.value",
        "vera.gate.reason",
        "vera.reason",
    }
)
"""Attributes that hold content. They may be long."""

MAX_TEXT_LENGTH = 8192
"""Characters of one text of content."""

MAX_MESSAGE_LENGTH = 2048
MAX_MESSAGES = 16
"""Of a request: the newest."""

MAX_CALLS = 8
"""Tool calls of one reply."""

_MAX_CONTENT_LENGTH = 200_000
"""Above what the bounds of texts and messages can come to as JSON, which must not be cut."""

_SAFE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")


def bounded(known: Known, with_content: bool) -> Attributes:
    """What is known, each value within its bounds, and content only where it was asked for."""
    return {
        name: within(value, _MAX_CONTENT_LENGTH) if name in CONTENT else within(value)
        for name, value in known.items()
        if value is not None and value != "" and value != () and (with_content or name not in CONTENT)
    }


def word(text: str, otherwise: str = "unknown") -> str:
    """A name as it may be in the name of a span: a tool's is whatever the model called it."""
    return text if 0 < len(text) <= 64 and _SAFE.issuperset(text) else otherwise


def server(found: events.ModelServer) -> Known:
    """Who answers, and where. Nothing of the address but host and port: the rest could hold a key."""
    try:
        parts = urlsplit(found.base_url)
        host, port = parts.hostname, parts.port
    except ValueError:
        host = port = None
    if host and port is None:
        port = 443 if parts.scheme == "https" else 80
    return {"gen_ai.provider.name": found.kind, "server.address": host, "server.port": port if host else None}


def agent(name: str, conversation: str) -> Known:
    """The head of each span of an agent."""
    return {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": name,
        "gen_ai.conversation.id": conversation,
    }


def step(number: int) -> Known:
    return {"vera.step": number}


def chat(call: events.Model, said: events.ModelIo | None, read: Read, heard: Sequence[Message] = ()) -> Known:
    """A model call. Without `said` it was not answered. `heard` is what is new in its prompt since
    that of the step before, for a request that the log does not keep."""
    parameters = said.parameters if said else {}
    return {
        "gen_ai.operation.name": "chat",
        "gen_ai.request.temperature": _number(parameters.get("temperature")),
        "gen_ai.request.max_tokens": _whole(parameters.get("max_tokens")),
        "gen_ai.request.choice.count": _unless_one(call.candidates),
        "gen_ai.response.finish_reasons": (call.finish_reason,) if call.finish_reason else None,
        "gen_ai.response.time_to_first_chunk": call.first_byte_s or None,
        "gen_ai.usage.input_tokens": call.prompt_tokens,
        "gen_ai.usage.output_tokens": call.completion_tokens,
        "gen_ai.usage.cache_read.input_tokens": call.cached_tokens,
        "gen_ai.input.messages": _request(read(said.request) if said else "") or _messages(heard, read),
        "gen_ai.output.messages": _reply(said, read) if said else None,
        "vera.step": call.step,
        "vera.model.scope": call.scope,
        "vera.model.attempts": _unless_one(call.attempts),
        "vera.model.truncated": bool(call.truncated) or None,
        "error.type": OTHER if call.error else None,
    }


def _unless_one(number: int) -> int | None:
    return number if number != 1 else None


def model_of(said: events.ModelIo | None) -> str:
    """The model that was asked, '' where the log does not say."""
    name = said.parameters.get("model") if said else None
    return name if isinstance(name, str) else ""


def tool(call: events.Tool, started: events.ToolStarted | None, read: Read) -> Known:
    failed = call.outcome != "ok"
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": word(call.tool),
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.id": call.call,
        "gen_ai.tool.call.arguments": cut(read(started.args), MAX_TEXT_LENGTH) if started else None,
        "gen_ai.tool.call.result": cut(read(call.obs), MAX_TEXT_LENGTH),
        "process.exit.code": call.exit_code,
        "vera.tool.outcome": call.outcome,
        "vera.evidence": call.evidence,
        "error.type": word(call.error_type, word(call.outcome, OTHER)) if failed else None,
    }


def exam(sat: events.VerifierExam) -> Known:
    """The exam of a judge. One that could not be finished is an error, a judge that failed it is not."""
    return {
        "gen_ai.request.model": sat.model,
        "vera.exam.right": sat.right,
        "vera.exam.of": sat.of,
        "vera.exam.passed": sat.passed,
        "error.type": OTHER if sat.problem else None,
    }


def derivation(made: events.Derivation, read: Read) -> Known:
    """A command that a round of verification ran again."""
    failed = made.outcome in ("failed", "unavailable")
    return {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": "shell",
        "gen_ai.tool.type": "function",
        "gen_ai.tool.call.arguments": cut(read(made.command), MAX_TEXT_LENGTH),
        "gen_ai.tool.call.result": cut(read(made.output), MAX_TEXT_LENGTH),
        "process.exit.code": made.exit_code,
        "vera.tool.outcome": made.outcome,
        "vera.evidence": made.evidence,
        "error.type": word(made.outcome, OTHER) if failed else None,
    }


SEARCH_FAILED = ("refused", "failed", "challenge")


def retrieval(search: events.Search, read: Read) -> Known:
    failed = search.outcome in SEARCH_FAILED
    return {
        "gen_ai.operation.name": "retrieval",
        "gen_ai.data_source.id": word(search.engine),
        "gen_ai.retrieval.query.text": cut(read(search.query), MAX_TEXT_LENGTH),
        "http.response.status_code": search.http_status,
        "vera.search.kind": search.kind,
        "vera.search.outcome": search.outcome,
        "vera.search.results": search.results,
        "error.type": word(search.cause or search.outcome, OTHER) if failed else None,
    }


def gate(name: str, spoke: events.Policy | events.PolicyNotesGuard, read: Read) -> Known:
    known: dict[str, Value | None] = {"vera.gate": name, "openinference.span.kind": "GUARDRAIL"}
    if isinstance(spoke, events.PolicyNotesGuard):
        return known | {
            "vera.gate.action": "restore",
            "vera.gate.reason": cut(read(spoke.detail), MAX_TEXT_LENGTH),
        }
    return known | {
        "vera.gate.action": spoke.effect,
        "vera.gate.count": spoke.count or None,
        "vera.gate.limit": spoke.limit or None,
        "gen_ai.tool.name": word(spoke.tool) if spoke.tool else None,
        "vera.gate.reason": cut(read(spoke.reason), MAX_TEXT_LENGTH),
    }


def selection(made: events.Selection, sampled: int) -> Known:
    return {
        "vera.candidate.count": sampled,
        "vera.candidate.chosen": made.selected,
        "vera.selection.decider": made.decider,
        "vera.selection.type": word(made.selector, OTHER) if made.selector else None,
        "vera.selection.judge_calls": made.judge_calls,
        "vera.selection.fallback": made.fallback,
    }


def evaluation(decision: events.Verifier, read: Read) -> Known:
    """The verdict of a round; the score is from 1 (entirely wrong) to 4 (entirely right)."""
    return {
        "gen_ai.evaluation.name": "vera.answer",
        "gen_ai.evaluation.score.value": None if decision.score is None else decision.score / 100,
        "gen_ai.evaluation.score.label": decision.result,
        "gen_ai.evaluation.explanation": cut(read(decision.reason), MAX_TEXT_LENGTH),
    }


def verification(decision: events.Verifier) -> Known:
    return {
        "vera.verify.attestation": decision.attestation,
        "vera.verify.claims": decision.claims,
        "vera.verify.supported": decision.supported,
        "vera.verify.disputed": decision.disputed,
        "vera.verify.findings.hard": decision.hard,
        "vera.verify.findings.soft": decision.soft,
    }


ENDED_WITH_A_VERDICT = (0, 3, 4, 6)
"""Exit codes of runs that came to their end: what they found out, or did not, is no error of theirs."""


def run_end(end: events.RunEnd, read: Read) -> Known:
    known: dict[str, Value | None] = {
        "vera.status": end.status,
        "vera.exit_code": end.exit_code,
        "vera.reason": cut(read(end.reason), MAX_TEXT_LENGTH),
    }
    if end.exit_code in ENDED_WITH_A_VERDICT:
        return known
    return known | {"error.type": "interrupted" if end.exit_code == 130 else f"exit_{end.exit_code}"}


def message(role: str, text: str) -> str | None:
    """A text as a list of one message, in the conventions' JSON; None for none."""
    if not text:
        return None
    return _json([{"role": role, "parts": [{"type": "text", "content": cut(text, MAX_TEXT_LENGTH)}]}])


def instructions(text: str) -> str | None:
    """A system message in the conventions' JSON; None for none."""
    return _json([{"type": "text", "content": cut(text, MAX_TEXT_LENGTH)}]) if text else None


def _reply(said: events.ModelIo, read: Read) -> str | None:
    reasoning, content = read(said.reasoning), read(said.content)
    parts: list[dict[str, Any]] = []
    if reasoning:
        parts.append({"type": "reasoning", "content": cut(reasoning, MAX_TEXT_LENGTH)})
    if content:
        parts.append({"type": "text", "content": cut(content, MAX_TEXT_LENGTH)})
    parts.extend(_tool_call(call) for call in said.tool_calls[:MAX_CALLS])
    if not parts:
        return None
    return _json([{"role": "assistant", "parts": parts, "finish_reason": cut(said.finish_reason) or "stop"}])


def _tool_call(call: dict[str, Any]) -> dict[str, Any]:
    function = call.get("function")
    function = function if isinstance(function, dict) else {}
    return {
        "type": "tool_call",
        "id": cut(str(call.get("id", ""))),
        "name": cut(str(function.get("name", ""))),
        "arguments": cut(str(function.get("arguments", "")), MAX_MESSAGE_LENGTH),
    }


def _messages(heard: Sequence[Message], read: Read) -> str | None:
    """Messages in the conventions' JSON; None for none with words."""
    found = [(role, read(text)) for role, text in heard[-MAX_MESSAGES:]]
    made = [
        {"role": role, "parts": [{"type": "text", "content": cut(text, MAX_TEXT_LENGTH)}]}
        for role, text in found
        if text
    ]
    return _json(made) if made else None


def _request(wire: str) -> str | None:
    """The newest messages of a request that was kept as JSON; None for what is no list of messages."""
    if not wire:
        return None
    try:
        messages = msgspec.json.decode(wire.encode("utf-8", "replace"), type=list[dict[str, Any]])
    except DECODE_ERRORS:
        return None
    return _json(
        [
            {
                "role": cut(str(each.get("role", ""))),
                "parts": [{"type": "text", "content": cut(str(each.get("content", "")), MAX_MESSAGE_LENGTH)}],
            }
            for each in messages[-MAX_MESSAGES:]
        ]
    )


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) and abs(value) < 1e300 else None


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None
