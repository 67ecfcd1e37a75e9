"""Which models a machine has and what is said of each; which of them a run takes by itself."""

import asyncio
import time
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from support.gguf_header import LLAMA, header
from support.scripted_server import ScriptedServer
from support.tiny_llama import write_random_model
from vera.agent import found_models, pulled_models
from vera.agent.errors import SetupError
from vera.agent.folders import exams_folder, file_facts
from vera.agent.found_models import FoundModel, find_models
from vera.agent.pulled_models import Pulled, choose_pulled
from vera.agent.speeds import keep_speed, kept_speed
from vera.config import load
from vera.config.settings import ModelSettings
from vera.lane.prompts import Prompts
from vera.model.client import ChatClient
from vera.model.probe import Found
from vera.model.types import Completion, Message, ModelInfo, Request
from vera.runtime.models import open_model
from vera.verification import exam
from vera.verification.kept_exams import keep


@pytest.fixture(autouse=True)
def own_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def settings(**values: str) -> ModelSettings:
    return load([f"model.{name}={value}" for name, value in values.items()]).settings.model


def record(name: str, when: float = 1.0, size: int = 0) -> Pulled:
    return Pulled(
        name=name, hub="https://huggingface.co", repo="a/b", file="c.gguf", commit="0", sha256="0",
        size=size, licence="mit", pulled_at=when,
    )  # fmt: skip


def have(name: str, data: bytes = header(LLAMA), when: float = 1.0) -> Path:
    """A model as if it had been pulled."""
    pulled_models.folder().mkdir(parents=True, exist_ok=True)
    part = pulled_models.folder() / "part"
    part.write_bytes(data)
    return pulled_models.keep(record(name, when, len(data)), part)


def listed(chosen: ModelSettings | None = None, **environ: str) -> list[FoundModel]:
    return list(asyncio.run(find_models(chosen or settings(), environ)).models)


def of(models: list[FoundModel], base_url: str) -> list[FoundModel]:
    return [each for each in models if each.place.endswith(base_url)]


def test_a_pulled_model_is_listed_with_what_its_header_and_the_hub_say() -> None:
    fields = LLAMA | {"general.file_type": 15, "general.license": "apache-2.0"}
    path = have("small", header(fields))
    (found,) = [each for each in listed() if each.source == "pulled"]
    assert (found.name, found.place) == ("small", str(path))
    assert (found.context_tokens, found.quantisation, found.licence) == (131_072, "Q4_K_M", "mit")
    assert found.size == path.stat().st_size
    assert found.use == "used where no server is and no other is named; --model-name small"


def test_the_one_that_was_pulled_last_is_first_and_the_others_are_named_by_name() -> None:
    have("old", when=1.0)
    have("new", when=2.0)
    assert [each.name for each in listed() if each.source == "pulled"] == ["new", "old"]


def test_the_configured_file_is_listed_also_when_it_is_no_model(tmp_path: Path) -> None:
    (tmp_path / "x.gguf").write_bytes(b"no model")
    (found,) = [each for each in listed(settings(file=str(tmp_path / "x.gguf"))) if each.source == "file"]
    assert "not a GGUF model file" in found.problem
    assert found.use == ""


def test_a_server_is_asked_about_each_of_its_models() -> None:
    with ScriptedServer([], kind="ollama", context=16_384) as server:
        (found,) = of(listed(OLLAMA_HOST=f"127.0.0.1:{server.port}"), server.base_url)
        assert (found.name, found.source) == ("scripted-model", "server")
        assert (found.context_tokens, found.size, found.licence) == (16_384, 12_345, "mit")
        assert f"--model-base-url {server.base_url} --model-name scripted-model" in found.use


def test_no_key_is_sent_to_a_server_that_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with ScriptedServer([], kind="vllm", key="sk-secret") as server:
        assert of(listed(settings(base_url=server.root)), server.base_url) == []
        assert server.paths, "it was asked, and has refused"


def test_a_configured_server_on_another_port_of_this_machine_is_listed() -> None:
    with ScriptedServer([], kind="vllm") as server:
        found = of(listed(settings(base_url=server.root)), server.base_url)
    assert [each.name for each in found] == ["scripted-model"]


def test_of_a_server_with_many_models_some_are_listed_and_the_rest_is_counted() -> None:
    others = tuple(f"m{number}; rm -rf " + "x" * 500 for number in range(40))
    with ScriptedServer([], kind="openai", other_models=others) as server:
        found = asyncio.run(find_models(settings(base_url=server.root), {}))
    here = of(list(found.models), server.base_url)
    assert len(here) == found_models.MAX_OF_A_SERVER
    assert found.left_out >= 41 - found_models.MAX_OF_A_SERVER
    assert max(len(each.name) for each in here) == found_models.MAX_TEXT_LENGTH
    assert all("--model-name 'm" in each.use for each in here[1:]), "as a shell takes it for one word"


@pytest.mark.parametrize(
    ("host", "is_asked"), [("127.0.0.1:1", True), ("192.0.2.7", False), ("nas.local", False), ("", False)]
)
def test_nothing_is_sent_to_a_server_that_is_not_on_this_machine(
    host: str, is_asked: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[object] = []

    async def discover(ports: object = None, environ: object = None) -> list[Found]:
        asked.append((ports, environ))
        return []

    monkeypatch.setattr(found_models, "discover", discover)
    listed(settings(base_url="http://192.0.2.7:8000"), OLLAMA_HOST=host)
    assert asked == [(None, {"OLLAMA_HOST": host} if is_asked else {})]


def test_the_exam_and_the_speed_that_are_kept_are_shown() -> None:
    path = have("small")
    info = ModelInfo(kind="llamacpp", name=path.name, weights=file_facts(path), own=True)
    prompt = Prompts().sha256("judge_label")
    who = (info.name, "", info.weights, prompt, exam.VERSION)
    key = exam._key(ModelInfo(kind="llamacpp", name=path.name, own=True, protocol="json_schema"), who)
    keep(exams_folder() / f"{key}.json", exam.Kept(seed=1, sat_at=time.time(), replies=("{}",)))
    keep_speed(timed(ModelInfo(kind="llamacpp", name=path.name, weights=info.weights, own=True,
                               base_url="http://127.0.0.1:4711/v1")))  # fmt: skip
    (found,) = [each for each in listed() if each.source == "pulled"]
    assert found.exam.startswith("failed, 0 of ")
    assert found.tokens_per_second == pytest.approx(50.0)


def timed(info: ModelInfo) -> ChatClient:
    """A client whose model has written 50 tokens in one second."""
    client = ChatClient("http://127.0.0.1:4711", info.name, info=info)
    client._written_tokens, client._writing_s = 50, 1.0
    return client


def test_the_speed_of_a_model_is_measured_while_it_writes() -> None:
    async def run(server: ScriptedServer) -> tuple[ChatClient, Completion]:
        client = ChatClient(server.base_url, "scripted-model")
        try:
            return client, await client.complete(Request(messages=(Message(role="user", content="?"),)))
        finally:
            await client.close()

    with ScriptedServer(["word " * 200]) as server:
        client, answer = asyncio.run(run(server))
    tokens = answer.usage.completion_tokens
    assert tokens is not None and tokens > 20
    speed = (tokens - 1) / (answer.latency_s - answer.first_byte_s)
    assert client.tokens_a_second == pytest.approx(speed)


def test_a_model_that_wrote_too_little_has_no_speed() -> None:
    client = ChatClient("http://127.0.0.1:4711", "m")
    assert client.tokens_a_second is None
    keep_speed(client)
    assert kept_speed(client.info) is None


def test_which_pulled_model_a_run_takes() -> None:
    new, old = record("new", 2.0), record("old", 1.0)
    assert choose_pulled([], "", can_serve=True) == (None, "the built-in one")
    assert choose_pulled([new, old], "", can_serve=True)[0] == new
    assert choose_pulled([new, old], "old", can_serve=True)[0] == old
    chosen, called = choose_pulled([new, old], "third", can_serve=True)
    assert chosen is None and "no pulled model is called 'third'" in called
    chosen, called = choose_pulled([new, old], "", can_serve=False)
    assert chosen is None and "needs the extra 'local'" in called


def opened(chosen: ModelSettings) -> tuple[ModelInfo, list[str]]:
    said: list[str] = []

    async def run() -> ModelInfo:
        async with AsyncExitStack() as stack:
            return (await open_model(chosen, stack, said.append, lambda line: None)).info

    return asyncio.run(run()), said


@pytest.mark.needs("llama")
def test_without_a_server_the_pulled_model_answers_and_a_line_says_so(tmp_path: Path) -> None:
    write_random_model(tmp_path / "monkey.gguf", context=8192)
    path = have("monkey", (tmp_path / "monkey.gguf").read_bytes())
    info, said = opened(settings(protocol="text"))
    assert (info.kind, info.name, info.own, info.weights) == (
        "llamacpp", "monkey.gguf", True, file_facts(path)
    )  # fmt: skip
    assert said[0].startswith("model: monkey, which you pulled (to choose another: --model-name NAME")


@pytest.mark.needs("llama")
def test_a_pulled_model_that_cannot_be_served_leaves_the_answer_to_the_built_in_one() -> None:
    have("broken")
    info, said = opened(settings())
    assert info.kind == "builtin"
    assert said[-1].startswith("model: the built-in one. llama.cpp could not load")


@pytest.mark.needs("llama")
def test_one_that_is_named_and_cannot_be_served_is_an_error() -> None:
    have("broken")
    with pytest.raises(SetupError, match="could not load") as error:
        opened(settings(name="broken"))
    assert error.value.exit_code == 5


def test_without_a_pulled_model_and_a_server_nothing_is_said_and_the_built_in_one_answers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def discover(ports: object = None, environ: object = None) -> list[Found]:
        return []

    monkeypatch.setattr("vera.model.probe.discover", discover)
    info, said = opened(settings())
    assert (info.kind, said) == ("builtin", [])
