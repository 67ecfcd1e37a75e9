"""What servers answer: of models, of embeddings, of a hub, of a collector."""

import asyncio
import contextlib
import json
import os
import random
from collections.abc import Iterable
from unittest import mock

from assurance.batteries import Trial
from assurance.fuzzing import mutate
from assurance.fuzzing.hostile_server import HostileServer, reply
from assurance.fuzzing.model_rows import streamed
from assurance.fuzzing.row import Row
from support.server_faces import FACES, about
from vera.agent.errors import SetupError
from vera.agent.hub import Hub, HubFile
from vera.embedding.server import ServerEmbedder
from vera.embedding.values import EmbeddingError
from vera.export.otlp_client import OtlpClient, OtlpError
from vera.export.otlp_encode import Request as Spans
from vera.export.otlp_endpoint import Endpoint
from vera.model.client import ChatClient
from vera.model.connect import connect
from vera.model.ollama import OllamaWire
from vera.model.openai import OpenAIWire
from vera.model.retry import RetryPolicy
from vera.model.types import Message, ModelError, Request

ASKED = Request(messages=(Message(role="user", content="Why?"),), logprobs=True)
ONCE = RetryPolicy(attempts=1)
SILENCE = 1.0
WHOLE = {
    "choices": [
        {
            "message": {"role": "assistant", "content": "Three years.", "tool_calls": []},
            "finish_reason": "stop",
            "logprobs": {"content": [{"token": "a", "logprob": -0.1, "top_logprobs": []}]},
        }
    ],
    "usage": {"prompt_tokens": 5, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 3}},
}
ERROR = {"error": {"message": "the prompt exceeds the context", "code": 400, "type": "invalid"}}


def chat(trial: Trial) -> None:
    """A reply of a model server is a completion or a ModelError."""
    draw = trial.random
    of_ollama = draw.random() < 0.3
    match draw.randrange(5):
        case 0:
            body = mutate.encoded(draw, draw.choice((WHOLE, ERROR)))
        case 1:
            body = mutate.data(draw, [b"\n".join(streamed(draw, of_ollama))])
        case _:
            body = b"\n".join(streamed(draw, of_ollama))
    kind = draw.choice(("text/event-stream", "application/json", "application/x-ndjson", "text/html"))
    sent = list(reply(draw, body, kind))
    if draw.random() < 0.03:
        sent += [b"data: {}\n\n" * 1000] * 20_000

    async def ask(server: HostileServer) -> None:
        wire = OllamaWire(8192) if of_ollama else OpenAIWire()
        client = ChatClient(
            f"{server.url}/v1", "m", "a-key", wire=wire, timeout_s=SILENCE, total_deadline_s=10, retries=ONCE
        )
        try:
            with contextlib.suppress(ModelError):
                done = await client.complete(ASKED)
                "".join(each.content + each.reasoning for each in done.choices).encode()
        finally:
            await client.close()

    with HostileServer(lambda request: sent) as server:
        asyncio.run(ask(server))


class Face:
    """What a server says of itself, before it is changed."""

    protocol, model, other_models, loaded = "tools", "some-model", ("another",), True
    context, trained, parallel, lmstudio_api = 8192, 131_072, 4, "v1"

    def __init__(self, kind: str) -> None:
        self.kind = kind


def recognise(trial: Trial) -> None:
    """Whatever is asked of a server to find out what it is, there is a client in the end, or a ModelError."""
    draw = trial.random
    face = Face(draw.choice((*FACES, "openai")))
    broken = draw.random() < 0.5

    def answer(request: bytes) -> Iterable[bytes | float]:
        own = random.Random(f"{trial.number} {request[:200]!r}")
        path = [*request.split(b" "), b"", b""][1].decode("latin-1")
        status, said = about(face, path)
        body = mutate.encoded(own, said) if own.random() < 0.5 else json.dumps(said).encode()
        if broken:
            return reply(own, body, "application/json", slow=False)
        head = f"HTTP/1.1 {status} X\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        return [head.encode(), body]

    async def look(server: HostileServer) -> None:
        with contextlib.suppress(ModelError):
            client = await connect(f"{server.url}/v1", timeout_s=SILENCE, total_deadline_s=5, seconds=4)
            await client.close()

    with HostileServer(answer) as server:
        asyncio.run(look(server))


def embed(trial: Trial) -> None:
    """A reply of an embeddings endpoint is a matrix of unit vectors, or an EmbeddingError."""
    draw = trial.random
    right = {"data": [{"index": at, "embedding": [0.1 * at, 0.2, -0.3]} for at in range(3)], "model": "e"}
    replies = [
        mutate.encoded(draw, right) if draw.random() < 0.8 else json.dumps(right).encode() for _ in "abc"
    ]
    first = {**right, "data": right["data"][:1]}
    sent = [list(reply(draw, each, "application/json", slow=False)) for each in replies]
    opened = json.dumps(first).encode()
    good = f"HTTP/1.1 200 OK\r\nContent-Length: {len(opened)}\r\nConnection: close\r\n\r\n".encode() + opened
    opens = draw.random() < 0.7
    texts = ["one", "\ud800 two", draw.choice(mutate.SCRIPTS) * draw.choice((1, 1000))]

    def answer(request: bytes) -> Iterable[bytes | float]:
        if opens and len(server.asked) == 1:
            return [good]
        return sent[len(server.asked) % 3]

    with HostileServer(answer) as server, contextlib.suppress(EmbeddingError):
        served = ServerEmbedder(f"{server.url}/v1", "e")
        try:
            made = served.embed(texts)
            assert made.shape == (3, served.dimension)
        finally:
            served.close()


def fetch_model(trial: Trial) -> None:
    """A hub gives the bytes that it announced, no more of them, or a SetupError."""
    draw = trial.random
    size = 5000
    sent = [
        list(
            reply(random.Random(draw.getrandbits(64)), b"GGUF" * 1250, "application/octet-stream", slow=False)
        )
        for _ in range(8)
    ]
    part = trial.folder / "part"
    with HostileServer(lambda request: sent[len(server.asked) % 8]) as server:
        os.environ["HF_ENDPOINT"] = server.url
        wanted = HubFile(
            repo="a/b",
            file="c.gguf",
            url=f"{server.url}/c",
            size=size,
            sha256="0" * 64,
            commit="",
            licence="",
        )
        with part.open("w+b") as opened, no_pauses(), contextlib.suppress(SetupError):
            Hub().fetch(wanted, opened, lambda total: None)
    assert part.stat().st_size <= size


def no_pauses() -> "mock._patch[mock.MagicMock]":
    """The hub is asked again at once."""
    return mock.patch("vera.agent.hub.time", mock.MagicMock())


def collect(trial: Trial) -> None:
    """A collector takes the spans, or there is an OtlpError."""
    draw = trial.random
    body = mutate.data(draw, [b"", b'{"partialSuccess":{"rejectedSpans":"3"}}', b"\x0a\x04\x08\x01\x12\x00"])
    kind = draw.choice(("application/json", "application/x-protobuf", "text/plain", "text/html"))
    sent = list(reply(draw, body, kind, slow=False))

    async def send(server: HostileServer) -> None:
        endpoint = Endpoint(url=f"{server.url}/v1/traces", headers={}, gzip=False, timeout_s=SILENCE)
        async with OtlpClient(endpoint, sleep=no_pause) as client:
            with contextlib.suppress(OtlpError):
                await client.send(Spans(body=b"x", spans=1))

    with HostileServer(lambda request: sent) as server:
        asyncio.run(send(server))


async def no_pause(seconds: float) -> None:
    """A pause that takes no time."""


ROWS = (
    Row("replies of a model server: chat", chat, seconds=20, megabytes=350, share=6),
    Row("replies of a model server: what it says of itself", recognise, seconds=20, megabytes=150, share=2),
    Row("replies of an embeddings endpoint", embed, seconds=10, megabytes=150, share=3),
    Row("replies of a hub of models", fetch_model, seconds=10, megabytes=100),
    Row("replies of a collector of traces", collect, seconds=10, megabytes=100),
)
