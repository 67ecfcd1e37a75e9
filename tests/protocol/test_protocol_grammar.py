"""The schema and the functions against llama.cpp's own server: a monkey types, every turn is valid."""

import json
import urllib.request
from collections.abc import Iterator
from typing import Any

import pytest

from support.tiny_llama import CALLS_TOOLS, TinyLlama
from vera.protocol import Parsed, ToolSpec, json_schema, text, tools

pytestmark = pytest.mark.needs("llama")

SPECS = (
    ToolSpec(name="shell", description="run", properties={"cmd": {"type": "string"}}, required=("cmd",)),
    ToolSpec(
        name="read",
        description="read",
        properties={"path": {"type": "string"}, "first": {"type": "integer", "minimum": 1, "maximum": 10**9}},
        required=("path",),
    ),
)
ONLY_ASCII = {str(token): -100 for token in range(128, 256)}
"""The monkey's tokens are bytes, and bytes at random are not UTF-8."""


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TinyLlama]:
    with TinyLlama(tmp_path_factory.mktemp("llama"), context=8192, parallel=1) as server:
        yield server


def ask(llama: TinyLlama, seed: int, **fields: Any) -> dict[str, Any]:
    body = {"messages": [{"role": "user", "content": "go"}], "max_tokens": 4000, "seed": seed, **fields}
    request = urllib.request.Request(
        f"{llama.base_url}/chat/completions", json.dumps(body).encode(), {"content-type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=60) as reply:
        message: dict[str, Any] = json.load(reply)["choices"][0]["message"]
    return message


def assert_a_turn(parsed: Parsed) -> None:
    """A turn, or no more than the empty thought and the empty answer that no grammar forbids."""
    assert {error.code for error in parsed.errors} <= {"missing_thought", "missing_final"}
    if parsed.turn is not None:
        assert text.parse(text.render(parsed.turn)).turn == parsed.turn
        assert json_schema.parse(json_schema.render(parsed.turn)).turn == parsed.turn
        assert tools.parse(*tools.render(parsed.turn)).turn == parsed.turn


@pytest.mark.parametrize(
    "bounds",
    [
        {},
        {"bounded": True, "evidence": (), "may_answer": False},
        {"bounded": True, "evidence": tuple(f"ev_{number:04d}" for number in range(200))},
    ],
    ids=["plain", "nothing read", "much read"],
)
def test_the_server_takes_the_schema_and_what_it_types_is_a_turn(
    llama: TinyLlama, bounds: dict[str, Any]
) -> None:
    schema = {"name": "turn", "strict": True, "schema": json_schema.schema(SPECS, **bounds)}
    wanted = {"type": "json_schema", "json_schema": schema}
    for seed in range(10 if not bounds else 3):
        said = ask(llama, seed, response_format=wanted, logit_bias=ONLY_ASCII)
        assert_a_turn(json_schema.parse(said["content"]))


def test_the_server_takes_the_functions_and_its_call_is_a_turn(llama: TinyLlama) -> None:
    # Its favourite sign would also fill every string for ever, so it likes the closing quote as much.
    likes = {**ONLY_ASCII, **CALLS_TOOLS["logit_bias"], str(ord('"')): 79}
    said = ask(llama, 0, tools=tools.definitions(SPECS), **{**CALLS_TOOLS, "logit_bias": likes})
    assert_a_turn(tools.parse(said.get("content") or "", said["tool_calls"]))
