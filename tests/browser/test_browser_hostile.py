"""What an attacker's page, name or run can do in a real browser that is logged in: nothing."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from support import evaluated, hostile_run
from support.browsers import ARGUMENTS, program, watched
from support.dashboards import Dashboard, Grown
from support.pages import text_only
from support.verified import verified
from vera.attestation.keys import load_or_create
from vera.dashboard.reviewing import review as say
from vera.dashboard.run_page import look_at
from vera.dashboard.sessions import encode_id
from vera.session.tags import write_tags

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright, Response

pytestmark = pytest.mark.needs("browser")

NAME = "<img src=x onerror=alert(1)>"
HOSTILE = "/s/work~2Fhostile"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("hostile") / "base"
    hostile_run.make(base / "work" / "hostile")
    Grown(base / "work" / "example").end()
    Grown(base / "work" / NAME, task=hostile_run.ALL).end()
    review(base / "work" / "reviewed")
    Grown(base / "work" / "judged" / "s0").end()
    evaluated.make(base / "work" / "judged", hostile_run.ALL, evaluated.each(hostile_run.ALL, "s0"))
    return base


def review(root: Path) -> None:
    """A session with markup in a review and in its tags."""
    verified(root, load_or_create())
    found = look_at(root)
    fields = {"claim": found.page.claims[0].key, "label": "unsure", "note": hostile_run.ALL[:2000]}
    say(root, found.page, found.head, fields)
    write_tags(root, tuple(each.replace(",", " ")[:40] for each in hostile_run.MARKUP))


@contextmanager
def site(page: str) -> Iterator[int]:
    """An attacker's site, which answers everything with that page; its port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(page.encode())

        def log_message(self, format: str, *args: object) -> None:
            """Silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield server.server_port
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def everything(base: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in base.rglob("*") if path.is_file()}


def test_what_goes_wrong_in_a_page_would_be_noticed(browser: "Browser", dashboard: Dashboard) -> None:
    """Else the silence of all other tests says nothing."""
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page(HOSTILE)
        page.evaluate("document.body.append(Object.assign(new Image(), {src: 'http://evil.example/x'}))")
        page.evaluate(
            "() => { try { document.body.innerHTML = '<b>x</b>' } catch { console.error('refused') } }"
        )
        page.evaluate("setTimeout(() => alert('ran'))")
        page.wait_for_timeout(200)
        with pytest.raises(AssertionError) as noticed:
            context.check()
        context.complaints.clear()
        page.evaluate("window.violations = []")
    for words in ("img-src http://evil.example", "TrustedHTML", "refused", "dialog: ran"):
        assert words in str(noticed.value)


def test_the_markup_of_a_run_is_shown_as_text_on_every_page(browser: "Browser", dashboard: Dashboard) -> None:
    named = f"/s/{encode_id(f'work/{NAME}'.encode())}"
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page(HOSTILE)
        sources = page.locator("#claims .card-head a").evaluate_all(
            "all => all.map(one => one.getAttribute('href'))"
        )
        assert len(sources) >= 4, "the cited lines are those with the markup"
        assert page.locator("#claims .v-supported").count() >= 4
        logs = [
            f"{HOSTILE}/log/{name}"
            for name in ("trace", "model_io", "notes", "run", "container", "evidence", "moves", "queries")
        ]
        for path in [
            "/",
            "/?q=alert&batch=<script>alert(1)</script>&state='><img src=x onerror=alert(1)>",
            HOSTILE,
            named,
            f"{HOSTILE}/claim/c1",
            f"{HOSTILE}/steps/1",
            f"{HOSTILE}/again",
            f"{HOSTILE}/ask?claim=c1",
            "/start?task=<script>alert(1)</script>&model_name=%22%3E<img src=x onerror=alert(1)>",
            "/compare?s=work~2Fhostile&s=work~2Fexample",
            f"{HOSTILE}/compare?a=1&b=1",
            "/remove?s=work~2Freviewed",
            "/s/work~2Freviewed",
            "/s/work~2Freviewed/claim/c1",
            "/?tag=<script>alert(1)</script>",
            "/evaluations",
            "/over-time?q=<script>alert(1)</script>",
            "/evaluations/work~2Fjudged?misses=<script>alert(1)</script>",
            *logs,
            *sources,
        ]:
            page.goto(dashboard.url + path)
            page.locator("details").evaluate_all("every => every.forEach((each) => { each.open = true })")
            page.wait_for_timeout(300)
            text_only(page)
            assert "alert" in (page.text_content("main") or ""), f"{path} shows it as text"
        page.goto(dashboard.url + sources[0])
        assert hostile_run.MARKUP[0] in (page.locator("mark").first.text_content() or "")


def test_the_markup_that_comes_with_the_stream_is_text_too(
    browser: "Browser", dashboard: Dashboard, base: Path
) -> None:
    session = hostile_run.open_session(base / "work" / "live")
    try:
        with watched(browser, dashboard.url, token=dashboard.token) as context:
            page = context.page("/s/work~2Flive")
            before = page.locator("#events .events > li").count()
            for step in range(2, 5):
                hostile_run.speak(session, step)
            page.wait_for_selector(f"#events .events > li >> nth={before + 30}", state="attached")
            page.wait_for_timeout(2500)
            text_only(page)
    finally:
        session.close()


def test_a_file_of_a_run_is_saved_and_never_opened(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page(HOSTILE)
        links = page.locator("#files th a")
        assert links.count() == len(hostile_run.FILE_NAMES)
        for number in range(links.count()):
            with page.expect_download() as saved:
                links.nth(number).click()
            assert b"<script>" in saved.value.path().read_bytes()
            assert page.url == dashboard.url + HOSTILE


def test_an_error_page_shows_what_was_asked_as_text(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(browser, dashboard.url, token=dashboard.token, allowed=("status of 404",)) as context:
        page = context.page()
        for path in ("/?work_dir=<script>alert(1)</script>", "/s/<img src=x onerror=alert(1)>", f"/{NAME}"):
            answer = page.goto(dashboard.url + path)
            assert answer is not None and answer.status == 404
            text_only(page)


def test_the_report_of_a_hostile_run_is_text(browser: "Browser", base: Path, tmp_path: Path) -> None:
    from support.cli import vera

    done = vera("report", base / "work" / "hostile", "-o", tmp_path / "report.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with watched(browser, "http://127.0.0.1:9") as context:
        page = context.page()
        page.goto((tmp_path / "report.html").as_uri())
        assert page.locator("script, iframe, object, embed, img").count() == 0
        assert page.locator("[onerror], [onload], [onfocus], [style]").count() == 0
        assert "alert('ran')" in (page.text_content("main") or "")
        assert context.requests == [page.url]


EVIL = """<!doctype html><title>evil</title>
<form id=f method=post action="{to}/new" enctype="text/plain" target=a><input name=task value=x></form>
<form id=h method=post action="{to}/remove" target=b><input name=sessions value=work~2Fexample></form>
<form id=g method=post action="{to}/s/work~2Fexample/resume" target=b><input name=max_steps value=9></form>
<iframe name=a></iframe><iframe name=b></iframe>
<iframe id=framed src="{to}/s/work~2Fexample"></iframe>
<img src="{to}/s/work~2Fexample"><script src="{to}/s/work~2Fexample"></script>
<link rel=stylesheet href="{to}/s/work~2Fexample">
<script>
f.submit(); g.submit(); window.got = [];
const tries = [
  fetch("{to}/", {{credentials: "include"}}),
  fetch("{to}/", {{credentials: "include", mode: "no-cors"}}),
  fetch("{to}/new", {{method: "POST", credentials: "include", mode: "no-cors", body: "task=x"}}),
  fetch("{to}/new", {{method: "POST", credentials: "include", headers: {{"X-Vera": "1"}}}}),
  fetch("{to}/metrics", {{credentials: "include"}}),
];
const stream = new EventSource("{to}/s/work~2Fexample/events", {{withCredentials: true}});
stream.onmessage = (message) => window.got.push(message.data);
Promise.allSettled(tries).then(async (all) => {{
  const read = all.map((each) => each.value).filter((answer) => answer && answer.type !== "opaque");
  for (const answer of read) window.got.push(await answer.text());
  document.title = "done";
}});
</script>"""


@pytest.mark.parametrize("name", ["localhost", "127.0.0.1"])
def test_a_page_of_another_origin_gets_and_does_nothing(
    browser: "Browser", dashboard: Dashboard, base: Path, name: str
) -> None:
    """`localhost` is another site; 127.0.0.1 at another port is the same site, to which browsers send even
    cookies that are SameSite=Strict."""
    from playwright.sync_api import expect

    before = everything(base)
    with site(EVIL.format(to=dashboard.url)) as port:
        context = browser.new_context()
        try:
            context.new_page().goto(f"{dashboard.url}/?token={dashboard.token}")
            page = context.new_page()
            framed: list[Response] = []
            page.on("response", lambda answer: framed.append(answer))
            statuses = statuses_by_kind(page, dashboard.url)
            page.goto(f"http://{name}:{port}/")
            expect(page).to_have_title("done")
            page.wait_for_timeout(1000)
            assert page.evaluate("window.got") == []
            assert {frame.url for frame in page.frames[1:]} == {"chrome-error://chromewebdata/"}
            navigated = [
                (each.request.method, each.status) for each in framed if each.url.startswith(dashboard.url)
            ]
        finally:
            context.close()
    assert everything(base) == before
    shown = 401 if name == "localhost" else 200  # what frame-ancestors keeps from being shown
    assert sorted(navigated) == [("GET", shown), ("POST", 403), ("POST", 403)]
    found = statuses()
    assert found == {
        **{kind: {403} for kind in ("Image", "Script", "Stylesheet", "EventSource", "Fetch")},
        "Other": {405},  # the question (OPTIONS) whether a script may send our header
    }


def statuses_by_kind(page: "Page", origin: str) -> Callable[[], dict[str, set[int]]]:
    """The statuses of the answers to what the page asks of the origin without going there, by its kind: also
    of those that the browser keeps from the page."""
    session = page.context.new_cdp_session(page)
    kinds: dict[str, str] = {}
    answered: dict[str, int] = {}

    def asked(event: dict[str, Any]) -> None:
        if event["request"]["url"].startswith(origin) and event.get("type") != "Document":
            kinds[event["requestId"]] = str(event.get("type"))

    session.on("Network.requestWillBeSent", asked)
    session.on(
        "Network.responseReceivedExtraInfo",
        lambda event: answered.__setitem__(event["requestId"], event["statusCode"]),
    )
    session.send("Network.enable")

    def found() -> dict[str, set[int]]:
        made: dict[str, set[int]] = {}
        for request in kinds.keys() & answered.keys():
            made.setdefault(kinds[request], set()).add(answered[request])
        return made

    return found


def test_a_name_that_is_rebound_to_this_machine_is_not_answered(
    playwright: "Playwright", dashboard: Dashboard, base: Path
) -> None:
    before = everything(base)
    rebound = playwright.chromium.launch(
        executable_path=program(), args=[*ARGUMENTS, "--host-resolver-rules=MAP evil.example 127.0.0.1"]
    )
    try:
        page = rebound.new_page()
        evil = f"http://evil.example:{dashboard.port}"
        answer = page.goto(f"{evil}/?token={dashboard.token}")
        assert answer is not None and answer.status == 421
        found = page.evaluate(
            """async (token) => {
              const page = "/s/work~2Fexample";
              const asked = [["GET", "/"], ["GET", "/metrics"], ["POST", "/new"], ["GET", page]];
              return Promise.all(asked.map(async ([method, path]) => {
                const headers = { authorization: `Bearer ${token}`, "x-vera": "1" };
                return (await fetch(path, { method, headers })).status;
              }));
            }""",
            dashboard.token,
        )
        assert found == [421] * 4
    finally:
        rebound.close()
    assert everything(base) == before
