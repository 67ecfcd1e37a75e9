"""The client against the real llama.cpp server, with a model of random weights."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import pytest

from support.asking import question
from support.tiny_llama import CALLS_TOOLS, NEVER_STOPS, TinyLlama
from vera.model.client import ChatClient
from vera.model.connect import connect
from vera.model.probe import discover
from vera.model.types import Completion, Message, ModelError, Request

pytestmark = pytest.mark.needs("llama")

T = TypeVar("T")

TURN: dict[str, Any] = {
    "type": "object",
    "properties": {
        "tool": {"enum": ["shell", "read"]},
        "count": {"type": "integer", "minimum": 0, "maximum": 9},
        "done": {"type": "boolean"},
    },
    "required": ["tool", "count", "done"],
    "additionalProperties": False,
}
SHELL = {
    "type": "function",
    "function": {
        "name": "shell",
        "description": "runs a command",
        "parameters": {
            "type": "object",
            "properties": {"command": {"type": "string", "maxLength": 8}},
            "required": ["command"],
            "additionalProperties": False,
        },
    },
}


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyLlama]:
    with TinyLlama(tmp_path_factory.mktemp("llama"), context=4096, parallel=2) as server:
        yield server


def use(llama: TinyLlama, what: Callable[[ChatClient], Awaitable[T]]) -> T:
    async def run() -> T:
        client = await connect(llama.base_url, protocol="text")
        try:
            return await what(client)
        finally:
            await client.close()

    return asyncio.run(run())


def ask(llama: TinyLlama, request: Request) -> Completion:
    return use(llama, lambda client: client.complete(request))


def is_turn(content: str) -> bool:
    turn = json.loads(content)
    return (
        set(turn) == {"tool", "count", "done"}
        and turn["tool"] in ("shell", "read")
        and 0 <= turn["count"] <= 9
    )


def test_the_probe_reads_context_slots_and_keeps_to_schemas(llama: TinyLlama) -> None:
    async def run() -> Any:
        client = await connect(llama.base_url)
        await client.close()
        return client.info

    info = asyncio.run(run())
    assert (info.kind, info.context_tokens, info.parallel, info.protocol) == (
        "llamacpp",
        4096,
        2,
        "json_schema",
    )
    assert any("llama-server -m" in warning for warning in info.warnings)


def test_it_is_found_by_its_fingerprint(llama: TinyLlama) -> None:
    (found,) = asyncio.run(discover([int(llama.root.rsplit(":", 1)[1])]))
    assert (found.kind, found.base_url) == ("llamacpp", llama.base_url)


def test_a_schema_holds_over_many_random_turns(llama: TinyLlama) -> None:
    async def turns(client: ChatClient) -> list[Completion]:
        request = question("play", schema=TURN, max_tokens=300, temperature=1.5)
        return await asyncio.gather(*(client.complete(request) for _ in range(12)))

    for done in use(llama, turns):
        assert done.choices[0].finish_reason == "stop"
        assert is_turn(done.choices[0].content)


def test_several_candidates_from_one_prompt(llama: TinyLlama) -> None:
    done = ask(llama, question(n=2, schema=TURN, max_tokens=300, temperature=1.5))
    assert len(done.choices) == 2
    assert all(is_turn(choice.content) for choice in done.choices)
    assert done.usage.completion_tokens


def test_of_more_candidates_than_slots_one_is_given(llama: TinyLlama) -> None:
    """It refuses such an `n`: `selection.sample` asks for the others one by one."""
    done = ask(llama, question(n=3, max_tokens=4))
    assert len(done.choices) == 1


def test_logprobs_pass_through_and_do_no_harm(llama: TinyLlama) -> None:
    sampling = {"logprobs": True, "top_logprobs": 3, **NEVER_STOPS}
    done = ask(llama, question(max_tokens=8, sampling=sampling))
    assert done.usage.completion_tokens == 8


def test_tool_calls_are_streamed_and_assembled(llama: TinyLlama) -> None:
    (choice,) = ask(llama, question(tools=(SHELL,), max_tokens=300, sampling=CALLS_TOOLS)).choices
    assert choice.finish_reason == "tool_calls"
    (call,) = choice.tool_calls
    assert call["function"]["name"] == "shell"
    assert call["id"]
    assert set(json.loads(call["function"]["arguments"])) == {"command"}


def test_a_conversation_with_tool_calls_in_it_goes_back_in(llama: TinyLlama) -> None:
    call = {"id": "c", "type": "function", "function": {"name": "shell", "arguments": '{"command": "ls"}'}}
    messages = (
        Message(role="user", content="go"),
        Message(role="assistant", tool_calls=[call]),
        Message(role="tool", content="a.txt", tool_call_id="c"),
    )
    assert ask(llama, Request(messages=messages, tools=(SHELL,), max_tokens=4)).choices


def test_a_prompt_that_grows_is_served_from_the_cache(llama: TinyLlama) -> None:
    async def grow(client: ChatClient) -> list[Completion]:
        first = question("the same beginning " * 40, max_tokens=2)
        longer = Request(messages=(*first.messages, Message(role="user", content="and more")), max_tokens=2)
        return [await client.complete(first), await client.complete(longer)]

    first, second = use(llama, grow)
    assert first.usage.prompt_tokens is not None
    assert second.usage.cached_tokens is not None
    assert second.usage.cached_tokens > 0.9 * first.usage.prompt_tokens


def test_an_answer_cut_by_its_own_limit_is_no_truncation(llama: TinyLlama) -> None:
    done = ask(llama, question(max_tokens=6, sampling=NEVER_STOPS))
    assert done.choices[0].finish_reason == "length"
    assert done.truncated == ""


def test_an_answer_cut_by_the_context_is_named(llama: TinyLlama) -> None:
    done = ask(llama, question("x" * 4000, max_tokens=2000, sampling=NEVER_STOPS))
    assert "context of 4096 tokens" in done.truncated


def test_a_prompt_beyond_the_context_is_refused_with_the_line_to_type(llama: TinyLlama) -> None:
    with pytest.raises(ModelError, match=r"longer than the context.*llama-server -m .* -c 32768"):
        ask(llama, question("x" * 5000))


def test_a_cancelled_answer_frees_its_slot(llama: TinyLlama) -> None:
    endless_question = question(max_tokens=4000, sampling=NEVER_STOPS)

    async def run(client: ChatClient) -> Completion:
        endless = [asyncio.create_task(client.complete(endless_question)) for _ in range(2)]
        await asyncio.sleep(0.2)
        for task in endless:
            task.cancel()
        await asyncio.gather(*endless, return_exceptions=True)
        async with asyncio.timeout(10):
            return await client.complete(question(max_tokens=2, sampling=NEVER_STOPS))

    assert use(llama, run).usage.completion_tokens == 2
