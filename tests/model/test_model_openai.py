"""The lenient reader of OpenAI replies: a fold of lines, tested with values."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.asking import question
from vera.model.openai import OpenAIReader, OpenAIWire
from vera.model.types import Message, Request, Usage
from vera.model.wire import Dialect, IncompleteReply, ReplyError, UnreadableReply, WireReply

DONE = "data: [DONE]"


def event(value: Any) -> str:
    return "data: " + json.dumps(value)


def delta(index: int = 0, finish: str | None = None, **fields: Any) -> str:
    return event({"choices": [{"index": index, "delta": fields, "finish_reason": finish}]})


def read(*lines: str, n: int = 1) -> WireReply:
    reader = OpenAIReader(n)
    for line in lines:
        reader.feed(line.encode())
        reader.feed(b"")
    return reader.close()


def test_pieces_of_content_are_one_text() -> None:
    choice = read(delta(content="Hel"), delta(content="lo"), delta(finish="stop"), DONE).choices[0]
    assert (choice.content, choice.finish_reason) == ("Hello", "stop")


def test_content_null_is_empty_text() -> None:
    assert read(delta(content=None), delta(finish="stop"), DONE).choices[0].content == ""
    whole = {"choices": [{"message": {"role": "assistant", "content": None}, "finish_reason": "stop"}]}
    assert read(json.dumps(whole)).choices[0].content == ""


def test_a_missing_usage_is_unknown_and_no_zero() -> None:
    assert read(delta(content="x", finish="stop"), DONE).usage == Usage()


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
def test_a_reasoning_field_is_no_content(field: str) -> None:
    choice = read(
        delta(**{field: "why "}), delta(**{field: "so"}), delta(content="x", finish="stop")
    ).choices[0]
    assert (choice.content, choice.reasoning) == ("x", "why so")


def test_a_think_block_split_over_chunks_is_reasoning() -> None:
    pieces = ["<th", "ink>wh", "y</thi", "nk>\n", "so"]
    choice = read(*(delta(content=piece) for piece in pieces), delta(finish="stop")).choices[0]
    assert (choice.content, choice.reasoning) == ("so", "why")


def test_a_think_block_that_never_closes_leaves_no_content() -> None:
    choice = read(delta(content="<think>and on and on"), delta(finish="length")).choices[0]
    assert (choice.content, choice.reasoning, choice.finish_reason) == ("", "and on and on", "length")


def test_content_as_typed_parts_is_text_and_reasoning() -> None:
    parts = [
        {"type": "thinking", "thinking": [{"type": "text", "text": "why"}]},
        {"type": "text", "text": "so"},
    ]
    choice = read(delta(content=parts, finish="stop")).choices[0]
    assert (choice.content, choice.reasoning) == ("so", "why")


def test_candidates_are_told_apart_by_their_index() -> None:
    reply = read(
        delta(1, content="b"),
        delta(0, content="a"),
        delta(1, content="B", finish="stop"),
        delta(0, finish="length"),
    )
    assert [(c.content, c.finish_reason) for c in reply.choices] == [("a", "length"), ("bB", "stop")]


def call(index: int | None, arguments: str, **fields: Any) -> dict[str, Any]:
    function = {"arguments": arguments, **({"name": fields.pop("name")} if "name" in fields else {})}
    return {**({} if index is None else {"index": index}), "function": function, **fields}


def test_pieces_of_tool_calls_are_assembled_by_index() -> None:
    reply = read(
        delta(tool_calls=[call(0, '{"a', id="x", name="shell")]),
        delta(tool_calls=[call(1, "{}", id="y", name="read"), call(0, '": 1}')]),
        delta(finish="tool_calls"),
    )
    assert reply.choices[0].tool_calls == (
        {"id": "x", "type": "function", "function": {"name": "shell", "arguments": '{"a": 1}'}},
        {"id": "y", "type": "function", "function": {"name": "read", "arguments": "{}"}},
    )


def test_tool_calls_without_an_index_are_told_apart_by_their_id() -> None:
    reply = read(
        delta(tool_calls=[call(None, "{", id="x", name="shell")]),
        delta(tool_calls=[call(None, "}")]),
        delta(tool_calls=[call(None, "{}", id="y", name="read")]),
        DONE,
    )
    calls = reply.choices[0].tool_calls
    assert [c["function"] for c in calls] == [
        {"name": "shell", "arguments": "{}"},
        {"name": "read", "arguments": "{}"},
    ]
    assert reply.choices[0].finish_reason == "tool_calls"


def usage(prompt: int, completion: int, cached: int) -> dict[str, Any]:
    details = {"cached_tokens": cached}
    return {"prompt_tokens": prompt, "completion_tokens": completion, "prompt_tokens_details": details}


def test_usage_comes_in_a_closing_chunk_with_the_cached_part() -> None:
    reply = read(delta(content="x", finish="stop"), event({"choices": [], "usage": usage(10, 2, 8)}), DONE)
    assert reply.usage == Usage(prompt_tokens=10, completion_tokens=2, cached_tokens=8)


def test_a_usage_with_every_chunk_is_a_running_total() -> None:
    chunks = [
        event({"choices": [{"index": 0, "delta": {"content": "x"}}], "usage": usage(10, k, 0)})
        for k in (1, 2)
    ]
    assert read(*chunks, DONE).usage.completion_tokens == 2


def test_a_closing_usage_for_each_candidate_adds_up_over_their_one_prompt() -> None:
    closing = [event({"choices": [], "usage": usage(10, 3, cached)}) for cached in (0, 9)]
    reply = read(
        delta(0, content="a", finish="stop"), delta(1, content="b", finish="stop"), *closing, DONE, n=2
    )
    assert reply.usage == Usage(prompt_tokens=10, completion_tokens=6, cached_tokens=0)


def test_a_plain_json_reply_over_several_lines_is_read_too() -> None:
    whole = {"choices": [{"message": {"content": "x"}, "finish_reason": "stop"}], "usage": usage(1, 1, 0)}
    reply = read(*json.dumps(whole, indent=1).split("\n"))
    assert (reply.choices[0].content, reply.usage.prompt_tokens) == ("x", 1)


@pytest.mark.parametrize(
    "body", ["<html><body>It works!</body></html>", "nonsense", '{"hello": "world"}', "[1]"]
)
def test_a_body_that_is_no_completion_is_unreadable(body: str) -> None:
    with pytest.raises(UnreadableReply):
        read(body)


def test_an_empty_body_is_an_incomplete_reply() -> None:
    with pytest.raises(IncompleteReply, match="empty"):
        read()


def test_a_stream_that_stops_before_its_finish_reason_is_incomplete() -> None:
    with pytest.raises(IncompleteReply, match="in the middle"):
        read(delta(content="Hel"))


def test_a_finish_reason_without_done_is_complete_and_so_is_done_without_finish_reason() -> None:
    assert read(delta(content="x", finish="stop")).choices[0].content == "x"
    assert read(delta(content="x"), DONE).choices[0].finish_reason == "stop"


@pytest.mark.parametrize("error", [{"message": "no memory", "code": 503}, "no memory"])
def test_an_error_in_the_middle_of_a_stream_is_an_error(error: Any) -> None:
    with pytest.raises(ReplyError) as raised:
        read(delta(content="x"), event({"error": error}))
    assert raised.value.status == (503 if isinstance(error, dict) else 0)


fields = st.sampled_from(
    [
        *("choices", "index", "delta", "message", "content", "reasoning", "finish_reason", "error", "code"),
        *("tool_calls", "function", "arguments", "id", "usage", "prompt_tokens", "prompt_tokens_details"),
    ]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(fields, inner, max_size=4),
    max_leaves=12,
)


@given(st.lists(st.dictionaries(fields, json_values, max_size=4), max_size=4), st.booleans())
def test_a_hostile_server_gets_a_reply_or_a_named_error(chunks: list[Any], plain: bool) -> None:
    lines = [json.dumps(c) for c in chunks] if plain else [event(c) for c in chunks]
    try:
        reply = read(*lines)
    except (ReplyError, IncompleteReply, UnreadableReply):
        return
    for choice in reply.choices:
        choice.content.encode()
        assert len(choice.tool_calls) <= 64


def test_a_lone_surrogate_cannot_leave_the_reader() -> None:
    line = b'data: {"choices": [{"index": 0, "delta": {"content": "a\\ud800b"}, "finish_reason": "stop"}]}'
    assert read(line.decode()).choices[0].content == "a?b"


def test_the_body_has_the_fields_of_the_wire_form() -> None:
    request = Request(
        messages=(Message(role="system", content="s"), Message(role="user", content="u")),
        temperature=0.5,
        max_tokens=7,
        n=2,
        schema={"type": "object"},
        tools=({"type": "function"},),
        sampling={"top_p": 0.9, "logprobs": True, "stream": False, "n": 9},
    )
    assert OpenAIWire().body("m", request, Dialect()) == {
        "model": "m",
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "u"}],
        "max_tokens": 7,
        "temperature": 0.5,
        "n": 2,
        "stream": True,
        "stream_options": {"include_usage": True},
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "turn", "strict": True, "schema": {"type": "object"}},
        },
        "tools": [{"type": "function"}],
        "top_p": 0.9,
        "logprobs": True,
    }


def test_fields_that_a_server_does_not_take_are_left_out() -> None:
    frugal = Dialect(stream_options=False, n=False, temperature=False, token_field="max_completion_tokens")
    body = OpenAIWire().body("m", question(n=3), frugal)
    assert set(body) == {"model", "messages", "stream", "max_completion_tokens"}
