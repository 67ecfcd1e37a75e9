"""The pictures of the documentation, taken of the example run: `python -m support.screenshots FOLDER`.

From the repository, with `tests` on the path:

    PYTHONPATH=tests .venv/bin/python -m support.screenshots docs/images

The run is the same each time, but for its times and ids.
"""

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from support import licence_run, pdf_run, rendered_run, rtl_run, unfinished
from support.browsers import chromium, watched
from support.cli import vera
from support.dashboards import Dashboard, Grown, dashboard_of
from support.documents import make_pdf
from support.sampled_run_examples import four_candidates
from support.small_png import small_png
from support.standings import session_of, usual
from vera.attestation.keys import load_or_create
from vera.session.tags import write_tags

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

WIDTH = 1280
SIZES = {
    "dashboard.png": (WIDTH, 1240),
    "dashboard-dark.png": (WIDTH, 1240),
    "preview.png": (WIDTH, 640),
    "model-failed.png": (WIDTH, 420),
    "evidence.png": (WIDTH, 860),
    "compare.png": (WIDTH, 1060),
    "report.png": (WIDTH, 1020),
    "refuted.png": (WIDTH, 720),
    "candidates.png": (WIDTH, 900),
    "step.png": (WIDTH, 1000),
    "steps.png": (WIDTH, 560),
    "sessions.png": (WIDTH, 760),
    "sessions-none.png": (WIDTH, 300),
    "sessions-one.png": (WIDTH, 420),
    "sessions-200.png": (WIDTH, 760),
    "over-time.png": (WIDTH, 760),
    "evaluation.png": (WIDTH, 940),
    "two-runs.png": (WIDTH, 1500),
    "pdf-page.png": (WIDTH, 1100),
    "rendered-place.png": (WIDTH, 860),
    "ledger.png": (WIDTH, 620),
    "follow-up.png": (WIDTH, 900),
    "review.png": (WIDTH, 760),
    "form-errors.png": (WIDTH, 840),
    "phone.png": (360, 740),
    "print.png": (WIDTH, 1000),
    "zoom.png": (WIDTH, 900),
    "arabic-chinese.png": (WIDTH, 620),
}
"""Each picture of NAMES with its pixels."""

MANY = "sessions-10000.png"
"""Taken by `--many` alone: it takes a minute to make the sessions."""

EXAMPLE = "/s/work~2Fexample"
EXAMPLES = Path(__file__).parents[2] / "examples"
THESIS = "GPL version 3 requires the written offer to be valid for at least five years"
QUESTION = "For how long must the written offer be valid when spare parts are offered?"
MORE_QUESTIONS = "".join(
    json.dumps({"id": name, "question": asked, "answer": answer, "input_dir": "licences"}) + "\n"
    for name, asked, answer in (
        (
            "gfdl-1.3-back-cover",
            "How many words may a Back-Cover Text have at most under the GNU Free Documentation License?",
            ["25 words"],
        ),
        ("mpl-2.0-fee", "Which fee does the Mozilla Public License 2.0 ask for?", None),
        (
            "gpl-3-cure",
            "Within how many days must a first violation of the GPL version 3 be cured?",
            ["30 days"],
        ),
    )
)
"""The built-in model misses the last one."""

REVIEWED = "/s/work~2Fwritten-offer"
PACE = 1.0
"""Seconds that the scripted model takes for a turn, so that the timeline looks like one."""

NAMES = tuple(SIZES)
MAX_BYTES = 200_000


def take(folder: Path, browser: "Browser", pace: float = PACE, *, whole: bool = True) -> None:
    """Make the run, open its pages, and write one PNG for each of NAMES; without `whole` what takes longest,
    the evaluation and the batch, is a part of what the pictures of the documentation show."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="vera-screenshots-") as place:
        base = Path(place) / "base"
        base.mkdir()
        licence_run.make(base, pace=pace)
        done = vera("report", "work/example", "-o", "report.html", cwd=base)
        assert done.returncode == 0, done.stderr
        more_sessions(base, browser)
        follow = ("ask", "--session", "work/example", QUESTION, "--model-base-url", "builtin")
        done = vera(*follow, "--work-dir", "work/follow-up", cwd=base)
        assert done.returncode == 0, done.stderr
        thesis = ("verify", THESIS, "--work-dir", "work/thesis", "--input-dir", "licences")
        vera(*thesis, "--model-base-url", "builtin", cwd=base)
        once = ("-c", "verification.rounds=1")
        licence_run.make(base, "work/one-round", 0.0, *once, exit_code=4)
        questions = base / "licences.jsonl"
        usual_questions = (EXAMPLES / "licences.questions.jsonl").read_text() if whole else ""
        questions.write_text(usual_questions + MORE_QUESTIONS)
        ask = ("eval", questions, "--work-dir", "work/evaluation")
        vera(*ask, "-c", "model.base_url=builtin", cwd=base)
        with dashboard_of(base, Path(place) / "token") as dashboard:
            _take_all(dashboard, browser, base, folder)
        _take_batch(
            Path(place) / "batch",
            browser,
            200 if whole else 20,
            (folder / "sessions-200.png", ""),
            (folder / "over-time.png", "/over-time"),
        )
        one = Path(place) / "one"
        shutil.copytree(base / "work" / "example", one / "work" / "example")
        with dashboard_of(one, Path(place) / "token") as dashboard:
            _take_list(dashboard, browser, folder / "sessions-one.png", 1)
        (Path(place) / "none").mkdir()
        with dashboard_of(Path(place) / "none", Path(place) / "token") as dashboard:
            _take_list(dashboard, browser, folder / "sessions-none.png", 0)


def take_many(folder: Path, browser: "Browser") -> None:
    """Write the picture of MANY."""
    with tempfile.TemporaryDirectory(prefix="vera-screenshots-") as place:
        _take_batch(Path(place) / "batch", browser, 10_000, (folder / MANY, ""))


def _take_batch(base: Path, browser: "Browser", count: int, *pictures: tuple[Path, str]) -> None:
    """Pictures of a dashboard with so many sessions, each with its address."""
    sessions_of_a_batch(base, count)
    with dashboard_of(base, base.parent / "token") as dashboard:
        for picture, address in pictures:
            _take_list(dashboard, browser, picture, count, address)


def sessions_of_a_batch(base: Path, count: int, days: int = 12) -> None:
    """Sessions of each standing, of the last `days`; on some days there were more."""
    signer, now = load_or_create(), time.time()
    for number in range(count):
        root = base / "runs" / (f"{number % 7:x}" * 56 + f"{number:08x}") / "1"
        back = days * (1 - (number / count) ** 0.8)
        session_of(root, signer, usual(number), number=number, at=now - 60 - 86_400 * back)


def more_sessions(base: Path, browser: "Browser") -> None:
    """Sessions beside the example: copies of it, a batch, runs that stopped or found nothing."""
    for name in ("patents", "written-offer"):
        shutil.copytree(base / "work" / "example", base / "work" / name)
    review(base)
    pdf = make_pdf(list(pdf_run.TITLE_PAGE), list(pdf_run.SECOND_PAGE))
    pdf_run.make(base / "work" / "pump", pdf, load_or_create())
    rtl_run.make(base / "work" / "arabic-chinese", load_or_create())
    with closing(browser.new_page()) as page:
        looked = rendered_run.picture_of(page)
    rendered_run.make(base / "work" / "terms-of-sale", load_or_create(), looked)
    unfinished.failed(base / "work" / "failed")
    four_candidates(base / "work" / "candidates")
    tasks = ("How high is the dam?", "Who built the bridge?", "كم يبلغ ارتفاع السد؟")
    for number, task in enumerate(tasks):
        Grown(base / "work" / f"dam-{number}", task=task).log.close()
    sessions_of_a_batch(base, 12, days=1)


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


def _take_list(
    dashboard: Dashboard, browser: "Browser", picture: Path, count: int, address: str = ""
) -> None:
    width, height = SIZES.get(picture.name, (WIDTH, 760))
    with _pages(dashboard, browser, viewport={"width": width, "height": height}) as (page, keep):
        page.goto(dashboard.url)
        while count and "not read yet" in page.content():
            page.wait_for_timeout(500)
            page.reload()
        if address:
            page.goto(dashboard.url + address)
        keep(picture.name, picture.parent)


@contextmanager
def _pages(
    dashboard: Dashboard, browser: "Browser", **options: Any
) -> "Iterator[tuple[Page, Callable[..., None]]]":
    """A page, and what writes its picture under a name of SIZES."""
    options = {"viewport": {"width": WIDTH, "height": 760}, "reduced_motion": "reduce", **options}
    with watched(
        browser, dashboard.url, token=dashboard.token, allowed=("status of 400",), **options
    ) as context:
        page, blank = context.page(), context.page()

        def keep(name: str, folder: Path, **given: Any) -> None:
            (folder / name).write_bytes(small_png(blank, page.screenshot(**given)))

        yield page, keep


def _take_all(dashboard: Dashboard, browser: "Browser", base: Path, folder: Path) -> None:
    with _pages(dashboard, browser) as (page, keep):

        def show(name: str, address: str) -> None:
            width, height = SIZES[name]
            page.set_viewport_size({"width": width, "height": height})
            if address:
                page.goto(address if "://" in address else dashboard.url + address)

        def plain(name: str, address: str) -> None:
            show(name, address)
            keep(name, folder)

        _take_run(page, show, lambda name: keep(name, folder))
        plain("compare.png", f"{EXAMPLE}/compare?a=1&b=2")
        plain("refuted.png", "/s/work~2Fthesis")
        show("candidates.png", "/s/work~2Fcandidates/steps/1#candidates-title")
        keep("candidates.png", folder)
        plain("step.png", f"{EXAMPLE}/steps/4")
        plain("steps.png", f"{EXAMPLE}/steps")
        plain("two-runs.png", "/compare?s=work~2Fone-round&s=work~2Fexample")
        plain("arabic-chinese.png", "/s/work~2Farabic-chinese")
        plain("phone.png", EXAMPLE)
        show("evaluation.png", "/evaluations")
        page.locator("main a").first.click()
        keep("evaluation.png", folder)
        show("pdf-page.png", "/s/work~2Fpump")
        page.evaluate("document.getElementById('answer').scrollIntoView()")
        page.evaluate("document.querySelector('.page-picture img').decode()")
        keep("pdf-page.png", folder)
        show("rendered-place.png", "/s/work~2Fterms-of-sale")
        page.evaluate("document.getElementById('answer').scrollIntoView()")
        page.evaluate("document.querySelector('.page-picture img').decode()")
        keep("rendered-place.png", folder)
        plain("model-failed.png", "/s/work~2Ffailed")
        plain("ledger.png", f"{EXAMPLE}/log/evidence")
        show("follow-up.png", "/s/work~2Ffollow-up")
        page.locator("#parent summary").click()
        keep("follow-up.png", folder)
        show("review.png", f"{REVIEWED}#claim-2")
        page.locator("#review-2 > summary").click()
        page.evaluate("document.getElementById('claims').scrollIntoView()")
        keep("review.png", folder)
        show("form-errors.png", "/start")
        _fill_in_wrongly(page)
        keep("form-errors.png", folder)
        show("sessions.png", "/")
        page.wait_for_timeout(1500)
        plain("sessions.png", "/?sort=score")
        show("report.png", (base / "report.html").as_uri())
        page.evaluate("document.getElementById('answer').scrollIntoView()")
        keep("report.png", folder)
    with _pages(dashboard, browser, viewport={"width": WIDTH // 2, "height": 450}, device_scale_factor=2) as (
        page,
        keep,
    ):
        page.goto(dashboard.url + EXAMPLE)
        keep("zoom.png", folder)


def _take_run(page: "Page", show: Callable[[str, str], None], keep: Callable[[str], None]) -> None:
    """The page of the example: light, dark, printed; and the text behind a claim."""
    show("dashboard.png", EXAMPLE)
    page.wait_for_selector("#stream.live")
    keep("dashboard.png")
    page.emulate_media(color_scheme="dark")
    keep("dashboard-dark.png")
    show("print.png", "")
    page.emulate_media(color_scheme="light", media="print")
    keep("print.png")
    page.emulate_media(media="screen")
    show("evidence.png", "")
    page.locator("#summary-1").click()
    page.locator("#claim-1 .card-head a").first.click()
    page.wait_for_selector("mark")
    keep("evidence.png")
    show("preview.png", EXAMPLE)
    page.evaluate("document.getElementById('answer').scrollIntoView()")
    page.locator('#answer a.cite[href="#proof-2"]').first.hover()
    page.wait_for_selector(".peek:popover-open")
    keep("preview.png")


def _fill_in_wrongly(page: "Page") -> None:
    page.get_by_role("radio", name="Thesis").check()
    page.get_by_label("Task").fill("The written offer of GPL-3 is valid for at least three years.")
    page.get_by_label("Input folder").fill("../other/licences")
    page.get_by_label("Address of the model server").fill("localhost")
    page.get_by_text("Budgets, network and candidates").click()
    page.get_by_label("tokens").fill("many")
    page.get_by_role("button", name="Start").click()
    page.get_by_role("alert").wait_for()
    page.evaluate("scrollTo(0, 0)")


if __name__ == "__main__":
    with chromium() as opened:
        (take_many if "--many" in sys.argv else take)(Path(sys.argv[1]), opened)
