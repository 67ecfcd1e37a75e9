"""What a finished run shows: marked quotations, two rounds side by side, by keyboard, on paper, on a narrow
screen and without JavaScript."""

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from support import licence_run
from support.browsers import watched
from support.cli import vera
from support.dashboards import Dashboard, configured
from support.pdf_text import text_of_pdf
from vera.store import Store

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.needs("browser")

EXAMPLE = "/s/work~2Fexample"
CLAIMS = (
    "Under the GPL version 3 a written offer must be valid for at least three years",
    "Under the Apache License 2.0 the patent licenses granted to you terminate",
    "The Mozilla Public License 2.0 has a rule of its own",
)


def plain(text: str) -> str:
    """Words with one space between."""
    return " ".join(text.split())


def cited(store: Store, address: str) -> tuple[bytes, int]:
    """The stored bytes that the address of a source names, and how many lines they are."""
    parts = urlsplit(address)
    first, last = (int(parse_qs(parts.query)[name][0]) for name in ("first", "last"))
    lines = store.get(parts.path.rpartition("/")[2]).split(b"\n")[first - 1 : last]
    return b"\n".join(lines), len(lines)


def marked(page: "Page", within: str = "") -> bytes:
    """The marked text, byte for byte as it stands in the page."""
    return "\n".join(page.locator(f"{within} mark").all_text_contents()).encode()


def test_each_card_leads_to_its_lines_and_what_is_marked_is_what_is_stored(
    browser: "Browser", dashboard: Dashboard, base: Path
) -> None:
    store = Store(base / "work" / "example" / "store")
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page(EXAMPLE)
        assert page.locator("#claims .strip a").count() == 3
        page.locator("#claims .strip a").first.click()
        assert page.locator("#claim-1").get_attribute("open") is not None
        cards = page.locator("#claims .card")
        assert cards.count() >= len(CLAIMS)
        addresses = []
        for card in cards.all():
            readings = [link.get_attribute("href") or "" for link in card.locator(".card-head a").all()]
            data, count = cited(store, readings[0])
            assert card.locator("mark").count() == count
            assert "\n".join(card.locator("mark").all_text_contents()).encode() == data
            addresses += readings
        assert len(addresses) >= 4, "lines that were read twice alike are shown once"
        page.locator("#claim-1 .card-head a").first.click()
        page.wait_for_url("**/source/**")
        for address in addresses:
            data, count = cited(store, address)
            page.goto(dashboard.url + address)
            assert marked(page, ".text-lines") == data
            assert page.locator(".text-lines mark").count() == page.locator(".text-lines .marked").count()
            assert "have the hash that was cited" in (page.text_content("main") or "")


@pytest.mark.parametrize(
    ("width", "height", "shown"),
    [
        (1280, 720, ("#answer .answer", "#answer .proof[open] mark")),
        (360, 740, ("#answer .answer",)),  # the lines follow the answer: below it on a phone
    ],
)
def test_the_answer_is_on_the_first_screen_and_its_first_cited_line_beside_it(
    browser: "Browser", dashboard: Dashboard, width: int, height: int, shown: tuple[str, ...]
) -> None:
    line = 24  # a line of text, in pixels
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page(EXAMPLE)
        page.set_viewport_size({"width": width, "height": height})
        for each in shown:
            box = page.locator(each).first.bounding_box()
            assert box is not None and box["y"] + min(box["height"], line) <= height, each


def test_a_citation_opens_its_lines_beside_the_answer(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page(EXAMPLE)
        opened = page.locator("#answer .proof[open]")
        assert opened.get_attribute("id") == "proof-1"
        page.locator('#answer a.cite[href="#proof-2"]').first.click()
        page.wait_for_selector("#proof-2[open]")
        assert opened.count() == 1  # one at a time
        assert "Apache-2.0.txt" in (opened.text_content() or "")
        opened.locator(".check > summary").click()
        assert "sha256sum store/" in (opened.locator(".check").text_content() or "")


def test_the_lines_that_were_clicked_are_in_sight(browser: "Browser", dashboard: Dashboard) -> None:
    from playwright.sync_api import expect

    with watched(browser, dashboard.url, token=dashboard.token, reduced_motion="reduce") as context:
        page = context.page(EXAMPLE)
        page.locator("#summary-1").click()
        page.locator("#claim-1 .card-head a").first.click()
        expect(page.locator(".marked").first).to_be_in_viewport()


def test_an_altered_text_is_not_marked_and_the_page_says_so(
    browser: "Browser", dashboard: Dashboard, base: Path
) -> None:
    altered = shutil.copytree(base / "work" / "example", base / "work" / "altered")
    store = Store(altered / "store")
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page("/s/work~2Faltered")
        address = page.locator("#claim-1 .card-head a").first.get_attribute("href") or ""
        blob = store.path(urlsplit(address).path.rpartition("/")[2])
        blob.chmod(0o600)
        blob.write_bytes(blob.read_bytes().replace(b"at least three years", b"at least seven years"))
        shutil.copytree(altered, base / "work" / "altered-2")
        page = context.page("/s/work~2Faltered-2")
        page.locator("#summary-1").click()
        assert page.locator("#claim-1 mark").count() == 0
        assert page.locator("#claim-1 .card .problem").count() == page.locator("#claim-1 .card").count()
        assert "altered" in (page.locator("#claim-1 .card .problem").first.text_content() or "")
        assert "seven years" not in page.content()
        assert page.locator("#claim-2 mark").count() == 3, "what was not touched is shown"
        for session in ("altered", "altered-2"):
            page.goto(dashboard.url + address.replace("work~2Faltered", f"work~2F{session}"))
            assert page.locator("mark").count() == 0
            assert "altered" in (page.locator("main .problem").text_content() or "")
            assert "seven years" not in page.content()


def test_two_rounds_are_compared(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page(EXAMPLE)
        page.get_by_role("link", name="Compare the two rounds").click()
        page.wait_for_url("**/compare?a=1&b=2")
        assert page.locator("main p > strong").all_text_contents() == ["Unresolved", "Verified"]
        assert page.locator(".verdict-word.v-unresolved").count() == 1, "its number stands in no cited line"
        assert page.locator(".verdict-word.v-supported").count() == 3
        assert page.locator("del").all_text_contents()[0].strip() == "five"
        assert page.locator("ins").all_text_contents()[0].strip() == "three"
        page.get_by_label("Before").select_option("2")
        page.get_by_label("After").select_option("1")
        page.get_by_role("button", name="Compare").click()
        page.wait_for_url("**/compare?a=2&b=1")
        assert page.locator("ins").all_text_contents()[0].strip() == "five"


def test_a_replay_is_a_button(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page(EXAMPLE)
        page.get_by_role("button", name="Replay it now").click()
        page.get_by_text("All of it agrees").wait_for()


def test_everything_can_be_done_with_the_keyboard_alone(
    browser: "Browser", dashboard: Dashboard, base: Path
) -> None:
    def focused(page: "Page", name: str) -> object:
        return page.evaluate(f"document.activeElement.{name}")

    def tab_to(page: "Page", id_or_name: str) -> None:
        for _ in range(60):
            if id_or_name in (focused(page, "id"), focused(page, "name")):
                return
            page.keyboard.press("Tab")
        raise AssertionError(f"Tab never came to {id_or_name}")

    with (
        licence_run.model() as server,
        configured(server.base_url),
        watched(browser, dashboard.url, allowed=("status of 401",), reduced_motion="reduce") as context,
    ):
        page = context.page(EXAMPLE)
        page.wait_for_function("document.activeElement instanceof HTMLInputElement")  # it focuses itself
        page.keyboard.type(dashboard.token)
        page.keyboard.press("Enter")
        page.locator("#claims").wait_for()
        page.keyboard.press("Tab")
        assert focused(page, "className") == "skip"
        page.keyboard.press("Enter")
        assert page.url.endswith("#main")
        for key, claim in (("j", 1), ("j", 2), ("j", 3), ("j", 3), ("k", 2)):
            page.keyboard.press(key)
            assert focused(page, "id") == f"summary-{claim}"
        page.keyboard.press("Enter")
        assert page.locator("#claim-2").get_attribute("open") is not None
        page.keyboard.press("Tab")
        assert "/source/" in str(focused(page, "href"))
        page.keyboard.press("Enter")
        page.locator(".marked").first.wait_for()
        page.goto(dashboard.url + "/")
        tab_to(page, "new")
        page.keyboard.press("Enter")
        page.wait_for_url("**/start")
        for name, text in {
            "task": licence_run.QUESTION,
            "input_dir": licence_run.FOLDER,
            "model_name": server.model,
        }.items():
            tab_to(page, name)
            page.keyboard.type(text)
        tab_to(page, "start-run")
        page.keyboard.press("Enter")
        page.locator("#status.tone-good").wait_for(timeout=60_000)


@pytest.mark.parametrize("path", ["/", EXAMPLE, f"{EXAMPLE}/compare?a=1&b=2", f"{EXAMPLE}/claim/c1"])
def test_dark_is_dark_and_light_is_light(browser: "Browser", dashboard: Dashboard, path: str) -> None:
    brightness: dict[str, dict[str, float]] = {}
    for scheme in ("light", "dark"):
        with watched(browser, dashboard.url, token=dashboard.token, color_scheme=scheme) as context:
            page = context.page(path)
            brightness[scheme] = {
                name: sum(
                    map(int, re.findall(r"\d+", page.evaluate(f"getComputedStyle(document.body).{name}")))
                )
                for name in ("backgroundColor", "color")
            }
    assert brightness["light"]["backgroundColor"] > 600 > 200 > brightness["light"]["color"]
    assert brightness["dark"]["backgroundColor"] < 200 < 600 < brightness["dark"]["color"]


def test_a_page_is_printed_with_its_claims_and_their_quotations(
    browser: "Browser", dashboard: Dashboard
) -> None:
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        printed = plain(text_of_pdf(context.page(EXAMPLE).pdf()))
    for claim in CLAIMS:
        assert plain(claim) in printed
    assert "written offer, valid for at least three years and valid for as" in printed
    assert "Verified" in printed and "Stop the run" not in printed and "Replay it now" not in printed


def test_a_report_opens_from_the_disk_asks_for_nothing_and_is_printed(
    browser: "Browser", base: Path, tmp_path: Path
) -> None:
    done = vera("report", base / "work" / "example", "-o", tmp_path / "report.html", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    with watched(browser, "http://127.0.0.1:9") as context:
        page = context.page()
        page.goto((tmp_path / "report.html").as_uri())
        assert context.requests == [(tmp_path / "report.html").as_uri()]
        assert page.locator("script").count() == 0
        assert page.locator("#claims mark").count() >= 10
        printed = plain(text_of_pdf(page.pdf()))
    for claim in CLAIMS:
        assert plain(claim) in printed
    assert "written offer, valid for at least three years and valid for as" in printed
    assert "vera replay" in printed


PATHS = (
    "/",
    EXAMPLE,
    f"{EXAMPLE}/claim/c1",
    f"{EXAMPLE}/compare?a=1&b=2",
    f"{EXAMPLE}/log/trace",
    f"{EXAMPLE}/log/notes",
    "/s/work~2Fnone",
    "/evaluations",
    "/over-time",
    "/evaluations/work~2Feval-dams",
)


@pytest.mark.parametrize("width", [320, 768])
def test_nothing_scrolls_sideways_on_a_narrow_screen(
    browser: "Browser", dashboard: Dashboard, width: int
) -> None:
    with watched(
        browser,
        dashboard.url,
        token=dashboard.token,
        viewport={"width": width, "height": 700},
        allowed=("status of 404",),
    ) as context:
        page = context.page(EXAMPLE)
        source = page.locator("#claim-1 .card-head a").first.get_attribute("href") or ""
        for path in (*PATHS, source):
            page.goto(dashboard.url + path)
            page.locator("details").evaluate_all("every => every.forEach((each) => { each.open = true })")
            wide: int = page.evaluate("document.documentElement.scrollWidth")
            assert wide <= width, path


def test_without_javascript_everything_can_be_read_and_done(browser: "Browser", dashboard: Dashboard) -> None:
    with (
        licence_run.model() as server,
        configured(server.base_url),
        watched(browser, dashboard.url, token=dashboard.token, java_script_enabled=False) as context,
    ):
        page = context.page("/")
        page.get_by_role("link", name="Ask a question").click()
        page.get_by_label("Task").fill(licence_run.QUESTION)
        page.get_by_label("Input folder").fill(licence_run.FOLDER)
        page.get_by_label("Address of the model server").fill(server.base_url)
        page.get_by_label("Model", exact=True).fill(server.model)
        page.get_by_role("button", name="Start").click()
        for _ in range(300):
            if "Ended with exit code 0." in (page.text_content("#status") or ""):
                break
            page.wait_for_timeout(200)
            page.reload()
        assert (page.text_content("#status .verdict strong") or "") == "Verified"
        assert page.locator("#events .events > li").count() > 50
        page.locator("#summary-1").click()
        assert page.locator("#claim-1 mark").first.is_visible()
        page.locator("#claim-1 .card-head a").first.click()
        assert page.locator(".text-lines mark").count() > 0
        page.go_back()
        page.locator("#log-notes summary").click()
        page.locator("#log-notes a").click()
        assert page.locator("main").text_content()


def test_steps_are_walked_by_links_and_by_keys(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page(EXAMPLE)
        page.locator('#timeline a[href$="/steps/2"]').first.click()
        page.wait_for_url("**/steps/2")
        for key, step in (("j", 3), ("ArrowRight", 4), ("k", 3), ("ArrowLeft", 2)):
            page.keyboard.press(key)
            page.wait_for_url(f"**/steps/{step}")
        page.locator("a[rel=next]").first.click()
        page.wait_for_url("**/steps/3")
        page.locator(".ways a", has_text="all steps").first.click()
        page.locator("th a", has_text="step 8").click()
        page.wait_for_url("**/steps/8")
        page.keyboard.press("j")  # it is the last
        page.wait_for_timeout(200)
        assert page.url.endswith("/steps/8")


def test_a_step_is_read_without_javascript(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(browser, dashboard.url, token=dashboard.token, java_script_enabled=False) as context:
        page = context.page(f"{EXAMPLE}/steps/7")
        assert "hash is the one that was logged" in (page.text_content("main") or "")
        assert page.locator(".turn[open]").count() >= 1
        older = page.locator("#older > summary")
        older.click()
        assert page.locator("#older .turn").first.is_visible()
        page.locator("a[rel=prev]").first.click()
        assert page.url.endswith("/steps/6")


def test_sessions_are_searched_and_sorted_by_keyboard_and_without_javascript(
    browser: "Browser", dashboard: Dashboard
) -> None:
    with watched(browser, dashboard.url, token=dashboard.token, java_script_enabled=False) as context:
        page = context.page("/")
        page.get_by_role("searchbox").focus()
        page.keyboard.type("written offer")
        page.keyboard.press("Enter")
        page.wait_for_url("**/?q=written+offer")
        assert page.locator(".sessions tbody tr").count() >= 1
        page.get_by_role("link", name="tokens", exact=True).press("Enter")
        page.wait_for_url("**sort=tokens**")
        assert "q=written" in page.url
        page.locator(".sessions tbody th a").first.press("Enter")
        page.wait_for_url("**/s/work~2F**")


def test_a_session_of_the_list_is_one_line_and_on_a_phone_a_few(
    browser: "Browser", dashboard: Dashboard
) -> None:
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page("/")
        row = page.locator(".sessions tbody tr").first
        for width, most in ((1280, 40), (360, 150)):
            page.set_viewport_size({"width": width, "height": 740})
            box = row.bounding_box()
            assert box is not None and box["height"] <= most


def test_two_sessions_are_ticked_and_compared_without_javascript(
    browser: "Browser", dashboard: Dashboard, base: Path
) -> None:
    shutil.copytree(base / "work" / "example", base / "work" / "compared", dirs_exist_ok=True)
    with watched(browser, dashboard.url, token=dashboard.token, java_script_enabled=False) as context:
        page = context.page("/")
        for name in ("work~2Fexample", "work~2Fcompared"):
            page.locator(f'input[name=s][value="{name}"]').press("Space")
        page.get_by_role("button", name="Compare the two").press("Enter")
        page.wait_for_url("**/compare?**")
        assert "same, word for word" in (page.text_content("main") or "")
