"""The pictures of the documentation, taken of the example run: `python -m support.screenshots FOLDER`.

From the repository, with `tests` on the path:

    PYTHONPATH=tests .venv/bin/python -m support.screenshots docs/images

The run is the same each time, but for its times and ids.
"""

import shutil
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support import licence_run
from support.browsers import chromium, watched
from support.cli import vera
from support.dashboards import Dashboard, Grown, dashboard_of
from vera import events
from vera.session.tags import write_tags

if TYPE_CHECKING:
    from playwright.sync_api import ViewportSize

WIDTH = 1280
HEIGHTS = {"dashboard": 1240, "evidence": 860, "compare": 1060, "report": 1020, "step": 1000, "sessions": 760}
HEIGHTS |= {"follow-up": 900, "review": 760}
EXAMPLE = "/s/work~2Fexample"
QUESTION = "For how long must the written offer be valid when spare parts are offered?"
REVIEWED = "/s/work~2Fwritten-offer"
PACE = 1.0
"""Seconds that the scripted model takes for a turn, so that the timeline looks like one."""

NAMES = (
    "dashboard.png",
    "dashboard-dark.png",
    "evidence.png",
    "compare.png",
    "report.png",
    "step.png",
    "sessions.png",
    "follow-up.png",
    "review.png",
)
MAX_BYTES = 300_000


def take(folder: Path, pace: float = PACE) -> None:
    """Make the run, open its pages, and write one PNG for each of NAMES."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="vera-screenshots-") as place:
        base = Path(place) / "base"
        base.mkdir()
        licence_run.make(base, pace=pace)
        done = vera("report", "work/example", "-o", "report.html", cwd=base)
        assert done.returncode == 0, done.stderr
        more_sessions(base)
        follow = ("ask", "--session", "work/example", QUESTION, "--model-base-url", "builtin")
        done = vera(*follow, "--work-dir", "work/follow-up", cwd=base)
        assert done.returncode == 0, done.stderr
        with dashboard_of(base, Path(place) / "token") as dashboard:
            _take_all(dashboard, base / "report.html", folder)


def more_sessions(base: Path) -> None:
    """Sessions beside the example: copies of it, a batch, runs that stopped or found nothing."""
    for name in ("patents", "written-offer"):
        shutil.copytree(base / "work" / "example", base / "work" / name)
    review(base)
    tasks = ("How high is the dam?", "Who built the bridge?", "كم يبلغ ارتفاع السد؟")
    for number, task in enumerate(tasks):
        Grown(base / "work" / f"dam-{number}", task=task).log.close()
    for number in range(4):
        log = Grown(base / "runs" / (f"{number}" * 64) / "1", task=f"How long is river number {number}?").log
        log.append(events.RunEnd(status="UNRESOLVED", reason="done", exit_code=3, steps=2, seconds=1.0), "")
        log.close()


def review(base: Path) -> None:
    """Two people review a claim of a session, of whom one is unknown here; tags of two sessions."""
    said = (
        (["--claim", "2", "--agree", "--note", "Section 3 says so, word for word."], {}),
        (
            ["--claim", "2", "--unsure", "--note", "It should say: the licenses for that Work."],
            {"XDG_DATA_HOME": str(base.parent / "colleague")},
        ),
    )
    for arguments, environment in said:
        done = vera("review", "work/written-offer", *arguments, cwd=base, **environment)
        assert done.returncode == 0, done.stderr
    write_tags(base / "work" / "written-offer", ("licences", "for the contract"))
    write_tags(base / "work" / "patents", ("licences",))


def _take_all(dashboard: Dashboard, report: Path, folder: Path) -> None:
    def size(name: str) -> "ViewportSize":
        return {"width": WIDTH, "height": HEIGHTS[name]}

    options: dict[str, Any] = {"viewport": size("dashboard"), "reduced_motion": "reduce"}
    with chromium() as browser, watched(browser, dashboard.url, token=dashboard.token, **options) as context:
        page = context.page(EXAMPLE)
        page.wait_for_selector("#stream.live")
        page.screenshot(path=folder / "dashboard.png")
        page.emulate_media(color_scheme="dark")
        page.screenshot(path=folder / "dashboard-dark.png")
        page.emulate_media(color_scheme="light")
        page.set_viewport_size(size("evidence"))
        page.locator("#summary-1").click()
        page.locator("#claim-1 .card-head a", has_text="ev_0002:257-267").click()
        page.wait_for_selector("mark")
        page.screenshot(path=folder / "evidence.png")
        page.set_viewport_size(size("compare"))
        page.goto(f"{dashboard.url}{EXAMPLE}/compare?a=1&b=2")
        page.screenshot(path=folder / "compare.png")
        page.set_viewport_size(size("step"))
        page.goto(f"{dashboard.url}{EXAMPLE}/steps/4")
        page.screenshot(path=folder / "step.png")
        page.set_viewport_size(size("sessions"))
        page.goto(dashboard.url)
        page.wait_for_timeout(1500)
        page.goto(f"{dashboard.url}/?sort=score")
        page.screenshot(path=folder / "sessions.png")
        page.set_viewport_size(size("follow-up"))
        page.goto(f"{dashboard.url}/s/work~2Ffollow-up")
        page.locator("#parent summary").click()
        page.screenshot(path=folder / "follow-up.png")
        page.set_viewport_size(size("review"))
        page.goto(f"{dashboard.url}{REVIEWED}#claim-2")
        page.locator("#review-2 > summary").click()
        page.evaluate("document.getElementById('claims').scrollIntoView()")
        page.screenshot(path=folder / "review.png")
        page.set_viewport_size(size("report"))
        page.goto(report.as_uri())
        page.evaluate("document.getElementById('answer').scrollIntoView()")
        page.screenshot(path=folder / "report.png")


if __name__ == "__main__":
    take(Path(sys.argv[1]))
