"""Ollama's own route: what is asked, and how its lines are read."""

import json
from typing import Any

import pytest

from support.asking import answer, failure, question
from support.scripted_server import Drop, Fault, Raw, ScriptedServer, Slow
from vera.model.ollama import OllamaReader, OllamaWire
from vera.model.types import Message, Request
from vera.model.wire import Dialect, IncompleteReply, ReplyError, UnreadableReply


def ask(server: ScriptedServer, request: Request | None = None, **settings: Any) -> Any:
    return answer(server, request, wire=OllamaWire(32_768), dialect=Dialect(n=False), **settings)


def test_the_context_size_is_part_of_the_request_and_nothing_may_be_cut_in_silence() -> None:
    with ScriptedServer(["x"], kind="ollama") as server:
        ask(server, question(max_tokens=7, temperature=0.5, sampling={"top_k": 3, "think": False}))
    sent = server.requests[0]
    assert sent.path == "/api/chat"
    assert sent.body["options"] == {"num_ctx": 32_768, "num_predict": 7, "temperature": 0.5, "top_k": 3}
    assert (sent.body["truncate"], sent.body["shift"], sent.body["think"]) == (False, False, False)


def test_the_schema_is_the_format() -> None:
    with ScriptedServer(["{}"], kind="ollama") as server:
        ask(server, question(schema={"type": "object"}))
    assert server.requests[0].body["format"] == {"type": "object"}


def test_tool_calls_cross_as_objects_and_come_back_as_text() -> None:
    call = {"id": "c", "type": "function", "function": {"name": "shell", "arguments": '{"command": "ls"}'}}
    messages = (
        Message(role="assistant", tool_calls=[call]),
        Message(role="tool", content="ok", tool_call_id="c"),
    )
    tool = {"type": "function", "function": {"name": "shell"}}
    with ScriptedServer([{"content": None, "tool_calls": [call]}], kind="ollama") as server:
        choice = ask(server, Request(messages=messages, tools=(tool,))).choices[0]
    sent = server.requests[0].body
    assert sent["messages"][0]["tool_calls"][0]["function"]["arguments"] == {"command": "ls"}
    assert sent["messages"][0]["content"] == ""
    assert sent["tools"] == [tool]
    assert json.loads(choice.tool_calls[0]["function"]["arguments"]) == {"command": "ls"}
    assert (choice.content, choice.finish_reason) == ("", "tool_calls")


def test_thinking_is_reasoning_and_usage_is_counted() -> None:
    reply = {"content": "so", "reasoning_content": "why", "finish_reason": "length"}
    with ScriptedServer([reply], kind="ollama") as server:
        done = ask(server, question("a longer question"))
    assert (done.choices[0].content, done.choices[0].reasoning) == ("so", "why")
    assert done.choices[0].finish_reason == "length"
    assert done.usage.prompt_tokens == 5
    assert done.usage.completion_tokens == 1


@pytest.mark.parametrize(
    "broken", [Drop(), Drop(after="half"), Raw(), Fault(503)], ids=["at once", "half", "empty", "503"]
)
def test_what_is_transient_is_tried_again_here_too(broken: Any) -> None:
    with ScriptedServer([broken, "x"], kind="ollama") as server:
        assert ask(server).choices[0].content == "x"


def test_blank_lines_keep_a_slow_answer_alive() -> None:
    with ScriptedServer([Slow(0.9, "x", keepalive=0.05)], kind="ollama") as server:
        assert ask(server, timeout_s=0.5).attempts == 1


def test_one_call_gives_one_candidate() -> None:
    with ScriptedServer(["a", "b"], kind="ollama") as server:
        done = ask(server, question(n=2))
    assert [c.content for c in done.choices] == ["a"]
    assert len(server.requests) == 1


def test_an_error_in_a_line_is_an_error() -> None:
    with ScriptedServer([Raw(b'{"error": "model requires more system memory"}\n')], kind="ollama") as server:
        error = failure(server, wire=OllamaWire(4096))
    assert "more system memory" in str(error)


def read(*lines: str) -> str:
    reader = OllamaReader()
    for line in lines:
        reader.feed(line.encode())
    return reader.close().choices[0].content


def test_a_stream_without_done_is_incomplete_and_no_json_is_unreadable() -> None:
    with pytest.raises(IncompleteReply, match="middle"):
        read('{"message": {"content": "a"}}')
    with pytest.raises(IncompleteReply, match="empty"):
        read()
    with pytest.raises(UnreadableReply):
        read("<html>")
    with pytest.raises(ReplyError):
        read('{"error": "x"}')


def test_odd_lines_do_no_harm() -> None:
    assert read('{"message": null}', "[]", '{"message": {"content": 5}}', '{"done": true}') == ""
