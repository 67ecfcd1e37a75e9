"""Where a run stands: each with a word, a sign and a colour that no other has, and the same everywhere."""

import io
import re
from itertools import combinations
from pathlib import Path

import pytest
from rich.console import Console

from support import unfinished
from support.cli import vera
from support.dashboards import app_of
from support.markup import visible_text
from support.viewing import view
from vera.attestation.outcome import UNCHECKED, WITHHELD
from vera.cli.list import look_at
from vera.cli.watch_view import COLOURS
from vera.cli.watch_view import view as watched
from vera.dashboard.sessions import Sessions
from vera.headline import HEADLINES
from vera.report.html.document import STYLESHEET
from vera.report.standing import LISTED, PHASES, VERDICTS, Standing, standing, state_in_words

STYLE = STYLESHEET.read_text()
ALL = {**{name: each for name, each in PHASES.items() if name != "ended"}, **VERDICTS, **LISTED}


def colour(each: Standing) -> tuple[str, str]:
    """Its colours on a page, in light and in dark."""
    (name,) = re.findall(rf"^\.tone-{each.tone} {{ --c: var\(--([a-z]+)\) }}", STYLE, re.MULTILINE)
    ((light, dark),) = re.findall(rf"--{name}: light-dark\((#[0-9a-f]{{6}}), (#[0-9a-f]{{6}})\)", STYLE)
    return light, dark


def sign(each: Standing) -> str:
    (found,) = re.findall(rf'^\.tone-{each.tone}(?:, \S+)? {{ --sign: "(.+)" }}', STYLE, re.MULTILINE)
    return str(found)


def test_every_verdict_and_every_phase_is_in_the_list() -> None:
    assert {*HEADLINES, *WITHHELD} == VERDICTS.keys()
    assert standing("ended", "").word == standing("ended", UNCHECKED).word == "Ended"
    assert standing("working", "VERIFIED").word == "Working", "a run that goes on has no verdict"
    assert standing("stopped", "ALTERED").word == "Altered"
    assert standing("ended", "OF_TOMORROW").word == state_in_words("OF_TOMORROW") == "Of tomorrow"


@pytest.mark.parametrize(("one", "other"), list(combinations(ALL, 2)))
def test_no_two_have_a_word_a_sign_or_a_colour_in_common(one: str, other: str) -> None:
    left, right = ALL[one], ALL[other]
    assert left.word != right.word and left.tone != right.tone
    assert (left.sign, left.colour) != (right.sign, right.colour)
    assert left.sign != right.sign and sign(left) != sign(right)
    assert all(mine != theirs for mine, theirs in zip(colour(left), colour(right), strict=True))


@pytest.mark.parametrize("name", ALL)
def test_the_sign_of_a_page_is_that_of_the_terminal(name: str) -> None:
    assert sign(ALL[name]) == ALL[name].sign and not COLOURS.keys() & ALL.keys()


def test_a_model_server_that_failed_has_one_word_in_page_list_and_terminal(tmp_path: Path) -> None:
    unfinished.failed(tmp_path / "work" / "failed")
    listed = vera("list", cwd=tmp_path).stdout
    (row,) = look_at(Sessions(tmp_path).listed()[0])
    with app_of(tmp_path) as client:
        page = visible_text(client.get("/s/work~2Ffailed").text)
        client.get("/")
        index = visible_text(client.get("/").text)
    viewed = view(tmp_path / "work" / "failed")
    console = Console(width=120, file=io.StringIO(), record=True)
    shown_as = {"session": "./work/failed", "alive": False, "now": 0.0, "height": 40}
    console.print(watched(viewed.fold, viewed.state, viewed.store, **shown_as))  # type: ignore[arg-type] # of several kinds
    shown = console.export_text()
    assert row.word == "Model failed" and row.state == "stopped"
    for said in (listed, page, index, shown):
        assert "Model failed" in said and "model_failed" not in said and "Stopped" not in said, said
    assert unfinished.ERROR in index
