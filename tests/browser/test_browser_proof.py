"""What is marked beside an answer is what it cites: in the panel, in previews, and in the stored text."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import rtl_run
from support.browsers import violations, watched
from support.dashboards import Dashboard
from support.sampled_run_examples import four_candidates
from vera.attestation.keys import load_or_create

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator

pytestmark = pytest.mark.needs("browser")

EXAMPLE = "/s/work~2Fexample"
CLASHES = """
() => [...document.querySelectorAll(".graph .box")].flatMap((box) => {
  const frame = box.querySelector("rect").getBoundingClientRect();
  const words = [...box.querySelectorAll("text")].map((each) => each.getBoundingClientRect());
  const out = words.some((each) => each.left < frame.left || each.right > frame.right);
  const over = words.some((one, at) => words.slice(at + 1).some((other) =>
    one.width && other.width && one.left < other.right && other.left < one.right));
  return out || over ? [box.textContent] : [];
})
"""
"""The boxes of the graph whose words lie on each other or leave the box."""


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
        whole = page.locator("#claim-1 .card .lines")
        page.locator("#summary-1").click()
        assert numbers(whole, "mark") == [258, 259, 260, 261], "what was read twice has one place"
        assert (page.locator("#claim-1 .card-head").text_content() or "").count("read by") == 1
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
        page.locator(".text-lines p").last.scroll_into_view_if_needed()
        crumb = page.locator("header.site nav a").last
        box = crumb.bounding_box()
        assert box and 0 <= box["y"] < 40, "the way back is always in sight"
        head_box = page.locator(".source-head").bounding_box()
        assert head_box and head_box["y"] >= box["y"] + box["height"], "and nothing lies on it"


def test_four_candidates_are_two_by_two_with_the_words_of_the_judge(
    browser: "Browser", dashboard: Dashboard, base: Path
) -> None:
    four_candidates(base / "work" / "candidates")
    with watched(browser, dashboard.url, token=dashboard.token, bypass_csp=True) as context:
        page = context.page("/s/work~2Fcandidates/steps/1")
        boxes = [each.bounding_box() for each in page.locator(".candidate").all()]
        places = [(box["x"], box["y"]) for box in boxes if box]
        assert len(places) == 4
        assert places[0][1] == places[1][1] < places[2][1] == places[3][1]
        assert places[0][0] == places[2][0] < places[1][0] == places[3][0]
        assert page.locator(".candidate.chosen").get_attribute("aria-label") == "Candidate 2"
        assert "opens the section of the licence" in (page.locator("#reply-1").text_content() or "")
        assert violations(page) == []


@pytest.mark.parametrize("session", ["example", "arabic-chinese"])
def test_no_words_of_the_graph_lie_on_each_other_or_leave_their_box(
    browser: "Browser", dashboard: Dashboard, base: Path, session: str
) -> None:
    if session == "arabic-chinese":
        rtl_run.make(base / "work" / session, load_or_create())
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page(f"/s/work~2F{session}")
        assert page.locator(".graph .box").count() > 3
        assert page.evaluate(CLASHES) == []
        assert "ev_0" not in " ".join(page.locator(".graph .box > text").all_text_contents())


def test_quoted_arabic_begins_at_the_right_and_a_name_keeps_its_direction(
    browser: "Browser", dashboard: Dashboard, base: Path
) -> None:
    if not (base / "work" / "arabic-chinese").exists():
        rtl_run.make(base / "work" / "arabic-chinese", load_or_create())
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page("/s/work~2Farabic-chinese")
        lines = page.locator("#proof-1 .lines")
        row, mark = lines.locator("p:has(mark)").first.bounding_box(), lines.locator("mark").bounding_box()
        assert row and mark and row["x"] + row["width"] - mark["x"] - mark["width"] < 4
        cite = page.locator("#answer a.cite").first
        assert [each.text_content() for each in cite.locator("bdi").all()] == ["السدود.txt", "2"]
