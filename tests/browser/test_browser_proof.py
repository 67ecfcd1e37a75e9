"""What is marked beside an answer is what it cites: in the panel, in previews, and in the stored text."""

from typing import TYPE_CHECKING

import pytest

from support.browsers import watched
from support.dashboards import Dashboard

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

pytestmark = pytest.mark.needs("browser")

EXAMPLE = "/s/work~2Fexample"


def numbers(lines: "Locator", kind: str) -> list[int]:
    """The numbers of those lines of an excerpt that have an element of this kind, from top to bottom."""
    rows = lines.locator(f"p:has({kind})")
    boxes = [rows.nth(at).bounding_box() for at in range(rows.count())]
    tops = [box["y"] for box in boxes if box]
    assert tops == sorted(tops) and len(tops) == rows.count()
    return [int(rows.nth(at).locator(".no").text_content() or "0") for at in range(rows.count())]


def test_the_cited_lines_are_marked_and_those_around_them_are_not(
    browser: "Browser", dashboard: Dashboard
) -> None:
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page(EXAMPLE)
        assert page.locator("#answer a.cite").first.text_content() == "GPL-3.txt 258–261"
        lines = page.locator("#proof-1 .lines")
        assert numbers(lines, "mark") == [258, 259, 260, 261]
        assert numbers(lines, ".around") == [257, *range(262, 268)]
        assert "lines 258–261" in (page.locator("#proof-1 > summary").text_content() or "")
        colours = [
            lines.locator(each).first.evaluate("each => getComputedStyle(each).backgroundColor")
            for each in ("mark", ".around")
        ]
        assert colours[0] != colours[1]
        page.locator("#check-1 > summary").click()
        copied = page.locator("#check-1 .copied")
        assert [("258–261" in text or "258--261" in text) for text in copied.all_text_contents()[:3]] == [
            True
        ] * 3
        assert "sed -n '258,261p'" in copied.all_text_contents()[3]


def test_a_preview_shows_every_line_that_its_citation_names(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page(EXAMPLE)
        cite = page.locator('#answer a.cite:text("Apache-2.0.txt 86–88")')
        cite.focus()
        lines = page.locator(".peek:popover-open .lines")
        lines.wait_for()
        assert numbers(lines, "mark") == [86, 87, 88]
        box, last = lines.bounding_box(), lines.locator("mark").last.bounding_box()
        assert box and last and last["y"] + last["height"] <= box["y"] + box["height"], "without scrolling"


def test_the_stored_text_that_a_citation_leads_to_has_these_lines_marked(
    browser: "Browser", dashboard: Dashboard
) -> None:
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page(EXAMPLE)
        page.locator("#proof-1 .proof-links a").last.click()
        page.wait_for_selector(".text-lines mark")
        marked = page.locator(".text-lines p.marked .no").all_text_contents()
        assert marked == ["258", "259", "260", "261"]
        head = page.locator(".source-head").text_content() or ""
        assert "Lines 258–261: supports claim c1." in head
        assert "The bytes of lines 257–267, which were read together, have the hash that was cited." in head
        assert "sed -n '258,261p'" in (page.locator("#check pre").text_content() or "")
