"""Bodies of requests: huge, slow, with a member twice, and whatever else comes."""

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient
from starlette.types import Message

from support.services import SAYS, THESIS, Service, bearer, described, scripted
from vera.attestation.lenses import load_lens
from vera.attestation.request import RequestError, request_of
from vera.attestation.request_json import read_request
from vera.service import bodies
from vera.service.app import Service as Handlers
from vera.service.jobs import Jobs
from vera.service.openapi import document
from vera.service.problems import Refused
from vera.service.processes import Processes
from vera.service.tokens import Tokens


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    return Service(tmp_path_factory.mktemp("bodies"))


@pytest.fixture(scope="module")
def token(service: Service) -> str:
    return service.token(at_once=1000, per_hour=100_000)


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[TestClient]:
    with service.running(scripted(SAYS), at_once=1, most_waiting=1) as client:
        yield client


def post(client: TestClient, token: str, data: bytes, path: str = "/v1/verify", **headers: str) -> Any:
    kind = {"content-type": "application/json", **bearer(token), **headers}
    return client.post(path, content=data, headers=kind)


NO_JSON = (
    b"",
    b"{",
    b"[]",
    b"null",
    b'"text"',
    b"\xff\xfe",
    b'{"text": "\\ud800"}',
    b'{"text": "a", "text": "b"}',
    b'{"text": "a", "budget": {"sources": 1, "sources": 2}}',
    b"[" * 100_000,
    b'{"a":' * 50_000,
    b'{"text": ' + b"9" * 10_000 + b"}",
    b'{"text": NaN}',
    b'{"text": "a"} {}',
)


@pytest.mark.parametrize("data", NO_JSON)
@pytest.mark.parametrize("path", ["/v1/verify", "/v1/chat/completions"])
def test_what_is_no_such_json_is_refused_in_a_sentence(
    client: TestClient, token: str, path: str, data: bytes
) -> None:
    answer = post(client, token, data, path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")


def test_a_huge_body_is_refused_whether_it_says_its_length_or_not(client: TestClient, token: str) -> None:
    def parts() -> Iterator[bytes]:
        for _ in range(5):
            yield b" " * (bodies.MAX_BYTES // 4)

    assert post(client, token, b" " * (bodies.MAX_BYTES + 1)).status_code == 413
    headers = {"content-type": "application/json", **bearer(token)}
    assert client.post("/v1/verify", content=parts(), headers=headers).status_code == 413


def test_a_slow_body_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never() -> Message:
        await asyncio.sleep(3600)
        raise AssertionError

    monkeypatch.setattr(bodies, "MAX_SECONDS", 0.01)
    with pytest.raises(Refused) as refused:
        asyncio.run(bodies.read_body(never, "application/json", ""))
    assert refused.value.status == 408


def test_a_form_of_a_page_is_no_json(client: TestClient, token: str) -> None:
    assert post(client, token, b"{}", **{"content-type": "text/plain"}).status_code == 415


def test_a_key_that_is_no_line_of_letters_is_refused(client: TestClient, token: str) -> None:
    for key in ("x" * 201, "a\tb"):
        answer = post(client, token, b"{}", **{"idempotency-key": key})
        assert answer.json()["error"]["code"] == "invalid_key"


def test_a_stored_request_is_a_body_and_its_ids_must_be_its_own() -> None:
    request, _ = request_of(THESIS, scope="web", lens=load_lens("factual"))
    import msgspec

    stored = json.loads(msgspec.json.encode(request))
    asked = read_request(json.dumps(stored).encode())
    again, _ = request_of(asked.text, lens=load_lens(asked.lens), **asked.arguments())
    asked.insist_on_ids(again)
    assert again == request
    for name in ("thesis", "rubric"):
        other = read_request(json.dumps({**stored, name: "sha256:" + "0" * 64}).encode())
        with pytest.raises(RequestError, match=name):
            other.insist_on_ids(again)


def test_a_request_of_another_folder_is_refused(client: TestClient, token: str) -> None:
    body = {"text": THESIS, "scope": ["files"], "corpus": "sha256:" + "0" * 64}
    answer = post(client, token, json.dumps(body).encode())
    assert (answer.status_code, "corpus" in answer.json()["error"]["message"]) == (400, True)


@pytest.mark.parametrize("text", ["  \n", "x \0 y [1]", "%PDF-1.4 x", "\x01\x02\x03\x04 b"])
def test_a_report_that_is_no_text_is_refused_before_a_job_begins(
    client: TestClient, token: str, text: str
) -> None:
    answer = post(client, token, json.dumps({"text": text}).encode(), "/v1/check")
    assert answer.status_code == 400, answer.text
    assert "The report" in answer.json()["error"]["message"]
    assert "report.md cannot" not in answer.text


def test_a_lens_that_is_a_path_is_no_lens(client: TestClient, token: str) -> None:
    answer = post(client, token, json.dumps({"text": THESIS, "lens": "/etc/x.yaml"}).encode())
    assert answer.status_code == 400


def test_every_route_is_described_and_no_other(service: Service) -> None:
    routes = Handlers(Jobs(service.terms, Processes(service.terms)), Tokens(service.token_file)).routes()
    answered = {
        (route.path, method.lower())
        for route in routes
        for method in (route.methods or ())
        if method != "HEAD"
    }
    written = {
        (path, method)
        for path, operations in document()["paths"].items()
        for method in operations
        if method != "parameters"
    }
    assert answered == written


POSTS = [path for path, operations in document()["paths"].items() if "post" in operations]
WORDS = st.sampled_from(
    ["verified", "report", "files", "web", "kb", "high", "licences", "x" * 50, "", "\0", "é\u202e"]
)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.text(max_size=20) | WORDS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(WORDS, inner, max_size=4),
    max_leaves=8,
)


def members_of(path: str) -> list[str]:
    operation = described("POST", path)
    assert operation is not None
    name = operation["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    return [*document()["components"]["schemas"][name]["properties"]]


@settings(max_examples=60)
@given(data=st.data())
def test_no_body_of_any_shape_is_answered_by_500(client: TestClient, token: str, data: st.DataObject) -> None:
    """Every reply is one that the description has, which the client of the test looks at."""
    path = data.draw(st.sampled_from([each for each in POSTS if "chat" not in each]))
    whole = {"/v1/research": {"question": "Why?"}}.get(path, {"text": "The Elbe is a river."})
    body = {**whole, **data.draw(st.dictionaries(st.sampled_from(members_of(path)), VALUES, max_size=4))}
    answer = post(client, token, json.dumps(body).encode(), path)
    assert answer.status_code in (202, 400, 403, 413, 503), answer.text


@settings(max_examples=40)
@given(
    messages=VALUES,
    more=st.dictionaries(st.sampled_from(["stream", "model", "n", "stop"]), VALUES, max_size=3),
)
def test_no_chat_of_any_shape_is_answered_by_500(
    client: TestClient, token: str, messages: Any, more: Any
) -> None:
    answer = post(client, token, json.dumps({"messages": messages, **more}).encode(), "/v1/chat/completions")
    assert answer.status_code == 400, answer.text
