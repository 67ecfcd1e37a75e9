"""From a URL to a client that knows its server."""

import asyncio
import re
import socket
from typing import Any

import pytest

from support.asking import question
from support.scripted_server import Fault, Raw, ScriptedServer
from vera.model import connect as connect_module
from vera.model.connect import assumption, connect
from vera.model.transport import Transport
from vera.model.types import Choice, Completion, ModelError, ModelInfo, Usage

KINDS = ["openai", "lmstudio", "ollama", "vllm", "llamacpp", "sglang"]


def info(server: ScriptedServer, name: str = "", **settings: Any) -> ModelInfo:
    async def run() -> ModelInfo:
        client = await connect(server.base_url, name, **settings)
        await client.close()
        return client.info

    return asyncio.run(run())


def refused(server: ScriptedServer, name: str = "", **settings: Any) -> str:
    with pytest.raises(ModelError) as error:
        info(server, name, **settings)
    return str(error.value)


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_server_is_recognised_and_answers(kind: str) -> None:
    async def run() -> tuple[ModelInfo, Completion]:
        client = await connect(server.base_url)
        try:
            return client.info, await client.complete(question())
        finally:
            await client.close()

    with ScriptedServer(["hello"], kind=kind) as server:
        found, done = asyncio.run(run())
    assert (found.kind, found.name, found.base_url) == (kind, "scripted-model", server.base_url)
    assert found.local
    assert done.choices[0].content == "hello"
    assert server.requests[0].body["model"] == "scripted-model"


@pytest.mark.parametrize("kind", [k for k in KINDS if k != "openai"])
def test_the_real_context_length_is_read(kind: str) -> None:
    with ScriptedServer([], kind=kind, context=20_000) as server:
        found = info(server)
    assert found.context_tokens == 20_000
    assert found.warnings == ()


def test_an_unknown_servers_context_is_unknown() -> None:
    with ScriptedServer([]) as server:
        assert info(server).context_tokens is None


def test_the_older_description_of_lm_studio_is_read_too() -> None:
    with ScriptedServer([], kind="lmstudio", lmstudio_api="v0", context=20_000, protocol="tools") as server:
        found = info(server)
    assert (found.kind, found.name, found.context_tokens) == ("lmstudio", "scripted-model", 20_000)
    assert found.protocol == "tools"


@pytest.mark.parametrize(
    ("kind", "line"),
    [
        ("lmstudio", "lms load scripted-model --context-length 32768"),
        ("vllm", "vllm serve scripted-model --max-model-len 32768"),
        ("llamacpp", "llama-server -m scripted-model -c 32768"),
        ("sglang", "--model-path scripted-model --context-length 32768"),
    ],
)
def test_a_context_that_is_too_small_is_warned_of_with_the_line_to_type(kind: str, line: str) -> None:
    with ScriptedServer([], kind=kind, context=8192) as server:
        (warning,) = info(server).warnings
    assert "8192" in warning
    assert line in warning


@pytest.mark.parametrize("kind", ["llamacpp", "lmstudio"])
def test_no_context_is_advised_beyond_what_the_model_was_trained_for(kind: str) -> None:
    api = {"lmstudio_api": "v0"}
    with ScriptedServer([], kind=kind, context=4096, trained=12_000, **api) as server:
        (warning,) = info(server).warnings
    assert re.search(r"(-c|--context-length) 12000\b", warning)
    with ScriptedServer([], kind=kind, context=8192, trained=8192, **api) as server:
        (warning,) = info(server).warnings
    assert "is 8192 tokens" in warning and "The model was trained for no more." in warning
    assert "Start it" not in warning


def test_the_functions_are_too_long_for_a_small_context() -> None:
    with ScriptedServer([], kind="llamacpp", protocol="tools", context=8192) as server:
        assert info(server).protocol == "text"


def test_ollama_is_asked_for_a_roomy_context_instead() -> None:
    with ScriptedServer(["x"], kind="ollama", context=4096) as server:
        found = info(server)
    assert (found.context_tokens, found.warnings) == (32_768, ())
    assert server.probes[0].body["options"]["num_ctx"] == 32_768


def test_a_context_given_by_the_person_wins() -> None:
    with ScriptedServer([], kind="ollama") as server:
        assert info(server, context_tokens=65_536).context_tokens == 65_536
        assert server.probes[0].body["options"]["num_ctx"] == 65_536


@pytest.mark.parametrize(
    ("kind", "parallel"),
    [("openai", 1), ("lmstudio", 3), ("ollama", 1), ("vllm", 16), ("llamacpp", 3), ("sglang", 24)],
)
def test_how_much_an_endpoint_serves_at_once_is_found_out(kind: str, parallel: int) -> None:
    with ScriptedServer([], kind=kind, parallel=3) as server:
        assert info(server).parallel == parallel


@pytest.mark.parametrize("kind", KINDS)
def test_servers_that_never_give_several_candidates_are_known_by_their_kind(kind: str) -> None:
    with ScriptedServer([], kind=kind) as server:
        assert info(server).gives_n is (False if kind in ("lmstudio", "ollama") else None)


# the model's name


@pytest.mark.parametrize("kind", ["lmstudio", "ollama"])
def test_without_a_name_the_loaded_model_is_taken(kind: str) -> None:
    with ScriptedServer([], kind=kind, other_models=["another"]) as server:
        assert info(server).name == "scripted-model"


def test_if_none_is_loaded_the_choice_is_said() -> None:
    with ScriptedServer([], kind="ollama", other_models=["another"], loaded=False) as server:
        found = info(server)
    assert any("taking scripted-model" in warning for warning in found.warnings)


def test_lm_studio_is_said_to_load_with_too_small_a_context_by_itself() -> None:
    with ScriptedServer([], kind="lmstudio", loaded=False) as server:
        found = info(server)
    assert any("lms load scripted-model --context-length 32768" in warning for warning in found.warnings)
    assert found.context_tokens is None


@pytest.mark.parametrize("kind", ["lmstudio", "ollama", "vllm"])
def test_a_model_that_is_not_there_is_an_error_with_those_that_are(kind: str) -> None:
    with ScriptedServer([], kind=kind) as server:
        said = refused(server, "nonesuch")
    assert "'nonesuch'" in said
    assert "scripted-model" in said
    assert "--model-name" in said


def test_ollamas_tag_latest_need_not_be_typed() -> None:
    with ScriptedServer([], kind="ollama", model="qwen3:latest") as server:
        assert info(server, "qwen3").name == "qwen3:latest"


def test_a_model_that_ollama_runs_elsewhere_is_not_local() -> None:
    with ScriptedServer([], kind="ollama", model="big:cloud", other_models=["small"], loaded=False) as server:
        assert info(server).name == "small"
        elsewhere = info(server, "big:cloud")
    assert not elsewhere.local
    assert any("cloud" in warning for warning in elsewhere.warnings)


# the protocol


@pytest.mark.parametrize("kind", KINDS)
def test_auto_takes_json_schema_where_the_server_keeps_to_it(kind: str) -> None:
    with ScriptedServer([], kind=kind, protocol="json_schema") as server:
        assert info(server).protocol == "json_schema"
    assert len(server.probes) == 1
    assert server.requests == []


@pytest.mark.parametrize("kind", ["lmstudio", "ollama", "llamacpp"])
def test_auto_takes_tools_where_only_the_template_has_them(kind: str) -> None:
    with ScriptedServer([], kind=kind, protocol="tools") as server:
        assert info(server).protocol == "tools"


def test_the_probe_takes_a_quarter_of_the_time_budget_at_most_and_says_when_it_begins() -> None:
    told: list[str] = []
    with ScriptedServer([], kind="llamacpp", protocol="json_schema", probe_waits=600) as server:
        client = asyncio.run(connect(server.base_url, seconds=4.0, progress=told.append))
        asyncio.run(client.close())
    assert client.info.protocol == "text"
    assert told == ["Asking scripted-model for a first word (at most 1 s)"]
    assert client.probed.seconds >= 1.0


def test_a_probe_tells_how_fast_the_model_writes_where_that_can_be_told() -> None:
    def speed(tokens: int | None, seconds: float) -> float:
        usage = Usage(completion_tokens=tokens)
        return connect_module._speed(
            Completion(choices=(Choice(),), usage=usage, latency_s=1 + seconds, first_byte_s=1.0)
        )

    assert speed(11, 2.0) == 5.0
    assert speed(None, 2.0) == speed(3, 2.0) == speed(11, 0.01) == 0.0


@pytest.mark.parametrize("kind", KINDS)
def test_auto_takes_text_otherwise(kind: str) -> None:
    with ScriptedServer([], kind=kind) as server:
        assert info(server).protocol == "text"


@pytest.mark.parametrize("kind", KINDS)
def test_what_was_found_a_moment_ago_spares_the_server_questions(kind: str) -> None:
    with ScriptedServer([], kind=kind, protocol="json_schema") as server:
        found = info(server)
        asked, probes = len(server.paths), len(server.probes)
        again = info(server, assumed=assumption(found.kind, found.protocol))
        assert again == found
        assert len(server.paths) - asked <= asked / 2
        assert len(server.probes) == probes


def test_an_assumption_that_the_server_contradicts_counts_for_nothing() -> None:
    with ScriptedServer([], kind="llamacpp", protocol="tools", context=20_000) as server:
        found = info(server)
        assert (found.kind, found.protocol) == ("llamacpp", "tools")
        for wrong in ("vllm/json_schema", "vllm/text", "llamacpp/text", "nonsense"):
            assert info(server, assumed=wrong) == found
        server.protocol = "text"
        assert info(server, assumed="llamacpp/tools").protocol == "text"


def test_a_protocol_that_is_spelled_out_wins_over_an_assumed_one() -> None:
    with ScriptedServer([], kind="vllm") as server:
        assert info(server, protocol="text", assumed="vllm/json_schema").protocol == "text"


def test_a_server_that_refuses_the_schema_gets_text() -> None:
    with ScriptedServer([], refuses=["response_format"]) as server:
        assert info(server).protocol == "text"


@pytest.mark.parametrize("protocol", ["text", "json_schema", "tools"])
def test_a_protocol_that_is_spelled_out_is_not_probed(protocol: str) -> None:
    with ScriptedServer([]) as server:
        assert info(server, protocol=protocol).protocol == protocol
    assert server.probes == []


def test_an_unknown_protocol_is_refused_with_the_choices() -> None:
    with ScriptedServer([]) as server:
        assert "auto|text|json_schema|tools" in refused(server, protocol="xml")


# hosted endpoints


def hosted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes loopback look like the internet."""
    monkeypatch.setattr("vera.model.transport.is_local", lambda base_url: False)


def test_a_hosted_endpoint_is_asked_for_its_models_and_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    hosted(monkeypatch)
    with ScriptedServer(["x"], kind="vllm", key="sk-1") as server:
        found = info(server, key="sk-1")
    assert set(server.paths) == {"/v1/models"}
    assert (found.kind, found.protocol, found.local) == ("openai", "text", False)
    assert found.context_tokens == 32_768
    assert found.parallel == connect_module.HOSTED_PARALLEL
    assert any("unencrypted" in warning for warning in found.warnings)


def test_a_hosted_endpoint_with_several_models_wants_a_name(monkeypatch: pytest.MonkeyPatch) -> None:
    hosted(monkeypatch)
    with ScriptedServer([], other_models=["b"]) as server:
        said = refused(server)
    assert "scripted-model, b" in said
    assert "--model-name" in said


# what is not there


def test_a_server_that_is_not_running_is_said_at_once() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"127.0.0.1:{unused.getsockname()[1]}"
        with pytest.raises(ModelError, match=r"is the server running.*vera doctor") as error:
            asyncio.run(connect(url))
    assert error.value.transient


def test_a_wrong_key_is_said_before_anything_else() -> None:
    with ScriptedServer([], kind="llamacpp", key="right") as server:
        said = refused(server, key="wrong-one")
    assert "refused the key" in said
    assert "wrong-one" not in said


def test_something_else_on_the_port_is_recognised_as_such() -> None:
    with ScriptedServer([]) as server:
        root = server.root + "/somewhere/v1"
        with pytest.raises(ModelError, match="no model server"):
            asyncio.run(connect(root))


def test_a_description_without_end_is_cut_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vera.model.transport.MAX_JSON_BYTES", 10)

    async def run() -> None:
        transport = Transport(server.base_url)
        try:
            await transport.ask(f"{server.base_url}/models")
        finally:
            await transport.close()

    with ScriptedServer([Raw(), Fault(500)]) as server, pytest.raises(Exception, match="more than 10 bytes"):
        asyncio.run(run())
