"""Probabilities of tokens: asked for, read from every form of a reply, and done without."""

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.asking import answer, question, with_client
from support.scripted_server import Fault, ScriptedServer
from vera.model.client import ChatClient
from vera.model.logprobs import MAX_TOKEN_LENGTH, MAX_TOKENS, TOP_LOGPROBS, TokenFold
from vera.model.ollama import OllamaWire
from vera.model.types import Token
from vera.model.wire import Dialect


def entry(text: str, logprob: float, top: dict[str, float] | None = None) -> dict[str, Any]:
    likely = [{"token": t, "logprob": p, "bytes": None} for t, p in (top or {}).items()]
    return {"token": text, "logprob": logprob, "bytes": None, "top_logprobs": likely}


SENT = [entry("sc", -0.5), entry("ore", -0.25, {"ore": -0.25, "reboard": -1.5})]
READ = (Token("sc", -0.5), Token("ore", -0.25, (("ore", -0.25), ("reboard", -1.5))))


@pytest.mark.parametrize("streams", [True, False])
def test_tokens_are_read_from_a_streamed_and_from_a_whole_reply(streams: bool) -> None:
    with ScriptedServer([{"content": "score", "logprobs": SENT}], streams=streams) as server:
        choice = answer(server, question(logprobs=True)).choices[0]
    assert (choice.content, choice.tokens) == ("score", READ)
    assert server.requests[0].body["logprobs"] is True
    assert server.requests[0].body["top_logprobs"] == TOP_LOGPROBS


def test_ollama_gives_them_on_its_own_route() -> None:
    with ScriptedServer([{"content": "score", "logprobs": SENT}], kind="ollama") as server:
        choice = answer(
            server, question(logprobs=True), wire=OllamaWire(4096), dialect=Dialect(n=False)
        ).choices[0]
    assert choice.tokens == READ
    assert server.requests[0].body["top_logprobs"] == TOP_LOGPROBS


def test_nothing_is_asked_for_unless_wanted_and_a_server_may_ignore_it() -> None:
    with ScriptedServer(["one", "two"]) as server:
        assert answer(server).choices[0].tokens == ()
        assert answer(server, question(logprobs=True)).choices[0].tokens == ()
    assert "logprobs" not in server.requests[0].body


def test_a_refusal_is_remembered_and_the_answer_still_comes() -> None:
    async def twice(client: ChatClient) -> list[str]:
        return [(await client.complete(question(logprobs=True))).choices[0].content for _ in range(2)]

    with ScriptedServer(["one", "two", "three"], refuses=["logprobs"]) as server:
        assert with_client(server, twice) == ["one", "two"]
    assert ["logprobs" in sent.body for sent in server.requests] == [True, False, False]


def test_openai_forbids_logprobs_of_some_models_with_403() -> None:
    body = {"error": {"message": "You are not allowed to request logprobs from this model.", "param": None}}
    with ScriptedServer([Fault(403, body=body), "one"]) as server:
        assert answer(server, question(logprobs=True)).choices[0].content == "one"


@pytest.mark.parametrize("logprob", [math.nan, math.inf, -math.inf, 1.0, "x", None, True])
def test_what_is_no_logarithm_of_a_probability_is_passed_over(logprob: Any) -> None:
    fold = TokenFold()
    fold.add([{"token": "a", "logprob": logprob}, entry("b", -1.0, {"c": -2.0})])
    assert fold.value() == (Token("b", -1.0, (("c", -2.0),)),)


def test_everything_is_bounded() -> None:
    fold = TokenFold()
    top = {str(number): -1.0 for number in range(50)}
    fold.add([entry("x" * 1000, -1.0, top)] * (MAX_TOKENS + 5))
    fold.add([entry("y", -1.0)])
    assert len(fold.value()) == MAX_TOKENS
    assert len(fold.value()[0].text) == MAX_TOKEN_LENGTH
    assert len(fold.value()[0].top) == TOP_LOGPROBS


json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["token", "logprob", "top_logprobs"]), inner, max_size=3)
    ),
    max_leaves=15,
)


@given(json_values)
def test_any_value_in_its_place_is_read_or_passed_over(value: Any) -> None:
    fold = TokenFold()
    fold.add(json.loads(json.dumps(value)))
    assert all(token.logprob <= 0 and isinstance(token.text, str) for token in fold.value())
