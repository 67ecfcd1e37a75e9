"""Looking for model servers on this machine."""

import asyncio
import socket
import subprocess
import sys
import threading

import pytest

from support.scripted_server import ScriptedServer
from vera.model.probe import PORTS, Found, discover, ollama_place

KINDS = ["lmstudio", "ollama", "vllm", "llamacpp", "sglang"]


def look(*ports: int) -> list[Found]:
    return asyncio.run(discover(ports))


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_is_known_by_what_it_says_not_by_its_port(kind: str) -> None:
    with ScriptedServer([], kind=kind) as server:
        (found,) = look(server.port)
    assert (found.kind, found.base_url) == (kind, server.base_url)
    assert found.models == ("scripted-model",)


def test_nothing_listening_is_nothing_found() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        assert look(unused.getsockname()[1]) == []


def test_looking_where_nothing_listens_loads_no_http_client() -> None:
    program = """
import asyncio, sys
from vera.model.probe import discover
print(asyncio.run(discover([int(sys.argv[1])], {})), "httpx" in sys.modules)
"""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        argv = [sys.executable, "-c", program, str(unused.getsockname()[1])]
        done = subprocess.run(argv, capture_output=True, text=True, check=True)
    assert done.stdout == "[] False\n"


def test_another_web_server_on_a_usual_port_is_not_taken_for_a_model() -> None:
    with ScriptedServer([], kind="openai") as server:
        server.model = ""
        assert look(server.port) == []


def test_a_port_that_takes_connections_and_stays_silent_does_not_hold_up_the_others() -> None:
    with socket.socket() as silent, ScriptedServer([], kind="ollama") as server:
        silent.bind(("127.0.0.1", 0))
        silent.listen(8)
        assert [found.kind for found in look(silent.getsockname()[1], server.port)] == ["ollama"]


def test_a_port_that_speaks_no_http_is_passed_over() -> None:
    with socket.socket() as odd:
        odd.bind(("127.0.0.1", 0))
        odd.listen(16)

        def greet() -> None:
            try:
                while True:
                    connection, _ = odd.accept()
                    with connection:
                        connection.sendall(b"SSH-2.0-OpenSSH_9.2\r\n")
            except OSError:
                return

        thread = threading.Thread(target=greet, daemon=True)
        thread.start()
        assert look(odd.getsockname()[1]) == []
        odd.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def test_servers_with_a_loaded_model_come_first() -> None:
    with (
        ScriptedServer([], kind="lmstudio", loaded=False) as idle,
        ScriptedServer([], kind="llamacpp") as ready,
    ):
        assert [found.kind for found in look(idle.port, ready.port)] == ["llamacpp", "lmstudio"]


def test_no_key_is_sent_while_looking(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    with ScriptedServer([], kind="vllm", key="sk-secret") as server:
        assert look(server.port) == []


def test_the_usual_ports_are_those_of_the_servers_we_know() -> None:
    assert sorted(PORTS) == [1234, 8000, 8080, 11434, 30000]


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ("127.0.0.1:9999", "http://127.0.0.1:9999"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("gpu.local", "http://gpu.local:11434"),
        ("http://localhost:8123/ollama/", "http://localhost:8123/ollama"),
        ("http://localhost", "http://localhost"),
        ("'127.0.0.1:5'", "http://127.0.0.1:5"),
        ("https://ollama.com", ""),
        ("", ""),
        ("http://me:pw@localhost", ""),
    ],
)
def test_ollama_host_is_read_as_ollama_reads_it_when_it_is_local(value: str, place: str) -> None:
    assert ollama_place({"OLLAMA_HOST": value}) == place


def test_ollama_base_url_is_the_second_name() -> None:
    assert ollama_place({"OLLAMA_BASE_URL": "http://localhost:7777"}) == "http://localhost:7777"


def test_the_place_in_ollama_host_is_looked_at() -> None:
    with ScriptedServer([], kind="ollama") as server:
        found = asyncio.run(discover(environ={"OLLAMA_HOST": f"127.0.0.1:{server.port}"}))
    assert server.base_url in [one.base_url for one in found]
