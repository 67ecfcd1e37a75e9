"""What is asked of the dashboard, of the service and of the MCP server, by their forms and by none."""

import atexit
import contextlib
import functools
import json
import socket
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from unittest import mock
from urllib.parse import quote

import httpx
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import Case, GenerationMode, openapi
from schemathesis.checks import not_a_server_error
from starlette.testclient import TestClient

from assurance.batteries import Trial
from assurance.fuzzing import mutate
from assurance.fuzzing.document_seeds import PDFS
from assurance.fuzzing.row import Row
from support.attacks import OFFLINE, attempt
from support.dashboards import Dashboard, start
from support.services import SAYS, THESIS, Service, ask, bearer, ended, scripted
from support.turns import final, turn
from vera.config import defaults
from vera.dashboard.app import create_app
from vera.mcp.http import create_app as create_mcp_app
from vera.mcp.service import Service as McpService
from vera.service.openapi import document
from vera.service.tokens import RIGHTS, add
from vera.store import Store

TOKEN = "t" * 40
LICENCES = Path(__file__).parents[3] / "examples" / "licences"
FILES = {"terms.txt": "The offer must be valid for at least three years.\n", "terms.pdf": PDFS[0]}

kept = contextlib.ExitStack()
"""What is made once for all trials of this process, and ends with it."""
atexit.register(kept.close)


def folder() -> Path:
    return Path(kept.enter_context(tempfile.TemporaryDirectory(prefix="vera-fuzz-")))


@functools.cache
def base() -> Path:
    """A base folder with a session that has ended."""
    place = folder()
    said = [turn("read", path="terms.txt"), turn("read", path="terms.pdf"), final("Three years [ev_0001:1].")]
    attempt(place / "work", said, *OFFLINE, question="How long?", files=FILES)
    return place


# The dashboard


@functools.cache
def dashboard() -> tuple[TestClient, list[str]]:
    """A client of a dashboard in this process, and the addresses of its pages."""
    here = base()
    (session,) = (each for each in here.rglob("trace.jsonl"))
    name = session.parent.relative_to(here).as_posix()
    app = create_app(here, token=TOKEN)
    does_nothing = [sys.executable, "-I", "-S", "-c", ""]
    kept.enter_context(mock.patch("vera.dashboard.run_child.vera_command", lambda *words: does_nothing))
    client = kept.enter_context(TestClient(app, "http://127.0.0.1", raise_server_exceptions=False))
    client.headers["authorization"] = f"Bearer {TOKEN}"
    ids = [each for each in (name, name.replace("/", "%2F")) if client.get(f"/s/{each}").status_code == 200]
    listed = client.get("/", headers={"accept": "text/html"}).text
    found = sorted({part.split('"')[0] for part in listed.split('href="/s/')[1:]})
    of_session = (found or ids)[0].split("/")[0].split("?")[0]
    digest = next((here / "work").rglob("store/*/*")).name
    paths = {route.path: route for route in app.routes}
    return client, [
        path.replace("{id}", of_session)
        .replace("{sha256}", digest)
        .replace("{names}", "header,claims")
        .replace("{step}", "1")
        .replace("{name}", "report.html")
        .replace("{key:path}", "c1")
        .replace("{path:path}", "answer.md")
        .replace("{version}", "1")
        for path in paths
    ]


FIELDS = {
    "task": "How long is the bridge?",
    "kind": "question",
    "effort": "quick",
    "input_dir": ".",
    "model_base_url": "builtin",
    "max_steps": "3",
    "tags": "one, two",
    "claim": "c1",
    "label": "agree",
    "note": "n",
    "sessions": "x",
}
QUERY = {
    "q": "years",
    "sort": "age",
    "kind": "question",
    "state": "VERIFIED",
    "page": "1",
    "first": "1",
    "last": "3",
    "a": "1",
    "b": "2",
    "before": "0",
    "lane": "main",
    "claim": "c1",
    "view": "page",
    "from": "0",
    "work_dir": "x",
    "s": "x",
    "task": "t",
    "token": "x",
}
MAX_PARAMETER = 1000
"""Letters, each of up to 12 bytes in an address: the client refuses to send a query of more than 64 KB."""
HEADERS = {
    "accept": "text/html",
    "x-vera": "1",
    "last-event-id": "12",
    "content-type": "application/x-www-form-urlencoded",
    "origin": "http://127.0.0.1",
    "if-none-match": "x",
    "range": "bytes=0-5",
    "cookie": "vera=x; y",
    "accept-language": "de",
}


def some(draw: mutate.Draw, known: Mapping[str, str], most: int, longest: int = 5000) -> dict[str, str]:
    """A few of the names, with their values as they are or changed."""
    names = draw.sample(list(known), draw.randint(0, min(most, len(known))))
    return {
        name: known[name] if draw.random() < 0.5 else as_utf8(draw, known[name], longest) for name in names
    }


def as_utf8(draw: mutate.Draw, value: str, longest: int = 5000) -> str:
    return mutate.text(draw, [value], longest).encode("utf-8", "replace").decode()


def of_dashboard(trial: Trial) -> None:
    """No request is answered by 500, whatever its address, fields and headers."""
    draw = trial.random
    client, addresses = dashboard()
    address = draw.choice(addresses)
    if draw.random() < 0.4:
        address = "/" + quote(as_utf8(draw, address.lstrip("/")), safe="/?=&%")
    headers = {name: _visible(value) for name, value in some(draw, HEADERS, 4).items()}
    method = draw.choice(("GET", "GET", "POST", "POST", "HEAD", "PUT", "DELETE", "OPTIONS"))
    params = some(draw, QUERY, 4, MAX_PARAMETER)
    sent: dict[str, Any] = {"params": params, "headers": headers, "follow_redirects": False}
    if method == "POST":
        fields = some(draw, FIELDS, 8)
        match draw.randrange(3):
            case 0:
                sent["content"] = mutate.data(draw, [httpx.QueryParams(fields).__str__().encode()], 1 << 17)
            case 1:
                headers.pop("content-type", None)
                name = as_utf8(draw, "terms.txt")
                sent |= {"data": fields, "files": {"files": (name, mutate.junk(draw), "text/plain")}}
            case _:
                headers.pop("content-type", None)
                sent["data"] = fields
    if "/events" in address:
        method = "HEAD"  # a stream does not end
    answer = client.request(method, address, **sent)
    assert answer.status_code != 500, (method, address, sent, answer.text)


def _visible(value: str) -> str:
    return "".join(each for each in value if 31 < ord(each) < 127)


@functools.cache
def served_dashboard() -> Dashboard:
    """A dashboard in a process."""
    started = start(base(), folder() / "token")
    kept.callback(started.kill)
    return started


REQUESTS = (
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer TOKEN\r\nAccept: text/html\r\n\r\n",
    b"POST /new HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer TOKEN\r\nContent-Length: 3\r\n\r\na=b",
    b"POST /start HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer TOKEN\r\n"
    b"Transfer-Encoding: chunked\r\nContent-Type: multipart/form-data; boundary=x\r\n\r\n"
    b"5\r\n--x\r\n\r\n0\r\n\r\n",
    b"GET /healthz HTTP/1.0\r\n\r\n",
)
MEGABYTES_OF_A_SERVER = 400


def raw(trial: Trial) -> None:
    """Bytes that are no request do a server no harm: it answers others as before, and does not grow."""
    draw = trial.random
    place = served_dashboard()
    token = place.token.encode()
    for _ in range(4):
        request = mutate.data(draw, [each.replace(b"TOKEN", token) for each in REQUESTS])
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", place.port), 10) as near:
            near.settimeout(1.0)
            near.sendall(request)
            if draw.random() < 0.8:
                near.shutdown(socket.SHUT_WR)
                while near.recv(1 << 16):
                    pass
    with place.stranger() as client:
        assert client.get("/healthz").text == "ok\n"
    assert peak(place.process.pid) < MEGABYTES_OF_A_SERVER


def peak(pid: int) -> int:
    """The most memory that a process has held, in MB; 0 where the system does not say."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) >> 10
    return 0


# The service


@functools.cache
def service() -> tuple[TestClient, str, dict[str, str]]:
    """A client of the service in this process, its token, and names of what is there."""
    made = Service(folder())
    token = made.token(at_once=10_000, per_hour=1_000_000)
    client = kept.enter_context(made.running(scripted(SAYS), most_waiting=5))
    done = ended(client, token, ask(client, token, "verify", {"text": THESIS}).json()["id"])
    (own,) = made.terms.base.glob("serve/*-*")
    sha256 = Store(own / "work" / done["id"] / "store").put(b"Some bytes.")
    return client, token, {"jobs": done["id"], "evidence": sha256, "cards": sha256}


BODIES: dict[str, dict[str, Any]] = {
    "verify": {"text": THESIS, "input": "licences", "require": "quoted", "budget": {"queries": 3}},
    "research": {"question": "Why?", "input": "licences", "form": "answer", "budget": {"steps": 3}},
    "check": {"text": "It is so [1].\n\n[1] GPL-3.txt", "not_before": "2020-01-01", "strict": True},
    "chat/completions": {"model": "vera", "messages": [{"role": "user", "content": "Why?"}], "n": 1},
}


def of_service(trial: Trial) -> None:
    """No request is answered by 500, and each reply is as the description says."""
    draw = trial.random
    client, token, known = service()
    headers = {**bearer(token), "content-type": "application/json"}
    for _ in range(4):
        if draw.random() < 0.7:
            kind = draw.choice(list(BODIES))
            body = mutate.encoded(draw, {**BODIES[kind], "stream": False})
            answer = client.post(f"/v1/{kind}", content=body, headers=headers)
        else:
            kind = draw.choice(list(known))
            name = known[kind] if draw.random() < 0.5 else quote(as_utf8(draw, known[kind])[:500], safe="/")
            rest = draw.choice(("", "/bundle", "?start=1&end=5", "?start=-1", "?start=" + "9" * 30, "/x"))
            address = f"/v1/{kind}/{name}{rest}"
            answer = client.request(draw.choice(("GET", "GET", "PUT")), address, headers=headers)
        assert answer.status_code != 500, answer.text


@functools.cache
def operations() -> list[tuple[Any, GenerationMode]]:
    """Each operation of the description, to be asked rightly and wrongly."""
    schema = openapi.from_dict({name: each for name, each in document().items() if name != "security"})
    found = [each.ok() for each in schema.get_all_operations()]
    return [
        (each, mode)
        for each in found
        for mode in GenerationMode
        if "events" not in each.path
        and (mode is GenerationMode.POSITIVE or each.body or list(each.iter_parameters()))
    ]


def by_description(trial: Trial) -> None:
    """Requests that schemathesis makes of the description."""
    operation, mode = trial.random.choice(operations())
    client, token, _ = service()

    @seed(trial.random.getrandbits(64))
    @settings(
        max_examples=5,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def once(case: Case) -> None:
        made = case.as_transport_kwargs(base_url="http://127.0.0.1")
        answer = client.request(
            case.method,
            made["url"],
            params=made.get("params"),
            headers={**(made.get("headers") or {}), **bearer(token)},
            json=made.get("json"),
            content=made.get("data"),
        )
        case.validate_response(answer, checks=[not_a_server_error])

    once()


# MCP


@functools.cache
def mcp() -> tuple[TestClient, str]:
    place = folder()
    token = add(place / "tokens.json", "one", RIGHTS, 10_000, 1_000_000)
    chosen = defaults({"model.base_url": "builtin", "budget.seconds": 5.0})
    made = McpService(base=place, input_dir=LICENCES, settings=chosen)
    app = create_mcp_app(made, place / "tokens.json")
    return kept.enter_context(TestClient(app, "http://127.0.0.1", raise_server_exceptions=False)), token


CALLS: tuple[dict[str, Any], ...] = (
    {
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {}},
    },
    {"method": "tools/list", "params": {}},
    {"method": "ping"},
    {"method": "notifications/cancelled", "params": {"requestId": 1}},
    {
        "method": "tools/call",
        "params": {"name": "get_evidence", "arguments": {"card_id": "sha256:" + "0" * 64}},
    },
    {"method": "tools/call", "params": {"name": "check_report", "arguments": {"text": "It is so [1]."}}},
    {
        "method": "tools/call",
        "params": {"name": "verify_claim", "arguments": {"thesis": "", "max_seconds": 1, "scope": ["files"]}},
    },
)


def of_mcp(trial: Trial) -> None:
    """No message is answered by 500, and what is answered is JSON."""
    draw = trial.random
    client, token = mcp()
    both = "application/json, text/event-stream"
    headers = {**bearer(token), "content-type": "application/json", "accept": both}
    for _ in range(3):
        body = mutate.encoded(draw, {"jsonrpc": "2.0", "id": 1, **draw.choice(CALLS)})
        answer = client.post("/mcp", content=body, headers=headers)
        assert answer.status_code != 500, (body[:2000], answer.text)
        if answer.content and answer.headers["content-type"].startswith("application/json"):
            json.loads(answer.content)


ROWS: tuple[Row, ...] = (
    Row("requests: the dashboard", of_dashboard, 20, 300, share=6),
    Row("requests: bytes to the server of the dashboard", raw, 20, 200, share=2),
    Row("requests: the service", of_service, 20, 300, share=4),
    Row("requests: the service, by its description", by_description, 60, 300, share=2, wall=300),
    Row("requests: MCP", of_mcp, 30, 300, share=3),
)
