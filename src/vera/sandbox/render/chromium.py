"""Chromium: where it is, and how it is started."""

import shutil
from collections.abc import Mapping
from pathlib import Path

import msgspec

from vera.sandbox.environment import PROXY_PORT

IN_IMAGE = "/usr/lib/chromium/chromium-headless-shell"
"""Where the image of `vera build --browser` has it."""

LOG = "/tmp/browser.log"

# The programs themselves: the scripts of /usr/bin before them read folders that a box does not have.
INSTALLED = (
    "/usr/lib/chromium/chromium-headless-shell",
    "/usr/lib/chromium/chromium",
    "/usr/lib64/chromium-browser/headless_shell",
    "/usr/lib64/chromium-browser/chromium-browser",
)
# Outside /usr, so the folder itself is shown to the box: (folder, what lies in it).
ELSEWHERE = (
    (Path("/opt/google/chrome"), "chrome"),
    (Path("/opt/chromium"), "chrome"),
)
# Below Playwright's folder of browsers, newest last when sorted by number.
PLAYWRIGHT = (
    ("chromium_headless_shell-", "chrome-linux/headless_shell"),
    ("chromium_headless_shell-", "chrome-headless-shell-linux64/chrome-headless-shell"),
    ("chromium-", "chrome-linux/chrome"),
    ("chromium-", "chrome-linux64/chrome"),
)

# What is not the page: a browser's questions to its maker, and the steps that need somebody to look on.
NOT_NEEDED = (
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "MediaRouter",
    "DialMediaRouteProvider",
    "Translate",
    "AutofillServerCommunication",
    "CertificateTransparencyComponentUpdater",
    # The page that was asked for, and not its neighbour at https.
    "HttpsUpgrades",
)


class Chromium(msgspec.Struct, frozen=True):
    """A browser on this machine: `program` as the box sees it, `folder` the one that it needs to be shown as
    /input (None when it lies in /usr, which every bubblewrap box sees)."""

    program: str
    folder: Path | None = None


def installed(home: Path, environment: Mapping[str, str]) -> Chromium | None:
    """The Chromium of this machine that a bubblewrap box can run: the system's, else the newest of
    Playwright's. Snaps and flatpaks run in no box but their own."""
    for program in INSTALLED:
        if _runs(Path(program)):
            return Chromium(program)
    for folder, program in ELSEWHERE:
        if _runs(folder / program):
            return Chromium(f"/input/{program}", folder)
    told = environment.get("PLAYWRIGHT_BROWSERS_PATH", "")
    return _of_playwright(Path(told) if told.startswith("/") else home / ".cache" / "ms-playwright")


def command(program: str) -> tuple[str, ...]:
    """The argv of a browser that takes orders over its pipes and reaches nothing but the box's proxy."""
    return (
        program,
        "--headless",
        "--remote-debugging-pipe",
        # The box is the sandbox: no user namespace can be made in it for Chromium's own.
        "--no-sandbox",
        "--disable-setuid-sandbox",
        "--user-data-dir=/tmp/profile",
        f"--proxy-server=http://127.0.0.1:{PROXY_PORT}",
        # Else what a page asks of this machine would go by the proxy, to the box's own loopback.
        "--proxy-bypass-list=<-loopback>",
        # /dev/shm is small in a box.
        "--disable-dev-shm-usage",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--component-updater=url-source=http://127.0.0.1:9/",
        "--disable-component-extensions-with-background-pages",
        "--disable-client-side-phishing-detection",
        "--disable-default-apps",
        "--disable-domain-reliability",
        "--disable-extensions",
        "--disable-sync",
        "--disable-breakpad",
        "--disable-crash-reporter",
        "--disable-search-engine-choice-screen",
        f"--disable-features={','.join(NOT_NEEDED)}",
        "--no-first-run",
        "--no-default-browser-check",
        "--no-pings",
        "--metrics-recording-only",
        "--mute-audio",
        "--lang=en-US",
        "about:blank",
    )


def _of_playwright(browsers: Path) -> Chromium | None:
    for prefix, inside in PLAYWRIGHT:
        found = [folder for folder in browsers.glob(f"{prefix}*") if _runs(folder / inside)]
        if found:
            newest = max(found, key=lambda folder: (len(folder.name), folder.name))
            return Chromium(f"/input/{inside}", newest)
    return None


def _runs(program: Path) -> bool:
    return shutil.which(str(program)) is not None
