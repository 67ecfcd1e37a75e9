"""Defects that pages had, looked for in sessions that the program itself made."""

import json
import shutil
from pathlib import Path

import msgspec
import pytest
from selectolax.lexbor import LexborHTMLParser

from support.cli import vera
from support.dashboards import app_of
from support.evaluated import make as make_evaluation
from support.licence_run import EXAMPLES, FOLDER
from support.markup import visible_text
from support.run_pages import CLAIMS, EMPTY, FINISHED
from vera.report.html.document import report_html

FALSE = "GPL version 3 requires the written offer to be valid for at least five years"
QUESTION = "For how long must a written offer for source code be valid under GPL version 3?"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A thesis that its sources refute, and the first command of the README."""
    base = tmp_path_factory.mktemp("defects")
    shutil.copytree(EXAMPLES, base / FOLDER)
    common = ("--input-dir", FOLDER, "--model-base-url", "builtin")
    done = vera("verify", FALSE, *common, "--work-dir", "work/thesis", cwd=base)
    assert done.returncode == 4, done.stderr
    done = vera("run", QUESTION, *common, "--work-dir", "work/question", cwd=base)
    assert done.returncode == 0, done.stderr
    return base


def page_of(base: Path, address: str) -> str:
    with app_of(base) as client:
        return client.get(address).text


def test_a_thesis_that_was_refuted_is_red_under_its_own_heading_everywhere(base: Path) -> None:
    page = page_of(base, "/s/work~2Fthesis")
    assert vera("report", "work/thesis", "-o", "report.html", cwd=base).returncode == 0
    for html in (page, (base / "report.html").read_text()):
        tree = LexborHTMLParser(html)
        (status,) = tree.css("#status")
        assert "tone-bad" in (status.attributes["class"] or "").split()
        assert [each.text() for each in status.css(".verdict strong")] == ["Refuted"]
        assert [each.text() for each in tree.css("#answer h2")] == ["Thesis"]
        assert "three years" in visible_text(html), "what the source says instead"
    marked = [each.text() for each in LexborHTMLParser(page).css("#answer .proof[open] b.other")]
    assert marked == ["three years"]
    row = next(
        row for row in LexborHTMLParser(page_of(base, "/")).css(".sessions tbody tr") if FALSE in row.text()
    )
    assert row.attributes["class"] == "tone-bad"
    assert [each.text() for each in row.css(".state")] == ["Refuted"]
    listed = next(line for line in vera("list", cwd=base).stdout.splitlines() if "work/thesis" in line)
    assert "Refuted" in listed
    shown = vera("show", "work/thesis", cwd=base).stdout
    assert "REFUTED" in shown and "UNRESOLVED" not in shown
    found = json.loads(vera("list", "--json", cwd=base).stdout)["sessions"]
    assert {each["session"]: (each["verdict"], each["word"]) for each in found}["./work/thesis"] == (
        "REFUTED",
        "Refuted",
    )


def test_the_answer_of_the_first_command_of_the_readme_has_words_on_its_page(base: Path) -> None:
    tree = LexborHTMLParser(page_of(base, "/s/work~2Fquestion"))
    assert "at least three years" in " ".join(each.text() for each in tree.css("#answer .answer"))


def test_what_a_run_that_ended_does_not_have_is_not_said_to_come_yet() -> None:
    ended = msgspec.structs.replace(EMPTY.header, phase="ended", verdict="UNRESOLVED", ended_ts=9.0)
    for phase in ("ended", "stopped", "model_failed"):
        header = msgspec.structs.replace(ended, phase=phase)
        page = msgspec.structs.replace(EMPTY, header=header)
        said = visible_text(report_html(page, work_dir="./w"))
        assert " yet" not in said, said
    going_on = msgspec.structs.replace(FINISHED, claims=(), attestation=None)
    working = msgspec.structs.replace(going_on.header, phase="working", verdict="", ended_ts=None)
    said = visible_text(report_html(msgspec.structs.replace(going_on, header=working), work_dir="./w"))
    assert "There are no claims yet" in said and "Nothing is attested yet" in said


def test_an_evaluation_without_a_time_has_no_day(tmp_path: Path) -> None:
    make_evaluation(tmp_path / "work" / "eval")
    file = tmp_path / "work" / "eval" / "evaluation.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "ended": 0}))
    for address in ("/evaluations", "/evaluations/work~2Feval"):
        html = page_of(tmp_path, address)
        assert "time unknown" in html and "1970" not in html


def test_the_reason_of_a_citation_that_leads_nowhere_is_read_without_a_pointer() -> None:
    lost = msgspec.structs.replace(CLAIMS[0], cards=(), reason="There is no evidence ev_0042; cite one.")
    page = msgspec.structs.replace(
        FINISHED, claims=(lost,), answer="It is long [ev_0042:1]. It is wide [ev_0077:2]."
    )
    tree = LexborHTMLParser(report_html(page, work_dir="./w"))
    (answer,) = tree.css("#answer .answer")
    assert "ev_0042:1 (There is no evidence ev_0042.)" in " ".join(answer.text().split())
    assert "ev_0077:2 (no line of it was judged)" in " ".join(answer.text().split())
    assert not answer.css(".lost-why.unseen, .unseen .lost-why")
