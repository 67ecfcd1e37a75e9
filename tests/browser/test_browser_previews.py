"""What a page adds while it is read: the lines of a citation that is pointed at, what is copied, and times of
the reader's own zone."""

import re
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

import pytest

from support.browsers import violations, watched
from support.dashboards import Dashboard

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.needs("browser")

EXAMPLE = "/s/work~2Fexample"
SECOND = '#answer a.cite[href="#proof-2"]'
PLACES = """
() => [...document.querySelectorAll("main section, main a.cite, main details, main p:not(.peek *)")]
  .map((each) => {
    const { x, y, width, height } = each.getBoundingClientRect();
    return [x, y + scrollY, width, height];
  })
"""
"""Where everything on the page is but previews."""


def preview(page: "Page") -> str:
    """The text of the preview that is open, empty when there is none."""
    shown = page.locator(".peek:popover-open")
    return (shown.first.text_content() or "") if shown.count() else ""


def test_the_lines_of_a_citation_are_seen_while_it_is_pointed_at_and_nothing_moves(
    browser: "Browser", dashboard: Dashboard
) -> None:
    from playwright.sync_api import expect

    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page(EXAMPLE)
        before = page.evaluate(PLACES)
        page.locator(SECOND).first.hover()
        opened = page.locator(".peek:popover-open")
        expect(opened).to_be_visible()
        assert "Apache-2.0.txt" in preview(page) and opened.locator("mark").count() > 0
        assert page.evaluate(PLACES) == before
        box, cite = opened.bounding_box(), page.locator(SECOND).first.bounding_box()
        assert box and cite and box["x"] >= 0 and box["x"] + box["width"] <= 1280
        assert min(abs(box["y"] - cite["y"] - cite["height"]), abs(cite["y"] - box["y"] - box["height"])) < 24
        opened.hover()  # it can be read, and its text taken
        page.wait_for_timeout(400)
        expect(opened).to_be_visible()
        page.mouse.move(2, 2)
        expect(opened).to_have_count(0)


def test_a_preview_comes_with_the_focus_and_goes_with_escape(
    browser: "Browser", dashboard: Dashboard
) -> None:
    from playwright.sync_api import expect

    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page(EXAMPLE)
        opened = page.locator(".peek:popover-open")
        cite = page.locator(SECOND).first
        cite.focus()
        expect(opened).to_be_visible()
        described = cite.get_attribute("aria-describedby")
        assert "Apache-2.0.txt" in (page.locator(f"#{described}").text_content() or "")
        page.keyboard.press("Escape")
        expect(opened).to_have_count(0)
        expect(cite).to_be_focused()
        page.keyboard.press("Tab")
        page.keyboard.press("Shift+Tab")
        expect(opened).to_be_visible()
        page.keyboard.press("Enter")  # it is a link all the same
        expect(page.locator("#proof-2")).to_have_attribute("open", "")


def test_no_preview_covers_what_is_open_beside_the_answer(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page(EXAMPLE)
        page.locator('#answer a.cite[href="#proof-1"]').first.focus()
        page.wait_for_timeout(300)
        assert preview(page) == ""


def test_axe_finds_nothing_with_a_preview_open(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(browser, dashboard.url, token=dashboard.token, bypass_csp=True) as context:
        page = context.page(EXAMPLE)
        page.locator(SECOND).first.focus()
        page.locator(".peek:popover-open").wait_for()
        assert violations(page) == []
        assert preview(page), "it was open all the while"


def test_without_javascript_a_citation_is_a_link_and_its_preview_is_not_shown(
    browser: "Browser", dashboard: Dashboard
) -> None:
    with watched(browser, dashboard.url, token=dashboard.token, java_script_enabled=False) as context:
        page = context.page(EXAMPLE)
        assert page.locator(".peek").count() > 0 and not page.locator(".peek").first.is_visible()
        page.locator(SECOND).first.click()
        assert page.url.endswith("#proof-2")
        assert page.locator("#proof-2 > summary").is_visible()


def test_a_citation_and_the_commands_that_check_it_are_copied(
    browser: "Browser", dashboard: Dashboard
) -> None:
    from playwright.sync_api import expect

    allowed = ["clipboard-read", "clipboard-write"]
    with watched(browser, dashboard.url, token=dashboard.token, permissions=allowed) as context:
        page = context.page(EXAMPLE)
        page.locator("#check-1 > summary").click()
        copies = page.locator("#check-1 [data-copies]")
        names = ("as text", "as Markdown", "as BibTeX", "the commands")
        assert copies.count() == len(names)
        for at, name in enumerate(names):
            assert name in (copies.nth(at).text_content() or "")
            copies.nth(at).click()
            expect(copies.nth(at)).to_have_text("Copied")
            copied = page.evaluate("navigator.clipboard.readText()")
            assert copied == page.locator("#check-1 .copied").nth(at).text_content()
        assert re.fullmatch(r"sha256sum store/\S+\nsed -n '258,261p' store/\S+", copied)


@pytest.mark.parametrize(("zone", "hours"), [("Asia/Tokyo", 9), ("UTC", 0)])
def test_times_are_of_the_readers_zone_with_utc_in_the_title(
    browser: "Browser", dashboard: Dashboard, zone: str, hours: int
) -> None:
    with watched(browser, dashboard.url, token=dashboard.token, timezone_id=zone) as context:
        page = context.page(EXAMPLE)
        event = page.locator("#events .events time").first
        moment = datetime.fromisoformat(event.get_attribute("datetime") or "").astimezone(UTC)
        assert event.text_content() == f"{moment + timedelta(hours=hours):%H:%M:%S}"
        assert event.get_attribute("title") == f"{moment:%Y-%m-%d %H:%M:%S} UTC"
        assert "Times: local" in (page.text_content("main") or "")
        age = context.page("/").locator(".sessions time").first
        began = datetime.fromisoformat(age.get_attribute("datetime") or "").astimezone(UTC)
        assert f"{began + timedelta(hours=hours):%H:%M}, {began:%Y-%m-%d %H:%M} UTC" in (
            age.get_attribute("title") or ""
        )


def test_without_javascript_times_are_utc_and_say_so(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(browser, dashboard.url, token=dashboard.token, java_script_enabled=False) as context:
        page = context.page(EXAMPLE)
        event = page.locator("#events .events time").first
        moment = datetime.fromisoformat(event.get_attribute("datetime") or "").astimezone(UTC)
        assert event.text_content() == f"{moment:%H:%M:%S}"
        assert "Times: UTC" in (page.text_content("main") or "")
