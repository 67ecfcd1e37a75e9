"""The pages of what `vera eval` found, of files that anyone may have written."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from support import evaluated
from support.dashboards import Dashboard, Grown, app_of, dashboard_of
from support.markup import problems, visible_text
from support.run_pages import HOSTILE
from vera.dashboard.evaluations import MAX_RESULTS, ROWS
from vera.dashboard.sessions import Sessions
from vera.report.evaluation import FILE, MAX_KEPT, EvaluationError, read_evaluation
from vera.report.standing import VERDICTS

PAGE = "/evaluations/work~2Feval-dams"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("evaluations") / "base"
    evaluated.make(base / "work" / "eval-dams")
    for number in (1, 2):
        Grown(base / "work" / "eval-dams" / f"s{number}").end()
    Grown(base / "work" / "other").end()
    evaluated.make(base / "work" / "other" / "inside")
    return base


@pytest.fixture(scope="module")
def served(base: Path) -> Iterator[Dashboard]:
    with dashboard_of(base, base.parent / "token") as dashboard:
        yield dashboard


def test_the_list_has_each_result_with_its_shares(served: Dashboard) -> None:
    with served.client() as client:
        text = client.get("/evaluations").text
        assert 'href="/evaluations"' in client.get("/").text
    assert problems(text) == []
    rows = LexborHTMLParser(text).css("tbody tr")
    assert len(rows) == 1, "a folder inside a session holds no result"
    assert rows[0].css_first("a").attributes["href"] == PAGE
    assert "40.0 % (10.0–90.0), 2 of 5" in visible_text(text)


def test_a_result_says_what_came_of_each_question_and_leads_to_its_session(served: Dashboard) -> None:
    with served.client() as client:
        text = client.get(PAGE).text
        misses = client.get(f"{PAGE}?misses=1").text
        rows = LexborHTMLParser(text).css("#questions-title ~ .wide tbody tr")
        links = [row.css_first("a").attributes["href"] for row in rows if row.css_first("a")]
        assert links == ["/s/work~2Feval-dams~2Fs1", "/s/work~2Feval-dams~2Fs2"]
        assert client.get(str(links[0])).status_code == 200
    assert problems(text) == problems(misses) == []
    said = [row.css("td")[1].text(strip=True) for row in rows]
    assert [words[0] for words in said] == ["✓", "✕", "✕", "✓", "✕"]
    assert said[2] == "✕ not answered; its answer was right"
    assert len(LexborHTMLParser(misses).css("#questions-title ~ .wide tbody tr")) == 3


def test_a_result_has_the_words_for_a_verdict_that_other_pages_have(served: Dashboard) -> None:
    with served.client() as client:
        text = client.get(PAGE).text
    rows = LexborHTMLParser(text).css("#questions-title ~ .wide tbody tr")
    assert {row.css("td")[0].text(strip=True) for row in rows} <= {each.word for each in VERDICTS.values()}
    assert "if it is Verified or Quoted" in visible_text(text)


def test_a_long_result_comes_in_pages(tmp_path: Path) -> None:
    rows = [{**evaluated.each()[0], "id": f"n{number}"} for number in range(ROWS + 5)]
    evaluated.make(tmp_path / "long", rows=rows)
    with app_of(tmp_path) as client:
        first = LexborHTMLParser(client.get("/evaluations/long").text)
        following = first.css_first("a[rel=next]").attributes["href"]
        assert following == f"/evaluations/long?first={ROWS}"
        assert "n204" in client.get(str(following)).text
        assert "No questions here" in client.get("/evaluations/long?first=999999999").text


def test_of_too_many_questions_the_misses_are_kept(tmp_path: Path) -> None:
    good, bad = evaluated.each()[0], evaluated.each()[1]
    evaluated.make(tmp_path, rows=[*[good] * MAX_KEPT, bad])
    found = read_evaluation(tmp_path)
    assert (len(found.each), found.left_out, len(found.misses())) == (MAX_KEPT, 1, 1)


@pytest.mark.parametrize("name", ["..", ".", "", "../other", "/etc", "a/b", "\0", "x" * 5000, "link"])
def test_a_session_elsewhere_is_no_link(tmp_path: Path, name: str) -> None:
    Grown(tmp_path / "other").end()
    (tmp_path / "dams").mkdir()
    (tmp_path / "dams" / "link").symlink_to(tmp_path / "other")
    evaluated.make(tmp_path / "dams")
    change(tmp_path / "dams" / FILE, "session", name)
    with app_of(tmp_path) as client:
        answer = client.get("/evaluations/dams")
    assert answer.status_code == 200
    assert "/s/" not in answer.text


def change(path: Path, member: str, value: Any) -> None:
    """Put a value into the first question of a file."""
    kept = json.loads(path.read_bytes())
    kept["each"] = [{**kept["each"][0], member: value}]
    path.write_text(json.dumps(kept))


def broken() -> dict[str, Any]:
    """What may lie there: its name and how it is made."""
    return {
        "empty": lambda path: path.write_bytes(b""),
        "deep": lambda path: path.write_bytes(b"[" * 100_000),
        "other": lambda path: path.write_text('{"format": "vera-evaluation-2"}'),
        "huge": lambda path: os.truncate(os.open(path, os.O_CREAT | os.O_RDWR), 1 << 33),
        "link": lambda path: path.symlink_to("/etc/passwd"),
        "pipe": os.mkfifo,
        "folder": Path.mkdir,
        "share": lambda path: _with(path, "1.5"),
        "infinite": lambda path: _with(path, "1e999"),
    }


def _with(path: Path, number: str) -> None:
    evaluated.make(path.parent)
    path.write_text(path.read_text().replace('"value":0.4', f'"value":{number}'))


@pytest.mark.parametrize("kind", broken())
def test_a_file_that_is_no_result_is_told(tmp_path: Path, kind: str) -> None:
    broken()[kind](tmp_path / FILE)
    with pytest.raises(EvaluationError, match=FILE):
        read_evaluation(tmp_path)


def test_the_list_tells_of_broken_files_and_goes_on(tmp_path: Path) -> None:
    for number in range(MAX_RESULTS):
        (tmp_path / f"a{number:03}").mkdir()
        (tmp_path / f"a{number:03}" / FILE).symlink_to("/etc/passwd")
    evaluated.make(tmp_path / "a")
    with app_of(tmp_path) as client:
        text = client.get("/evaluations").text
        assert client.get("/evaluations/a001").status_code == 409
    assert problems(text) == [] and "root:" not in text
    assert "More than 50 folders" in text and 'href="/evaluations/a"' in text
    assert text.count("cannot be read") == MAX_RESULTS - 1


def test_a_link_to_a_folder_is_not_followed(tmp_path: Path) -> None:
    evaluated.make(tmp_path / "outside")
    (tmp_path / "base").mkdir()
    (tmp_path / "base" / "link").symlink_to(tmp_path / "outside")
    assert Sessions(tmp_path / "base").holding(FILE, 9) == []


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/evaluations/work~2Fnone", 404), ("/evaluations/work", 404), ("/evaluations/..~2F..~2Fetc", 404),
        ("/evaluations/%2e%2e", 404), ("/evaluations/%00", 404), ("/evaluations/work~2Fother~2Finside", 404),
        (f"{PAGE}?first=x", 400), (f"{PAGE}?first=-1", 400),
    ],
)  # fmt: skip
def test_nothing_else_is_shown(served: Dashboard, path: str, status: int) -> None:
    with served.client() as client:
        assert client.get(path).status_code == status


@pytest.mark.parametrize("path", ["/evaluations", PAGE])
def test_strangers_and_other_sites_see_nothing(served: Dashboard, path: str) -> None:
    with served.stranger() as stranger:
        assert stranger.get(path).status_code == 401
    with served.client(sec_fetch_site="cross-site", sec_fetch_mode="cors") as client:
        assert client.get(path).status_code == 403
    with served.client() as client:
        assert client.post(path, headers={"x-vera": "1"}).status_code == 405
    assert served.get_raw(path, host="evil.example") == 421


def test_no_text_of_a_file_becomes_markup(tmp_path: Path) -> None:
    for number, text in enumerate(HOSTILE):
        evaluated.make(tmp_path / f"e{number}", text)
    with app_of(tmp_path) as client:
        for path in ("/evaluations", *(f"/evaluations/e{number}" for number in range(len(HOSTILE)))):
            html = client.get(path).text
            assert problems(html) == []
            assert "<script>" not in html and "<img src=x" not in html
