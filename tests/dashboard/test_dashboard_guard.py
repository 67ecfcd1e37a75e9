"""Who is let in, and what a hostile client gets: each answer's status."""

import asyncio
import json
import resource
import signal
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import httpx
import pytest
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from support.dashboards import PATIENCE, Dashboard, Grown, dashboard_of
from vera.dashboard import connections, serve

PAGE = {"accept": "text/html"}


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    base = tmp_path_factory.mktemp("base")
    Grown(base / "work" / "example").end()
    (base / "secret.txt").write_text("not for browsers")
    with dashboard_of(base, base.parent / "keys" / "token") as dashboard:
        yield dashboard


def form_token_of(client: httpx.Client) -> str:
    """The form token in a page of this login."""
    text = client.get("/start").text
    assert 'name="form_token"' in text or "name=form_token" in text
    return text.partition("form_token")[2].partition('value="')[2].partition('"')[0]


def test_without_the_token_a_program_gets_401_and_a_sentence(served: Dashboard) -> None:
    with served.stranger() as client:
        answer = client.get("/")
        assert answer.status_code == 401
        assert answer.headers["www-authenticate"].startswith("Bearer")
        assert "token" in answer.text


def test_without_the_token_a_browser_gets_the_login_form_with_the_address_kept(served: Dashboard) -> None:
    with served.stranger() as client:
        answer = client.get("/?work_dir=./work/example", headers=PAGE)
    assert answer.status_code == 401
    assert "/login" in answer.text
    assert "/?work_dir=.%2Fwork%2Fexample" in answer.text


@pytest.mark.parametrize(
    "path",
    ["/", "/s/work~2Fexample", "/events?work_dir=./work/example", "/metrics", "/evaluations", "/over-time"],
)
def test_every_page_needs_the_token(served: Dashboard, path: str) -> None:
    with served.stranger() as client:
        assert client.get(path).status_code == 401


def test_the_bearer_token_opens_every_page(served: Dashboard) -> None:
    with served.client() as client:
        assert client.get("/").status_code == 200
        assert client.get("/s/work~2Fexample").status_code == 200
        assert client.get("/metrics").status_code == 200


@pytest.mark.parametrize("token", ["x", "Ω", "x" * 5000])
def test_a_wrong_token_opens_nothing(served: Dashboard, token: str) -> None:
    with served.stranger() as client:
        assert client.get("/", headers={"authorization": f"Bearer {token}".encode()}).status_code == 401
        assert client.get("/", params={"token": token}, headers=PAGE).status_code == 401
        assert client.post("/login", data={"token": token}, headers=PAGE).status_code == 401


def test_a_token_in_the_address_becomes_a_cookie_and_leaves_the_address(served: Dashboard) -> None:
    with served.stranger() as client:
        answer = client.get("/?work_dir=./work/example&token=" + served.token)
        assert answer.status_code == 303
        assert answer.headers["location"] == "/?work_dir=.%2Fwork%2Fexample"
        assert answer.headers["referrer-policy"] == "no-referrer"
        cookie = answer.headers["set-cookie"]
        assert served.token not in cookie
        for attribute in ("HttpOnly", "SameSite=strict", "Path=/"):
            assert attribute in cookie
        led = client.get(answer.headers["location"])
        assert (led.status_code, led.headers["location"]) == (303, "/s/work~2Fexample")
        assert client.get(led.headers["location"]).status_code == 200


def test_a_changed_cookie_is_no_login(served: Dashboard) -> None:
    with served.browser() as client:
        ((name, value),) = client.cookies.items()
        assert client.get("/").status_code == 200
    for changed in (value[:-1] + ("0" if value[-1] != "0" else "1"), "0" * 32 + value[32:], value[:32], ""):
        with served.stranger() as client:
            assert client.get("/", headers={"cookie": f"{name}={changed}"}).status_code == 401


def test_the_login_form_leads_to_the_wanted_address(served: Dashboard) -> None:
    with served.stranger() as client:
        form = {"token": served.token, "wanted": "/s/work~2Fexample?x=1"}
        answer = client.post("/login", data=form)
        assert (answer.status_code, answer.headers["location"]) == (303, "/s/work~2Fexample?x=1")
        assert client.get(answer.headers["location"]).status_code == 200


@pytest.mark.parametrize(
    "wanted",
    [
        "//evil.example/",
        "https://evil.example/",
        "/\\evil.example",
        "\\\\evil.example",
        "/\t/evil.example",
        "/%0d%0aset-cookie:x\r\nx: y",
        "javascript:alert(1)",
        "evil.example",
        "",
    ],
)
def test_nobody_is_sent_to_another_site(served: Dashboard, wanted: str) -> None:
    with served.stranger() as client:
        answer = client.post("/login", data={"token": served.token, "wanted": wanted})
        assert (answer.status_code, answer.headers["location"]) == (303, "/")


def test_a_path_that_looks_like_a_host_is_not_redirected_to(served: Dashboard) -> None:
    request = f"GET //evil.example/?token={served.token} HTTP/1.1\r\nHost: localhost\r\n\r\n"
    status, answer = served.raw(request.encode())
    assert status == 303
    assert b"location: /\r\n" in answer.lower()


@pytest.mark.parametrize(
    "host",
    ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "127.0.0.1:80@evil.example", "[::2]", ""],
)
def test_a_forged_host_is_421(served: Dashboard, host: str) -> None:
    assert served.get_raw("/", host) == 421


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost:8844", "LOCALHOST", "[::1]:1"])
def test_our_own_names_are_answered(served: Dashboard, host: str) -> None:
    assert served.get_raw("/healthz", host) == 200


def test_two_hosts_are_refused(served: Dashboard) -> None:
    status, _ = served.raw(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n")
    assert status in (400, 421)


@pytest.mark.parametrize(
    "headers",
    [
        {"origin": "http://evil.example"},
        {"origin": "http://127.0.0.1:1"},
        {"origin": "null"},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"sec-fetch-site": "cross-site", "origin": "null"},
    ],
)
def test_a_write_of_another_site_is_403_even_with_everything_else_right(
    served: Dashboard, headers: dict[str, str]
) -> None:
    with served.client(x_vera="1") as client:
        assert client.post("/s/work~2Fexample/stop", headers=headers).status_code == 403
        assert client.post("/new", headers=headers).status_code == 403
        assert client.post("/login", headers=headers, data={"token": served.token}).status_code == 403


def test_a_write_with_a_cookie_alone_is_403(served: Dashboard) -> None:
    with served.browser() as client:
        assert client.post("/new").status_code == 403
        assert client.post("/new", data={"form_token": "0" * 64}).status_code == 403


def test_a_form_of_another_login_is_403(served: Dashboard) -> None:
    with served.browser() as one, served.browser() as other:
        assert one.post("/new", data={"form_token": form_token_of(other)}).status_code == 403


def test_each_answer_has_another_form_token_and_each_is_taken(served: Dashboard) -> None:
    """What is compressed beside text of others may not be the same twice: its length would tell of it."""
    with served.browser() as client:
        tokens = {form_token_of(client) for _ in range(5)}
        assert len(tokens) == 5
        assert {client.post("/new", data={"form_token": each}).status_code for each in tokens} == {303}
        (one, *_) = tokens
        salt, _, mac = one.partition(".")
        for forged in (f"{'0' * 16}.{mac}", f"{salt}.{'0' * 64}", mac, f"{one} ", one.upper()):
            assert client.post("/new", data={"form_token": forged}).status_code == 403, forged


def test_a_form_of_this_login_is_taken_and_leads_to_a_page(served: Dashboard) -> None:
    with served.browser() as client:
        origin = {"origin": "null", "sec-fetch-site": "same-origin"}
        answer = client.post("/new", data={"form_token": form_token_of(client)}, headers=origin)
        assert answer.status_code == 303
        assert answer.headers["location"].startswith("/s/work~2Fui-run-")
        assert client.get(answer.headers["location"]).status_code == 200


def test_a_script_sends_a_header_in_place_of_the_form_token(served: Dashboard) -> None:
    with served.client(x_vera="1") as client:
        answer = client.post("/new", headers={"origin": served.url})
        assert answer.status_code == 204
        assert answer.headers["location"].startswith("/s/work~2Fui-run-")


def test_pages_of_other_sites_cannot_embed_or_read_but_may_link_here(served: Dashboard) -> None:
    with served.client() as client:
        embedded = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors"}
        assert client.get("/s/work~2Fexample", headers=embedded).status_code == 403
        link = {"sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate"}
        assert client.get("/s/work~2Fexample", headers=link).status_code == 200


def test_a_large_body_is_413_whether_it_says_so_or_comes_in_chunks(served: Dashboard) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    with served.client(x_vera="1") as client:
        assert client.post("/new", content=b"a=" + b"x" * 70_000, headers=form).status_code == 413

    def chunks() -> Iterator[bytes]:
        yield from [b"a=" + b"x" * 1000] * 100

    with served.client(x_vera="1") as client:
        assert client.post("/new", content=chunks(), headers=form).status_code == 413


@pytest.mark.parametrize(
    ("body", "kind", "status"),
    [
        (b'{"a": 1}', "application/json", 415),
        (b"a=1", "text/plain", 415),
        (b"a=1&a=2", "application/x-www-form-urlencoded", 400),
        (b"a", "application/x-www-form-urlencoded", 400),
        (b"a=%ff", "application/x-www-form-urlencoded", 400),
        ("a=ä".encode(), "application/x-www-form-urlencoded", 400),
        (b"&".join(b"f%d=1" % n for n in range(200)), "application/x-www-form-urlencoded", 400),
    ],
)
def test_what_is_no_plain_form_is_refused(served: Dashboard, body: bytes, kind: str, status: int) -> None:
    with served.client(x_vera="1") as client:
        answer = client.post("/new", content=body, headers={"content-type": kind})
        assert answer.status_code == status


def test_a_body_that_breaks_off_starts_nothing(served: Dashboard) -> None:
    head = f"POST /new HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {served.token}\r\nX-Vera: 1\r\n"
    with served.client() as client:
        before = client.get("/").text.count("ui-run-")
    try:
        status, _ = served.raw(head.encode() + b"Content-Length: 50\r\n\r\na=1")
    except (IndexError, ConnectionError):
        status = 400
    assert status == 400
    with served.client() as client:
        assert client.get("/").text.count("ui-run-") == before


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "QUERY"])
def test_other_methods_are_405(served: Dashboard, method: str) -> None:
    with served.client(x_vera="1") as client:
        assert client.request(method, "/").status_code == 405


@pytest.mark.parametrize("path", ["/new", "/s/work~2Fexample/run", "/s/work~2Fexample/stop"])
def test_a_link_cannot_start_or_stop_anything(served: Dashboard, path: str) -> None:
    with served.client() as client:
        assert client.get(path).status_code == 405


@pytest.mark.parametrize(
    "path", ["/", "/healthz", "/metrics", "/s/work~2Fexample", "/evaluations", "/over-time"]
)
def test_what_is_read_cannot_be_written(served: Dashboard, path: str) -> None:
    with served.client(x_vera="1") as client:
        assert client.post(path).status_code == 405


@pytest.mark.parametrize(
    "path",
    [
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e/%2e%2e/app.py",
        "/static/0000000000000000/vera.css",
        "/s/..",
        "/s/..%2f..%2fetc",
        "/s/%2e%2e/",
        "/s/~2E~2E",
        "/s/~2E~2E~2Fsecret",
        "/s/work~2F~2E~2E~2F~2E~2E",
        "/s/~2Fetc",
        "/s/work~2fexample",
        "/s/work%2Fexample",
        "/s/work~2Fexample~00",
        "/s/work~2Fnot-there",
        "/s/secret~2Etxt",
        "/s/work~2Fexample/file/../../secret.txt",
        "/s/work~2Fexample/file/..%2f..%2fsecret.txt",
        "/s/work~2Fexample/file//etc/passwd",
        "/s/work~2Fexample/source/../../../secret.txt",
        "/s/work~2Fexample/source/" + "0" * 64,
        "/s/work~2Fexample/log/..%2f..%2fsecret.txt",
        "/s/work~2Fexample/parts/..",
        "/s/" + "a" * 4000,
        "/nothing",
        "/?work_dir=../",
        "/?work_dir=/etc",
        "/?work_dir=work/../..",
        "/?work_dir=%00",
        "/events?work_dir=work/example/../../..",
        "/metrics?work_dir=/",
    ],
)
def test_paths_lead_nowhere_else(served: Dashboard, path: str) -> None:
    assert served.get_raw(path) == 404


def test_addresses_and_headers_are_bounded(served: Dashboard) -> None:
    assert served.get_raw("/?" + "a" * 9000) == 414
    with served.client() as client:
        assert client.get("/", headers={"x-more": "a" * 12_500}).status_code == 431
        assert client.get("/", headers={"x-more": "a" * 100_000}).status_code in (400, 431)


@pytest.mark.parametrize(
    "path", ["/", "/healthz", "/nothing", "/metrics", "/s/work~2Fexample", "/new", "/s/work~2Fexample/events"]
)
def test_every_answer_has_the_protecting_headers(served: Dashboard, path: str) -> None:
    for client in (served.client(), served.stranger()):
        with client, client.stream("GET", path) as answer:
            policy = answer.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "frame-ancestors 'none'" in policy
            assert "require-trusted-types-for 'script'" in policy
            assert "unsafe" not in policy
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert answer.headers["cross-origin-opener-policy"] == "same-origin"
            assert answer.headers["cross-origin-resource-policy"] == "same-origin"
            assert answer.headers["cache-control"] == "no-store"
            assert "server" not in answer.headers


def test_each_answer_has_a_nonce_of_its_own(served: Dashboard) -> None:
    with served.client() as client:
        policies = {client.get("/").headers["content-security-policy"] for _ in range(3)}
    assert len(policies) == 3


@pytest.mark.parametrize(
    "path", ["/", "/metrics", "/s/work~2Fexample", "/s/work~2Fexample/events", "/healthz"]
)
def test_head_answers_without_a_body(served: Dashboard, path: str) -> None:
    with served.client() as client:
        answer = client.head(path)
        assert (answer.status_code, answer.content) == (200, b"")


def test_a_restart_logs_nobody_out(served: Dashboard, tmp_path: Path) -> None:
    token_file = tmp_path / "token"
    with dashboard_of(tmp_path, token_file) as before, before.browser() as client:
        cookies = dict(client.cookies)
    assert token_file.stat().st_mode & 0o777 == 0o600
    with dashboard_of(tmp_path, token_file) as after, after.stranger() as client:
        assert after.token == before.token
        cookie = "; ".join(f"{name}={value}" for name, value in cookies.items())
        assert client.get("/", headers={"cookie": cookie}).status_code == 200


HALF = b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1"
WHOLE = HALF + b"\r\n\r\n"


async def _healthz(request: Request) -> Response:
    return PlainTextResponse("ok\n")


async def _slow(request: Request) -> Response:
    await asyncio.sleep(PATIENCE)
    return PlainTextResponse("late\n")


@contextmanager
def small_server(monkeypatch: pytest.MonkeyPatch, most: int, wait: float) -> Iterator[int]:
    """The port of a server in a thread that takes so many connections and waits so long for a head."""
    monkeypatch.setattr(connections, "MAX_CONNECTIONS", most)
    monkeypatch.setattr(connections, "WAIT_SECONDS", wait)
    app = Starlette(routes=[Route("/healthz", _healthz), Route("/slow", _slow)])
    app.state.end_streams = lambda: None
    with serve.listen("127.0.0.1", 0) as listening:
        server = serve._Server(serve._configuration(app), app)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            yield listening.getsockname()[1]
        finally:
            server.handle_exit(signal.SIGINT, None)
            thread.join(PATIENCE)


@contextmanager
def sent(port: int, data: bytes, count: int) -> Iterator[list[socket.socket]]:
    """So many connections, over each of which this was sent."""
    with ExitStack() as stack:
        made = []
        for _ in range(count):
            made.append(stack.enter_context(socket.create_connection(("127.0.0.1", port), PATIENCE)))
            made[-1].sendall(data)
        yield made


def received(connection: socket.socket) -> bytes:
    """All that comes until the other end closes."""
    parts = b""
    with suppress(ConnectionError):
        while part := connection.recv(1 << 16):
            parts += part
    return parts


def health_of(port: int) -> httpx.Response:
    return httpx.get(f"http://127.0.0.1:{port}/healthz", timeout=PATIENCE, trust_env=False)


@pytest.mark.parametrize("data", [b"", HALF, WHOLE, WHOLE + HALF])
def test_a_connection_on_which_no_whole_head_comes_is_closed(
    monkeypatch: pytest.MonkeyPatch, data: bytes
) -> None:
    with small_server(monkeypatch, 100, 0.5) as port, sent(port, data, 1) as (connection,):
        assert received(connection).count(b"200 OK") == data.count(WHOLE)


def test_bytes_that_come_one_by_one_give_a_connection_no_more_time(monkeypatch: pytest.MonkeyPatch) -> None:
    with small_server(monkeypatch, 100, 0.5) as port, sent(port, HALF, 1) as (connection,):
        begin = time.monotonic()
        with suppress(ConnectionError):
            while time.monotonic() < begin + PATIENCE:
                connection.sendall(b"x")
                time.sleep(0.05)
        assert time.monotonic() < begin + PATIENCE


def test_an_answer_may_take_longer_than_a_head(monkeypatch: pytest.MonkeyPatch) -> None:
    request = b"GET /slow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with small_server(monkeypatch, 100, 0.2) as port, sent(port, request, 1) as (connection,):
        connection.settimeout(1.0)
        with pytest.raises(TimeoutError):
            connection.recv(1)


def test_half_open_connections_shut_no_one_out(monkeypatch: pytest.MonkeyPatch) -> None:
    with small_server(monkeypatch, 20, PATIENCE) as port, sent(port, HALF, 60):
        for _ in range(3):
            assert health_of(port).status_code == 200


def test_a_server_with_too_many_requests_says_in_an_error_object_when_to_ask_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    request = b"GET /slow HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
    with small_server(monkeypatch, 8, PATIENCE) as port, sent(port, request, 8):
        answer = health_of(port)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "busy")
    assert int(answer.headers["retry-after"]) > 0
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize("more", [b"Content-Length: -5", b"Transfer-Encoding: gzip", b"Host: other"])
def test_what_is_no_http_gets_an_error_object(monkeypatch: pytest.MonkeyPatch, more: bytes) -> None:
    request = HALF + b"\r\n" + more + b"\r\n\r\n"
    with small_server(monkeypatch, 8, PATIENCE) as port, sent(port, request, 1) as (connection,):
        head, _, body = received(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert json.loads(body)["error"]["code"] == "invalid_http"


def test_with_few_files_half_open_connections_shut_no_one_out(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with ExitStack() as stack:
        resource.setrlimit(resource.RLIMIT_NOFILE, (128, hard))
        try:
            dashboard = stack.enter_context(dashboard_of(tmp_path, tmp_path / "token"))
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        stack.enter_context(sent(dashboard.port, HALF, 300))
        assert health_of(dashboard.port).status_code == 200
        with dashboard.client() as client:
            assert client.get("/").status_code == 200
