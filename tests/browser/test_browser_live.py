"""A run in a page as it happens: started, followed, stopped and resumed, through the death of the server."""

import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from support import licence_run
from support.browsers import Watched, chromium_with_tabs, offsets, rows, watched
from support.dashboards import Dashboard, Grown, configured, dashboard_of, start
from support.scripted_server import ScriptedServer, Slow
from support.turns import answered_turns
from vera.session import Session, stop_request

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Playwright

pytestmark = pytest.mark.needs("browser")

ALONE = """
delete window.SharedWorker;
window.frames_of = [];
window.EventSource = class extends EventSource {
  set onmessage(handler) {
    super.onmessage = (message) => {
      window.frames_of.push(...JSON.parse(message.data).lines.map((line) => line.offset));
      handler(message);
    };
  }
};
"""
"""A browser without shared workers. Keeps the place of each line that the stream of the page brings."""

SHARED = """
window.frames_of = [];
const { set } = Object.getOwnPropertyDescriptor(MessagePort.prototype, "onmessage");
Object.defineProperty(MessagePort.prototype, "onmessage", { set(handler) {
  set.call(this, (message) => {
    const [kind, what] = message.data;
    if (kind === "frame") window.frames_of.push(...what.lines.map((line) => line.offset));
    handler(message);
  });
} });
"""
"""Keeps the place of each line that the shared stream brings to the page."""

SAID = """
const region = document.getElementById("announcement");
window.said = [region.textContent];
new MutationObserver(() => window.said.push(region.textContent)).observe(
  region, { childList: true, characterData: true, subtree: true });
"""
"""Keeps what a screen reader would read out."""


def fill_in_and_start(page: "Page", server: ScriptedServer) -> None:
    page.get_by_role("link", name="Ask a question").click()
    page.get_by_label("Task").fill(licence_run.QUESTION)
    page.get_by_label("Input folder").fill(licence_run.FOLDER)
    page.get_by_label("Address of the model server").fill(server.base_url)
    page.get_by_label("Model", exact=True).fill(server.model)
    with page.expect_event("domcontentloaded"):  # of the run's own page
        page.get_by_role("button", name="Start").click()


def session_of(page: "Page", base: Path) -> Path:
    """The folder whose page this is."""
    return base / page.url.partition("/s/")[2].partition("#")[0].replace("~2F", "/")


def wait_for_text(page: "Page", field: str, text: str) -> None:
    from playwright.sync_api import expect

    expect(page.locator(f'[data-live="{field}"]')).to_contain_text(text, timeout=60_000)


def test_a_run_is_started_and_watched_to_its_end_without_loading_the_page_again(
    browser: "Browser", dashboard: Dashboard, base: Path
) -> None:
    with (
        licence_run.model(pace=0.1) as server,
        configured(server.base_url),
        watched(browser, dashboard.url, token=dashboard.token) as context,
    ):
        page = context.page("/")
        fill_in_and_start(page, server)
        page.evaluate(SAID)
        page.wait_for_selector("#events .events > li >> nth=10", state="attached")
        wait_for_text(page, "run", "Running")
        wait_for_text(page, "verdict", "Verified")
        wait_for_text(page, "run", "Ended with exit code 0.")
        page.wait_for_selector("#stream >> text=at rest")
        page.wait_for_selector("#claims .claim >> nth=2")
        page.wait_for_selector("#attestation >> text=In the signed file")
        page.wait_for_selector("#status.tone-good")
        assert page.locator("#stop").count() == 0
        assert page.locator("#claims .v-supported > summary").count() == 3
        assert page.locator("#start button").count() == 0, "the prompt is locked"
        assert not page.locator("#start").is_visible(), "what starts a run is gone"
        log = session_of(page, base) / "trace.jsonl"
        page.wait_for_selector(f"#e{offsets(log)[-1]}", state="attached")
        assert rows(page) == offsets(log)[::-1]
        page.wait_for_function("window.said.at(-1).startsWith('Verified')")
        said = page.evaluate("window.said")
        assert said[-1] == "Verified: 3 of 3 claims supported."
        assert "Working." in said
        assert len(said) < 10, "a polite region speaks of verdicts, not of events"
        assert page.locator("[aria-live]").count() == 1
        assert page.evaluate("performance.getEntriesByType('navigation')[0].type") == "navigate"


@pytest.mark.parametrize("frames", [SHARED, ALONE], ids=["shared", "alone"])
def test_nothing_is_lost_or_doubled_when_the_server_is_killed_and_started_again(
    browser: "Browser", tmp_path: Path, frames: str
) -> None:
    """The log grows all the time, each line in two halves."""
    count, enough = 500, threading.Event()
    token, log = tmp_path / "keys" / "token", Grown(tmp_path / "work" / "growing")
    dashboard = start(tmp_path, token)
    allowed = ("ERR_CONNECTION_REFUSED", "ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_RESET")

    def write() -> None:
        for number in range(count):
            log.append_in_halves()
            if number == count // 5:
                enough.set()

    writer = threading.Thread(target=write)
    try:
        with watched(browser, dashboard.url, token=dashboard.token, allowed=allowed) as context:
            context.context.add_init_script(frames)
            page = context.page("/s/work~2Fgrowing")
            shown_at_first = rows(page)
            page.wait_for_selector("#stream.live")
            writer.start()
            assert enough.wait(60)
            dashboard.kill()
            page.wait_for_selector("#stream.lost")
            assert dashboard.process.stdout is not None
            dashboard.process.stdout.close()
            page.wait_for_timeout(500)
            dashboard = start(tmp_path, token, dashboard.port)
            page.wait_for_selector("#stream.live")
            writer.join(60)
            everything = offsets(log.path)
            assert len(everything) == count + 2
            page.wait_for_selector(f"#e{everything[-1]}", state="attached")
            assert rows(page) == everything[::-1], "each event once, the newest first"
            assert shown_at_first[::-1] + page.evaluate("window.frames_of") == everything, "and sent once"
    finally:
        dashboard.kill()
        assert dashboard.process.stdout is not None
        dashboard.process.stdout.close()


def test_a_run_is_stopped_and_resumed_from_its_page(
    browser: "Browser", dashboard: Dashboard, base: Path
) -> None:
    reply = licence_run.script()
    asked_third = threading.Event()

    def hangs_once(index: int, body: dict[str, object]) -> object:
        if answered_turns(body) == 2 and not asked_third.is_set():
            asked_third.set()
            return Slow(300.0, "too late")
        return reply(index, body)

    with (
        ScriptedServer(hangs_once, model="scripted-model") as server,
        configured(server.base_url),
        watched(browser, dashboard.url, token=dashboard.token) as context,
    ):
        page = context.page("/")
        fill_in_and_start(page, server)
        assert asked_third.wait(60)
        page.get_by_role("button", name="Stop the run").click()
        page.wait_for_selector("#resume", timeout=60_000)
        assert page.locator("#stop").count() == 0
        before = offsets(session_of(page, base) / "trace.jsonl")
        page.get_by_role("button", name="Resume the run").click()
        wait_for_text(page, "verdict", "Verified")
        wait_for_text(page, "run", "Ended with exit code 0.")
        log = session_of(page, base) / "trace.jsonl"
        everything = offsets(log)
        assert everything[: len(before)] == before
        page.wait_for_selector(f"#e{everything[-1]}", state="attached")
        assert rows(page) == everything[::-1]


def test_a_run_that_was_killed_is_told_as_it_is_and_can_be_resumed(
    browser: "Browser", dashboard: Dashboard, base: Path
) -> None:
    import os
    import signal

    from vera.dashboard import run_process

    begun = threading.Event()

    def hangs(index: int, body: dict[str, object]) -> object:
        begun.set()
        return Slow(300.0, "too late")

    with (
        ScriptedServer(hangs) as server,
        configured(server.base_url),
        watched(browser, dashboard.url, token=dashboard.token) as context,
    ):
        page = context.page("/")
        fill_in_and_start(page, server)
        assert begun.wait(60)
        wait_for_text(page, "run", "Running")
        process = run_process.read(session_of(page, base))
        assert process is not None
        os.kill(process.pid, signal.SIGKILL)
        wait_for_text(page, "run", "killed by SIGKILL")
        page.wait_for_selector("#resume")
        assert page.locator('[data-live="verdict"]').text_content() == "Stopped"


@pytest.fixture
def eight(tmp_path: Path) -> Iterator[tuple[Dashboard, list[Grown]]]:
    logs = [Grown(tmp_path / "work" / f"run-{number}") for number in range(8)]
    with dashboard_of(tmp_path, tmp_path / "keys" / "token") as dashboard:
        yield dashboard, logs


def connections(dashboard: Dashboard) -> int:
    """Those that clients hold to the dashboard."""
    import psutil

    found = psutil.Process(dashboard.process.pid).net_connections("tcp")
    return sum(each.status == psutil.CONN_ESTABLISHED for each in found)


def shows_all(page: "Page", log: Grown) -> None:
    """Wait for the newest event; then the page has each once, the newest first."""
    everything = offsets(log.path)
    page.wait_for_selector(f"#e{everything[-1]}", state="attached")
    assert rows(page) == everything[::-1]


def test_eight_pages_that_are_all_seen_are_live_over_one_stream(
    browser: "Browser", eight: tuple[Dashboard, list[Grown]]
) -> None:
    """Browsers have six connections to a server, which eight windows beside each other share."""
    dashboard, logs = eight
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        pages = [context.page(f"/s/work~2Frun-{number}") for number in range(8)]
        for page in pages:
            page.wait_for_selector("#stream.live")
            assert page.evaluate("document.visibilityState") == "visible"
        for _ in range(2):
            for log in logs:
                log.append(3)
            for page, log in zip(pages, logs, strict=True):
                shows_all(page, log)
        assert connections(dashboard) < 6
        second = context.page("/s/work~2Frun-0")
        second.wait_for_selector("#stream.live")
        pages.pop(1).close()
        logs[0].append(2)
        logs[7].append(2)
        for page, log in ((pages[0], logs[0]), (second, logs[0]), (pages[-1], logs[7])):
            shows_all(page, log)


def test_a_removed_session_ends_its_own_page_and_the_others_stay_live(
    browser: "Browser", eight: tuple[Dashboard, list[Grown]]
) -> None:
    dashboard, logs = eight
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        pages = [context.page(f"/s/work~2Frun-{number}") for number in range(2)]
        for page in pages:
            page.wait_for_selector("#stream.live")
        shutil.rmtree(logs[1].path.parent)
        pages.append(context.page("/s/work~2Frun-2"))
        pages[1].wait_for_selector("#stream.lost")
        logs[0].append(2)
        logs[2].append(2)
        shows_all(pages[0], logs[0])
        shows_all(pages[2], logs[2])
        assert pages[0].locator("#stream.live").count() == 1


@pytest.mark.parametrize("alone", [False, True])
def test_seven_tabs_are_live_each_when_it_is_looked_at(
    playwright: "Playwright", eight: tuple[Dashboard, list[Grown]], alone: bool
) -> None:
    """Browsers have six connections to a server: a tab that nobody sees must not hold one."""
    dashboard, logs = eight[0], eight[1][:7]
    with chromium_with_tabs(playwright) as tabs:
        context = Watched(tabs, dashboard.url)
        if alone:
            context.context.add_init_script("delete window.SharedWorker")
        context.log_in(dashboard.token)
        pages = [context.page(f"/s/work~2Frun-{number}") for number in range(7)]
        pages[-1].wait_for_selector("#stream.live")
        states = [page.evaluate("document.visibilityState") for page in pages]
        assert states == ["hidden"] * 6 + ["visible"]
        for log in logs:
            log.append(3)
        for page, log in zip(pages, logs, strict=True):
            page.bring_to_front()
            shows_all(page, log)
            assert page.locator("#stream.live").count() == 1
        context.check()


def test_a_session_that_another_process_writes_is_followed_too(
    browser: "Browser", dashboard: Dashboard, base: Path
) -> None:
    from vera import events

    session = Session.create(base / "work" / "elsewhere", {}, lambda: 1_795_000_000.0)
    session.emit(events.Task(task="How long is the Elbe?"), lane="")
    try:
        with watched(browser, dashboard.url, token=dashboard.token) as context:
            page = context.page("/s/work~2Felsewhere")
            wait_for_text(page, "run", "started elsewhere")
            session.emit(events.ContainerEvent(event="restored", detail="a line of another process"))
            page.wait_for_selector("#events >> text=a line of another process")
            page.get_by_role("button", name="Stop the run").click()
            page.get_by_role("button", name="Stop at once").wait_for()
            assert stop_request.asked(session.root) == "finish"
    finally:
        session.close()


def test_a_part_in_which_there_was_nothing_is_shown_when_a_run_at_rest_goes_on(
    browser: "Browser", dashboard: Dashboard, base: Path
) -> None:
    from playwright.sync_api import expect

    from vera import events

    root = base / "work" / "goes-on"
    session = Session.create(root, {}, lambda: 1_795_000_000.0)
    session.emit(events.Task(task="How long is the Elbe?"), lane="")
    session.emit(events.Status(step=1, status="UNRESOLVED"))
    session.close()
    with watched(browser, dashboard.url, token=dashboard.token) as context:
        page = context.page("/s/work~2Fgoes-on")
        page.wait_for_selector("#stream.live")
        expect(page.locator("#gates")).to_be_hidden()
        expect(page.get_by_text("Nothing in")).to_be_visible()
        session = Session.resume(root)
        try:
            session.emit(events.PolicyReminder(step=1, effect="nudge", reason="Say what is open."))
            expect(page.locator("#gates")).to_contain_text("Say what is open.")
            expect(page.locator("#gates")).to_be_visible()
            expect(page.get_by_text("Nothing in")).to_be_hidden()
        finally:
            session.close()
