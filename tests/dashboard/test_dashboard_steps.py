"""The pages of steps: what the model was asked and said, by the log, for each lane."""

import hashlib
import json
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from selectolax.lexbor import LexborHTMLParser

from support import hostile_run, licence_run
from support.dashboards import Dashboard, Grown, app_of, dashboard_of
from support.markup import problems, visible_text
from support.run_pages import HOSTILE
from vera import events
from vera.dashboard import step_index, step_view
from vera.dashboard.step_index import StepIndex, state_at
from vera.dashboard.step_view import loader, pretty, request_of
from vera.lane.request import rebuild_request
from vera.session import Reader
from vera.store import Store

STEPS = "/s/work~2Fexample/steps"


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("steps") / "base"
    base.mkdir()
    licence_run.make(base)
    hostile_run.make(base / "work" / "hostile")
    return base


@pytest.fixture(scope="module")
def served(base: Path) -> Iterator[Dashboard]:
    with dashboard_of(base, base.parent / "token") as dashboard:
        yield dashboard


def index_of(folder: Path) -> StepIndex:
    index = StepIndex(folder / "trace.jsonl")
    index.read()
    return index


def test_each_prompt_is_the_one_that_show_prints(base: Path) -> None:
    folder = base / "work" / "example"
    index, store = index_of(folder), Store(folder / "store")
    records = [record for _, record in Reader(folder / "trace.jsonl").poll()]
    assert set(index.lanes) == {"main", "exam", "verify-2", "check-2.1"} | (set(index.lanes) & {"verify-1"})
    compared = 0
    for lane, steps in index.lanes.items():
        for step in steps:
            line = index.line(lane, step)
            assert line is not None
            found, known = request_of(index, line, loader(store)), rebuild_request(records, store, step, lane)
            assert (found is None) == (known is None)
            if found is not None and known is not None:
                assert found == (known.wire, True)
                compared += 1
    assert compared >= 20


def test_a_prompt_that_is_not_kept_is_read_again(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = base / "work" / "example"
    monkeypatch.setattr(step_index, "MAX_PROMPTS", 1)
    index = index_of(folder)
    line = index.line("main", 3)
    assert line is not None
    found = request_of(index, line, loader(Store(folder / "store")))
    assert found is not None and found[1]


def test_a_state_is_folded_up_to_a_record(base: Path) -> None:
    log = base / "work" / "example" / "trace.jsonl"
    assert state_at(log, "main", 13).step == 1
    assert state_at(log, "none", 13).started is None


def test_a_step_shows_all_of_it(served: Dashboard) -> None:
    with served.client() as client:
        html = client.get(f"{STEPS}/7").text
    assert problems(html, scripts=1) == []
    text = visible_text(html)
    for words in (
        "hash is the one that was logged", "The verifier is right", "257", "ev_0006", "Model calls",
        "The years of the written offer were wrong", "policy_choice",
    ):  # fmt: skip
        assert words in text, words
    assert 'href="/s/work~2Fexample/steps/6"' in html and 'href="/s/work~2Fexample/steps/8"' in html
    assert "/source/" in html


def linked(page: LexborHTMLParser, places: str) -> list[str]:
    """Where the links at these places lead."""
    return [node.attributes["href"] or "" for node in page.css(places)]


def is_page_of_step(client: httpx.Client, address: str) -> bool:
    number = address.partition("/steps/")[2].partition("?")[0]
    title = LexborHTMLParser(client.get(address).text).css_first("h1").text()
    return title.startswith(f"Step {number}")


def test_events_lead_to_their_steps(served: Dashboard) -> None:
    with served.client() as client:
        page = LexborHTMLParser(client.get("/s/work~2Fexample").text)
        rows = page.css("#events li:has(a[data-f=step])")
        for row in rows:
            lane = row.css_first("[data-f=lane]").text()
            link = row.css_first("a[data-f=step]")
            wanted = f"{STEPS}/{link.text()}" + (f"?lane={lane}" if lane else "")
            assert link.attributes["href"] == wanted
        found = set(linked(page, "#events a[data-f=step]"))
        assert len(rows) > 20 and {each.partition("?")[2] for each in found} > {""}
        assert all(is_page_of_step(client, each) for each in found)


def test_findings_lead_to_the_step_whose_answer_they_are_about(served: Dashboard) -> None:
    with served.client() as client:
        page = LexborHTMLParser(client.get("/s/work~2Fexample").text)
        (address,) = linked(page, "#rounds details[id^=findings] .more a")
        assert address == f"{STEPS}/6" and is_page_of_step(client, address)
        assert "at least five years" in visible_text(client.get(address).text)


def test_gates_lead_to_the_step_at_which_they_fired_last(served: Dashboard) -> None:
    with served.client() as client:
        page = LexborHTMLParser(client.get("/s/work~2Fhostile").text)
        gates = page.css("#gates tbody tr")
        found = linked(page, "#gates tbody td a")
        assert len(found) == len(gates) > 0 and set(found) == {"/s/work~2Fhostile/steps/1"}
        step = LexborHTMLParser(client.get(found[0]).text)
        told = step.css_first("section[aria-labelledby=gates-title]").text()
        assert gates[0].css_first("th").text().removeprefix("policy_").replace("_", " ") in told


def test_what_is_new_is_open_and_the_rest_is_folded(base: Path) -> None:
    folder = base / "work" / "example"
    index = index_of(folder)
    view = step_view.step_view(index, "main", 3, loader(Store(folder / "store")))
    first = step_view.step_view(index, "main", 1, loader(Store(folder / "store")))
    assert view is not None and first is not None
    assert [each.is_new for each in view.messages] == [False] * 4 + [True] * 2
    assert all(each.is_new for each in first.messages)
    assert (first.before, first.behind, view.before) == (None, 2, 2)


def test_an_altered_prompt_is_said_to_be_another(tmp_path: Path) -> None:
    log = Grown(tmp_path)
    text = json.dumps([{"role": "user", "content": "as it was sent"}])
    for step, digest in ((1, hashlib.sha256(text.encode()).hexdigest()), (2, "0" * 64)):
        log.log.append(
            events.ModelIo(
                step=step, scope="agent", at_seq=2, request_sha256=digest, request_bytes=9, parameters={},
                content="x", request=text,
            ),
            "main",
        )  # fmt: skip
    log.end()
    index = index_of(tmp_path)
    views = [step_view.step_view(index, "main", step, loader(Store(tmp_path))) for step in (1, 2)]
    assert [view.prompt for view in views if view] == ["same", "different"]


def test_a_prompt_whose_text_is_gone_is_unread_and_the_rest_is_shown(tmp_path: Path) -> None:
    log = Grown(tmp_path)
    gone = events.Blob("0" * 64, 9000)
    log.log.append(
        events.ModelIo(
            step=1, scope="agent", at_seq=2, request_sha256="0" * 64, request_bytes=9, parameters={},
            content=gone, request=gone,
        ),
        "main",
    )  # fmt: skip
    result = events.Tool(step=1, call="c", tool="shell", outcome="failed", obs=gone, exit_code=2)
    log.log.append(result, "main")
    log.end()
    view = step_view.step_view(index_of(tmp_path), "main", 1, loader(Store(tmp_path / "store")))
    assert view is not None and view.prompt == "unread" and view.why
    assert view.results[0].observation.problem


def test_the_list_has_every_step_of_a_lane(served: Dashboard) -> None:
    with served.client() as client:
        html = client.get(STEPS).text
        check = client.get(STEPS, params={"lane": "check-2.1"}).text
        later = client.get(STEPS, params={"first": 5}).text
    assert problems(html) == problems(check) == problems(later) == []
    assert [f"{STEPS}/{number}" in html for number in range(1, 10)] == [True] * 8 + [False]
    assert f"{STEPS}/2?lane=check-2.1" in check
    assert f'{STEPS}/5"' not in later and f'{STEPS}/6"' in later


@pytest.mark.parametrize(
    "path",
    ["0", "99", "-1", "1e3", "٣", "9" * 40, "3?lane=none", "3?lane=../main", "3/none", "..%2f3", "3%00"],
)
def test_there_is_no_other_step(served: Dashboard, path: str) -> None:
    with served.client() as client:
        assert client.get(f"{STEPS}/{path}").status_code == 404


def test_the_request_is_saved_as_it_was_sent(served: Dashboard) -> None:
    with served.client() as client:
        answer = client.get(f"{STEPS}/3/request")
        none = client.get("/s/work~2Fhostile/steps/1/request")
    assert answer.headers["content-disposition"].startswith("attachment")
    assert [each["role"] for each in json.loads(answer.content)][:2] == ["system", "user"]
    assert none.status_code == 409


def test_a_stored_text_is_saved_whole_and_no_other_file_is(served: Dashboard, base: Path) -> None:
    store = base / "work" / "example" / "store"
    name = next(path.name for path in sorted(store.glob("*/*")))
    with served.client() as client:
        answer = client.get(f"/s/work~2Fexample/bytes/{name}")
        assert hashlib.sha256(answer.content).hexdigest() == name
        assert answer.headers["content-type"] == "application/octet-stream"
    for path in ("0" * 64, "..%2f..%2ftrace.jsonl", "trace.jsonl", name[:-1], f"{name[:2]}%2f{name}"):
        assert served.get_raw(f"/s/work~2Fexample/bytes/{path}") == 404
    assert served.get_raw(f"/s/work~2Fexample/../example/bytes/{name}") == 404


def test_pages_of_other_sites_and_strangers_get_no_step(served: Dashboard) -> None:
    with served.client(sec_fetch_site="cross-site", sec_fetch_mode="cors") as client:
        assert client.get(f"{STEPS}/3").status_code == 403
        assert client.get(f"{STEPS}/3/request").status_code == 403
    with served.stranger() as stranger:
        assert stranger.get(f"{STEPS}/3").status_code == 401
    assert served.get_raw(f"{STEPS}/3", host="evil.example") == 421


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_what_a_step_holds_never_becomes_markup(tmp_path: Path, text: str) -> None:
    from vera.dashboard import pages
    from vera.dashboard.query_params import Asked
    from vera.dashboard.sessions import SessionFolder

    text = text[:200_000].encode("utf-8", "replace").decode()
    log = Grown(tmp_path, task=text)
    log.log.append(events.Tool(step=1, call="c", tool=text, outcome=text, obs=text, error_type=text), text)
    log.log.append(events.Note(step=1, text=text), text)
    log.log.append(events.PolicyDestructive(step=1, effect=text, reason=text, reply=text), text)
    log.end()
    session = SessionFolder(id="s", name=text, path=tmp_path)
    asked = Asked(nonce="n", static="/static/1")
    index = index_of(tmp_path)
    view = step_view.step_view(index, text, 1, loader(Store(tmp_path / "store")))
    assert view is not None
    page = pages.render_step(asked, session, index, view)
    listed = pages.render_steps(asked, session, index, text, 0)
    assert listed is not None
    assert problems(page, scripts=1) == problems(listed) == []


def test_json_is_laid_out_and_other_text_is_not() -> None:
    assert pretty('{"a": ["Ü"]}') == '{\n  "a": [\n    "Ü"\n  ]\n}'
    for text in ("[ev_0001:3] is cited", "{broken", "[" * 100_000, "plain"):
        assert pretty(text) == text


def test_a_broken_log_shows_the_steps_before_and_says_so(tmp_path: Path) -> None:
    log = Grown(tmp_path)
    log.log.append(events.Note(step=1, text="kept"), "main")
    log.log.close()
    with log.path.open("ab") as file:
        file.write(b"{}\n")
    index = index_of(tmp_path)
    assert index.line("main", 1) is not None
    assert "line 4" in index.problem


def with_answers(folder: Path, *answers: str) -> None:
    """A session whose log has a step for each of them."""
    grown = Grown(folder)
    for step, text in enumerate(answers, 1):
        grown.log.append(events.Answer(step=step, text=text), "main")
    grown.end()


@pytest.mark.parametrize("how", ["renamed", "in place"])
@pytest.mark.parametrize("answers", [["axolotl"], ["axolotl"] * 3, ["axolotls" * 99] * 9], ids=len)
def test_the_pages_of_a_log_that_was_replaced_are_those_of_the_new_one(
    tmp_path: Path, answers: list[str], how: str
) -> None:
    with_answers(tmp_path / "base" / "one", *["pangolin"] * 3)
    with_answers(tmp_path / "new", *answers)
    log, new = tmp_path / "base" / "one" / "trace.jsonl", tmp_path / "new" / "trace.jsonl"
    with app_of(tmp_path / "base") as client:
        assert "pangolin" in client.get("/s/one/steps/1").text
        if how == "renamed":
            new.replace(log)
        else:
            log.write_bytes(new.read_bytes())
        for _ in range(2):
            pages = [client.get(path) for path in ("/s/one/steps", "/s/one/steps/1")]
            assert [page.status_code for page in pages] == [200, 200]
            assert "axolotl" in pages[1].text and "pangolin" not in pages[1].text
        assert client.get("/s/one/steps/3").status_code == (200 if len(answers) >= 3 else 404)


def test_an_index_is_kept_while_its_log_grows(tmp_path: Path) -> None:
    grown = Grown(tmp_path / "one")
    indexes = step_index.StepIndexes()
    index = indexes.of(grown.path)
    for _ in range(3):
        index.read()
        grown.append()
        assert indexes.of(grown.path) is index
    grown.log.close()
    grown.path.unlink()
    assert indexes.of(grown.path) is not index


def test_a_step_begins_when_its_model_is_asked(tmp_path: Path) -> None:
    grown = Grown(tmp_path / "base" / "work" / "asked")
    asked = events.Model(step=1, scope="agent", latency_s=12.5)
    other = events.Model(step=2, scope="agent", latency_s=1e300)
    grown.log.append(asked, "main")
    grown.log.append(other, "main")
    grown.log.close()
    index = index_of(tmp_path / "base" / "work" / "asked")
    line, strange = index.line("main", 1), index.line("main", 2)
    assert line is not None and line.last_ts - line.ts == pytest.approx(12.5)
    assert strange is not None and strange.ts == 0, "a log may claim any time"
    view = step_view.step_view(index, "main", 1, loader(Store(tmp_path / "store")))
    assert view is not None and view.seconds == pytest.approx(12.5) and view.ts == line.ts
    with app_of(tmp_path / "base") as client:
        listed = visible_text(client.get("/s/work~2Fasked/steps").text)
        shown = visible_text(client.get("/s/work~2Fasked/steps/1").text)
    assert " 12 s " in listed and ", 12 s." in shown
