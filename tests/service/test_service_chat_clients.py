"""Chat clients that people use talk to the service: OpenAI's own package, and `llm` as a command."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import openai
import pytest

from support.service_load import Cluster, cluster
from support.services import LICENCES

QUESTION = "For how long must a written offer for source code be valid under GPL version 3?"
KNOWN = "valid for at least three years"


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("chats")) as made:
        made.token("first")
        made.serve("--input-root", LICENCES, "--model-base-url", "builtin")
        yield made


@pytest.fixture(scope="module")
def client(place: Cluster) -> openai.OpenAI:
    key = place.token("openai")
    return openai.OpenAI(base_url=f"{place.address}/v1", api_key=key, max_retries=0, timeout=60.0)


def test_openai_s_client_lists_the_models_and_gets_an_answer(client: openai.OpenAI) -> None:
    assert [each.id for each in client.models.list()] == ["vera"]
    answer = client.chat.completions.create(
        model="vera", messages=[{"role": "user", "content": QUESTION}], temperature=0.1
    )
    (choice,) = answer.choices
    assert choice.finish_reason == "stop"
    assert choice.message.role == "assistant"
    assert KNOWN in (choice.message.content or "")
    assert answer.usage is not None
    assert answer.usage.total_tokens == answer.usage.prompt_tokens + answer.usage.completion_tokens
    assert answer.model_extra is not None
    assert answer.model_extra["vera"]["attestation"].startswith("sha256:")


def test_openai_s_client_gets_the_answer_as_a_stream_that_it_ends(client: openai.OpenAI) -> None:
    stream = client.chat.completions.create(
        model="vera", messages=[{"role": "user", "content": QUESTION}], stream=True
    )
    chunks = list(stream)
    assert KNOWN in "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
    assert [chunk.choices[0].finish_reason for chunk in chunks][-1] == "stop"
    assert len({chunk.id for chunk in chunks}) == 1


def test_openai_s_client_raises_its_own_errors_with_our_sentences(
    client: openai.OpenAI, place: Cluster
) -> None:
    messages: list[openai.types.chat.ChatCompletionMessageParam] = [{"role": "user", "content": "Why?"}]
    with pytest.raises(openai.AuthenticationError, match="That is no token of this service"):
        client.with_options(api_key="wrong").chat.completions.create(model="vera", messages=messages)
    with pytest.raises(openai.NotFoundError, match="There is no model"):
        client.chat.completions.create(model="gpt-4", messages=messages)
    few = client.with_options(api_key=place.token("few", per_hour=0))
    with pytest.raises(openai.RateLimitError, match="may ask 0 times an hour") as limited:
        few.chat.completions.create(model="vera", messages=messages)
    assert int(limited.value.response.headers["retry-after"]) > 0


@pytest.mark.parametrize("stream", [True, False])
def test_llm_gets_an_answer(stream: bool, place: Cluster, tmp_path: Path) -> None:
    """https://llm.datasette.io/en/stable/other-models.html#openai-compatible-models"""
    (tmp_path / "extra-openai-models.yaml").write_text(
        f"- model_id: vera\n  model_name: vera\n  api_base: {place.address}/v1\n  api_key_name: vera\n"
    )
    key = place.token(f"llm-{stream}".lower())
    words = [sys.executable, "-m", "llm", "-m", "vera", "--key", key, QUESTION]
    done = subprocess.run(
        words if stream else [*words, "--no-stream"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "LLM_USER_PATH": str(tmp_path), "LLM_LOAD_PLUGINS": ""},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert KNOWN in done.stdout
