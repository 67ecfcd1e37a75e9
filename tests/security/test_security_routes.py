"""What a hostile client, site or name gets at every route that the dashboard has.

The routes come from the app, the names in a query from what each handler looks up, and the fields from the
forms of the pages: what is new is in each suite. What a suite leaves out is in its table, with the reason.
"""

import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import quote, urlencode

import httpx
import pytest
from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.testclient import TestClient

from support import evaluated, unfinished
from support.dashboard_routes import STREAMS, Address, Form, addresses, forms_of, route_of
from support.dashboard_runs import use_plain_machine
from support.dashboards import PATIENCE, Dashboard, Grown, app_of, dashboard_of
from support.hostile_run import ALL, MARKUP
from support.markup import problems
from support.verified import verified
from vera.attestation.keys import load_or_create
from vera.dashboard import run_child
from vera.store import Store

SECRET = "what no page may show"
OUTSIDE = (
    "..",
    "../../secret.txt",
    "..%2f..%2f..%2fsecret.txt",
    "%2e%2e/%2e%2e/secret.txt",
    "....//....//secret.txt",
    "..%5c..%5csecret.txt",
    "/etc/passwd",
    "%2fetc%2fpasswd",
    "~2E~2E",
    "~2E~2E~2Fsecret~2Etxt",
    "work~2F~2E~2E~2F~2E~2E",
    "secret~2Etxt",
    "trace.jsonl",
    "%00",
    "%ff%fe",
    "%0d%0aset-cookie:%20x=1",
    "-1",
    "9" * 400,
    "a" * 3000,
    quote(MARKUP[0]),
)
"""Values of a parameter of a path that lead nowhere."""

TAKEN = {
    "POST /login": "The token in its form is what it asks for; there is no login before it.",
}
"""Writes that need no token of the login in their form → why."""

WITHOUT_FORM = {
    "/new": "Programs and scripts make a session with it before its task is known; no page has its form.",
}
"""Writes that no form of a page leads to → why."""

BROWSERS = (
    {"origin": "http://evil.example", "sec-fetch-site": "cross-site"},
    {"origin": "http://127.0.0.1:1", "sec-fetch-site": "same-site"},
    {"origin": "null", "sec-fetch-site": "cross-site"},
    {"origin": "http://evil.example"},
    {"origin": "null"},
)
"""What the browser of a person adds to what a page of another site sends."""

MULTIPART = b'--x\r\nContent-Disposition: form-data; name="task"\r\n\r\nx\r\n--x--'
BODIES = (
    ("text/plain", b"task=x"),
    ("application/x-www-form-urlencoded", b"task=x"),
    ("multipart/form-data; boundary=x", MULTIPART),
)


def make(base: Path) -> None:
    """Sessions that ended, that never began, that another process writes and that broke off; an evaluation;
    and a secret in and beside the base."""
    verified(base / "work" / "example", load_or_create())
    (base / "work" / "new").mkdir()
    (base / "work" / "new" / "session.log").write_text('{"action":"created"}\n')
    unfinished.failed(base / "work" / "broken")
    evaluated.make(base / "work" / "judged")
    (base.parent / "secret.txt").write_text(SECRET)
    (base / "secret.txt").write_text(SECRET)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("routes") / "base"
    make(base)
    return base


@pytest.fixture(scope="module")
def served(base: Path) -> Iterator[Dashboard]:
    with dashboard_of(base, base.parent / "keys" / "token") as dashboard:
        yield dashboard


@pytest.fixture(scope="module")
def routes(base: Path) -> list[Address]:
    return addresses(base)


@pytest.fixture(scope="module")
def known(base: Path) -> Mapping[str, str]:
    """A value for each parameter of a path."""
    store = Store(base / "work" / "example" / "store")
    return {
        "id": "work~2Fexample",
        "/evaluations/{id} id": "work~2Fjudged",
        "/s/{id}/run id": "work~2Fnew",
        "/s/{id}/resume id": "work~2Fbroken",
        "names": "header,claims",
        "key": "c1",
        "sha256": next(path.name for path in sorted(store.root.glob("*/*"))),
        "path": "answer.md",
        "step": "1",
        "/s/{id}/share/{name} name": "report.html",
        "/s/{id}/log/{name} name": "trace",
        "/static/{version}/{name} name": "vera.css",
        "version": "0" * 16,
    }


@pytest.fixture
def nothing_is_done(base: Path) -> Iterator[None]:
    """What lies in the base folder before a test lies there after it, byte for byte."""

    def everything() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in base.rglob("*") if path.is_file()}

    before = everything()
    yield
    assert everything() == before


@pytest.mark.usefixtures("nothing_is_done")
def test_each_route_needs_the_token_but_three_that_say_nothing(
    served: Dashboard, routes: list[Address], known: Mapping[str, str]
) -> None:
    open_to_all = {"/healthz": {200, 405}, "/login": {200, 401}, "/static/{version}/{name}": {404, 405}}
    wrong = [
        {},
        {"authorization": "Bearer x"},
        {"authorization": "Basic dTpw"},
        {"cookie": "vera=1; token=1"},
    ]
    with served.stranger() as client:
        for each in routes:
            for headers in wrong:
                answer = client.request(each.method, each.filled(known), headers={**headers, "x-vera": "1"})
                assert answer.status_code in open_to_all.get(each.path, {401}), each
                assert "How high is the dam" not in answer.text and "Elbe" not in answer.text


def writes(routes: list[Address]) -> list[Address]:
    found = [each for each in routes if each.method == "POST"]
    assert len(found) > 8
    return found


@pytest.mark.usefixtures("nothing_is_done")
def test_no_other_site_reads_or_writes_at_any_route(
    served: Dashboard, routes: list[Address], known: Mapping[str, str]
) -> None:
    """With the person's own cookie, and every body that a form of another site can send."""
    wrong = []
    with served.browser() as client:
        for each in routes:
            address = each.filled(known)
            if each.method != "POST":
                for site in ("cross-site", "same-site"):
                    headers = {"sec-fetch-site": site, "sec-fetch-mode": "no-cors"}
                    answer = client.request(each.method, address, headers=headers)
                    wrong += [(each, site, answer.status_code)] if answer.status_code != 403 else []
                continue
            for headers in BROWSERS:
                for kind, body in BODIES:
                    answer = client.post(address, content=body, headers={**headers, "content-type": kind})
                    wrong += [(each, headers, kind)] if answer.status_code != 403 else []
    assert wrong == []


@pytest.mark.usefixtures("nothing_is_done")
def test_no_write_is_taken_without_the_token_of_this_login(
    served: Dashboard, routes: list[Address], known: Mapping[str, str]
) -> None:
    own = {"origin": served.url, "sec-fetch-site": "same-origin"}
    with served.browser() as client:
        for each in writes(routes):
            for token in ({}, {"form_token": ""}, {"form_token": "0" * 64}, {"form_token": served.token}):
                status = client.post(each.filled(known), data=token, headers=own).status_code
                assert status == (401 if f"POST {each.path}" in TAKEN else 403), (each, token)
    assert TAKEN.keys() <= {f"POST {each.path}" for each in writes(routes)}


@pytest.mark.usefixtures("nothing_is_done")
def test_no_route_is_answered_under_another_name(
    served: Dashboard, routes: list[Address], known: Mapping[str, str]
) -> None:
    """A name that is rebound to this machine has the origin of its own requests, and may have the token."""
    port, wrong = served.port, []
    with served.client(x_vera="1") as client:
        for host in (f"evil.example:{port}", f"127.0.0.1.evil.example:{port}", "evil.example", "0.0.0.0"):
            same = {"host": host, "origin": f"http://{host}", "sec-fetch-site": "same-origin"}
            for each in routes:
                answer = client.request(each.method, each.filled(known), headers=same)
                wrong += [(each, host)] if answer.status_code != 421 or "dam" in answer.text else []
    assert wrong == []


@pytest.mark.usefixtures("nothing_is_done")
def test_what_is_read_is_not_written_and_what_is_written_is_not_read(
    served: Dashboard, routes: list[Address], known: Mapping[str, str]
) -> None:
    methods = defaultdict(set)
    for each in routes:
        methods[each.path].add(each.method)
    wrong = []
    with served.client(x_vera="1") as client:
        for path, has in methods.items():
            for method in {"GET", "HEAD", "POST"} - has:
                answer = client.request(method, Address(method, path).filled(known))
                wrong += [(method, path, answer.status_code)] if answer.status_code != 405 else []
    assert wrong == []


@pytest.mark.usefixtures("nothing_is_done")
def test_no_value_in_a_path_leads_out_or_is_taken_for_another(
    served: Dashboard, routes: list[Address], known: Mapping[str, str]
) -> None:
    """Each parameter of each route by itself, sent exactly as it is written here."""
    wrong = []
    connection = HTTPConnection("127.0.0.1", served.port, timeout=PATIENCE)
    headers = {"authorization": f"Bearer {served.token}", "x-vera": "1"}
    try:
        for each in routes:
            for name in each.parameters if each.method != "HEAD" else ():
                for value in OUTSIDE:
                    connection.request(each.method, each.filled(known, **{name: value}), headers=headers)
                    answer = connection.getresponse()
                    text, given = answer.read(), answer.getheader("set-cookie")
                    if answer.status not in (400, 404) or SECRET.encode() in text or given:
                        wrong.append((each, name, value[:60], answer.status))
    finally:
        connection.close()
    assert wrong == []


# In one process, where a form may do what it does: no run is started.


@pytest.fixture
def browser(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    """A client that is logged in with a cookie, of a base folder of its own."""
    use_plain_machine(monkeypatch)
    monkeypatch.setattr(run_child, "launch", lambda *given, **named: 1)
    monkeypatch.setattr(run_child, "vera_command", lambda *words: [sys.executable, "-I", "-S", "-c", ""])
    make(tmp_path / "base")
    running = Grown(tmp_path / "base" / "work" / "running")
    with app_of(tmp_path / "base") as client:
        client.headers["accept"] = "text/html"
        client.get("/", params={"token": "t" * 40})
        del client.headers["authorization"]
        yield client
    running.log.close()


def looked_up(
    client: TestClient, routes: list[Address], known: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> dict[str, set[str]]:
    """The names that each handler looks for in the query of its address."""
    found = defaultdict(set)

    class Recording(QueryParams):
        """As it is, with a note of each name."""

        path = ""

        def get(self, name: str, default: object = None) -> object:
            found[self.path].add(name)
            return super().get(name, default)

        def getlist(self, name: str) -> list[str]:
            found[self.path].add(name)
            return super().getlist(name)

        def __contains__(self, name: object) -> bool:
            found[self.path].add(str(name))
            return super().__contains__(name)

    def query_params(request: Request) -> QueryParams:
        made = Recording(request.scope["query_string"])
        made.path = route_of(request.url.path, routes)
        return made

    with monkeypatch.context() as patch:
        patch.setattr(Request, "query_params", property(query_params))
        for each in routes:
            if each.method == "HEAD":
                client.head(each.filled(known))
    return found


def pages_of(client: TestClient, routes: list[Address], known: Mapping[str, str]) -> Iterator[httpx.Response]:
    """The page of each route, and the pages of a session at each stage."""
    for each in routes:
        if each.method == "GET" and each.path not in STREAMS:
            yield client.get(each.filled(known))
    for name in ("new", "running", "broken"):
        yield client.get(f"/s/work~2F{name}")
    yield client.get("/remove?s=work~2Fexample")
    with_cookie = dict(client.cookies)
    client.cookies.clear()
    yield client.get("/login")
    client.cookies.update(with_cookie)


def forms_in(client: TestClient, routes: list[Address], known: Mapping[str, str]) -> list[Form]:
    """A form of each kind that the pages have."""
    found: dict[tuple[str, str, tuple[str, ...]], Form] = {}
    for answer in pages_of(client, routes, known):
        if answer.headers.get("content-type", "").startswith("text/html"):
            for form in forms_of(answer.text):
                route = route_of(form.action.partition("?")[0], routes)
                found.setdefault((form.method, route, tuple(form.names)), form)
    return list(found.values())


def faults(answer: httpx.Response) -> list[str]:
    """What is wrong with an answer to markup: text of it that is no text, or a fault of the server."""
    if answer.status_code == 500:
        return ["status 500"]
    if not answer.content or not answer.headers["content-type"].startswith("text/html"):
        return []
    return problems(answer.text, fragment=not answer.text.lstrip().startswith("<!doctype"))


def test_each_write_has_a_form_or_a_reason(
    browser: TestClient, routes: list[Address], known: Mapping[str, str]
) -> None:
    with_form = {
        route_of(form.action, routes) for form in forms_in(browser, routes, known) if form.method == "POST"
    }
    assert {each.path for each in writes(routes)} == with_form | WITHOUT_FORM.keys()


def test_no_value_in_an_address_becomes_markup_or_leads_out(
    browser: TestClient, routes: list[Address], known: Mapping[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    names = looked_up(browser, routes, known, monkeypatch)
    assert {"q", "state", "kind", "batch", "tag", "sort", "page"} <= names["/"], "the names are seen"
    fields = {route_of(each.action, routes): each.names for each in forms_in(browser, routes, known)}
    wrong = []
    for each in routes:
        if each.method != "GET":
            continue
        filled = [(name, quote(value, safe="")) for name in each.parameters for value in MARKUP]
        asked = [
            *(each.filled(known, **{name: value}) for name, value in filled),
            *(
                f"{each.filled(known)}?{urlencode({name: value})}"
                for name in sorted(names[each.path] | set(fields.get(each.path, ())))
                for value in (*MARKUP, "../../secret.txt", "/etc/passwd", "%00")
            ),
        ]
        for address in asked:
            answer = browser.head(address) if each.path in STREAMS else browser.get(address)
            found = faults(answer) + (["the secret"] if SECRET in answer.text else [])
            wrong += [(address, found)] if found else []
    assert wrong == []


def test_no_field_of_a_form_becomes_markup(
    browser: TestClient, routes: list[Address], known: Mapping[str, str]
) -> None:
    """Each field by itself, and all of them at once: on the page that answers, and on the one behind it."""
    wrong = []
    forms = forms_in(browser, routes, known)
    for form in forms:
        each_alone = ({name: text} for name in form.names for text in MARKUP)
        changes = [dict.fromkeys(form.names, ALL), *each_alone]
        for changed in changes:
            given = form.but(**changed)
            if form.method == "GET":
                answer = browser.get(form.action, params=given)
            else:
                answer = browser.post(form.action, data=given)
            found = faults(answer)
            wrong += [(form.action, changed, answer.status_code, found)] if found else []
    for answer in pages_of(browser, routes, known):
        wrong += [(str(answer.url), found) for found in faults(answer)]
    assert wrong == []
