"""Two sessions side by side: verdict, figures, claims, answers, sources and settings."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from selectolax.lexbor import LexborHTMLParser

from support import licence_run
from support.dashboards import Dashboard, Grown, dashboard_of
from support.markup import problems, visible_text
from support.run_pages import DISPUTED, FINISHED, HOSTILE, with_text
from vera.dashboard import pages
from vera.dashboard.query_params import Asked
from vera.dashboard.sessions import SessionFolder
from vera.dashboard.two_runs import Differs, Run, flat, settings_that_differ, sources
from vera.report.view.model import RunPage

ASKED = Asked(nonce="n", static="/static/1")


def run(page: RunPage, name: str = "one", **settings: str) -> Run:
    return Run(
        session=SessionFolder(id=f"work~2F{name}", name=f"./work/{name}", path=Path("nowhere")),
        page=page,
        settings=settings,
    )


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Dashboard]:
    base = tmp_path_factory.mktemp("two") / "base"
    base.mkdir()
    licence_run.make(base)
    shutil.copytree(base / "work" / "example", base / "work" / "again")
    Grown(base / "work" / "other", task="<script>alert(1)</script>").log.close()
    with dashboard_of(base, base.parent / "token") as dashboard:
        yield dashboard


def test_two_sessions_of_the_list_are_compared(served: Dashboard) -> None:
    with served.client() as client:
        listed = client.get("/").text
        same = client.get("/compare?s=work~2Fexample&s=work~2Fagain").text
        other = client.get("/compare?s=work~2Fexample&s=work~2Fother").text
    boxes = LexborHTMLParser(listed).css("form[action='/compare'] input[name=s]")
    assert {box.attributes["value"] for box in boxes} >= {"work~2Fexample", "work~2Fagain"}
    assert problems(same) == problems(other) == []
    assert "The answer is the same, word for word." in visible_text(same)
    assert "both were logged with the same settings" in visible_text(same)
    assert "not in this answer" in visible_text(other) and "model.base_url" in visible_text(other)


def test_what_changed_between_two_answers_names_sources_and_not_the_ids_of_the_log(served: Dashboard) -> None:
    addresses = (
        "/s/work~2Fexample",
        "/s/work~2Fexample/compare?a=1&b=2",
        "/compare?s=work~2Fexample&s=work~2Fother",
    )
    with served.client() as client:
        found = {address: client.get(address).text for address in addresses}
    for address, html in found.items():
        (difference,) = LexborHTMLParser(html).css(".difference")
        assert "years GPL-3.txt 258–261" in difference.text() and "ev_" not in difference.text(), address


@pytest.mark.parametrize(
    ("query", "status"),
    [
        ("", 400), ("s=work~2Fexample", 400), ("s=work~2Fexample&s=work~2Fexample", 400),
        ("s=work~2Fexample&s=work~2Fagain&s=work~2Fother", 400), ("s=work~2Fexample&s=work~2Fnone", 404),
        ("s=work~2Fexample&s=..~2F..~2Fetc", 404), ("s=work~2Fexample&s=work/again", 404),
        ("s=work~2Fexample&s=%00", 404),
    ],
)  # fmt: skip
def test_nothing_else_is_compared(served: Dashboard, query: str, status: int) -> None:
    with served.client() as client:
        answer = client.get(f"/compare?{query}")
    assert (answer.status_code, answer.text.count("\n")) == (status, 1)


def test_strangers_and_other_sites_compare_nothing(served: Dashboard) -> None:
    path = "/compare?s=work~2Fexample&s=work~2Fagain"
    with served.stranger() as stranger:
        assert stranger.get(path).status_code == 401
    with served.client(sec_fetch_site="cross-site", sec_fetch_mode="cors") as client:
        assert client.get(path).status_code == 403
    assert served.get_raw(path, host="evil.example") == 421


def test_settings_that_differ_are_named_in_full() -> None:
    settings = {"model": {"name": "small", "base_url": "x"}, "run": {"max_steps": 3}, "list": ["a"]}
    assert flat(settings) == {
        "model.name": "small",
        "model.base_url": "x",
        "run.max_steps": "3",
        "list": "['a']",
    }
    before, after = run(FINISHED, a="1", b="2"), run(FINISHED, "two", a="1", b="3", c="4")
    assert settings_that_differ(before, after) == (Differs("b", "2", "3"), Differs("c", "", "4"))
    deep: dict[str, object] = {}
    for _ in range(50):
        deep = {"x": deep}
    assert len(flat(deep)) == 1


def test_sources_that_both_cite_come_first() -> None:
    one = msgspec.structs.replace(FINISHED, claims=FINISHED.claims[:2])
    found = sources(run(one), run(DISPUTED, "two"))
    assert [bool(each.before and each.after) for each in found] == sorted(
        (bool(each.before and each.after) for each in found), reverse=True
    )
    assert sum(each.before for each in found) == sum(len(claim.cards) for claim in one.claims)


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_nothing_of_two_runs_becomes_markup(text: str) -> None:
    page = with_text(FINISHED, text)
    one = Run(session=SessionFolder(id="a", name=text, path=Path()), page=page, settings=flat({text: text}))
    two = Run(session=SessionFolder(id="b", name=text, path=Path()), page=DISPUTED, settings={})
    for before, after in ((one, two), (two, one)):
        html = pages.render_two_runs(ASKED, before, after)
        assert problems(html) == []
        assert "<script>" not in html and "<img src=x" not in html
