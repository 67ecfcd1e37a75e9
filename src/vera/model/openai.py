"""OpenAI's chat completions as servers really speak it: the request's body, and a lenient reader."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from vera.events import REPETITION
from vera.model import loose
from vera.model.logprobs import TOP_LOGPROBS, TokenFold
from vera.model.reasoning import split_reasoning
from vera.model.repetition import WatchedText, is_cut, tokens_seen
from vera.model.stream import EventDecoder
from vera.model.types import Choice, Request, Usage
from vera.model.wire import Dialect, IncompleteReply, ReplyError, UnreadableReply, WireReply

MAX_CHOICES = 128
MAX_TOOL_CALLS = 64
EVENT_FIELDS = (b"data:", b"event:", b"id:", b"retry:", b":")
OURS = frozenset({"model", "messages", "stream", "stream_options", "n"})
"""Fields that `Request.sampling` cannot override: the reader depends on them."""


class OpenAIWire:
    """`POST {base}/chat/completions`, streamed as server-sent events."""

    def url(self, base_url: str) -> str:
        return f"{base_url}/chat/completions"

    def body(self, model: str, request: Request, dialect: Dialect) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": model,
            "messages": msgspec.to_builtins(list(request.messages)),
            dialect.token_field: request.max_tokens,
            "stream": True,
        }
        if dialect.stream_options:
            body["stream_options"] = {"include_usage": True}
        if dialect.temperature:
            body["temperature"] = request.temperature
        if dialect.n and request.n > 1:
            body["n"] = request.n
        if request.schema is not None:
            named = {"name": "turn", "strict": True, "schema": request.schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        if request.tools:
            body["tools"] = list(request.tools)
        if request.logprobs and dialect.logprobs:
            body["logprobs"], body["top_logprobs"] = True, TOP_LOGPROBS
        body.update((k, v) for k, v in request.sampling.items() if k not in OURS)
        return body

    def reader(self, request: Request) -> "OpenAIReader":
        return OpenAIReader(request.n)


class OpenAIReader:
    """Reads a streamed reply, or a plain JSON one from a server that ignores `stream`."""

    def __init__(self, n: int = 1) -> None:
        self._n = n
        self._events = EventDecoder()
        self._plain: list[bytes] = []
        self._streamed: bool | None = None
        self._choices: dict[int, _Choice] = {}
        self._usage = _UsageFold(n)
        self.started = False
        self.finished = False
        self.repeats = False

    def feed(self, line: bytes) -> None:
        if self._streamed is None and line.strip():
            self._streamed = line.removeprefix(b"\xef\xbb\xbf").startswith(EVENT_FIELDS)
        if self._streamed is False:
            self._plain.append(line)
            self.started = True
        elif self._streamed:
            data = self._events.feed(line)
            if data is not None:
                self._event(data)

    def close(self) -> WireReply:
        self._read_rest()
        if not self._choices:
            raise IncompleteReply("it was empty" if self._streamed is None else "it had no choices")
        choices = [self._choices[index] for index in sorted(self._choices)]
        if not self.finished and any(not (c.finish_reason or c.loops) for c in choices):
            raise IncompleteReply("the stream ended in the middle")
        return WireReply(choices=tuple(c.value() for c in choices), usage=self._used(choices))

    def _read_rest(self) -> None:
        if self._streamed is False:
            self._whole(b"\n".join(self._plain))
        elif (data := self._events.rest()) is not None:
            self._event(data)

    def _used(self, choices: Sequence["_Choice"]) -> Usage:
        """The usage, with the tokens that were seen where a repetition was cut off before it came."""
        usage = self._usage.value()
        if self.repeats and usage.completion_tokens is None:
            return msgspec.structs.replace(usage, completion_tokens=sum(c.tokens_seen for c in choices))
        return usage

    def _event(self, data: bytes) -> None:
        if data.strip() == b"[DONE]":
            self.finished = True
            return
        chunk = loose.mapping(loose.decode(data))
        if not chunk:
            return
        _raise_error(chunk, data)
        choices = loose.items(chunk.get("choices"), MAX_CHOICES)
        for item in choices:
            piece = loose.mapping(item)
            self._choice(piece).add(loose.mapping(piece.get("delta")) or loose.mapping(piece.get("message")))
            self._choice(piece).tokens.add(loose.mapping(piece.get("logprobs")).get("content"))
            self.started = self.started or self._choice(piece).begun
        self._usage.add(chunk, bool(choices))
        going_on = [c for c in self._choices.values() if not c.finish_reason]
        self.repeats = bool(going_on) and len(self._choices) >= self._n and all(c.loops for c in going_on)

    def _whole(self, data: bytes) -> None:
        answer = loose.mapping(loose.decode(data))
        if not answer:
            raise UnreadableReply(data[:2000])
        _raise_error(answer, data)
        if "choices" not in answer:
            raise UnreadableReply(data[:2000])
        for position, item in enumerate(loose.items(answer["choices"], MAX_CHOICES)):
            piece = {"index": position, **loose.mapping(item)}
            self._choice(piece).add(loose.mapping(piece.get("message")))
            self._choice(piece).tokens.add(loose.mapping(piece.get("logprobs")).get("content"))
        self._usage.add(answer, False)
        self.finished = True

    def _choice(self, piece: dict[str, Any]) -> "_Choice":
        index = loose.count(piece.get("index")) or 0
        choice = self._choices.setdefault(min(index, MAX_CHOICES), _Choice())
        choice.finish_reason = loose.text(piece.get("finish_reason"))[:40] or choice.finish_reason
        return choice


class _Choice:
    """One candidate as it grows."""

    def __init__(self) -> None:
        self.finish_reason = ""
        self.pieces = 0
        self.tokens = TokenFold()
        self._content = WatchedText()
        self._reasoning = WatchedText()
        self._calls: list[dict[str, Any]] = []
        self._arguments: list[WatchedText] = []

    @property
    def begun(self) -> bool:
        return self.pieces > 0

    @property
    def loops(self) -> bool:
        """Whether it only repeats itself."""
        return any(text.loops for text in self._texts())

    def add(self, delta: dict[str, Any]) -> None:
        content, reasoning = _parts(delta.get("content"))
        for field in ("reasoning_content", "reasoning"):
            reasoning = reasoning or loose.text(delta.get(field))
        calls = loose.items(delta.get("tool_calls"), MAX_TOOL_CALLS)
        self._content.add(content)
        self._reasoning.add(reasoning)
        for position, call in enumerate(calls):
            self._add_call(loose.mapping(call), position)
        self.pieces += bool(content or reasoning or calls)

    def value(self) -> Choice:
        """What it is now. One that ended in a repetition is given without it."""
        cut = is_cut(self._texts(), self.finish_reason)
        text = WatchedText.cut if cut else WatchedText.whole
        content, inline = split_reasoning(text(self._content))
        reasoning = "\n".join(part for part in (text(self._reasoning), inline) if part)
        calls = tuple(
            {**call, "function": {**call["function"], "arguments": text(arguments)}}
            for call, arguments in zip(self._calls, self._arguments, strict=True)
        )
        finish_reason = self.finish_reason or ("tool_calls" if calls else "stop")
        return Choice(
            content=content,
            reasoning=reasoning,
            tool_calls=calls,
            finish_reason=REPETITION if cut else finish_reason,
            tokens=self.tokens.value(),
        )

    @property
    def tokens_seen(self) -> int:
        """About how many tokens came, where the server does not say: no less than its pieces."""
        return tokens_seen(self.pieces, self._texts())

    def _texts(self) -> tuple[WatchedText, ...]:
        return (self._content, self._reasoning, *self._arguments)

    def _add_call(self, call: dict[str, Any], position: int) -> None:
        function = loose.mapping(call.get("function"))
        identity, name = loose.text(call.get("id")), loose.text(function.get("name"))
        index = loose.count(call.get("index"))
        if index is None:
            index = self._place(identity, name, position)
        index = min(index, len(self._calls))
        if index >= MAX_TOOL_CALLS:
            return
        if index == len(self._calls):
            self._calls.append({"id": "", "type": "function", "function": {"name": ""}})
            self._arguments.append(WatchedText())
        target = self._calls[index]
        target["id"] = target["id"] or identity
        target["function"]["name"] = target["function"]["name"] or name
        arguments = function.get("arguments")
        as_text = json.dumps(arguments) if isinstance(arguments, dict) else loose.text(arguments)
        self._arguments[index].add(as_text)

    def _place(self, identity: str, name: str, position: int) -> int:
        """Where a piece of a call belongs that has no index: one with a new id begins a call, and one without
        any continues the last."""
        known = [i for i, c in enumerate(self._calls) if c["id"] == identity] if identity else []
        if known:
            return known[0]
        return len(self._calls) if identity or name else max(len(self._calls) - 1, position)


class _UsageFold:
    """Usage over a stream's chunks: a closing report wins over running ones; reports a choice are added."""

    def __init__(self, n: int) -> None:
        self._n = n
        self._closing: list[Usage] = []
        self._running: Usage | None = None

    def add(self, chunk: dict[str, Any], with_choices: bool) -> None:
        usage = _usage(chunk)
        if usage is None:
            return
        if with_choices:
            self._running = usage
        elif len(self._closing) < MAX_CHOICES:
            self._closing.append(usage)

    def value(self) -> Usage:
        if not self._closing:
            return self._running or Usage()
        if self._n == 1 or len(self._closing) == 1:
            return self._closing[-1]
        # llama.cpp reports each of n choices by itself, each time with the one prompt they share.
        prompts = [u.prompt_tokens for u in self._closing if u.prompt_tokens is not None]
        cached = [u.cached_tokens for u in self._closing if u.cached_tokens is not None]
        return Usage(
            prompt_tokens=max(prompts, default=None),
            completion_tokens=sum(u.completion_tokens or 0 for u in self._closing),
            cached_tokens=min(cached, default=None),
        )


def _usage(chunk: dict[str, Any]) -> Usage | None:
    usage = loose.mapping(chunk.get("usage"))
    if not usage:
        return None
    cached = loose.mapping(usage.get("prompt_tokens_details")).get("cached_tokens")
    if cached is None:
        cached = usage.get("prompt_cache_hit_tokens")
    return Usage(
        prompt_tokens=loose.count(usage.get("prompt_tokens")),
        completion_tokens=loose.count(usage.get("completion_tokens")),
        cached_tokens=loose.count(cached),
    )


def _parts(content: Any) -> tuple[str, str]:
    """(text, reasoning) of a content that is text, null, or a list of typed parts."""
    if not isinstance(content, list):
        return loose.text(content), ""
    texts: list[str] = []
    thoughts: list[str] = []
    for item in loose.items(content):
        part = loose.mapping(item)
        texts.append(loose.text(part.get("text")))
        thinking = part.get("thinking")
        thoughts.append(loose.text(thinking))
        thoughts.extend(loose.text(loose.mapping(inner).get("text")) for inner in loose.items(thinking))
    return "".join(texts), "".join(thoughts)


def _raise_error(chunk: dict[str, Any], data: bytes) -> None:
    error = chunk.get("error")
    if not error or chunk.get("choices"):
        return
    details = loose.mapping(error)
    status = loose.count(details.get("code")) or loose.count(details.get("status")) or 0
    raise ReplyError(status, data[:16_384])
