"""The list of sessions as it changes, over the stream that all pages of a browser share."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support.browsers import watched
from support.dashboards import Dashboard, Grown

if TYPE_CHECKING:
    from playwright.sync_api import Browser

pytestmark = pytest.mark.needs("browser")


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("live-list") / "base"
    base.mkdir()
    return base


def test_the_list_changes_without_loading_the_page_again(
    browser: "Browser", dashboard: Dashboard, base: Path
) -> None:
    from playwright.sync_api import expect

    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page("/")
        page.evaluate("window.is_same_page = true")
        page.wait_for_selector("#stream >> text=live")
        grown = Grown(base / "work" / "one", task="How long is the Elbe?")
        page.wait_for_selector(".sessions >> text=How long is the Elbe?")
        row = page.locator(".sessions tbody tr", has_text="Elbe")
        expect(row.locator(".state")).to_have_text("Working")
        page.locator("input[name=s]").check()
        page.evaluate("document.activeElement.blur()")
        grown.end()
        expect(row.locator(".state")).to_have_text("Altered", timeout=30_000)  # it has no attestation
        assert page.locator("input[name=s]").is_checked(), "what was ticked stays so"
        (base / "work" / "one" / "tags.json").write_text('{"tags": ["rivers"]}')
        page.wait_for_selector(".sessions .tag >> text=rivers")
        assert page.evaluate("window.is_same_page")


def test_what_a_person_types_in_the_list_is_not_taken_away(
    browser: "Browser", dashboard: Dashboard, base: Path
) -> None:
    Grown(base / "work" / "two", task="How deep is it?").end()
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page("/")
        page.wait_for_selector("#stream >> text=live")
        search = page.get_by_role("searchbox")
        search.fill("wide")
        Grown(base / "work" / "three", task="How wide is it?").end()
        page.wait_for_timeout(4000)  # longer than a look and a refresh take: nothing may happen
        assert search.evaluate("each => each === document.activeElement") and search.input_value() == "wide"
        search.blur()
        page.wait_for_selector(".sessions >> text=How wide is it?")
        assert page.get_by_role("searchbox").input_value() == "wide"


def test_the_list_is_whole_without_javascript(browser: "Browser", dashboard: Dashboard, base: Path) -> None:
    Grown(base / "work" / "four", task="How old is it?").end()
    with watched(browser, dashboard.url, token=dashboard.token, java_script_enabled=False) as context:
        page = context.page("/")
        assert page.locator(".sessions >> text=How old is it?").count() == 1
        assert page.locator("#stream").is_hidden()
