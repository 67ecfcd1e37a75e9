"""A hostile client, session and names against a real dashboard: nothing works, and nothing is done.

Each request that must fail is told by its status; afterwards the base folder is as it was.
"""

import json
import os
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from support.dashboards import PATIENCE, Dashboard, Grown, dashboard_of
from vera import events
from vera.store import Store

EXAMPLE = "/s/work~2Fexample"
SECRET = "what no page may show"
FORMS = ("ask", "stop", "resume", "replay")
FORM = {"task": "What is the capital of France?", "model_base_url": "http://evil.example/v1"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A base folder with a session that ended, one that never began, and a secret beside them."""
    base = tmp_path_factory.mktemp("hostile") / "base"
    Grown(base / "work" / "example").end()
    (base / "work" / "new").mkdir()
    (base / "work" / "new" / "session.log").write_text('{"action":"created"}\n')
    (base.parent / "secret.txt").write_text(SECRET)
    (base / "secret.txt").write_text(SECRET)
    return base


@pytest.fixture(scope="module")
def served(base: Path) -> Iterator[Dashboard]:
    with dashboard_of(base, base.parent / "keys" / "token") as dashboard:
        yield dashboard


@pytest.fixture(autouse=True)
def nothing_is_done(base: Path) -> Iterator[None]:
    """What lies in the base folder before each test lies there after it, byte for byte."""

    def everything() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in base.rglob("*") if path.is_file()}

    before = everything()
    yield
    assert everything() == before


def get_exactly(served: Dashboard, path: str) -> tuple[int, bytes]:
    """Status and body of GET for a path that other clients would tidy first."""
    connection = HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    try:
        connection.request("GET", path, headers={"authorization": f"Bearer {served.token}"})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def test_another_site_starts_stops_and_makes_nothing_with_the_persons_own_cookie(served: Dashboard) -> None:
    """What a page of another site can send: any body of a form, and the headers that browsers add."""
    bodies: list[tuple[str, bytes]] = [
        ("text/plain", b"task=x"),
        ("application/x-www-form-urlencoded", b"task=x"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="task"\r\n\r\nx\r\n--x--',
        ),
        ("application/json", json.dumps(FORM).encode()),
    ]
    browsers = [
        {"origin": "http://evil.example", "sec-fetch-site": "cross-site"},
        {"origin": "http://127.0.0.1:1", "sec-fetch-site": "same-site"},
        {"origin": "null", "sec-fetch-site": "cross-site"},
        {"origin": "http://evil.example"},
        {"origin": "null"},
    ]
    with served.browser() as client:
        for path in (
            "/new",
            "/start",
            "/s/work~2Fnew/run",
            f"{EXAMPLE}/stop",
            f"{EXAMPLE}/resume",
            f"{EXAMPLE}/replay",
            f"{EXAMPLE}/ask",
            f"{EXAMPLE}/review",
            f"{EXAMPLE}/tags",
            "/remove",
        ):
            for headers in browsers:
                for kind, body in bodies:
                    answer = client.post(path, content=body, headers={**headers, "content-type": kind})
                    assert answer.status_code == 403, (path, headers, kind)


def test_a_form_without_the_token_of_this_login_starts_nothing(served: Dashboard) -> None:
    own = {"origin": served.url, "sec-fetch-site": "same-origin"}
    with served.browser() as client:
        for token in ({}, {"form_token": ""}, {"form_token": "0" * 64}, {"form_token": served.token}):
            for path in ("/s/work~2Fnew/run", "/start", *(f"{EXAMPLE}/{each}" for each in FORMS)):
                answer = client.post(path, data={**FORM, **token}, headers=own)
                assert answer.status_code == 403
            for path, fields in (
                ("/remove", {"sessions": "work~2Fexample"}),
                (f"{EXAMPLE}/tags", {"tags": "x"}),
                (f"{EXAMPLE}/review", {"claim": "c1", "label": "agree"}),
            ):
                assert client.post(path, data={**fields, **token}, headers=own).status_code == 403


def test_a_rebound_name_reads_and_does_nothing(served: Dashboard) -> None:
    """Its page is of the same origin as its requests, and its browser may even have been given the token."""
    port = served.port
    for host in (f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", "evil.example", "0.0.0.0"):
        same = f"Host: {host}\r\nOrigin: http://{host}\r\nSec-Fetch-Site: same-origin\r\n"
        asked = (
            *("GET /", "GET /metrics", "POST /new", "POST /remove", f"POST {EXAMPLE}/review"),
            *(f"GET {EXAMPLE}/again", *(f"POST {EXAMPLE}/{each}" for each in FORMS)),
            *("GET /events/pages?s=work~2Fexample:0", f"GET {EXAMPLE}/place/{'f' * 64}?first=1&last=1"),
        )
        for request in (f"{each} HTTP/1.1" for each in asked):
            head = f"{request}\r\n{same}Authorization: Bearer {served.token}\r\nX-Vera: 1\r\n"
            status, answer = served.raw(f"{head}Content-Length: 0\r\n\r\n".encode())
            assert status == 421
            assert b"work" not in answer.partition(b"\r\n\r\n")[2]


def test_no_header_stands_in_for_the_host(served: Dashboard) -> None:
    head = f"Authorization: Bearer {served.token}\r\nConnection: close\r\n"
    forged = "X-Forwarded-Host: 127.0.0.1\r\nForwarded: host=127.0.0.1\r\nX-Host: 127.0.0.1\r\n"
    assert served.raw(f"GET / HTTP/1.1\r\nHost: evil.example\r\n{forged}{head}\r\n".encode())[0] == 421
    assert (
        served.raw(f"GET http://127.0.0.1/ HTTP/1.1\r\nHost: evil.example\r\n{head}\r\n".encode())[0] == 421
    )
    assert served.raw(f"GET / HTTP/1.0\r\n{head}\r\n".encode())[0] in (400, 421)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/s/work~2Fexample/file/../../../secret.txt", 404),
        ("/s/work~2Fexample/file/..%2f..%2f..%2fsecret.txt", 404),
        ("/s/work~2Fexample/file/%2e%2e/%2e%2e/secret.txt", 404),
        ("/s/work~2Fexample/file/....//....//secret.txt", 404),
        ("/s/work~2Fexample/file/..%5c..%5csecret.txt", 404),
        ("/s/work~2Fexample/file/%00", 404),
        ("/s/work~2Fexample/file/trace.jsonl", 404),
        ("/s/work~2Fexample/log/../../../secret.txt", 404),
        ("/s/work~2Fexample/log/secret.txt", 404),
        ("/s/~2E~2E", 404),
        ("/s/~2E~2E~2Fsecret~2Etxt", 404),
        ("/s/~2Fetc", 404),
        ("/s/work~2F~2E~2E~2F~2E~2E", 404),
        ("/static/../app.py", 404),
        ("/static/%2e%2e/%2e%2e/app.py", 404),
        ("/static/0000000000000000/..%2f..%2fapp.py", 404),
        ("/?work_dir=../", 404),
        ("/?work_dir=%2fetc", 404),
        ("/?work_dir=.%2fwork%2f..%2f..%2f", 404),
        ("/events?work_dir=..", 404),
        ("/remove?s=~2E~2E", 404),
        ("/remove?s=~2E~2E~2Fsecret~2Etxt", 404),
        ("/remove?s=work~2F~2E~2E~2F~2E~2E", 404),
        ("/remove?s=../../etc", 404),
        ("/remove?s=secret~2Etxt", 404),
        ("/remove", 400),
        ("/metrics?work_dir=..%2f..", 404),
        ("/s/work~2Fexample/source/..%2f..%2f..%2fsecret.txt", 404),
        ("/s/work~2Fexample/source/" + "f" * 64, 404),
        ("/s/work~2Fexample/page/..%2f..%2f..%2fsecret.txt?first=1&last=1", 404),
        ("/s/work~2Fexample/page/" + "f" * 64 + "?first=1&last=1", 404),
        ("/s/work~2Fexample/page/" + "f" * 64 + "?first=-1&last=1", 400),
        ("/s/work~2Fexample/place/..%2f..%2f..%2fsecret.txt?first=1&last=1", 404),
        ("/s/work~2Fexample/place/" + "f" * 64 + "?first=1&last=1", 404),
        ("/s/work~2Fexample/place/" + "f" * 64 + "?first=-1&last=1", 400),
        ("/s/work~2Fexample/share/..%2f..%2f..%2fsecret.txt", 404),
        ("/s/work~2Fexample/bytes/..%2f..%2f..%2fsecret.txt", 404),
        ("/s/work~2Fexample/steps/..%2f..%2fsecret.txt", 404),
        ("/events/pages?s=~2E~2E:0", 404),
        ("/events/pages?s=work~2Fexample:-1", 400),
        ("/events/pages?s=work~2Fexample:1e9", 400),
        ("/events/pages", 400),
        ("/evaluations/~2E~2E", 404),
        ("/evaluations/~2E~2E~2Fsecret~2Etxt", 404),
        ("/s/work~2Fexample/events?from=-1", 400),
        ("/s/work~2Fexample/events?from=1e9", 400),
        ("/s/work~2Fexample/compare?a=x&b=1", 400),
        ("/s/work~2Fexample/log/run?before=" + "9" * 400, 400),
        ("/s/work~2Fexample/compare?a=1&b=2", 404),
        ("/s/~2E~2E/again", 404),
        ("/s/work~2F~2E~2E~2F~2E~2E/ask", 404),
        ("/s/work~2Fexample/ask?claim=..%2f..%2fsecret.txt", 404),
    ],
)
def test_no_path_leads_out(served: Dashboard, path: str, status: int) -> None:
    found, answer = get_exactly(served, path)
    assert found == status
    assert SECRET.encode() not in answer


def test_what_is_too_large_is_refused_before_it_is_read(served: Dashboard) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    with served.client(x_vera="1") as client:
        for path in ("/new", "/start", "/s/work~2Fnew/run", "/login", "/remove", f"{EXAMPLE}/review"):
            assert client.post(path, content=b"task=" + b"x" * (2 << 20), headers=form).status_code == 413
        assert client.get("/?" + "x" * 20_000).status_code in (400, 414)
        assert client.get("/", headers={"x-more": "x" * 14_000}).status_code in (400, 431)
        many = "&".join(f"field{number}=x" for number in range(5000)).encode()
        assert client.post("/s/work~2Fnew/run", content=many, headers=form).status_code == 400
    head = f"POST /new HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {served.token}\r\nX-Vera: 1\r\n"
    announced = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 99999999999\r\n\r\n"
    assert served.raw((head + announced).encode())[0] == 413
    with served.client() as client:
        assert client.get("/healthz").status_code == 200


@pytest.mark.parametrize(
    "fields",
    [
        {"task": "x", "input_dir": ".."},
        {"task": "x", "input_dir": "/etc"},
        {"task": "x", "input_dir": "work/../../.."},
        {"task": "x", "input_dir": "out"},
        {"task": "x", "model_base_url": "file:///etc/passwd"},
        {"task": "x", "max_steps": "1; rm -rf /"},
        {"task": "x", "profile": "lab --privileged"},
        {"task": "x", "sandbox.privileged": "true"},
        {"task": "x", "model_api_key": "sk-stolen"},
        {"task": "x\0y"},
        {"task": " "},
    ],
)
def test_a_form_chooses_only_what_a_form_may_choose(
    served: Dashboard, base: Path, fields: dict[str, str]
) -> None:
    (base / "out").unlink(missing_ok=True)
    (base / "out").symlink_to(base.parent)
    with served.client(x_vera="1") as client:
        assert client.post("/s/work~2Fnew/run", data=fields).status_code == 400
        assert "sk-stolen" not in client.get("/s/work~2Fnew").text


def test_no_question_follows_a_session_that_no_key_sealed(served: Dashboard) -> None:
    with served.client(x_vera="1") as client:
        for fields in ({"task": "And then?"}, {"task": "It holds.", "kind": "thesis"}):
            answer = client.post(f"{EXAMPLE}/ask", data=fields)
            assert answer.status_code == 409 and "--trust-session" in answer.text


def test_links_in_a_session_and_beside_it_show_nothing(tmp_path: Path) -> None:
    """A sandbox writes to `workspace/` and `output/`, and a session can come from a stranger."""
    base, work = tmp_path / "base", tmp_path / "base" / "work" / "example"
    (tmp_path / "secret.txt").write_text(SECRET)
    log = Grown(work)
    for folder in ("workspace", "output"):
        (work / folder).mkdir()
        (work / folder / "secret.txt").symlink_to(tmp_path / "secret.txt")
        (work / folder / "up").symlink_to(tmp_path)
    for name in (
        "notes.md",
        "run.log",
        "container.log",
        "evidence.jsonl",
        "move_ledger.jsonl",
        "query_ledger.jsonl",
    ):
        (work / name).symlink_to(tmp_path / "secret.txt")
    os.mkfifo(work / "container_events.log")
    store = Store(work / "store")
    digest = "a" * 64
    store.path(digest).parent.mkdir(parents=True)
    store.path(digest).symlink_to(tmp_path / "secret.txt")
    for path in ("secret.txt", "up/secret.txt", "../../../secret.txt", "/etc/passwd"):
        log.log.append(events.Output(path=path, sha256=digest, size=len(SECRET)), "main")
    log.end()
    (base / "work" / "linked").symlink_to(work)
    Grown(tmp_path / "outside")
    (base / "outside").symlink_to(tmp_path / "outside")
    (base / "work" / "half").mkdir()
    (base / "work" / "half" / "trace.jsonl").symlink_to(tmp_path / "outside" / "trace.jsonl")
    Grown(work / "workspace" / "fake", task=SECRET)
    with dashboard_of(base, tmp_path / "keys" / "token") as served, served.client(x_vera="1") as client:
        expected = {
            f"{EXAMPLE}/file/secret.txt": 404,
            f"{EXAMPLE}/file/up/secret.txt": 404,
            f"{EXAMPLE}/file/workspace/secret.txt": 404,
            f"{EXAMPLE}/file/output/secret.txt": 404,
            f"{EXAMPLE}/file/../../../secret.txt": 404,
            f"{EXAMPLE}/file//etc/passwd": 404,
            f"{EXAMPLE}/log/notes": 200,
            f"{EXAMPLE}/log/run": 200,
            f"{EXAMPLE}/log/container": 200,
            f"{EXAMPLE}/log/container_events": 200,
            f"{EXAMPLE}/log/evidence": 200,
            f"{EXAMPLE}/log/moves": 200,
            f"{EXAMPLE}/log/queries": 200,
            EXAMPLE: 200,
            "/": 200,
            "/s/work~2Flinked": 404,
            "/s/outside": 404,
            "/s/work~2Fhalf": 404,
            "/s/work~2Fexample~2Fworkspace~2Ffake": 404,
        }
        found = {path: get_exactly(served, path)[0] for path in expected}
        assert found == expected
        for path in expected:
            assert SECRET not in client.get(path).text, path
        assert client.get(f"{EXAMPLE}/source/{digest}").status_code in (200, 404)
        assert SECRET not in client.get(f"{EXAMPLE}/source/{digest}").text
        for path in ("/s/work~2Flinked", "/s/outside", "/s/work~2Fexample~2Fworkspace~2Ffake"):
            assert client.post(f"{path}/run", data={"task": "x"}).status_code == 404
        assert sorted(path.name for path in (tmp_path / "outside").iterdir()) == ["trace.jsonl"]


INJECTED = (
    'x"} 1\nevil_total{a="',
    "x\\",
    'x\\"} 1\n# TYPE evil counter\nevil 1\n',
    "x\r\nevil 1\r\n",
    "\u2028evil 1\u2028",
    "<script>alert(1)</script>",
)


def test_no_text_of_a_run_becomes_a_metric(tmp_path: Path) -> None:
    base = tmp_path / "base"
    for number, text in enumerate(INJECTED):
        name = text.replace("/", "-").replace("\0", "")
        log = Grown(base / "work" / f"run-{number}{name}"[:100], task=text).log
        log.append(events.ModelServer(kind=text, base_url=text, model=text, protocol=text), "main")
        log.append(events.Model(step=1, scope=text, latency_s=1.0, prompt_tokens=5, error=text), text)
        log.append(events.ToolStarted(step=1, call="c1", tool=text, args=text), text)
        log.append(events.Tool(step=1, call="c1", tool=text, outcome=text, obs=text), text)
        log.append(events.PolicyDestructive(step=1, effect=text, reason=text, tool=text), "main")
        log.append(events.ContainerEvent(event=text, detail=text), "main")
        log.append(events.Status(step=1, status=text), "main")
        log.append(events.RunEnd(status=text, reason=text, exit_code=0, steps=1, seconds=1.0), "")
        log.close()
    with dashboard_of(base, tmp_path / "keys" / "token") as served, served.client() as client:
        answer = client.get("/metrics")
    assert answer.status_code == 200
    families = {family.name: family for family in text_string_to_metric_families(answer.text)}
    assert not [name for name in families if not name.startswith(("dra_", "vera_"))]
    events_seen = sum(
        sample.value for sample in families["dra_events"].samples if sample.name.endswith("_total")
    )
    assert events_seen == len(INJECTED) * 10
    for line in answer.text.splitlines():
        assert line.startswith(
            ("dra_", "vera_", "# HELP dra_", "# TYPE dra_", "# HELP vera_", "# TYPE vera_")
        ), line
    for family in families.values():
        for sample in family.samples:
            for name, value in sample.labels.items():
                assert name == "session" or not any(text[:8] in value for text in INJECTED), sample


def test_a_stranger_learns_nothing_from_what_he_is_told(served: Dashboard) -> None:
    """Whether a session is there, and how near a token came, look alike."""
    with served.stranger() as client:
        there, not_there = client.get(EXAMPLE), client.get("/s/work~2Fnone")
        assert (there.status_code, there.text) == (not_there.status_code, not_there.text) == (401, there.text)
        wrong: list[httpx.Response] = [
            client.get("/", headers={"authorization": f"Bearer {token}"})
            for token in (served.token[:-1] + "x", "x", served.token.swapcase())
        ]
        assert {each.status_code for each in wrong} == {401}
        assert len({each.text for each in wrong}) == 1
