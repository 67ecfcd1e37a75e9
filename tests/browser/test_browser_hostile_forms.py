"""Markup in each field of each form, in names of files and in addresses of lists is text in a browser."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlencode

import pytest

from support import hostile_run, unfinished
from support.browsers import watched
from support.dashboard_routes import addresses, route_of
from support.dashboards import Dashboard, Grown
from support.pages import text_only
from support.verified import verified
from vera.attestation.keys import load_or_create

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.needs("browser")

MARKUP = "<img src=x onerror=alert('ran')>\"'><svg onload=alert('ran')>"
FILE = "\"'><img src=x onerror=alert(1)>.txt"
REFUSED = ("status of 400", "status of 401", "status of 404", "status of 409", "status of 503")
PAGES = (
    "/start",
    "/s/work~2Fverified",
    "/s/work~2Fverified/ask",
    "/s/work~2Fverified/again",
    "/s/work~2Fbroken",
    "/s/work~2Fnew",
    "/s/work~2Frunning",
    "/remove?s=work~2Fverified",
    "/",
)
FILL = """
([index, text, file, only]) => {
  const form = document.forms[index];
  for (const each of form.elements) {
    if (!each.name || each.name === "form_token" || (only.length && !only.includes(each.name))) continue;
    if (each.type === "file") {
      const held = new DataTransfer();
      held.items.add(new File(["x"], file));
      each.files = held.files;
    } else if (each.tagName === "SELECT") {
      each.append(new Option(text, text, true, true));
    } else {
      each.value = text;
      if ("checked" in each) each.checked = true;
    }
  }
  return new URL(form.action).pathname;
}
"""
"""Fill in the fields of a form (all of them, or `only` some) as no page of ours would: where it leads."""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A session at each stage that has a form."""
    base = tmp_path_factory.mktemp("fields") / "base"
    verified(base / "work" / "verified", load_or_create())
    unfinished.failed(base / "work" / "broken")
    (base / "work" / "new").mkdir()
    (base / "work" / "new" / "session.log").write_text('{"action":"created"}\n')
    running = Grown(base / "work" / "running")
    yield base
    running.log.close()


def sent(page: "Page", address: str, index: int, *only: str) -> str:
    """Send the form of a page with markup in its fields; where it went."""
    page.goto(address)
    path: str = page.evaluate(FILL, [index, MARKUP, FILE, list(only)])
    with page.expect_navigation(wait_until="load"):
        page.evaluate("index => HTMLFormElement.prototype.submit.call(document.forms[index])", index)
    return path


def shown_as_text(page: "Page") -> bool:
    """Whether the page shows the markup; it is text there, in what is folded too."""
    page.locator("details").evaluate_all("every => every.forEach((each) => { each.open = true })")
    page.wait_for_timeout(50)
    text_only(page)
    fields = "[...document.querySelectorAll('input, textarea')].map((each) => each.value)"
    return "alert(" in page.evaluate(f"document.body.innerText + {fields}")


def test_markup_in_each_field_of_each_form_is_text(
    browser: "Browser", dashboard: Dashboard, base: Path
) -> None:
    routes, reached, shown = addresses(base), set(), set()
    with watched(browser, dashboard.url, token=dashboard.token, allowed=REFUSED) as context:
        page = context.page("/")
        for path in PAGES:
            page.goto(dashboard.url + path)
            for index in range(page.evaluate("document.forms.length")):
                route = route_of(sent(page, dashboard.url + path, index), routes)
                reached.add(route)
                if shown_as_text(page):
                    shown.add(route)
    assert {each.path for each in routes if each.method == "POST"} - {"/new", "/login"} <= reached
    assert {"/start", "/s/{id}/run", "/s/{id}/ask", "/s/{id}/tags", "/s/{id}/resume", "/"} <= shown


def test_markup_in_one_field_beside_others_that_are_right_is_text(
    browser: "Browser", dashboard: Dashboard
) -> None:
    """What is refused for one field shows the others again, and what is taken is shown where it leads."""
    with watched(browser, dashboard.url, token=dashboard.token, allowed=REFUSED) as context:
        page = context.page("/")
        for only in (("task", "budget_tokens"), ("model_name", "input_dir"), ("files", "egress", "task")):
            sent(page, f"{dashboard.url}/start", 0, *only)
            assert page.locator("form.start [aria-invalid]").count() and shown_as_text(page), only
        assert "<img src=x onerror=alert(1)>.txt" in page.get_by_text("Kept: ").inner_text()
        reviewed = f"{dashboard.url}/s/work~2Fverified"
        page.goto(reviewed)
        forms = page.evaluate("[...document.forms].map((each) => new URL(each.action).pathname)")
        sent(page, reviewed, forms.index("/s/work~2Fverified/review"), "note")
        sent(page, reviewed, forms.index("/s/work~2Fverified/tags"), "tags")
        assert shown_as_text(page)


def test_markup_in_what_a_list_is_asked_for_is_text(browser: "Browser", dashboard: Dashboard) -> None:
    together = ("q", "state", "batch", "tag")
    with watched(browser, dashboard.url, token=dashboard.token, allowed=REFUSED) as context:
        page = context.page("/")
        for path in ("/", "/over-time"):
            for names in (together, ("kind",), ("sort",), ("page",)):
                page.goto(f"{dashboard.url}{path}?{urlencode(dict.fromkeys(names, MARKUP))}")
                assert shown_as_text(page) or names != together


def test_markup_in_the_login_is_text(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(browser, dashboard.url, allowed=REFUSED) as context:
        page = context.page(f"/start?{urlencode({'task': MARKUP})}")
        text_only(page)
        sent(page, page.url, 0)
        text_only(page)
        assert page.get_by_role("alert").is_visible()


def test_a_replay_prints_as_text_what_a_hostile_session_holds(
    browser: "Browser", dashboard: Dashboard, base: Path
) -> None:
    hostile_run.make(base / "work" / "hostile")
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page("/s/work~2Fhostile")
        page.get_by_role("button", name="Replay it now").click()
        page.wait_for_selector("#replay-title")
        text_only(page)
