"""The chat client against a real HTTP server that plays a script."""

import asyncio
import json
import select
import socket
from contextlib import suppress
from typing import Any

import pytest

from support.asking import answer, failure, question, until, with_client
from support.scripted_server import Fault, Raw, ScriptedServer, Slow
from vera.model.client import ChatClient
from vera.model.retry import RetryPolicy
from vera.model.types import Completion, Message, ModelError, ModelInfo, Request
from vera.model.wire import Dialect


def info(parallel: int = 1, **more: object) -> ModelInfo:
    return ModelInfo(kind="openai", parallel=parallel, **more)  # type: ignore[arg-type]  # any of its fields


def test_an_answer_is_streamed_and_its_usage_read() -> None:
    with ScriptedServer(["Hello, this is a rather long answer in several pieces."]) as server:
        done = answer(server)
    assert done.choices[0].content == "Hello, this is a rather long answer in several pieces."
    assert done.usage.prompt_tokens and done.usage.completion_tokens
    assert done.attempts == 1
    assert done.first_byte_s > 0
    assert server.requests[0].body["stream"] is True


def test_the_servers_cached_part_of_the_prompt_is_reported() -> None:
    def grow(index: int) -> Request:
        said = (Message(role="user", content=f"message {i} " + "x" * 400) for i in range(index))
        return Request(messages=tuple(said))

    async def ask(client: ChatClient) -> list[Completion]:
        return [await client.complete(grow(1)), await client.complete(grow(2))]

    with ScriptedServer(["a", "b"]) as server:
        first, second = with_client(server, ask)
    assert first.usage.cached_tokens == 0
    assert second.usage.cached_tokens == first.usage.prompt_tokens


def test_the_request_on_the_wire_holds_the_messages_as_they_are() -> None:
    messages = (
        Message(role="assistant", tool_calls=[{"id": "c", "type": "function", "function": {"name": "f"}}]),
        Message(role="tool", content="done: ünï", tool_call_id="c"),
    )
    with ScriptedServer(["x"]) as server:
        answer(server, Request(messages=messages))
    assert server.requests[0].body["messages"] == [
        {"role": "assistant", "tool_calls": [{"id": "c", "type": "function", "function": {"name": "f"}}]},
        {"role": "tool", "content": "done: ünï", "tool_call_id": "c"},
    ]


def test_a_server_that_ignores_stream_is_understood() -> None:
    message = {"content": "x", "reasoning_content": "why", "finish_reason": "length"}
    with ScriptedServer([message], streams=False) as server:
        choice = answer(server).choices[0]
    assert (choice.content, choice.reasoning, choice.finish_reason) == ("x", "why", "length")


def test_content_null_and_tool_calls_come_through_http() -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "shell", "arguments": '{"command": "ls"}'}}
    with ScriptedServer([{"content": None, "tool_calls": [call]}]) as server:
        choice = answer(server).choices[0]
    assert (choice.content, choice.tool_calls, choice.finish_reason) == ("", (call,), "tool_calls")


def test_usage_that_never_comes_stays_unknown() -> None:
    with ScriptedServer(["x"], usage=False) as server:
        assert answer(server).usage.prompt_tokens is None


def test_a_stream_cut_into_single_bytes_gives_the_same_answer() -> None:
    delta = {"content": "<think>wäg</think>né"}
    chunk = json.dumps(
        {"choices": [{"index": 0, "delta": delta, "finish_reason": "stop"}]}, ensure_ascii=False
    )
    data = f": hello\r\n\r\ndata: {chunk}\r\n\r\ndata: [DONE]\r\n\r\n".encode()
    with ScriptedServer([Raw(*(data[i : i + 1] for i in range(len(data))))]) as server:
        choice = answer(server).choices[0]
    assert (choice.content, choice.reasoning) == ("né", "wäg")


def test_truncation_is_said_in_the_completion() -> None:
    reply = {
        "content": "x",
        "finish_reason": "length",
        "usage": {"prompt_tokens": 4000, "completion_tokens": 96},
    }
    with ScriptedServer([reply]) as server:
        done = answer(server, question(max_tokens=500))
    assert "context of 4096 tokens" in done.truncated


def test_a_lone_surrogate_in_a_message_does_not_stop_a_request() -> None:
    with ScriptedServer(["x"]) as server:
        answer(server, question("file \udcff.txt"))
    assert server.requests[0].body["messages"][0]["content"] == "file ?.txt"


def test_a_host_name_that_cannot_exist_is_refused_in_a_sentence() -> None:
    with pytest.raises(ModelError, match="no usable base URL"):
        ChatClient("http://❤️.example", "m")


# candidates


def test_several_candidates_come_from_one_request_where_the_server_can() -> None:
    with ScriptedServer([["a", "b", "c"]]) as server:
        done = answer(server, question(n=3))
    assert [c.content for c in done.choices] == ["a", "b", "c"]
    assert len(server.requests) == 1


def test_a_server_that_ignores_n_gives_one_and_is_not_asked_for_n_again() -> None:
    async def ask(client: ChatClient) -> list[int]:
        return [len((await client.complete(question(n=3))).choices) for _ in range(2)]

    with ScriptedServer(["a", "b"], honours_n=False) as server:
        assert with_client(server, ask) == [1, 1]
    assert [r.body.get("n") for r in server.requests] == [3, None]


def test_a_server_that_refuses_n_gives_one_and_is_not_asked_for_n_again() -> None:
    async def ask(client: ChatClient) -> list[int]:
        return [len((await client.complete(question(n=2))).choices) for _ in range(2)]

    with ScriptedServer(["a", "b"], refuses=["n"]) as server:
        assert with_client(server, ask) == [1, 1]
    assert sum("n" in r.body for r in server.requests) == 1


def learnt(server: ScriptedServer, *requests: Request, **settings: Any) -> list[bool | None]:
    """What the client says of `n`: at first, and after each of these requests."""

    async def ask(client: ChatClient) -> list[bool | None]:
        said = [client.info.gives_n]
        for request in requests:
            with suppress(ModelError):
                await client.complete(request)
            said.append(client.info.gives_n)
        return said

    return with_client(server, ask, retries=RetryPolicy(attempts=1), **settings)


def test_whether_a_server_gives_n_is_learnt_from_its_first_answer_to_n() -> None:
    with ScriptedServer(["x", ["a", "b"]]) as server:
        assert learnt(server, question(), question(n=2)) == [None, None, True]
    with ScriptedServer(["x"], honours_n=False) as server:
        assert learnt(server, question(n=2)) == [None, False]
    with ScriptedServer(["x"], refuses=["n"]) as server:
        assert learnt(server, question(n=2)) == [None, False]


def test_a_server_that_gave_n_once_is_believed_when_it_gives_fewer() -> None:
    with ScriptedServer(lambda index, body: ["a", "b"] if index == 0 else ["a"]) as server:
        assert learnt(server, question(n=2), question(n=2)) == [None, True, True]
    assert [r.body["n"] for r in server.requests] == [2, 2]


@pytest.mark.parametrize("status", [400, 422, 500, 501])
def test_an_error_speaks_against_n_once_the_same_prompt_is_answered_without_it(status: int) -> None:
    with ScriptedServer(lambda index, body: Fault(status) if "n" in body else "x") as server:
        asked = (question("a", n=2), question("b"), question("a"))
        assert learnt(server, *asked) == [None, None, None, False]


@pytest.mark.parametrize("status", [401, 404, 408, 429, 502, 503])
def test_an_error_that_comes_with_any_request_does_not_speak_against_n(status: int) -> None:
    with ScriptedServer(lambda index, body: Fault(status) if index == 0 else ["a", "b"]) as server:
        assert learnt(server, question(n=2), question(), question(n=2)) == [None, None, None, True]


def test_what_is_known_of_n_beforehand_is_kept_to() -> None:
    with ScriptedServer(["a", "b"]) as server:
        assert learnt(server, question(n=2), info=info(gives_n=False)) == [False, False]
        assert learnt(server, question(n=2), dialect=Dialect(n=False)) == [False, False]
    assert not any("n" in r.body for r in server.requests)


def test_choices_that_nobody_asked_for_are_left_out() -> None:
    with ScriptedServer(lambda index, body: ["a", "b", "c"]) as server:
        assert [c.content for c in answer(server, question(n=2)).choices] == ["a", "b"]
        assert [c.content for c in answer(server).choices] == ["a"]


# how much at once


@pytest.mark.parametrize("parallel", [1, 3])
def test_no_more_requests_run_at_once_than_the_endpoint_serves(parallel: int) -> None:
    async def ask(client: ChatClient) -> None:
        await asyncio.gather(*(client.complete(question()) for _ in range(6)))

    with ScriptedServer([Slow(0.03, "x")], exhausted="repeat") as server:
        with_client(server, ask, info=info(parallel))
    assert server.most_at_once == parallel


def test_a_request_for_several_candidates_fills_their_places() -> None:
    async def ask(client: ChatClient) -> None:
        await asyncio.gather(*(client.complete(question(n=2)) for _ in range(2)))

    with ScriptedServer(lambda index, body: Slow(0.03, ["a", "b"])) as server:
        with_client(server, ask, info=info(2))
    assert server.most_at_once == 1


# fields that a server does not take


@pytest.mark.parametrize(
    ("refused", "sent_instead"),
    [("stream_options", None), ("max_tokens", "max_completion_tokens"), ("temperature", None)],
)
def test_a_field_refused_by_name_is_left_out_from_then_on(refused: str, sent_instead: str | None) -> None:
    async def ask(client: ChatClient) -> list[Completion]:
        return [await client.complete(question(max_tokens=9)) for _ in range(2)]

    with ScriptedServer(["a", "b"], refuses=[refused]) as server:
        first, second = with_client(server, ask)
    assert (first.choices[0].content, second.choices[0].content) == ("a", "b")
    assert [refused in r.body for r in server.requests] == [True, False, False]
    assert sent_instead is None or server.requests[-1].body[sent_instead] == 9
    assert first.attempts == 1


@pytest.mark.parametrize(
    ("refused", "request_", "protocol"),
    [
        ("response_format", question(schema={"type": "object"}), "json_schema"),
        ("tools", question(tools=({"type": "function", "function": {"name": "f"}},)), "tools"),
    ],
)
def test_a_refused_protocol_is_named_with_the_way_out(refused: str, request_: Request, protocol: str) -> None:
    with ScriptedServer([], refuses=[refused]) as server:
        error = failure(server, request_)
    assert f"the {protocol} protocol" in str(error)
    assert "--protocol text" in str(error)
    assert not error.transient


# the key


def test_the_key_goes_to_its_host() -> None:
    with ScriptedServer(["x"], key="sk-right") as server:
        answer(server, key="  sk-right\n")
    assert server.requests[0].headers["authorization"] == "Bearer sk-right"


def test_without_a_key_no_header_is_sent() -> None:
    with ScriptedServer(["x"]) as server:
        answer(server, key="")
    assert "authorization" not in server.requests[0].headers


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_never_followed(status: int) -> None:
    with ScriptedServer(["stolen"]) as thief:
        redirect = Fault(status, {"Location": thief.base_url + "/chat/completions"})
        with ScriptedServer([redirect]) as server:
            error = failure(server, key="sk-secret")
    assert thief.paths == []
    assert "--model-base-url" in str(error)
    assert not error.transient


def test_a_key_that_the_server_repeats_is_not_shown() -> None:
    body = {"error": {"message": "Incorrect API key provided: sk-secret-123."}}
    with ScriptedServer([Fault(401, body=body)]) as server:
        error = failure(server, key="sk-secret-123")
    assert "sk-secret-123" not in str(error)
    assert "[key]" in str(error)
    assert "OPENAI_API_KEY" in str(error)


@pytest.mark.parametrize("key", ["sk-one\nsk-two", "schlüssel", "two words"])
def test_a_key_that_no_header_can_carry_is_refused_without_being_shown(key: str) -> None:
    with pytest.raises(ModelError) as error:
        ChatClient("http://127.0.0.1:1", "m", key)
    assert key not in str(error.value)


def test_a_proxy_from_the_environment_is_not_used_for_a_local_server(monkeypatch: pytest.MonkeyPatch) -> None:
    with ScriptedServer(["through the proxy"]) as proxy, ScriptedServer(["direct"]) as server:
        monkeypatch.setenv("ALL_PROXY", proxy.root)
        monkeypatch.setenv("HTTP_PROXY", proxy.root)
        monkeypatch.setenv("http_proxy", proxy.root)
        monkeypatch.delenv("NO_PROXY", raising=False)
        monkeypatch.delenv("no_proxy", raising=False)
        assert answer(server).choices[0].content == "direct"
    assert proxy.paths == []


# the end


def test_a_cancelled_request_closes_its_stream() -> None:
    async def ask(client: ChatClient) -> None:
        task = asyncio.create_task(client.complete(question()))
        await until(lambda: server.requests)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await until(lambda: server.cancelled)
        assert (await client.complete(question())).choices[0].content == "next"

    with ScriptedServer([Slow(60, "never"), "next"]) as server:
        with_client(server, ask)
    assert server.cancelled == 1


def test_a_request_that_is_cancelled_while_it_is_sent_is_none() -> None:
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n"
    with ScriptedServer(["never"]) as server:
        for begun in (head, head + b'{"messages": ['):
            with socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection:
                connection.sendall(begun)
                connection.shutdown(socket.SHUT_WR)
                assert connection.recv(1) == b""
    assert (server.cancelled, server.requests) == (2, [])


def test_a_client_that_goes_away_with_words_unread_is_counted() -> None:
    body = b'{"stream": true, "messages": [{"role": "user", "content": "?"}]}'
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: %d\r\n\r\n" % len(body)
    with (
        ScriptedServer([Slow(60, after="Let me think.", keepalive=0.02)]) as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection,
    ):
        connection.sendall(head + body)
        readable, _, _ = select.select([connection], [], [], 10)
        assert readable
    assert server.cancelled == 1


def test_a_whole_request_that_is_no_json_fails_its_test() -> None:
    head = b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n"
    with (
        pytest.raises(json.JSONDecodeError),
        ScriptedServer(["never"]) as server,
        socket.create_connection(("127.0.0.1", server.port), timeout=10) as connection,
    ):
        connection.sendall(head + b"none")
        assert connection.recv(1) == b""


def test_connections_are_used_again() -> None:
    async def ask(client: ChatClient) -> None:
        for _ in range(3):
            await client.complete(question())

    with ScriptedServer(["a", "b", "c"]) as server:
        with_client(server, ask)
    assert len({r.headers["x-test-connection"] for r in server.requests}) == 1


def test_a_request_body_is_compact_json() -> None:
    with ScriptedServer(["x"]) as server:
        answer(server)
    assert server.requests[0].raw_bytes == len(json.dumps(server.requests[0].body, separators=(",", ":")))


def test_one_attempt_means_one() -> None:
    with ScriptedServer([Fault(500), "x"]) as server:
        error = failure(server, retries=RetryPolicy(attempts=1))
    assert error.transient
    assert len(server.requests) == 1
