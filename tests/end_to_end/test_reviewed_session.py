"""A session that people review by command and by page: replayed, reported, packed, exported and evaluated."""

import json
import shutil
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from selectolax.lexbor import LexborHTMLParser

from support.cli import vera
from support.dashboards import app_of
from support.licence_run import EXAMPLES
from vera.cli.export import export
from vera.cli.replay import replay
from vera.cli.report import report
from vera.cli.review import review

THESIS = "GPL version 3 requires the written offer to be valid for at least three years."
SESSION = "/s/work~2Fone"
SUMMARY = "2 reviews: 1 counts, 1 by an unknown key."


def typed(command: click.Command, *arguments: str) -> str:
    done = CliRunner().invoke(command, list(arguments))
    assert done.exit_code == 0, done.output
    return done.stdout


def test_a_review_goes_from_the_page_and_the_command_into_every_form_of_the_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(EXAMPLES, tmp_path / "licences")
    done = vera("verify", THESIS, "--input-dir", "licences", "--work-dir", "work/one", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    before = json.loads(typed(replay, "work/one", "--json"))
    with monkeypatch.context() as colleague:
        colleague.setenv("XDG_DATA_HOME", str(tmp_path / "colleague"))
        typed(review, "work/one", "--claim", "1", "--unsure", "--note", "By a colleague.")
    review_by_the_page(tmp_path)
    found = json.loads(typed(replay, "work/one", "--json"))
    assert [each["standing"] for each in found.pop("reviews")["reviews"]] == ["UNTRUSTED", "COUNTED"]
    assert before.pop("reviews") is None and found == before
    typed(report, "work/one", "-o", "one.html")
    assert "By the page." in Path("one.html").read_text()
    typed(export, "work/one", "--bundle", "one.zip")
    assert SUMMARY in typed(replay, "one.zip")
    typed(review, "work", "--export", "reviews.jsonl")
    evaluated = vera("eval", "reviews.jsonl", "--json", "-q", cwd=tmp_path)
    assert evaluated.returncode == 0, evaluated.stderr
    figures = json.loads(evaluated.stdout)
    assert figures["questions"] == 1 and figures["verifier"]["false_reject"]["count"] == 0
    assert figures["each"][0]["status"] == "QUOTED"


def review_by_the_page(base: Path) -> None:
    """As a browser does without a script: with its login, and the form of the page."""
    with app_of(base) as client:
        del client.headers["authorization"]
        client.get("/", params={"token": "t" * 40})
        form = LexborHTMLParser(client.get(SESSION).text).css_first(f'form[action="{SESSION}/review"]')
        fields = {node.attributes["name"] or "": node.attributes["value"] or "" for node in form.css("input")}
        answer = client.post(f"{SESSION}/review", data={**fields, "label": "agree", "note": "By the page."})
        assert answer.status_code == 200 and "By the page." in answer.text
        assert "by an unknown key" in answer.text and SUMMARY in answer.text
