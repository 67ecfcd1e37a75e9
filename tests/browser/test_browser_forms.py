"""What a person types and opens is not lost; files are dropped; writing from the right; the page of a PDF."""

import base64
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import pdf_run, rtl_run
from support.browsers import watched
from support.dashboards import Dashboard, dashboard_of
from support.documents import make_pdf
from vera.attestation.keys import load_or_create

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.needs("browser")

TASK = "How long is the warranty?"
FALLEN = ("status of 400", "status of 422")
DROP = """
([zone, name, text]) => {
  const held = new DataTransfer();
  held.items.add(new File([text], name, {type: "text/plain"}));
  document.querySelector(zone).files = held.files;
}
"""


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs that cite a PDF, one whose stored PDF was altered, and one in Arabic and Chinese."""
    base = tmp_path_factory.mktemp("forms")
    pdf = make_pdf(list(pdf_run.TITLE_PAGE), list(pdf_run.SECOND_PAGE))
    pdf_run.make(base / "work" / "pump", pdf, load_or_create())
    broken = pdf_run.make(base / "work" / "broken", pdf, load_or_create())
    for path in (base / "work" / "broken" / "store").glob("*/*"):
        if path.read_bytes() == pdf and path.name != broken:
            path.chmod(0o600)
            path.write_bytes(b"%PDF-1.4 altered")
    rtl_run.make(base / "work" / "dams", load_or_create())
    return base


@pytest.fixture(scope="module")
def dashboard(base: Path) -> Iterator[Dashboard]:
    with dashboard_of(base, base.parent / "forms-token") as dashboard:
        yield dashboard


def test_what_was_typed_is_there_again_after_back(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(browser, dashboard.url, token=dashboard.token, allowed=FALLEN) as context:
        page = context.page("/start")
        page.get_by_label("Task").fill(TASK)
        page.get_by_label("Input folder").fill("../elsewhere")
        page.get_by_role("combobox", name="Model", exact=True).fill("a-model")
        page.get_by_label("Effort").select_option("quick")
        page.get_by_role("radio", name="Thesis").check()
        page.get_by_role("button", name="Start").click()
        page.get_by_role("alert").wait_for()
        names = ("task", "input_dir", "model_name", "effort")
        values = [page.locator(f"[name={name}]").input_value() for name in names]
        assert values == [TASK, "../elsewhere", "a-model", "quick"]
        assert page.get_by_role("radio", name="Thesis").is_checked()
        assert page.locator("#error-input_dir").is_visible()
        page.go_back()
        assert [page.locator(f"[name={name}]").input_value() for name in names] == values


@pytest.mark.parametrize(
    ("path", "button"), [("ask", "Ask"), ("ask?claim=c1", "Check it"), ("again", "Start")]
)
def test_what_was_typed_to_ask_again_is_there_again_after_back(
    browser: "Browser", dashboard: Dashboard, path: str, button: str
) -> None:
    with watched(browser, dashboard.url, token=dashboard.token, allowed=FALLEN) as context:
        page = context.page(f"/s/work~2Fpump/{path}")
        page.get_by_label("Task").fill(TASK)
        page.get_by_label("Input folder").fill("../elsewhere")
        page.get_by_label("Effort").select_option("quick")
        page.get_by_role("button", name=button, exact=True).click()
        page.locator("#error-input_dir").wait_for()
        for _ in range(2):
            values = [
                page.locator(f"[name={name}]").input_value() for name in ("task", "input_dir", "effort")
            ]
            assert values == [TASK, "../elsewhere", "quick"]
            page.go_back()


def test_what_was_typed_on_the_page_of_a_run_is_on_the_page_that_refuses_it(
    browser: "Browser", dashboard: Dashboard
) -> None:
    with watched(browser, dashboard.url, token=dashboard.token, allowed=FALLEN) as context:
        page = context.page("/s/work~2Fpump")
        page.locator("[name=tags]").fill("x" * 60)
        page.get_by_role("button", name="Keep tags").click()
        page.locator("#error-tags").wait_for()
        assert page.locator("[name=tags]").input_value() == "x" * 60
        page.locator("[name=tags]").fill("pumps")
        page.get_by_role("button", name="Keep tags").click()
        page.wait_for_url("**/s/work~2Fpump#tags")
        assert page.locator("[name=tags]").input_value() == "pumps"


def test_files_are_dropped_and_kept_with_what_is_wrong_beside_its_field(
    browser: "Browser", dashboard: Dashboard, base: Path
) -> None:
    with watched(browser, dashboard.url, token=dashboard.token, allowed=FALLEN) as context:
        page = context.page("/start")
        page.get_by_label("Task").fill(TASK)
        page.evaluate(DROP, ["input[type=file]", "manual.txt", "It lasts three years."])
        page.get_by_text("Budgets, network and candidates").click()
        page.locator("[name=budget_tokens]").fill("many")
        page.get_by_role("button", name="Start").click()
        page.get_by_role("alert").wait_for()
        assert page.locator("#budgets-of-start").get_attribute("open") is not None
        assert "Kept: manual.txt" in (page.text_content("#start") or "")
        (kept,) = (base / "work").glob("ui-run-*/input/manual.txt")
        assert kept.read_text() == "It lasts three years."


def test_the_claim_that_was_open_is_open_again_after_back(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page("/s/work~2Fpump")
        page.locator("#summary-1").click()
        page.locator("#claim-1 .card-head a").click()
        page.wait_for_selector(".source-head")
        page.go_back()
        page.wait_for_selector("#claim-1[open]")


def test_a_run_that_ended_is_at_rest_and_without_a_green_dot(
    browser: "Browser", dashboard: Dashboard
) -> None:
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page("/s/work~2Fpump")
        page.wait_for_selector("#stream.rest >> text=at rest")
        rest = page.evaluate("getComputedStyle(document.getElementById('stream'), '::before').color")
        assert rest == "rgb(90, 95, 102)"


def test_a_pdf_shows_its_page_and_one_that_cannot_be_drawn_says_so(
    browser: "Browser", dashboard: Dashboard
) -> None:
    with watched(browser, dashboard.url, token=dashboard.token, allowed=FALLEN) as context:
        sizes, drawn = {}, {}
        for name in ("pump", "broken"):
            page = context.page(f"/s/work~2F{name}")
            picture = page.locator(".page-picture img")
            picture.evaluate("each => { each.loading = 'eager'; return each.decode() }")
            sizes[name] = picture.evaluate("each => each.naturalHeight")
            drawn[name] = picture.evaluate("each => each.width / each.naturalWidth")
            assert page.locator(".proof .lines mark").first.is_visible()
        assert 150 < sizes["pump"] < 500 and sizes["broken"] == 90, "the part with the cited words"
        assert drawn["pump"] > 0.6, "its words can be read"
        page = context.page("/s/work~2Fpump")
        whole = page.locator(".page-picture figcaption a").get_attribute("href")
        height = page.evaluate(
            "async (address) => { const page = new Image(); page.src = address; await page.decode();"
            " return page.naturalHeight }",
            whole,
        )
        assert height == 1294


def glyphs(page: "Page", text: str) -> set[bytes]:
    """The pictures of the letters."""
    pen = """
    (letter) => {
      const canvas = document.createElement("canvas"), pen = canvas.getContext("2d");
      [canvas.width, canvas.height, pen.font] = [40, 40, "24px sans-serif"];
      pen.fillText(letter, 8, 28);
      return canvas.toDataURL().split(",")[1];
    }
    """
    return {base64.b64decode(page.evaluate(pen, letter)) for letter in text}


@pytest.mark.needs("fonts")
def test_arabic_begins_at_the_right_and_chinese_is_drawn(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page("/s/work~2Fdams")
        directions = page.evaluate(
            "[...document.querySelectorAll('h1, .answer p')].map(each => getComputedStyle(each).direction)"
        )
        assert directions == ["rtl", "rtl", "ltr"]
        for text in ("三峡大坝高米", "ارتفعد"):
            assert len(glyphs(page, text)) == len(text), "each letter is another picture, and no empty square"
