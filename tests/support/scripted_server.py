"""A real HTTP server on loopback that plays a model from a script: for every test that needs a model.

    with ScriptedServer(["first answer", "second answer"]) as server:
        ...  # point the client, or `vera run --model-base-url`, at server.base_url
    assert [r.body["messages"][-1]["content"] for r in server.requests] == [...]

The script is a list of replies, one for each chat request, or a function `(index, body) -> reply`. A reply is

- a `str`: the content of the answer;
- a `dict`: the message itself: any of `content`, `reasoning_content`, `tool_calls`, `finish_reason`,
  `usage` (replaces the computed one; None leaves it out), `logprobs` (a list of tokens in OpenAI's form, sent
  only to a request that asks for them);
- a `list` of these: candidates. A request for `n` takes n of them at once; one that asks for fewer takes
  what it asked for and leaves the rest to the requests that follow;
- `Fault(status, headers, body)`: an HTTP error;
- `Drop()`: closes the connection without a word; `Drop(after="text")` in the middle of an answer;
- `Slow(seconds, reply)`: waits first; with `after="text"` it waits in the middle of the answer; with
  `keepalive=0.1` it sends a comment that often while it waits; with `together=3` it waits for three requests
  at the same time before;
- `Raw(b"...", b"...")`: these bytes as the body of an HTTP 200, one chunk each.

After the script's end `exhausted="error"` (the default) answers HTTP 400, which no client retries, so a test
that asks too much fails at once; `"repeat"` gives the last reply again and again.

`kind` makes it look like a server of that kind: openai (nothing but /v1/models), lmstudio, ollama, vllm,
llamacpp, sglang. `protocol` is what it supports: with `json_schema` it answers VERA's probe as a server does
that keeps to schemas, with `tools` its template has tool calls, with `text` neither. Probes are answered
aside: they take nothing from the script and are in `probes`, not in `requests`. Usage is computed: four bytes
a token, and as `cached_tokens` the part of the prompt that is a prefix of an earlier prompt.

A judge's reply `{"score": …}` becomes one by each criterion for a request that asks for several in one reply.

The exam of a judge is answered aside, too, rightly and for no tokens: a test that is about something else
need not know of it. With `exam="script"` the script sits it like every other request.

It records: `requests` (chat requests, each with the time at which it `arrived`), `answered` (when the answer
to each of them had been sent), `probes`, `paths` (every path asked), `most_at_once`, `cancelled` (clients
that went away before their answer; when the server has ended, all of them are counted). Standard library
only; each connection has its own thread.
"""

import json
import re
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, cast

from support import exams
from support.server_faces import about

MAX_BODY_BYTES = 64 * 1024 * 1024


OTHERS_SECONDS = 20.0
"""For so long a `Slow` reply waits for others at the same time."""


@dataclass(frozen=True)
class Fault:
    """An HTTP error; a dict as body becomes JSON."""

    status: int
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes | str | dict[str, Any] = b""


@dataclass(frozen=True)
class Drop:
    """The connection breaks: before the answer, or after this much of its content."""

    after: str | None = None


@dataclass(frozen=True)
class Slow:
    """A wait of `seconds` before `reply`, or after the first words `after` of it. It begins when `together`
    requests have been asked at the same time, or will not be."""

    seconds: float
    reply: Any = ""
    after: str | None = None
    keepalive: float = 0.0
    together: int = 0


class Raw:
    """A body of HTTP 200, given as it is: each piece is sent by itself."""

    def __init__(self, *pieces: bytes, content_type: str = "text/event-stream") -> None:
        self.pieces = pieces
        self.content_type = content_type


@dataclass(frozen=True)
class Recorded:
    """One chat request as it came in; `raw_bytes` is the size of its body, header names are lower case.

    The header `x-test-connection` is ours: the client's address, one for each connection. `arrived` is in
    seconds of time.monotonic.
    """

    path: str
    body: dict[str, Any]
    raw_bytes: int
    headers: dict[str, str]
    arrived: float = 0.0


class _Gone(Exception):
    """The client closed its connection."""


class _Stopped(Exception):
    """The server is being stopped, and the client is still there."""


class ScriptedServer:
    def __init__(
        self,
        script: Sequence[Any] | Callable[[int, dict[str, Any]], Any],
        *,
        kind: str = "openai",
        protocol: str = "text",
        model: str = "scripted-model",
        other_models: Sequence[str] = (),
        loaded: bool = True,
        context: int = 32_768,
        trained: int = 131_072,
        parallel: int | None = None,
        exhausted: str = "error",
        key: str | None = None,
        usage: bool = True,
        streams: bool = True,
        honours_n: bool | None = None,
        refuses: Sequence[str] = (),
        lmstudio_api: str = "v1",
        exam: str = "passed",
        probe_waits: float = 0.0,
        port: int = 0,
    ) -> None:
        """`loaded`, `context` and `trained` (the context it was trained for) are what it says of `model`;
        `other_models` are there, not loaded.

        `key`: without it a request gets HTTP 401. `streams=False` ignores `stream`; `honours_n` defaults
        to what servers of this kind do; `refuses` names request fields answered with HTTP 400; the probe is
        answered after `probe_waits` seconds; it listens at `port`, 0 for any that is free.
        """
        self.kind, self.protocol, self.model = kind, protocol, model
        self.other_models, self.loaded, self.context = tuple(other_models), loaded, context
        self.trained, self.probe_waits = trained, probe_waits
        self.parallel = parallel if parallel is not None else (4 if kind == "llamacpp" else 1)
        self.exhausted, self.key, self.usage, self.streams = exhausted, key, usage, streams
        self.honours_n = kind not in ("lmstudio", "ollama") if honours_n is None else honours_n
        self.refuses, self.lmstudio_api = tuple(refuses), lmstudio_api
        self.sits_exam = exam == "script"
        self.requests: list[Recorded] = []
        self.exams: list[Recorded] = []
        self.probes: list[Recorded] = []
        self.answered: dict[int, float] = {}
        self.paths: list[str] = []
        self.errors: list[BaseException] = []
        self.most_at_once = self.cancelled = 0
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self._ended = threading.Condition(self.lock)
        self._script = script if callable(script) else None
        self._pending: list[Any] = [] if callable(script) else list(script)
        self._last: Any = None
        self._prompts: list[str] = []
        self._running = 0
        self._http = _Server(("127.0.0.1", port), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def root(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def base_url(self) -> str:
        return f"{self.root}/v1"

    def __enter__(self) -> "ScriptedServer":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5)
        with self.lock:
            self._ended.wait_for(lambda: not self._running, timeout=5)
        if error is None and self.errors:
            raise self.errors[0]

    def next_reply(self, index: int, body: dict[str, Any], n: int) -> Any:
        """The script's next reply: a list of n candidates, or one reply of another kind."""
        if self._script is not None:
            reply = self._script(index, body)
        elif self._pending:
            reply = self._pending.pop(0)
        elif self.exhausted == "repeat" and self._last is not None:
            reply = self._last
        else:
            message = f"the script has no reply for chat request {index + 1}"
            return Fault(400, body={"error": {"message": message}})
        self._last = reply
        if not isinstance(reply, list):
            return [reply] * n if isinstance(reply, str | dict) else reply
        if reply[n:]:
            self._pending.insert(0, reply[n:])
        return reply[:n]

    def record(self, recorded: Recorded, kept: list[Recorded]) -> int:
        with self.lock:
            kept.append(recorded)
            return len(self.requests) - 1

    def counted(self, prompt: str, contents: list[str]) -> dict[str, Any]:
        """OpenAI usage for this prompt and these answers; the prompt joins the cache."""
        with self.lock:
            shared = max((_common_prefix(prompt, earlier) for earlier in self._prompts[-8:]), default=0)
            self._prompts.append(prompt)
        prompt_tokens = max(1, len(prompt.encode()) // 4)
        completion = sum(len(content.encode()) // 4 + 1 for content in contents)
        return {
            "prompt_tokens": prompt_tokens,
            "completion_tokens": completion,
            "total_tokens": prompt_tokens + completion,
            "prompt_tokens_details": {"cached_tokens": len(prompt[:shared].encode()) // 4},
        }

    def begin(self) -> None:
        with self.lock:
            self._running += 1
            self.most_at_once = max(self.most_at_once, self._running)

    def end(self) -> None:
        with self.lock:
            self._running -= 1
            self._ended.notify_all()

    def gone(self) -> None:
        with self.lock:
            self.cancelled += 1


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128
    owner: ScriptedServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        import sys

        error = sys.exc_info()[1]
        if error is not None and not isinstance(error, OSError):
            self.owner.errors.append(error)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = 60

    @property
    def owner(self) -> ScriptedServer:
        return cast(_Server, self.server).owner

    def log_message(self, format: str, *args: Any) -> None:
        """Silent: what happened is in the records."""

    def do_GET(self) -> None:
        self._serve(None)

    def do_POST(self) -> None:
        size = min(int(self.headers.get("content-length") or 0), MAX_BODY_BYTES)
        raw = self.rfile.read(size)
        if len(raw) < size:  # the client went away before it had said all
            self.owner.gone()
            self.close_connection = True
            return
        self._serve(raw)

    def _serve(self, raw: bytes | None) -> None:
        path = self.path.split("?")[0]
        with self.owner.lock:
            self.owner.paths.append(path)
        if self.owner.key and self.headers.get("authorization") != f"Bearer {self.owner.key}":
            self._json(401, {"error": {"message": "Invalid API Key", "type": "authentication_error"}})
        elif raw is not None and path in ("/v1/chat/completions", "/api/chat"):
            if path == "/api/chat" and self.owner.kind != "ollama":
                self._json(404, {"error": "not found"})
                return
            self.owner.begin()
            try:
                self._chat(path, raw)
            except _Stopped:
                self.close_connection = True
            except (_Gone, OSError):
                self.owner.gone()
                self.close_connection = True
            finally:
                self.owner.end()
        else:
            status, answer = about(self.owner, path)
            self._json(status, answer)

    def _chat(self, path: str, raw: bytes) -> None:
        arrived = time.monotonic()
        body = json.loads(raw)
        headers = {name.lower(): value for name, value in self.headers.items()}
        headers["x-test-connection"] = f"{self.client_address[0]}:{self.client_address[1]}"
        probe = _is_probe(body)
        exam = not self.owner.sits_exam and exams.is_exam(body)
        kept = self.owner.probes if probe else self.owner.exams if exam else self.owner.requests
        index = self.owner.record(Recorded(path, body, len(raw), headers, arrived), kept)
        for name in self.owner.refuses:
            if name in body:
                self._json(400, {"error": {"message": _refusal(name), "param": name}})
                return
        if probe:
            self._pause(self.owner.probe_waits)
            word = '{"probe": "vera-2"}' if self.owner.protocol == "json_schema" else "pong"
            self._answer(path, body, [word])
            return
        if exam:
            usage = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
            self._answer(path, body, [{"content": exams.sat_by(exams.competent, body), "usage": usage}])
            return
        n = int(body.get("n") or 1) if self.owner.honours_n else 1
        with self.owner.lock:
            reply = self.owner.next_reply(index, body, n)
        self._play(path, body, reply)
        self.owner.answered[index] = time.monotonic()

    def _play(self, path: str, body: dict[str, Any], reply: Any) -> None:
        match reply:
            case Slow():
                ahead = [reply.after] if reply.after is not None else []
                inner = reply.reply if isinstance(reply.reply, list) else [reply.reply]
                if ahead or reply.keepalive:
                    self._answer(path, body, inner, ahead=ahead, pause=reply)
                else:
                    self._wait_for_others(reply.together)
                    self._pause(reply.seconds)
                    simple = isinstance(reply.reply, str | dict)
                    self._play(path, body, inner if simple else reply.reply)
            case Fault():
                self._fault(reply)
            case Drop(after=None):
                self._break()
            case Drop(after=text):
                self._answer(path, body, [text], broken=True)
            case Raw():
                self._start(200, reply.content_type, chunked=True)
                for piece in reply.pieces:
                    self._chunk(piece)
                self._last_chunk()
            case _:
                self._answer(path, body, reply)

    def _answer(
        self,
        path: str,
        body: dict[str, Any],
        replies: list[Any],
        *,
        ahead: Sequence[str] = (),
        pause: Slow | None = None,
        broken: bool = False,
    ) -> None:
        messages: list[dict[str, Any]] = [{"content": r} if isinstance(r, str) else dict(r) for r in replies]
        messages = [by_each_criterion(message, body) for message in messages]
        tokens = [message.pop("logprobs", None) if body.get("logprobs") else None for message in messages]
        for message in messages:
            message.pop("logprobs", None)
        usage: dict[str, Any] | None = None
        if self.owner.usage:
            prompt = "".join(f"{m.get('role')}\n{m.get('content')}\n" for m in body.get("messages", ()))
            texts = [*ahead, *(str(m.get("content") or "") for m in messages)]
            usage = self.owner.counted(prompt, texts)
        if messages and "usage" in messages[0]:
            usage = messages[0].pop("usage")
        native = path == "/api/chat"
        if not (body.get("stream", native) and self.owner.streams):
            whole = _native_whole if native else _whole
            answer = whole(self.owner.model, messages, usage)
            for index, choice in enumerate(answer.get("choices", ())):
                choice.update(_logprobs(tokens[index]))
            self._whole_answer(answer, broken)
            return
        self._start(200, "application/x-ndjson" if native else "text/event-stream", chunked=True)
        for text in ahead:
            self._send(native, {"content": text}, 0)
        if pause is not None:
            self._pause(pause.seconds, b"\n" if native else b": still here\n\n", pause.keepalive)
        for index, message in enumerate(messages):
            for delta in _deltas(message):
                self._send(native, delta, index)
            if tokens[index] is not None:
                self._send_tokens(native, tokens[index], index)
        if broken:
            self._break()
        elif native:
            self._chunk(_line(_native_end(self.owner.model, messages[0], usage)))
            self._last_chunk()
        else:
            for index, message in enumerate(messages):
                self._chunk(_event(_piece(self.owner.model, index, {}, _finish(message))))
            if usage is not None and (body.get("stream_options") or {}).get("include_usage"):
                self._chunk(_event({"object": "chat.completion.chunk", "choices": [], "usage": usage}))
            self._chunk(b"data: [DONE]\n\n")
            self._last_chunk()

    def _send(self, native: bool, delta: dict[str, Any], index: int) -> None:
        model = self.owner.model
        self._chunk(
            _line(_native_piece(model, delta)) if native else _event(_piece(model, index, delta, None))
        )

    def _send_tokens(self, native: bool, tokens: list[Any], index: int) -> None:
        if native:
            self._chunk(_line({**_native_piece(self.owner.model, {}), "logprobs": tokens}))
            return
        piece = _piece(self.owner.model, index, {}, None)
        piece["choices"][0].update(_logprobs(tokens))
        self._chunk(_event(piece))

    def _whole_answer(self, answer: dict[str, Any], broken: bool) -> None:
        data = json.dumps(answer).encode()
        self._start(200, "application/json", length=len(data))
        self.wfile.write(data[: len(data) // 2] if broken else data)
        self.wfile.flush()
        if broken:
            self._break()

    def _fault(self, fault: Fault) -> None:
        body = json.dumps(fault.body) if isinstance(fault.body, dict) else fault.body
        data = body.encode() if isinstance(body, str) else body
        self.send_response(fault.status)
        for name, value in {"Content-Length": str(len(data)), **fault.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def _json(self, status: int, answer: Any) -> None:
        data = json.dumps(answer).encode()
        self._start(status, "application/json", length=len(data))
        self.wfile.write(data)

    def _start(self, status: int, content_type: str, *, length: int = 0, chunked: bool = False) -> None:
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(length))
        self.end_headers()

    def _chunk(self, data: bytes) -> None:
        if not data:
            return
        try:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
            self.wfile.flush()
        except OSError:
            raise _Gone from None

    def _last_chunk(self) -> None:
        try:
            self.wfile.write(b"0\r\n\r\n")
            self.wfile.flush()
        except OSError:
            raise _Gone from None

    def _break(self) -> None:
        self.close_connection = True
        try:
            self.wfile.flush()
            self.connection.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def _wait_for_others(self, together: int) -> None:
        last = time.monotonic() + OTHERS_SECONDS
        while self.owner.most_at_once < together and time.monotonic() < last:
            if self.owner.stopping.wait(0.01):
                return

    def _pause(self, seconds: float, comment: bytes = b"", every: float = 0.0) -> None:
        """Wait, but end at once when the client goes away or the server stops."""
        left, since = seconds, 0.0
        while left > 0:
            step = min(0.02, left)
            stopped = self.owner.stopping.wait(step)
            readable, _, _ = select.select([self.connection], [], [], 0)
            if readable and self.connection.recv(1, socket.MSG_PEEK) == b"":
                raise _Gone
            if stopped:
                raise _Stopped
            left, since = left - step, since + step
            if every and since >= every:
                self._chunk(comment)
                since = 0.0


def _deltas(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": None if message.get("content") is None else ""}
    if message.get("reasoning_content"):
        yield {"reasoning_content": message["reasoning_content"]}
    content = message.get("content")
    if isinstance(content, str):
        size = max(32, len(content) // 8)
        for start in range(0, len(content), size):
            yield {"content": content[start : start + size]}
    elif content is not None:
        yield {"content": content}
    for position, call in enumerate(message.get("tool_calls") or ()):
        function = call.get("function", {})
        arguments = function.get("arguments", "")
        arguments = arguments if isinstance(arguments, str) else json.dumps(arguments)
        half = len(arguments) // 2
        head = {"name": function.get("name"), "arguments": arguments[:half]}
        yield {
            "tool_calls": [{"index": position, "id": call.get("id"), "type": "function", "function": head}]
        }
        yield {"tool_calls": [{"index": position, "function": {"arguments": arguments[half:]}}]}


def _finish(message: dict[str, Any]) -> str:
    return message.get("finish_reason") or ("tool_calls" if message.get("tool_calls") else "stop")


def _piece(model: str, index: int, delta: dict[str, Any], finish: str | None) -> dict[str, Any]:
    choice = {"index": index, "delta": delta, "finish_reason": finish}
    return {"id": "c1", "object": "chat.completion.chunk", "model": model, "choices": [choice]}


def _whole(model: str, messages: list[dict[str, Any]], usage: dict[str, Any] | None) -> dict[str, Any]:
    choices = []
    for index, message in enumerate(messages):
        said = {k: v for k, v in message.items() if k != "finish_reason"}
        choices.append(
            {"index": index, "message": {"role": "assistant", **said}, "finish_reason": _finish(message)}
        )
    answer: dict[str, Any] = {"id": "c1", "object": "chat.completion", "model": model, "choices": choices}
    if usage is not None:
        answer["usage"] = usage
    return answer


def _logprobs(tokens: list[Any] | None) -> dict[str, Any]:
    return {} if tokens is None else {"logprobs": {"content": tokens}}


def _native_piece(model: str, delta: dict[str, Any]) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": delta.get("content") or ""}
    if delta.get("reasoning_content"):
        message["thinking"] = delta["reasoning_content"]
    return {"model": model, "message": message, "done": False}


def _native_end(model: str, message: dict[str, Any], usage: dict[str, Any] | None) -> dict[str, Any]:
    calls = [
        {"function": {"name": c["function"]["name"], "arguments": _object(c["function"].get("arguments"))}}
        for c in message.get("tool_calls") or ()
    ]
    end: dict[str, Any] = {"model": model, "message": {"role": "assistant", "content": ""}, "done": True}
    if calls:
        end["message"]["tool_calls"] = calls
    end["done_reason"] = message.get("finish_reason") or "stop"
    if usage is not None:
        end["prompt_eval_count"] = usage["prompt_tokens"]
        end["eval_count"] = usage["completion_tokens"]
    return end


def _native_whole(model: str, messages: list[dict[str, Any]], usage: dict[str, Any] | None) -> dict[str, Any]:
    end = _native_end(model, messages[0], usage)
    end["message"]["content"] = messages[0].get("content") or ""
    return end


def _object(arguments: Any) -> Any:
    return json.loads(arguments) if isinstance(arguments, str) and arguments else arguments or {}


def _event(value: dict[str, Any]) -> bytes:
    return b"data: " + json.dumps(value).encode() + b"\n\n"


def _line(value: dict[str, Any]) -> bytes:
    return json.dumps(value).encode() + b"\n"


def by_each_criterion(message: dict[str, Any], body: dict[str, Any]) -> dict[str, Any]:
    """A judge's score, given by each criterion where several are asked for in one reply."""
    content = message.get("content")
    if not isinstance(content, str) or not content.startswith('{"score"'):
        return message
    asked = re.search(
        r'a member for each criterion, called ((?:"\w+"(?:, )?)+)', str(body["messages"][0]["content"])
    )
    try:
        said = json.loads(content)
    except (ValueError, RecursionError):
        return message
    if asked is None or "score" not in said:
        return message
    score = said.pop("score")
    return {
        **message,
        "content": json.dumps({**dict.fromkeys(re.findall(r"\w+", asked[1]), score), **said}),
    }


def _is_probe(body: dict[str, Any]) -> bool:
    asked = body.get("format") or body.get("response_format") or {}
    schema = asked.get("json_schema", {}).get("schema", asked) if isinstance(asked, dict) else {}
    return list(schema.get("properties", ())) == ["probe"]


def _refusal(name: str) -> str:
    if name == "max_tokens":
        return (
            "Unsupported parameter: 'max_tokens' is not supported with this model. "
            "Use 'max_completion_tokens' instead."
        )
    return f"Unrecognized request argument supplied: '{name}'"


def _common_prefix(one: str, other: str) -> int:
    low, high = 0, min(len(one), len(other))
    while low < high:
        middle = (low + high + 1) // 2
        if one[:middle] == other[:middle]:
            low = middle
        else:
            high = middle - 1
    return low
