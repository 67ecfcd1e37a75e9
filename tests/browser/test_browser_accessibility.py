"""axe finds nothing on any page, light and dark (WCAG 2.0, 2.1 and 2.2 at A and AA, and best practice)."""

import re
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from support import hostile_run, licence_run, pdf_run, rendered_run, rtl_run, run_pages, unfinished
from support.browsers import violations, watched
from support.cli import vera
from support.dashboards import Dashboard, Grown, configured
from support.documents import make_pdf
from support.scripted_server import ScriptedServer, Slow
from support.turns import answered_turns
from vera.attestation.keys import Signer, load_or_create
from vera.dashboard.pages import render_reading
from vera.dashboard.query_params import Asked
from vera.dashboard.sessions import SessionFolder
from vera.dashboard.static_files import StaticFiles
from vera.headline import HEADLINES
from vera.report.html.document import report_html
from vera.report.table.model import Cell, Place, Row, Table
from vera.report.table.page import table_html

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.needs("browser")

EXAMPLE = "/s/work~2Fexample"
READING = "/s/work~2Flarge"
HTML = "text/html; charset=utf-8"
OFFER = "For how long must a written offer for source code be valid under GPL version 3?"


def reading() -> str:
    """The page of a large log while it is read, as the server writes it."""
    session = SessionFolder(id="work~2Flarge", name="./work/large", path=Path("large"))
    asked = Asked(nonce="n", static=StaticFiles().prefix)
    return render_reading(asked, session, 5 << 20, 15 << 20)


@pytest.fixture(scope="module")
def pages(browser: "Browser", dashboard: Dashboard, base: Path) -> Iterator[dict[str, str]]:
    """Every kind of page: its name and address."""
    more_sessions(browser, base / "work")
    script = licence_run.script()

    def hangs_late(index: int, body: dict[str, object]) -> object:
        return Slow(300.0, "") if answered_turns(body) == 7 else script(index, body)

    with (
        ScriptedServer(hangs_late) as server,
        configured(server.base_url),
        dashboard.client(x_vera="1") as client,
    ):
        new = client.post("/new").headers["location"]
        running = client.post("/new").headers["location"]
        form = {
            "task": licence_run.QUESTION,
            "input_dir": licence_run.FOLDER,
            "model_name": server.model,
        }
        assert client.post(f"{running}/run", data=form).status_code == 204
        for _ in range(600):
            if "v-unresolved" in (page := client.get(running).text) and "Stop the run" in page:
                break
            time.sleep(0.1)
        else:
            raise AssertionError("the run never came to its second answer")
        example = client.get(EXAMPLE).text
        pdf = make_pdf(list(pdf_run.TITLE_PAGE), list(pdf_run.SECOND_PAGE))
        text = pdf_run.make(base / "work" / "pump", pdf, Signer(Ed25519PrivateKey.generate()))
        pdf_page = f"/s/work~2Fpump/source/{text}?first=9&last=10"
        assert "page-picture" in client.get(pdf_page).text
        source = re.search(r'href="(/s/[^"]*/source/[^"]*)"', example)
        assert source is not None
        yield {
            "picker": "/",
            "ask": "/start",
            "page of a PDF": pdf_page,
            "no session": "/?q=none&state=failed&kind=thesis&batch=runs",
            "new session": new,
            "running": running,
            "ended": EXAMPLE,
            "model failed": "/s/work~2Ffailed",
            "follow-up": "/s/work~2Ffollow-up",
            "reviewed": "/s/work~2Freviewed",
            "Arabic and Chinese": "/s/work~2Fdams",
            "rendered page": "/s/work~2Fterms",
            "claim": f"{EXAMPLE}/claim/c1",
            "source": source[1].replace("&amp;", "&"),
            "compare": f"{EXAMPLE}/compare?a=1&b=2",
            "events": f"{EXAMPLE}/log/trace",
            "log": f"{EXAMPLE}/log/notes",
            "steps": f"{EXAMPLE}/steps",
            "step": f"{EXAMPLE}/steps/7",
            "step of a check": f"{EXAMPLE}/steps/2?lane=check-2.1",
            "two runs": "/compare?s=work~2Fexample&s=" + new.rpartition("/")[2],
            "problem": "/s/work~2Fnone",
            "ask again": f"{EXAMPLE}/ask",
            "a sentence as a thesis": f"{EXAMPLE}/ask?claim=c1",
            "the same again": f"{EXAMPLE}/again",
            "ledger": f"{EXAMPLE}/log/evidence",
            "step with candidates": "/s/work~2Fhostile/steps/1",
            "reading the log": READING,
            "remove": "/remove?s=work~2Fexample",
            "evaluations": "/evaluations",
            "over time": "/over-time",
            "evaluation": "/evaluations/work~2Feval-dams",
        }
        client.post(f"{running}/stop")
        client.post(f"{running}/stop")


def more_sessions(browser: "Browser", work: Path) -> None:
    """One whose model server failed, one that follows another, one with a review, one in two scripts, and one
    that cites a page as a browser rendered it."""
    unfinished.failed(work / "failed")
    asked = vera(
        "ask", "--session", "work/example", OFFER, "--model-base-url", "builtin",
        "--work-dir", "work/follow-up", cwd=work.parent,
    )  # fmt: skip
    assert asked.returncode == 0, asked.stderr
    shutil.copytree(work / "example", work / "reviewed")
    said = vera("review", "work/reviewed", "--claim", "1", "--unsure", "--note", "Why?", cwd=work.parent)
    assert said.returncode == 0, said.stderr
    rtl_run.make(work / "dams", load_or_create())
    hostile_run.make(work / "hostile")
    for number in range(2):  # a batch, in the list
        Grown(work.parent / "runs" / (f"{number}" * 64) / "1").end()
    page = browser.new_page()
    rendered_run.make(work / "terms", load_or_create(), rendered_run.picture_of(page))
    page.close()


@pytest.mark.parametrize("third", range(3))
def test_the_pages_of_the_dashboard(
    browser: "Browser", dashboard: Dashboard, pages: dict[str, str], third: int
) -> None:
    found: dict[str, list[str]] = {}
    with watched(
        browser,
        dashboard.url,
        token=dashboard.token,
        bypass_csp=True,
        allowed=("status of 404", "status of 400"),
    ) as context:
        context.context.route(f"**{READING}", lambda route: route.fulfill(body=reading(), content_type=HTML))
        for name, path in list(pages.items())[third::3]:
            page = context.page(path)
            page.locator("details").evaluate_all("every => every.forEach((each) => { each.open = true })")
            found[name] = violations(page)
            page.close()
    assert {name: each for name, each in found.items() if each} == {}


def test_a_run_and_the_list_that_are_printed_or_seen_at_200_percent(
    browser: "Browser", dashboard: Dashboard, pages: dict[str, str]
) -> None:
    with watched(browser, dashboard.url, token=dashboard.token, bypass_csp=True) as context:
        page = context.page(pages["ended"])
        page.emulate_media(media="print")
        assert violations(page) == []
        page.emulate_media(media="screen")
        page.set_viewport_size({"width": 640, "height": 450})
        for name in ("ended", "picker"):
            page.goto(dashboard.url + pages[name])
            page.locator("details").evaluate_all("every => every.forEach((each) => { each.open = true })")
            assert violations(page) == [], name


def test_forms_that_were_refused(browser: "Browser", dashboard: Dashboard, pages: dict[str, str]) -> None:
    with watched(
        browser, dashboard.url, token=dashboard.token, bypass_csp=True, allowed=("status of 400",)
    ) as context:
        page = context.page("/start")
        page.get_by_label("Task").fill("x")
        page.locator("#budgets-of-start").evaluate("each => { each.open = true }")
        page.get_by_label("Input folder").fill("../elsewhere")
        page.get_by_label("tokens").fill("many")
        page.get_by_role("button", name="Start").click()
        page.get_by_role("alert").wait_for()
        assert violations(page) == []
        page.goto(dashboard.url + EXAMPLE)
        page.locator("[name=tags]").fill("x" * 60)
        page.get_by_role("button", name="Keep tags").click()
        page.locator("#error-tags").wait_for()
        assert violations(page) == []
        page.goto(dashboard.url)
        page.locator("#batches-title").wait_for()


def test_the_replay_and_the_login(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(browser, dashboard.url, allowed=("status of 401",), bypass_csp=True) as context:
        page = context.page(EXAMPLE)
        assert violations(page) == []
        page.get_by_label("Token").fill("not the token")
        page.get_by_role("button").click()
        page.get_by_role("alert").wait_for()
        assert violations(page) == []
        page.get_by_label("Token").fill(dashboard.token)
        page.get_by_role("button").click()
        page.get_by_role("button", name="Replay it now").click()
        page.get_by_text("All of it agrees").wait_for()
        assert violations(page) == []


def test_a_table_of_answers_on_a_screen_and_on_a_phone(browser: "Browser", tmp_path: Path) -> None:
    place = Place(source="a.txt", first=1, last=2, relation="SUPPORTS", lines=("Two years.", "Or more."))
    cells = tuple(
        Cell(word=word, phrase="two years", reason="why", places=(place,), session=str(tmp_path))
        for word in HEADLINES
    )
    rows = tuple(Row(document=f"d{number}.txt", cells=cells) for number in range(3))
    made = Table(questions=tuple((f"q{n}", f"How long {n}?") for n in range(len(cells))), rows=rows)
    (tmp_path / "table.html").write_bytes(table_html(made, title="Answers", beside=tmp_path))
    with watched(browser, "http://127.0.0.1:9", bypass_csp=True) as context:
        page = context.page()
        page.goto((tmp_path / "table.html").as_uri())
        for width in (1200, 390):
            page.set_viewport_size({"width": width, "height": 800})
            page.locator("details").evaluate_all("every => every.forEach((each) => { each.open = true })")
            assert violations(page) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
        page.close()


def test_the_report_of_a_run_and_reports_with_everything_in_them(
    browser: "Browser", base: Path, tmp_path: Path
) -> None:
    done = vera("report", base / "work" / "example", "-o", tmp_path / "example.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    for name in ("FINISHED", "DISPUTED", "RUNNING", "EMPTY"):
        text = report_html(getattr(run_pages, name), work_dir="./work/rivers", integrity="The log is SEALED.")
        (tmp_path / f"{name}.html").write_text(text)
    with watched(browser, "http://127.0.0.1:9", bypass_csp=True) as context:
        for path in sorted(tmp_path.glob("*.html")):
            page = context.page()
            page.goto(path.as_uri())
            assert violations(page) == [], path.name
            page.close()
