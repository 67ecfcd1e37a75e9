"""Debian's Chromium through Playwright, and pages that must not complain.

Playwright's synchronous interface holds an event loop while a browser is open, so that a test that has one
cannot call `asyncio.run`. It is imported where it is used: a machine without it can collect the tests.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Page, Playwright, Request

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
SHELL = "chromium-headless-shell"
"""The same engine without the browser around it: half the processor time. It shows no tabs."""
ARGUMENTS = (
    "--no-sandbox",  # a container's root has no other choice; what it opens here is ours
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE_MS = 30_000
WCAG = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")

LISTEN = """
window.violations = [];
document.addEventListener("securitypolicyviolation", (event) =>
  window.violations.push(`${event.effectiveDirective} ${event.blockedURI} ${event.sample}`));
"""


def program(*preferred: str) -> str:
    """The browser of this machine, the first of these names that it has."""
    found = next(filter(None, map(shutil.which, (*preferred, *PROGRAMS))), None)
    assert found is not None, "no Chromium"
    return found


@contextmanager
def chromium() -> "Iterator[Browser]":
    """A browser without a window. All of its pages believe that they are seen."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright, launched(playwright) as browser:
        yield browser


@contextmanager
def launched(playwright: "Playwright") -> "Iterator[Browser]":
    """The same, where there is a Playwright already."""
    browser = playwright.chromium.launch(
        executable_path=program(SHELL), headless=True, args=list(ARGUMENTS), timeout=PATIENCE_MS
    )
    try:
        yield browser
    finally:
        browser.close()


@contextmanager
def chromium_with_tabs(playwright: "Playwright") -> "Iterator[BrowserContext]":
    """A browser as a person has it: only the tab in front is visible, all others are hidden."""
    with tempfile.TemporaryDirectory(prefix="vera-chromium-", ignore_cleanup_errors=True) as profile:
        arguments = [
            "--headless",
            "--remote-debugging-port=0",
            f"--user-data-dir={profile}",
            *ARGUMENTS,
            "about:blank",
        ]
        process = subprocess.Popen([program(), *arguments], stderr=subprocess.PIPE, text=True)
        assert process.stderr is not None
        try:
            found = next(filter(None, (re.search(r"ws://\S+", line) for line in process.stderr)), None)
            assert found is not None, "Chromium ended before it listened"
            yield playwright.chromium.connect_over_cdp(found[0], no_defaults=True).contexts[0]
        finally:
            process.kill()
            process.wait()
            process.stderr.close()


class Watched:
    """A context whose pages may load from `origin` alone, and in which nothing may go wrong.

    `complaints` has what did: errors and warnings in the console, exceptions, dialogs, violations of the
    Content-Security-Policy, requests to anywhere else. `allowed` are words of complaints that are meant.
    """

    def __init__(self, context: "BrowserContext", origin: str, allowed: tuple[str, ...] = ()) -> None:
        self.context, self.origin, self.allowed = context, origin, allowed
        self.complaints: list[str] = []
        self.requests: list[str] = []
        context.set_default_timeout(PATIENCE_MS)
        context.add_init_script(LISTEN)
        context.on("console", self._console)
        context.on("weberror", lambda error: self._complain(f"exception: {error.error}"))
        context.on("dialog", self._dialog)
        context.on("request", self._request)

    def page(self, path: str = "") -> "Page":
        """A new page; with a path, one that has loaded it."""
        page = self.context.new_page()
        if path:
            page.goto(self.origin + path)
        return page

    def log_in(self, token: str) -> None:
        """Open the address that the dashboard printed, as a person does."""
        page = self.page(f"/?token={token}")
        assert "token" not in page.url
        page.close()

    def check(self) -> None:
        """Fails when anything went wrong."""
        for page in self.context.pages:
            if page.url.startswith("http"):
                for violation in page.evaluate("window.violations"):
                    self._complain(f"violation: {violation}")
        assert not self.complaints, "\n".join(self.complaints)

    def _console(self, message: "ConsoleMessage") -> None:
        if message.type in ("error", "warning"):
            self._complain(f"{message.type}: {message.text} ({message.location.get('url', '')})")

    def _dialog(self, dialog: Any) -> None:
        self._complain(f"dialog: {dialog.message}")
        dialog.dismiss()

    def _request(self, request: "Request") -> None:
        self.requests.append(request.url)
        if not request.url.startswith((f"{self.origin}/", "data:", "file:", "chrome:")):
            self._complain(f"request to {request.url}")

    def _complain(self, complaint: str) -> None:
        if not any(words in complaint for words in self.allowed):
            self.complaints.append(complaint)


@contextmanager
def watched(
    browser: "Browser", origin: str, *, token: str = "", allowed: tuple[str, ...] = (), **options: Any
) -> Iterator[Watched]:
    """A fresh context that is watched, logged in where there is a token; it is checked at the end."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    try:
        found = Watched(context, origin, allowed)
        if token:
            found.log_in(token)
        yield found
        found.check()
    finally:
        context.close()


def violations(page: "Page") -> list[str]:
    """What axe finds on the page, light and dark: rule and place. The page's context has to be one with
    `bypass_csp`. Of the dark page only the contrast is looked at: all else is the same."""
    light = _axe(page, {"type": "tag", "values": list(WCAG)})
    page.emulate_media(color_scheme="dark")
    dark = _axe(page, {"type": "rule", "values": ["color-contrast"]})
    page.emulate_media(color_scheme="light")
    return [*light, *(f"dark {each}" for each in dark)]


def _axe(page: "Page", rules: dict[str, Any]) -> list[str]:
    from axe_playwright_python.sync_playwright import Axe  # type: ignore[import-untyped] # it has no types

    # Of what is right one place a rule is enough: a page has thousands.
    found = Axe().run(page, options={"runOnly": rules, "resultTypes": ["violations"]}).response
    least = 15 if rules["type"] == "tag" else 0
    assert len(found["passes"]) > least, "axe looked at a page"
    return [
        f"{each['id']}: {node['target']} {node['failureSummary']}"
        for each in found["violations"]
        for node in each["nodes"]
    ]


def rows(page: "Page") -> list[int]:
    """The places in the log of the events that the page shows, from the top."""
    found: list[int] = page.eval_on_selector_all(
        "#events .events > li", "rows => rows.map(row => Number(row.id.slice(1)))"
    )
    return found


def offsets(log: Path) -> list[int]:
    """Where the records of a log begin."""
    made, place = [], 0
    for line in log.read_bytes().splitlines(keepends=True):
        made.append(place)
        place += len(line)
    return made
