"""What goes wrong between client and server, and what becomes of it."""

import asyncio
import gzip
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from support.asking import Pauses, answer, failure, question, with_client
from support.bombs import at_most, bomb
from support.scripted_server import Drop, Fault, Raw, ScriptedServer, Slow
from vera.model import transport
from vera.model.client import ChatClient
from vera.model.types import Completion, ModelError, ModelInfo

GONE = Drop(after="only half of ")


@pytest.fixture(autouse=True)
def quick_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that reads prompts ten times as fast as the slowest that is waited for."""
    monkeypatch.setattr("vera.model.client.PROMPT_BYTES_A_SECOND", 2000)


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504])
def test_a_transient_status_is_tried_again(status: int) -> None:
    with ScriptedServer([Fault(status), Fault(status), "x"]) as server:
        done = answer(server)
    assert (done.choices[0].content, done.attempts) == ("x", 3)


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413, 422])
def test_another_error_status_is_not_tried_again(status: int) -> None:
    with ScriptedServer([Fault(status, body={"error": {"message": "the reason"}}), "x"]) as server:
        error = failure(server)
    assert len(server.requests) == 1
    assert not error.transient
    assert "the reason" in str(error)
    assert server.base_url in str(error)


@pytest.mark.parametrize(
    "broken", [Drop(), GONE, Raw(), Raw(b"\n\n")], ids=["at once", "half", "empty", "blank"]
)
def test_a_broken_connection_is_tried_again(broken: object) -> None:
    with ScriptedServer([broken, "x"]) as server:
        done = answer(server)
    assert (done.choices[0].content, done.attempts) == ("x", 2)


def test_a_plain_json_answer_cut_in_half_is_tried_again() -> None:
    with ScriptedServer([GONE, "x"], streams=False) as server:
        assert answer(server).choices[0].content == "x"


def test_a_transient_error_inside_a_stream_is_tried_again_and_another_is_not() -> None:
    overload = Raw(b'data: {"error": {"message": "overloaded", "code": 503}}\n\n')
    broken = Raw(b'data: {"error": {"message": "bad thing"}}\n\n')
    with ScriptedServer([overload, broken]) as server:
        error = failure(server)
    assert len(server.requests) == 2
    assert "bad thing" in str(error)


def test_attempts_end_and_the_error_says_how_many_there_were() -> None:
    with ScriptedServer([Fault(503, body="busy")], exhausted="repeat") as server:
        error = failure(server)
    assert len(server.requests) == 5
    assert "(5 attempts)" in str(error)
    assert error.transient


def test_pauses_between_attempts_grow() -> None:
    pauses = Pauses()
    with ScriptedServer([Fault(500)], exhausted="repeat") as server:
        failure(server, clock=pauses.clock, sleep=pauses.sleep)
    assert all(0.75 * most <= slept <= most for slept, most in zip(pauses.slept, (1, 2, 4, 8), strict=True))


def test_retry_after_is_kept_to() -> None:
    pauses = Pauses()
    with ScriptedServer([Fault(429, {"Retry-After": "7"}), "x"]) as server:
        answer(server, clock=pauses.clock, sleep=pauses.sleep)
    assert pauses.slept == [7.0]


def test_retry_after_may_be_a_date() -> None:
    pauses = Pauses()
    when = format_datetime(datetime.now(UTC) + timedelta(seconds=100), usegmt=True)
    with ScriptedServer([Fault(503, {"Retry-After": when}), "x"]) as server:
        answer(server, clock=pauses.clock, sleep=pauses.sleep)
    assert 90 < pauses.slept[0] <= 100


def test_no_pause_is_begun_that_would_pass_the_total_deadline() -> None:
    pauses = Pauses()
    with ScriptedServer([Fault(429, {"Retry-After": "3600"}), "x"]) as server:
        error = failure(server, clock=pauses.clock, sleep=pauses.sleep, total_deadline_s=1800.0)
    assert pauses.slept == []
    assert error.transient


def test_all_attempts_together_stay_under_the_total_deadline() -> None:
    pauses = Pauses()
    with ScriptedServer([Fault(500, {"Retry-After": "40"})], exhausted="repeat") as server:
        failure(server, clock=pauses.clock, sleep=pauses.sleep, total_deadline_s=100.0)
    assert pauses.slept == [40.0, 40.0]


# silence


def test_a_generation_that_times_out_is_tried_again_once() -> None:
    with ScriptedServer([Slow(30, "x")], exhausted="repeat") as server:
        error = failure(server, timeout_s=0.1)
    assert len(server.requests) == 2
    assert error.transient
    assert "MODEL_TIMEOUT=" in str(error)


def test_silence_in_the_middle_of_an_answer_is_a_time_out() -> None:
    with ScriptedServer([Slow(30, "x", after="begun"), "second"]) as server:
        done = answer(server, timeout_s=0.4)
    assert (done.choices[0].content, done.attempts) == ("second", 2)


def test_a_slow_answer_that_keeps_coming_is_no_time_out() -> None:
    with ScriptedServer([Slow(0.9, "x", keepalive=0.05)]) as server:
        done = answer(server, timeout_s=0.5)
    assert (done.choices[0].content, done.attempts) == ("x", 1)


def test_the_first_word_may_take_longer_the_longer_the_prompt_is() -> None:
    with ScriptedServer([Slow(0.8, "x")]) as server:
        assert answer(server, question("y" * 8000), timeout_s=0.3).attempts == 1
    with ScriptedServer([Slow(0.8, "x"), "short"]) as server:
        assert answer(server, question("y"), timeout_s=0.3).attempts == 2


def test_the_allowance_for_the_prompt_ends_with_the_first_word() -> None:
    with ScriptedServer([Slow(30, "x", after="begun"), "second"]) as server:
        done = answer(server, question("y" * 40_000), timeout_s=0.4)
    assert done.choices[0].content == "second"


def test_an_answer_without_end_ends_with_the_total_deadline() -> None:
    async def ask(client: ChatClient) -> Completion:
        return await client.complete(question())

    with (
        ScriptedServer([Slow(30, "x", keepalive=0.05)], exhausted="repeat") as server,
        pytest.raises(ModelError, match="time for one request"),
    ):
        with_client(server, ask, timeout_s=5, total_deadline_s=0.4)
    assert len(server.requests) == 1


def test_waiting_for_a_place_costs_nothing_of_the_deadline() -> None:
    async def ask(client: ChatClient) -> list[Completion]:
        return await asyncio.gather(*(client.complete(question()) for _ in range(4)))

    with ScriptedServer([Slow(0.3, "x")], exhausted="repeat") as server:
        done = with_client(server, ask, total_deadline_s=0.8, info=ModelInfo(kind="openai", parallel=1))
    assert len(done) == 4


# what servers send


def test_an_unreachable_server_is_named_with_the_next_command() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/v1"
        pauses = Pauses()

        async def ask() -> None:
            await ChatClient(url, "m", clock=pauses.clock, sleep=pauses.sleep).complete(question())

        with pytest.raises(ModelError) as error:
            asyncio.run(ask())
    assert url in str(error.value)
    assert "is the server running?" in str(error.value)
    assert "vera doctor" in str(error.value)
    assert len(pauses.slept) == 4


@pytest.mark.parametrize(
    "body", [b"<html><b>It works!</b></html>", b'{"object": "list"}', b"\xff\xfe\x00garbage"], ids=repr
)
def test_a_body_that_is_no_completion_is_quoted_and_not_tried_again(body: bytes) -> None:
    with ScriptedServer([Raw(body, content_type="text/html")]) as server:
        error = failure(server)
    assert len(server.requests) == 1
    assert "no chat completion" in str(error)


def test_an_error_body_is_bounded_and_without_control_characters() -> None:
    body = "\x1b[31mred\x07 " + "long " * 100_000
    with ScriptedServer([Fault(400, body=body)]) as server:
        said = str(failure(server))
    assert "[31mred" in said
    assert len(said) < 600
    assert said.isprintable()


def test_a_prompt_beyond_the_context_is_explained_with_the_line_to_type() -> None:
    body = {"error": {"message": "request (6018 tokens) exceeds the available context size (2048 tokens)"}}
    with ScriptedServer([Fault(400, body=body)]) as server:
        error = failure(server, larger_context="llama-server -c 32768")
    assert "longer than the context" in str(error)
    assert "llama-server -c 32768" in str(error)


def test_an_answer_larger_than_the_limit_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_REPLY_BYTES", 100_000)
    said = " ".join(map(str, range(10_000))).encode()
    piece = b'data: {"choices": [{"index": 0, "delta": {"content": "' + said + b'"}}]}\n\n'
    with ScriptedServer([Raw(piece, piece, piece)]) as server:
        error = failure(server)
    assert "more than 100000 bytes" in str(error)
    assert not error.transient


STREAMED = b'data: {"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]}\n\n'


def coded(coding: str, body: bytes) -> Fault:
    return Fault(200, headers={"Content-Type": "text/event-stream", "Content-Encoding": coding}, body=body)


def test_an_answer_that_is_compressed_unasked_is_read() -> None:
    with ScriptedServer([coded("gzip", gzip.compress(STREAMED))]) as server:
        assert answer(server).choices[0].content == "x"


@pytest.mark.parametrize("layers", [1, 2, 3])
def test_an_answer_that_unfolds_without_end_is_cut_off(layers: int) -> None:
    coding = ", ".join(["gzip"] * layers)
    with ScriptedServer([coded(coding, bomb(layers))], exhausted="repeat") as server, at_most(100):
        said = str(failure(server))
    assert ("a line of more than" if layers == 1 else "its content coding is") in said


def test_an_error_that_unfolds_without_end_is_cut_off() -> None:
    fault = Fault(400, headers={"Content-Encoding": "gzip"}, body=bomb(1))
    with ScriptedServer([fault]) as server, at_most(20):
        assert "HTTP 400" in str(failure(server))


def test_an_answer_with_a_broken_compression_is_a_broken_connection() -> None:
    with ScriptedServer([coded("gzip", gzip.compress(STREAMED)[:-9]), "x"]) as server:
        assert answer(server).attempts in (1, 2)
    with ScriptedServer([coded("gzip", b"no gzip"), "x"]) as server:
        assert answer(server).attempts == 2


def test_a_line_without_end_is_cut_off() -> None:
    with ScriptedServer([Raw(*[b"x" * 1_000_000] * 5)]) as server:
        assert "a line of more than" in str(failure(server))


def test_the_connection_may_break_after_the_last_word() -> None:
    chunk = b'data: {"choices": [{"index": 0, "delta": {"content": "x"}, "finish_reason": "stop"}]}\n\n'
    whole = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    whole += b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in (chunk, b"data: [DONE]\n\n"))

    async def run() -> Completion:
        async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            await reader.readuntil(b"\r\n\r\n")
            writer.write(whole)
            await writer.drain()
            writer.close()

        listener = await asyncio.start_server(serve, "127.0.0.1", 0)
        port = listener.sockets[0].getsockname()[1]
        client = ChatClient(f"http://127.0.0.1:{port}", "m")
        async with listener:
            try:
                return await client.complete(question())
            finally:
                await client.close()

    done = asyncio.run(run())
    assert (done.choices[0].content, done.attempts) == ("x", 1)
