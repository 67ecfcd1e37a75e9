"""`vera mcp --http` in a process: a real client with a token, and strangers of every kind."""

import asyncio
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import httpx2
import msgspec
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.testclient import TestClient

from support.cli import vera as command
from support.mcp_client import Answer, call
from vera.config import ConfigError, defaults
from vera.mcp.http import Access, create_app
from vera.mcp.service import Service, ToolError
from vera.service.bodies import MAX_BYTES
from vera.service.tokens import RIGHTS, Right, Tokens, add

LICENCES = Path(__file__).parents[2] / "examples" / "licences"
THESIS = "GPL version 3 requires the written offer to be valid for at least three years."
LIST: dict[str, Any] = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
JSON = {"content-type": "application/json", "accept": "application/json, text/event-stream"}


class Running(msgspec.Struct, frozen=True):
    """A service that runs: its address, and its files of tokens and of log."""

    address: str
    tokens: Path
    log: Path
    base: Path

    def token(self, name: str, *scopes: Right, at_once: int = 8, per_hour: int = 600) -> str:
        return add(self.tokens, name, scopes or RIGHTS, at_once, per_hour)

    @property
    def port(self) -> int:
        return int(self.address.split(":")[2].partition("/")[0])


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    place = tmp_path_factory.mktemp("http")
    tokens, log, base = place / "tokens.json", place / "log", place / "base"
    base.mkdir()
    add(tokens, "first", RIGHTS, 8, 600)
    options = ["--base-dir", base, "--input-dir", LICENCES, "--model-base-url", "builtin"]
    argv = [
        sys.executable,
        "-P",
        "-m",
        "vera",
        "mcp",
        "--http",
        "--port",
        "0",
        "--token-file",
        tokens,
        *options,
    ]
    with log.open("w") as stderr:
        server = subprocess.Popen(
            [*map(str, argv)], cwd=place, stdout=subprocess.PIPE, stderr=stderr, text=True
        )
    assert server.stdout
    server.stdout.readline()
    address = server.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:"), log.read_text()
    yield Running(address=address, tokens=tokens, log=log, base=base)
    server.send_signal(signal.SIGINT)
    assert server.wait(20) == 0
    assert "Traceback" not in log.read_text()


@pytest.fixture(scope="module")
def token(running: Running) -> str:
    return running.token("owner", at_once=100, per_hour=1000)


def talk(running: Running, token: str, tool: str, mode: str = "auto", **arguments: Any) -> Answer:
    """One call by the SDK's own client."""

    async def main() -> Answer:
        headers = {"authorization": f"Bearer {token}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=60) as http,
            Client(streamable_http_client(running.address, http_client=http), mode=mode) as client,
        ):
            return await call(client, tool, **arguments)

    return asyncio.run(asyncio.wait_for(main(), 60))


def post(running: Running, token: str = "", body: Any = LIST, **headers: str) -> httpx.Response:
    given = {**JSON, **({"authorization": f"Bearer {token}"} if token else {}), **headers}
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return httpx.post(running.address, content=content, headers=given, timeout=30)


@pytest.fixture(scope="module")
def verdict(running: Running, token: str) -> Answer:
    return talk(running, token, "verify_claim", thesis=THESIS, scope=["files"])


def test_a_client_with_a_token_gets_a_verdict_with_structure_and_progress(verdict: Answer) -> None:
    assert not verdict.failed, verdict.texts
    assert (verdict.value["status"], verdict.value["exit_code"]) == ("QUOTED", 0)
    assert len(verdict.progress) > 2


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_both_eras_of_the_protocol_are_served(
    running: Running, token: str, verdict: Answer, mode: str
) -> None:
    found = talk(running, token, "get_evidence", mode, attestation_id=verdict.value["attestation_id"])
    assert not found.failed, found.texts
    assert "three" in found.value["spans"][0]


def test_a_token_sees_nothing_of_another_one(running: Running, token: str, verdict: Answer) -> None:
    stranger = running.token("stranger")
    card = verdict.value["cards"][0]["card_id"]
    assert "No session" in talk(running, stranger, "get_evidence", card_id=card).texts[0]
    named = talk(running, stranger, "get_evidence", card_id=card, session=verdict.value["session"])
    assert named.failed
    report = talk(running, stranger, "check_report", path=f"{verdict.value['session']}/answer.md")
    assert "leads out" in report.texts[0]
    assert talk(running, stranger, "list_ahdb").value["entries"] == []
    assert talk(running, token, "list_ahdb").value["standing"]["ASSERT"] == 1
    assert [path.name for path in running.base.iterdir()] == ["serve"]


def test_a_scope_opens_its_tools_only(running: Running) -> None:
    reader = running.token("reader", "read")
    refused = talk(running, reader, "verify_claim", thesis=THESIS)
    assert refused.failed
    assert "needs 'verify'" in refused.texts[0]
    assert not talk(running, reader, "list_ahdb").failed


def test_the_hour_of_a_token_ends(running: Running) -> None:
    few = running.token("few", per_hour=1)
    text = 'It says "valid for at least five years" [1].\n\n[1]: GPL-3.txt\n'
    assert not talk(running, few, "check_report", text=text).failed
    refused = talk(running, few, "check_report", text=text)
    assert "1 times an hour" in refused.texts[0]
    assert not talk(running, few, "list_ahdb").failed


@pytest.mark.parametrize("given", ["", "wrong", "vera_" + "x" * 43, "x" * 5000])
def test_without_its_token_no_one_gets_further(running: Running, given: str) -> None:
    assert post(running, given).status_code == 401


def test_a_token_that_was_removed_opens_nothing(running: Running) -> None:
    gone = running.token("gone")
    assert post(running, gone).status_code == 200
    done = command("token", "remove", "gone", "--token-file", running.tokens, cwd=running.base)
    assert done.returncode == 0
    assert post(running, gone).status_code == 401


STRANGERS: dict[str, tuple[dict[str, str], int]] = {
    "a foreign name (DNS rebinding)": ({"host": "evil.example"}, 421),
    "a foreign name with our port": ({"host": "evil.example:8856"}, 421),
    "a foreign origin": ({"origin": "https://evil.example"}, 403),
    "an origin of a file": ({"origin": "null"}, 403),
    "another port of this machine": ({"origin": "http://127.0.0.1:1"}, 403),
    "a page of another site": ({"sec-fetch-site": "cross-site"}, 403),
    "a form": ({"content-type": "text/plain"}, 415),
    "headers without end": ({"x-much": "x" * 40_000}, 431),
}


@pytest.mark.parametrize("who", STRANGERS)
def test_a_stranger_is_refused_with_a_token_too(running: Running, token: str, who: str) -> None:
    headers, status = STRANGERS[who]
    found = post(running, token, **headers)
    assert found.status_code in (status, 400 if status == 431 else status), found.text
    assert "access-control-allow-origin" not in found.headers


def test_there_is_no_stream_without_a_call_and_no_session_to_take_over(running: Running, token: str) -> None:
    bearer = {"authorization": f"Bearer {token}", "accept": "text/event-stream"}
    for method in ("GET", "DELETE", "PUT"):
        assert httpx.request(method, running.address, headers=bearer).status_code == 405
    begin = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "t", "version": "0"},
        },
    }
    for _ in range(50):
        opened = post(running, token, begin)
        assert opened.status_code == 200
        assert "mcp-session-id" not in opened.headers
    assert post(running, token, **{"mcp-session-id": "0" * 32}).status_code == 200


BODIES: dict[str, tuple[bytes, int]] = {
    "too large": (b'{"a":"' + b"x" * MAX_BYTES + b'"}', 413),
    "no JSON": (b"hello", 400),
    "nothing": (b"", 400),
    "nested without end": (b"[" * 500_000, 400),
    "a number without end": (b'{"id":' + b"9" * 100_000 + b"}", 400),
    "a thousand calls at once": (json.dumps([LIST] * 1000).encode(), 400),
}


@pytest.mark.parametrize("what", BODIES)
def test_a_bad_body_is_refused(running: Running, token: str, what: str) -> None:
    body, status = BODIES[what]
    for version in ({}, {"mcp-protocol-version": "2026-07-28"}):
        assert post(running, token, body, **version).status_code == status


def test_a_body_without_a_length_is_cut_off_when_it_is_too_large(running: Running, token: str) -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(MAX_BYTES // 65536 + 2):
            yield b" " * 65536

    headers = {**JSON, "authorization": f"Bearer {token}"}
    assert httpx.post(running.address, content=parts(), headers=headers, timeout=30).status_code == 413


def test_who_sends_or_reads_slowly_holds_up_no_one(running: Running, token: str) -> None:
    head = f"POST /mcp HTTP/1.1\r\nhost: 127.0.0.1:{running.port}\r\nauthorization: Bearer {token}\r\n"
    head += "content-type: application/json\r\naccept: application/json, text/event-stream\r\n"
    whole = json.dumps(LIST)
    slow = []
    for at in range(40):
        each = socket.create_connection(("127.0.0.1", running.port), 10)
        # One half never sends its body, the other half never reads its answer.
        body = whole if at % 2 else ""
        each.sendall(f"{head}content-length: {len(whole)}\r\n\r\n{body}".encode())
        slow.append(each)
    try:
        with ThreadPoolExecutor(8) as pool:
            found = list(pool.map(lambda _: post(running, token).status_code, range(16)))
        assert found == [200] * 16
    finally:
        for each in slow:
            each.close()


def test_a_token_has_so_many_calls_at_one_time_and_in_an_hour(tmp_path: Path) -> None:
    given = add(tmp_path / "tokens.json", "one", RIGHTS, 1, 2)
    context: Any = SimpleNamespace(
        request=SimpleNamespace(scope={"token": Tokens(tmp_path / "tokens.json").of(given)})
    )
    now = [0.0]
    access = Access(Service(base=tmp_path, input_dir=None, settings=defaults({})), lambda: now[0])
    with (
        access(context, "verify") as service,
        pytest.raises(ToolError, match="1 calls at one time"),
        access(context, "read"),
    ):
        raise AssertionError("a second call was let in")
    assert service.base.parent == tmp_path / "serve"
    assert service.settings.run.base_dir == service.base
    with access(context, "check"):
        pass
    with (
        pytest.raises(ToolError, match=r"2 times an hour\. Ask again in 61 minutes"),
        access(context, "verify"),
    ):
        raise AssertionError("a third call was let in")
    now[0] = 3601.0
    with access(context, "verify"):
        pass


def app(place: Path, documents: Path, **settings: object) -> Any:
    add(place / "tokens.json", "one", RIGHTS, 8, 600)
    chosen = defaults({"model.base_url": "builtin", **settings})
    return create_app(Service(base=place, input_dir=documents, settings=chosen), place / "tokens.json")


def test_a_body_that_never_comes_is_given_up(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, running: Running
) -> None:
    monkeypatch.setattr("vera.service.bodies.MAX_SECONDS", 0.05)
    token = add(tmp_path / "tokens.json", "slow", RIGHTS, 8, 600)
    made = app(tmp_path, LICENCES)
    sent: list[Any] = []

    async def never() -> Any:
        await asyncio.sleep(60)

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/mcp",
        "raw_path": b"/mcp",
        "query_string": b"",
        "http_version": "1.1",
        "headers": [
            (b"host", b"127.0.0.1"),
            (b"authorization", f"Bearer {token}".encode()),
            (b"content-type", b"application/json"),
        ],
    }
    asyncio.run(made(scope, never, send))
    assert sent[0]["status"] == 408


def test_documents_that_hold_what_other_tokens_asked_are_refused(tmp_path: Path) -> None:
    for documents in (tmp_path, tmp_path / "serve" / "one"):
        with pytest.raises(ConfigError, match="for every token"):
            create_app(
                Service(base=tmp_path, input_dir=documents, settings=defaults({})), tmp_path / "tokens.json"
            )


def test_settings_without_isolation_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="outside of a sandbox"):
        app(tmp_path, LICENCES, **{"sandbox.backend": "host"})


def test_a_name_of_a_proxy_is_allowed_when_it_is_named(tmp_path: Path) -> None:
    token = add(tmp_path / "tokens.json", "one", RIGHTS, 8, 600)
    service = Service(base=tmp_path, input_dir=LICENCES, settings=defaults({}))
    made = create_app(service, tmp_path / "tokens.json", frozenset({"vera.example"}))
    headers = {**JSON, "authorization": f"Bearer {token}"}
    with TestClient(made, base_url="http://vera.example") as client:
        assert client.post("/mcp", json=LIST, headers=headers).status_code == 200
        other = {**headers, "host": "other.example"}
        assert client.post("/mcp", json=LIST, headers=other).status_code == 421


def test_without_a_token_the_service_does_not_begin(tmp_path: Path) -> None:
    done = command("mcp", "--http", "--token-file", tmp_path / "none.json", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (5, "")
    assert "vera token add NAME" in done.stderr


def test_the_configuration_of_a_client_over_http_holds_no_token(running: Running) -> None:
    shown = command("mcp", "--http", "--port", "8900", "--print-config", cwd=running.base)
    server = json.loads(shown.stdout)["mcpServers"]["vera"]
    assert server == {
        "type": "http",
        "url": "http://127.0.0.1:8900/mcp",
        "headers": {"Authorization": "Bearer TOKEN"},
    }
