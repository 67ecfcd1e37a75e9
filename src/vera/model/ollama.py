"""Ollama's own chat route, where the context size is part of the request (its OpenAI route ignores it)."""

import json
from collections.abc import Sequence
from typing import Any

from vera.events import REPETITION
from vera.model import loose
from vera.model.logprobs import TOP_LOGPROBS, TokenFold
from vera.model.reasoning import split_reasoning
from vera.model.repetition import WatchedText, is_cut, tokens_seen
from vera.model.types import Choice, Message, Request, Usage
from vera.model.url import server_root
from vera.model.wire import Dialect, IncompleteReply, ReplyError, UnreadableReply, WireReply

MAX_TOOL_CALLS = 64
TOP_LEVEL = frozenset({"think", "keep_alive", "logprobs", "top_logprobs"})
"""Fields of `Request.sampling` that are no model options here."""


class OllamaWire:
    """`POST {root}/api/chat`, streamed as one JSON object a line."""

    def __init__(self, context_tokens: int) -> None:
        self._context_tokens = context_tokens

    def url(self, base_url: str) -> str:
        return f"{server_root(base_url)}/api/chat"

    def body(self, model: str, request: Request, dialect: Dialect) -> dict[str, Any]:
        options: dict[str, Any] = {"num_ctx": self._context_tokens, "num_predict": request.max_tokens}
        if dialect.temperature:
            options["temperature"] = request.temperature
        options.update((k, v) for k, v in request.sampling.items() if k not in TOP_LEVEL)
        body: dict[str, Any] = {
            "model": model,
            "messages": [_message(m) for m in request.messages],
            "stream": True,
            # Without these a prompt that is too long loses its beginning in silence.
            "truncate": False,
            "shift": False,
            "options": options,
        }
        if request.schema is not None:
            body["format"] = request.schema
        if request.tools:
            body["tools"] = list(request.tools)
        if request.logprobs and dialect.logprobs:
            body["logprobs"], body["top_logprobs"] = True, TOP_LOGPROBS
        body.update((k, v) for k, v in request.sampling.items() if k in TOP_LEVEL)
        return body

    def reader(self, request: Request) -> "OllamaReader":
        return OllamaReader()


class OllamaReader:
    """Reads a reply of one JSON object a line; the last says `done` and what was counted."""

    def __init__(self) -> None:
        self._content = WatchedText()
        self._thinking = WatchedText()
        self._pieces = 0
        self._calls: list[dict[str, Any]] = []
        self._tokens = TokenFold()
        self._last: dict[str, Any] = {}
        self._unread = b""
        self._anything = False
        self.started = False
        self.finished = False

    @property
    def repeats(self) -> bool:
        return not self.finished and (self._content.loops or self._thinking.loops)

    def feed(self, line: bytes) -> None:
        if not line.strip():
            return
        self._anything = True
        piece = loose.mapping(loose.decode(line))
        if not piece:
            self._unread = self._unread or line[:2000]
            return
        if piece.get("error"):
            raise ReplyError(loose.count(piece.get("status_code")) or 0, line[:16_384])
        message = loose.mapping(piece.get("message"))
        self._content.add(loose.text(message.get("content")))
        self._thinking.add(loose.text(message.get("thinking")))
        said = bool(message.get("content") or message.get("thinking"))
        self._pieces += said
        self._tokens.add(piece.get("logprobs"))
        for call in loose.items(message.get("tool_calls"), MAX_TOOL_CALLS - len(self._calls)):
            self._calls.append(_tool_call(loose.mapping(call), len(self._calls)))
        self.started |= said or bool(self._calls)
        if piece.get("done") is True:
            self._last = piece
            self.finished = True

    def close(self) -> WireReply:
        if not self.finished and not self.repeats:
            raise self._broken_off()
        reason = loose.text(self._last.get("done_reason"))[:40] or "stop"
        texts = (self._content, self._thinking)
        cut = is_cut(texts, reason if self.finished else "")
        text = WatchedText.cut if cut else WatchedText.whole
        content, inline = split_reasoning(text(self._content))
        finish_reason = "tool_calls" if self._calls and reason == "stop" else reason
        choice = Choice(
            content=content,
            reasoning="\n".join(part for part in (text(self._thinking), inline) if part),
            tool_calls=tuple(self._calls),
            finish_reason=REPETITION if cut else finish_reason,
            tokens=self._tokens.value(),
        )
        return WireReply(choices=(choice,), usage=self._used(texts))

    def _used(self, texts: Sequence[WatchedText]) -> Usage:
        counted = loose.count(self._last.get("eval_count"))
        return Usage(
            prompt_tokens=loose.count(self._last.get("prompt_eval_count")),
            completion_tokens=tokens_seen(self._pieces, texts) if self.repeats else counted,
        )

    def _broken_off(self) -> UnreadableReply | IncompleteReply:
        if self._unread and not self.started:
            return UnreadableReply(self._unread)
        return IncompleteReply("the stream ended in the middle" if self._anything else "it was empty")


def _message(message: Message) -> dict[str, Any]:
    said: dict[str, Any] = {"role": message.role, "content": message.content or ""}
    if message.tool_calls:
        said["tool_calls"] = [_call_with_object(call) for call in message.tool_calls]
    if message.tool_call_id is not None:
        said["tool_call_id"] = message.tool_call_id
    return said


def _call_with_object(call: dict[str, Any]) -> dict[str, Any]:
    """OpenAI carries a call's arguments as text, Ollama as an object."""
    function = loose.mapping(call.get("function"))
    arguments = function.get("arguments")
    if isinstance(arguments, str):
        arguments = loose.mapping(loose.decode(arguments.encode("utf-8", "replace")))
    return {**call, "function": {**function, "arguments": arguments or {}}}


def _tool_call(call: dict[str, Any], position: int) -> dict[str, Any]:
    function = loose.mapping(call.get("function"))
    arguments = function.get("arguments")
    return {
        "id": loose.text(call.get("id")) or f"call_{position}",
        "type": "function",
        "function": {
            "name": loose.text(function.get("name")),
            "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments or {}),
        },
    }
