"""What a person does with a run that has ended, by keys alone and without JavaScript: says whether a claim is
right, keeps tags, asks what follows, opens an evaluation, removes a session."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import evaluated
from support.browsers import watched
from support.dashboards import Dashboard
from support.verified import verified
from vera.attestation.keys import load_or_create
from vera.session.tags import read_tags

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.needs("browser")

MOST_TABS = 120


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("keys") / "base"
    for name in ("one", "two"):
        verified(base / "work" / name, load_or_create())
    evaluated.make(base / "work" / "judged")
    return base


def tab_to(page: "Page", selector: str) -> None:
    """Press Tab until what the selector names has the focus."""
    for _ in range(MOST_TABS):
        page.keyboard.press("Tab")
        if page.locator(f":focus:is({selector})").count():
            return
    raise AssertionError(f"Tab never came to {selector}")


def test_by_keys_alone_and_without_javascript(browser: "Browser", dashboard: Dashboard, base: Path) -> None:
    options = {"token": dashboard.token, "java_script_enabled": False, "allowed": ("status of 400",)}
    with watched(browser, dashboard.url, **options) as context:
        page = context.page("/s/work~2Fone#claims")
        tab_to(page, ".claim > summary")
        page.keyboard.press("Enter")
        tab_to(page, ".review-form > summary")
        page.keyboard.press("Enter")
        tab_to(page, "textarea[name=note]")
        page.keyboard.type("The source is old.")
        tab_to(page, "button[value=unsure]")
        page.keyboard.press("Enter")
        page.wait_for_url("**/s/work~2Fone#claim-1")
        assert "The source is old." in (page.text_content(".review") or "")

        tab_to(page, "input[name=tags]")
        page.keyboard.type("rivers, old")
        page.keyboard.press("Enter")
        page.wait_for_url("**/s/work~2Fone#tags")
        assert read_tags(base / "work" / "one") == ("rivers", "old")

        page.goto(f"{dashboard.url}/s/work~2Fone#ask")
        tab_to(page, '#ask a[href$="/ask"]')
        page.keyboard.press("Enter")
        page.wait_for_url("**/s/work~2Fone/ask")
        tab_to(page, "textarea[name=task]")
        page.keyboard.type("And how deep is it?")
        tab_to(page, "input[name=input_dir]")
        page.keyboard.type("../elsewhere")
        tab_to(page, "button#follow")
        page.keyboard.press("Enter")
        page.locator("#error-input_dir").wait_for()
        tab_to(page, '.errors a[href="#field-input_dir"]')
        page.keyboard.press("Enter")
        tab_to(page, "input[name=input_dir]")
        for key in ("Control+A", "Delete", "Enter"):
            page.keyboard.press(key)
        page.wait_for_url("**/s/work~2Fui-run-*")
        assert page.text_content("h1") in ("And how deep is it?", "New session")

        page.goto(f"{dashboard.url}/evaluations")
        tab_to(page, 'main a[href^="/evaluations/"]')
        page.keyboard.press("Enter")
        page.wait_for_url("**/evaluations/work~2Fjudged")

        page.goto(dashboard.url)
        tab_to(page, 'input[name=s][value="work~2Ftwo"]')
        page.keyboard.press("Space")
        tab_to(page, 'button[formaction="/remove"]')
        page.keyboard.press("Enter")
        page.wait_for_url("**/remove?s=work%7E2Ftwo")
        tab_to(page, "button#remove")
        page.keyboard.press("Enter")
        page.wait_for_url(f"{dashboard.url}/")
        assert not (base / "work" / "two").exists() and (base / "work" / "one").exists()
