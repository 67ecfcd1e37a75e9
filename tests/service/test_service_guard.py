"""Who may ask the service for what: tokens, scopes, other sites, and the sessions of other tokens."""

import asyncio
import hashlib
import json
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from starlette.testclient import TestClient

from support.services import LICENCES, SAYS, THESIS, Service, ask, bearer, ended, scripted
from vera.attestation.objects import canonical
from vera.config import ConfigError, defaults, load
from vera.service import app
from vera.service.terms import insist_on_isolation, named_roots
from vera.service.tokens import TokenError, Tokens, add, read_file
from vera.service.work import Kind, Place, work_of
from vera.store import Store


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Service:
    made = Service(tmp_path_factory.mktemp("guard"))
    made.token("first")
    return made


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[TestClient]:
    with service.running(scripted(SAYS)) as client:
        yield client


@pytest.fixture(scope="module")
def owner(service: Service) -> str:
    return service.token("owner", at_once=1000, per_hour=10_000)


@pytest.fixture(scope="module")
def job(service: Service, client: TestClient, owner: str) -> str:
    """A job of the owner, whose session has a blob."""
    name: str = ask(client, owner, "verify", {"text": THESIS, "scope": ["files"]}).json()["id"]
    ended(client, owner, name)
    (base,) = service.terms.base.glob(f"serve/*/jobs/{name}")
    Store(base.parents[1] / "work" / name / "store").put(b"bytes of the owner")
    return name


PLACES = ("/v1/jobs/{job}", "/v1/jobs/{job}/events", "/v1/jobs/{job}/bundle", "/v1/evidence/{sha}")
SHA = hashlib.sha256(b"bytes of the owner").hexdigest()


@pytest.mark.parametrize("place", PLACES)
def test_another_token_sees_nothing_of_a_job(
    service: Service, client: TestClient, job: str, owner: str, place: str
) -> None:
    address = place.format(job=job, sha=SHA)
    stranger = service.token(f"stranger-{PLACES.index(place)}")
    refused = client.get(address, headers=bearer(stranger))
    never_was = client.get(
        place.format(job="20200101T000000-0123456789abcdef", sha="0" * 64), headers=bearer(stranger)
    )
    assert refused.status_code == never_was.status_code == 404
    assert refused.json() == never_was.json()
    assert client.delete(f"/v1/jobs/{job}", headers=bearer(stranger)).status_code == 404


def test_the_owner_reads_the_bytes_and_a_span_of_them(client: TestClient, job: str, owner: str) -> None:
    missing = client.get(f"/v1/evidence/{'0' * 64}", headers=bearer(owner)).json()["error"]["message"]
    assert missing == "No session of this token has evidence with this id."
    for name in (SHA, f"sha256:{SHA}"):
        answer = client.get(f"/v1/evidence/{name}", headers=bearer(owner))
        assert answer.content == b"bytes of the owner"
        assert answer.headers["content-disposition"] == "attachment"
    part = client.get(f"/v1/evidence/{SHA}?start=6&end=8", headers=bearer(owner))
    assert part.content == b"of"
    for asked in ("start=9&end=8", "start=-1", "end=99", "start=x", "start=²"):
        assert client.get(f"/v1/evidence/{SHA}?{asked}", headers=bearer(owner)).status_code == 400


def test_large_bytes_are_read_in_pieces_and_count_as_a_stream(
    service: Service, client: TestClient, owner: str, job: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    (base,) = service.terms.base.glob(f"serve/*/work/{job}")
    data = bytes(range(256)) * 4096
    sha256 = Store(base / "store").put(data)
    monkeypatch.setattr(app, "CHUNK", 100_000)
    assert client.get(f"/v1/evidence/{sha256}?start=5", headers=bearer(owner)).content == data[5:]

    async def sizes() -> list[int]:
        file = Store(base / "store").path(sha256).open("rb")
        return [len(each) async for each in app._chunks(file, len(data) - 1)]

    assert asyncio.run(sizes()) == [100_000] * 10 + [48_575]
    monkeypatch.setattr(app, "MAX_STREAMS", 0)
    assert client.get(f"/v1/evidence/{sha256}", headers=bearer(owner)).status_code == 429


def test_a_blob_that_was_altered_is_not_given_out(
    service: Service, client: TestClient, owner: str, job: str
) -> None:
    (base,) = service.terms.base.glob(f"serve/*/work/{job}")
    path = Store(base / "store").path(hashlib.sha256(b"x" * 9).hexdigest())
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"y" * 9)
    assert client.get(f"/v1/evidence/{path.name}", headers=bearer(owner)).status_code == 404


def test_bytes_that_are_no_card_are_no_card(
    service: Service, client: TestClient, owner: str, job: str
) -> None:
    assert client.get(f"/v1/cards/{SHA}", headers=bearer(owner)).json()["error"]["code"] == "no_card"
    (base,) = service.terms.base.glob(f"serve/*/work/{job}")
    other = Store(base / "store").put(canonical({"kind": "source/v1"}))
    assert client.get(f"/v1/cards/{other}", headers=bearer(owner)).status_code == 404


TRAVERSALS = (
    "..",
    "%2e%2e",
    "..%2f..%2fjobs.jsonl",
    "../work",
    "%2e%2e%2f%2e%2e%2ftokens%2ftokens.json",
    "a%00b",
    "%0d%0aX-Evil: 1",
    "20260101T000000-0123456789abcde/",
    "x" * 300,
)


@pytest.mark.parametrize("name", TRAVERSALS)
@pytest.mark.parametrize("place", ["/v1/jobs/{}", "/v1/jobs/{}/bundle", "/v1/evidence/{}", "/v1/cards/{}"])
def test_an_id_that_is_a_path_leads_nowhere(client: TestClient, owner: str, place: str, name: str) -> None:
    answer = client.get(place.format(name), headers=bearer(owner))
    assert answer.status_code in (400, 404)
    assert "x-evil" not in answer.headers


INPUTS = (
    "..",
    "/etc",
    "licences/..",
    "licences/../..",
    "licences//",
    "licences/.git",
    "other",
    "licences\0",
    "./licences",
)


@pytest.mark.parametrize("name", INPUTS)
def test_an_input_outside_of_the_roots_is_refused_without_saying_what_is_there(
    client: TestClient, owner: str, name: str
) -> None:
    answer = ask(client, owner, "verify", {"text": THESIS, "input": name})
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "input_not_allowed")


def test_a_link_out_of_an_input_root_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "secret").mkdir()
    (tmp_path / "docs" / "out").symlink_to(tmp_path / "secret")
    service = Service(tmp_path / "service", roots=[tmp_path / "docs"])
    token = service.token()
    with service.running(scripted(SAYS)) as client:
        assert ask(client, token, "verify", {"text": THESIS, "input": "docs/out"}).status_code == 403
        assert ask(client, token, "verify", {"text": THESIS, "input": "docs"}).status_code == 202


@pytest.mark.parametrize("kind", ["verify", "research"])
def test_what_the_persons_own_settings_read_and_reach_is_not_for_a_request(
    tmp_path: Path, kind: Kind
) -> None:
    settings = {"run.input_dir": str(LICENCES), "egress.mode": "public", "budget.seconds": 90}
    (tmp_path / "docs").mkdir()
    service = Service(tmp_path, roots=[tmp_path / "docs"], egress=True, settings=settings)
    body = {"verify": {"text": THESIS, "scope": ["kb"]}, "research": {"question": "Why?", "input": "docs"}}
    work = work_of(kind, json.dumps(body[kind]).encode(), service.terms)
    words = work.arguments(Place(base=tmp_path, folder=tmp_path, session=tmp_path))
    given = [value for option, value in pairwise(words) if option == "-c"]
    loaded = load(given, {"egress.mode": words[words.index("--egress") + 1]}).settings
    assert (loaded.run.input_dir, loaded.egress.mode, loaded.budget.seconds) == (None, "none", 90)
    assert ("--input-dir" in words) == (kind == "research")


def test_an_input_root_that_holds_the_sessions_of_every_token_is_refused(tmp_path: Path) -> None:
    for root in (tmp_path, tmp_path / "serve" / "one"):
        root.mkdir(parents=True, exist_ok=True)
        with pytest.raises(ConfigError, match="every token"):
            named_roots([root], tmp_path)


def test_a_service_whose_commands_would_run_on_this_machine_does_not_start() -> None:
    with pytest.raises(ConfigError, match="outside of a sandbox"):
        insist_on_isolation(defaults({"sandbox.backend": "host"}))


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("verify", {"text": THESIS, "scope": ["web"]}),
        ("verify", {"text": THESIS, "scope": ["files", "web"]}),
        ("research", {"question": "Why?", "web": True}),
        ("check", {"text": "A report.", "fetch": True}),
    ],
)
def test_the_web_is_for_requests_only_where_the_service_was_started_so(
    client: TestClient, owner: str, kind: str, body: dict[str, object]
) -> None:
    answer = ask(client, owner, kind, body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "egress_not_allowed")


SETTINGS = (
    {"model_base_url": "http://127.0.0.1:1/"},
    {"settings": {"egress.mode": "public"}},
    {"input_dir": "/etc"},
    {"budget": {"cost": 5}},
    {"key": "x"},
    {"work_dir": "/tmp/x"},
)


@pytest.mark.parametrize("more", SETTINGS)
@pytest.mark.parametrize("kind", ["verify", "research", "check"])
def test_a_request_has_no_member_that_sets_a_setting(
    client: TestClient, owner: str, kind: str, more: dict[str, object]
) -> None:
    asked = "question" if kind == "research" else "text"
    answer = ask(client, owner, kind, {asked: THESIS, **more})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")


def test_a_budget_above_that_of_the_service_is_refused(tmp_path: Path) -> None:
    service = Service(tmp_path, settings={"budget.tokens": 1000})
    token = service.token()
    with service.running(scripted(SAYS)) as client:
        more = ask(client, token, "research", {"question": "Why?", "budget": {"tokens": 1001}})
        assert (more.status_code, more.json()["error"]["code"]) == (403, "not_allowed")
        assert (
            ask(client, token, "research", {"question": "Why?", "budget": {"tokens": 1000}}).status_code
            == 202
        )
        much = ask(client, token, "verify", {"text": THESIS, "budget": {"sources": 101}})
        assert (much.status_code, much.json()["error"]["code"]) == (403, "budget_too_large")


SCOPES = {
    "verify": ("post", "/v1/verify"),
    "research": ("post", "/v1/research"),
    "check": ("post", "/v1/check"),
    "read": ("get", f"/v1/evidence/{SHA}"),
}


@pytest.mark.parametrize("scope", SCOPES)
def test_a_token_does_what_its_scope_names_and_nothing_else(
    service: Service, client: TestClient, scope: str
) -> None:
    token = service.token(f"only-{scope}", scope)
    for name, (method, path) in SCOPES.items():
        headers = {**bearer(token), "content-type": "application/json"}
        answer = client.request(method, path, headers=headers, content=b"{}" if method == "post" else None)
        assert (answer.status_code == 403) == (name != scope)
    allowed = client.get("/v1/models", headers=bearer(token)).status_code == 200
    assert allowed == (scope == "research")


@pytest.mark.parametrize(
    "given", ["", "Bearer", "Bearer ", "Basic x", "Bearer wrong", "bearer " + "x" * 5000]
)
def test_without_a_right_token_nothing_is_answered(client: TestClient, job: str, given: str) -> None:
    answer = client.get(f"/v1/jobs/{job}", headers={"authorization": given})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_health_and_description_are_for_whoever_asks(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "ok"}
    assert client.get("/openapi.json").json()["openapi"] == "3.1.0"


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 421),
        ({"host": "127.0.0.1.evil.example"}, 421),
        ({"host": ""}, 421),
        ({"origin": "https://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"x-long": "x" * 13_000}, 431),
    ],
)
def test_pages_of_other_sites_and_names_that_were_rebound_reach_nothing(
    client: TestClient, owner: str, headers: dict[str, str], status: int
) -> None:
    answer = client.get("/v1/models", headers={**bearer(owner), **headers})
    assert answer.status_code == status
    assert "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("method", ["PUT", "PATCH", "OPTIONS", "TRACE", "CONNECT"])
def test_other_methods_are_refused(client: TestClient, owner: str, method: str) -> None:
    answer = client.request(method, "/v1/verify", headers=bearer(owner))
    assert (answer.status_code, set(answer.json())) == (405, {"error"})


ALLOWED = {
    "/healthz": {"GET", "HEAD"},
    "/v1/verify": {"POST"},
    "/v1/jobs/{job}": {"GET", "DELETE"},
    "/v1/jobs/{job}/events": {"GET"},
}


@pytest.mark.parametrize("path", ALLOWED)
def test_a_refused_method_names_the_methods_of_its_address_under_one_code(
    client: TestClient, owner: str, job: str, path: str
) -> None:
    for method in {"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"} - ALLOWED[path]:
        answer = client.request(method, path.format(job=job), headers=bearer(owner))
        assert answer.status_code == 405
        assert set(answer.headers["allow"].split(", ")) == ALLOWED[path]
        if method != "HEAD":
            assert answer.json()["error"]["code"] == "method_not_allowed"


def test_whether_the_service_answers_can_be_asked_without_a_body(client: TestClient) -> None:
    answer = client.head("/healthz")
    assert (answer.status_code, answer.content) == (200, b"")


def test_every_answer_is_protected(client: TestClient, owner: str) -> None:
    answers: list[httpx.Response] = [client.get("/healthz"), client.get("/v1/models", headers=bearer(owner))]
    for answer in [*answers, client.get("/nothing")]:
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] == "no-store"
        assert "sandbox" in answer.headers["content-security-policy"]


def test_the_file_of_tokens_holds_no_token_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    given = add(path, "laptop", (), 1, 1)
    assert given not in path.read_text()
    assert path.stat().st_mode & 0o077 == 0
    path.chmod(0o644)
    with pytest.raises(TokenError, match="chmod 600"):
        read_file(path)


@pytest.mark.parametrize("name", ["", "A", "../x", "a b", "x" * 41, "-a"])
def test_a_name_that_could_be_a_path_is_no_name_of_a_token(tmp_path: Path, name: str) -> None:
    with pytest.raises(TokenError, match="letters"):
        add(tmp_path / "tokens.json", name, (), 1, 1)


def test_two_tokens_of_one_name_are_refused_and_a_removed_file_opens_nothing(tmp_path: Path) -> None:
    path = tmp_path / "tokens.json"
    given, known = add(path, "laptop", (), 1, 1), Tokens(path)
    with pytest.raises(TokenError, match="already"):
        add(path, "laptop", (), 1, 1)
    assert known.of(given)
    path.unlink()
    assert known.of(given) is None
