"""What is on the first screen of a run: its answer, and the first line that decides it, whatever its kind."""

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import pdf_run, unfinished
from support.browsers import violations, watched
from support.cast import final, turn
from support.cli import vera
from support.dashboards import Dashboard, dashboard_of
from support.documents import make_pdf
from support.executing import LASTS, execute
from support.standings import DECIDED, WITHHELD, session_of
from vera.attestation.keys import load_or_create
from vera.dashboard import audit_log
from vera.report.standing import VERDICTS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Locator, Page

pytestmark = pytest.mark.needs("browser")

LINE = 20
"""The height of a line of text, in pixels."""

REFUTED = "GPL version 3 requires the written offer to be valid for at least five years"
OFFER = "For how long must a written offer for source code be valid under GPL version 3?"
ANSWERED = {
    "research": "example",
    "thesis": "thesis",
    "execution": "execute",
    "report": "report",
    "follow-up": "follow-up",
    "PDF": "pump",
}
UNFINISHED = {
    "failed": ("Model failed", unfinished.ERROR),
    "running": ("Working", "read GPL-3.txt"),
}
"""Kind of run without an answer → the words of its headline, and what it says of why, or of what it does."""

KINDS = ("research", "thesis", "execution", "report", *UNFINISHED)
"""Those that are looked at for accessibility on a phone, too."""

ENDED = (*DECIDED, *WITHHELD)
"""Standings of a run with an answer."""

SCREENS = ((1280, 720), (360, 740))


@pytest.fixture(scope="session")
def kinds(example: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A base folder with a run of each of KINDS. It is made before there is a browser, whose event loop would
    not let the execution run in this process."""
    base = shutil.copytree(example, tmp_path_factory.mktemp("kinds") / "base")
    done = vera(
        "verify", REFUTED, "--input-dir", "licences", "--model-base-url", "builtin",
        "--work-dir", "work/thesis", cwd=base,
    )  # fmt: skip
    assert done.returncode == 4, done.stderr
    ran = execute(base, [turn("verify", thesis=LASTS), final(f"{LASTS} [att_0001:c1].")], name="work/execute")
    assert ran.status == "QUOTED"
    done = vera(
        "run", "--form", "report", "--task", "What is offered?", "--input-dir", "licences", "--yes",
        "--sub-question", OFFER, "--sub-question", "How many whales did the author see?",
        "--model-base-url", "builtin", "--work-dir", "work/report", cwd=base,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    asked = ("ask", "--session", "work/example", OFFER, "--work-dir", "work/follow-up")
    done = vera(*asked, "--model-base-url", "builtin", cwd=base)
    assert done.returncode == 0, done.stderr
    origin = json.loads((base / "work" / "example" / "trace.jsonl").read_text().partition("\n")[0])["hash"]
    audit_log.write(base / "work" / "follow-up", "created", again_of=origin)  # the most that a header has
    pdf = make_pdf(list(pdf_run.TITLE_PAGE), list(pdf_run.SECOND_PAGE))
    pdf_run.make(base / "work" / "pump", pdf, load_or_create())
    for number, each in enumerate(ENDED):
        session_of(base / "work" / each, load_or_create(), each, number=number, at=time.time())
    unfinished.failed(base / "work" / "failed")
    running = unfinished.running(base / "work" / "running")
    yield base
    running.log.close()


@pytest.fixture(scope="module")
def dashboard(kinds: Path) -> Iterator[Dashboard]:
    with dashboard_of(kinds, kinds.parent / "token") as dashboard:
        yield dashboard


def bottom(page: "Page", selector: str) -> float:
    """Where the first line of the element ends, in pixels from the top of the page."""
    box = page.locator(selector).first.bounding_box()
    assert box is not None, f"{selector} is not shown"
    return box["y"] + min(box["height"], LINE)


def is_whole(element: "Locator") -> bool:
    """Whether nothing of the text of an element is cut."""
    return bool(element.evaluate("(it) => it.scrollHeight <= it.clientHeight"))


@pytest.mark.parametrize(("width", "height"), SCREENS)
@pytest.mark.parametrize("kind", ANSWERED)
def test_the_answer_and_its_first_cited_line_are_above_the_fold(
    browser: "Browser", dashboard: Dashboard, kind: str, width: int, height: int
) -> None:
    with watched(
        browser, dashboard.url, token=dashboard.token, viewport={"width": width, "height": height}
    ) as context:
        page = context.page(f"/s/work~2F{ANSWERED[kind]}")
        for selector in ("#answer .answer > *", "#answer .proof[open] mark"):
            assert bottom(page, selector) <= height, selector
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


@pytest.mark.parametrize(("width", "height"), SCREENS)
def test_however_a_run_ended_its_answer_and_the_lines_are_above_the_fold(
    browser: "Browser", dashboard: Dashboard, width: int, height: int
) -> None:
    with watched(
        browser, dashboard.url, token=dashboard.token, viewport={"width": width, "height": height}
    ) as context:
        page = context.page("/")
        for standing in ENDED:
            page.goto(f"{dashboard.url}/s/work~2F{standing}")
            assert page.locator("#status .verdict strong").text_content() == VERDICTS[standing].word
            for selector in ("#answer .answer > *", "#answer .proof[open] mark"):
                assert bottom(page, selector) <= height, (standing, selector)
            assert is_whole(page.locator("#status .verdict")), standing
            assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth"), standing


@pytest.mark.parametrize(("width", "height"), SCREENS)
@pytest.mark.parametrize("kind", UNFINISHED)
def test_a_run_without_an_answer_says_where_it_stands_above_the_fold(
    browser: "Browser", dashboard: Dashboard, kind: str, width: int, height: int
) -> None:
    with watched(
        browser, dashboard.url, token=dashboard.token, viewport={"width": width, "height": height}
    ) as context:
        page = context.page(f"/s/work~2F{kind}")
        word, why = UNFINISHED[kind]
        assert page.locator("#status .verdict strong").text_content() == word
        assert why in (page.locator("#status").text_content() or "")
        for selector in ("#status .verdict", f'#status :text("{why}")', "#status h1"):
            assert bottom(page, selector) <= height, selector
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_on_a_phone_the_lines_follow_the_beginning_of_the_answer_in_the_order_of_reading(
    browser: "Browser", dashboard: Dashboard
) -> None:
    with watched(
        browser, dashboard.url, token=dashboard.token, viewport={"width": 360, "height": 740}
    ) as context:
        page = context.page("/s/work~2Fexample")
        parts = page.locator(".proofs > *")
        assert [parts.nth(at).get_attribute("class") for at in range(3)] == [
            "answer",
            "beside",
            "answer rest",
        ]
        assert bottom(page, ".proofs > .answer") < bottom(page, ".beside") < bottom(page, ".proofs > .rest")
        assert page.locator("#whole-task").is_visible()


def test_on_a_phone_the_result_of_the_exam_is_not_cut(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(
        browser, dashboard.url, token=dashboard.token, viewport={"width": 360, "height": 740}
    ) as context:
        verdict = context.page("/s/work~2Fexample").locator("#status .verdict")
        assert "passed 60 of 60, 0 of 36 false accepts" in (verdict.text_content() or "")
        assert is_whole(verdict)


def test_on_a_desktop_the_lines_are_beside_the_whole_answer(browser: "Browser", dashboard: Dashboard) -> None:
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page("/s/work~2Fexample")
        boxes = [
            page.locator(f".proofs > {each}").first.bounding_box() for each in (".answer", ".beside", ".rest")
        ]
        first, beside, rest = (box for box in boxes if box)
        assert beside["x"] > first["x"] + first["width"]
        assert beside["y"] == first["y"]
        assert 0 < rest["y"] - first["y"] - first["height"] < LINE
        assert not page.locator("#whole-task").is_visible()
        page.set_viewport_size({"width": 640, "height": 450})  # at 200 %
        assert is_whole(page.locator("#status h1")) and not page.locator("#whole-task").is_visible()


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_run_is_accessible_on_a_phone(
    browser: "Browser", dashboard: Dashboard, kind: str
) -> None:
    with watched(
        browser,
        dashboard.url,
        token=dashboard.token,
        viewport={"width": 360, "height": 740},
        bypass_csp=True,
    ) as context:
        page = context.page(f"/s/work~2F{ANSWERED.get(kind, kind)}")
        page.locator("details").evaluate_all("every => every.forEach((each) => { each.open = true })")
        assert violations(page) == []
