"""The list of sessions over many of them: found, searched, sorted and grouped by an index that is a cache."""

import contextlib
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from selectolax.lexbor import LexborHTMLParser
from starlette.testclient import TestClient

from support.dashboards import Dashboard, Grown, app_of, dashboard_of
from support.markup import problems, visible_text
from support.run_pages import FINISHED, HOSTILE
from vera import events
from vera.dashboard import overview, pages, session_index
from vera.dashboard.overview import SessionList
from vera.dashboard.query_params import Asked
from vera.dashboard.session_index import (
    MAX_BATCHES,
    PAGE_ROWS,
    BatchCount,
    Found,
    SessionIndex,
    Wanted,
    batch_of,
    index_path,
)
from vera.dashboard.sessions import Sessions

ASKED = Asked(nonce="n", static="/static/1")
TASKS = ("How long is the Elbe?", "How high is the dam? 高さ", "ما طول النهر؟", "Which licence applies?")
BATCH = "a" * 64


def session(folder: Path, task: str, answer: str = "", status: str = "UNRESOLVED", tokens: int = 0) -> None:
    """A small session that ended."""
    log = Grown(folder, task=task)
    log.log.append(
        events.Model(step=1, scope="agent", latency_s=1.0, prompt_tokens=tokens, completion_tokens=0), "main"
    )
    log.log.append(events.Answer(step=1, text=answer), "main")
    log.log.append(events.RunEnd(status=status, reason="done", exit_code=3, steps=1, seconds=1.0), "")
    log.log.close()


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("list") / "base"
    for number in range(200):
        session(
            base / "work" / f"run-{number:03}",
            f"{TASKS[number % 4]} ({number})",
            f"The answer says number {number} is Straße.",
            tokens=1000 - number,
        )
    for number in range(3):
        session(base / "runs" / (f"{number}" * 64) / "1", f"A task of the batch, {number}")
    Grown(base / "work" / "stopped", task="A run that stopped").log.close()
    return base


@pytest.fixture(scope="module")
def served(base: Path) -> Iterator[Dashboard]:
    with dashboard_of(base, base.parent / "token") as dashboard:
        with dashboard.client() as client:
            for _ in range(200):
                if "not read yet" not in client.get("/").text:
                    break
        yield dashboard


def tasks(html: str) -> list[str]:
    return [node.text() for node in LexborHTMLParser(html).css(".sessions tbody th a")]


def get(served: Dashboard, path: str) -> str:
    with served.client() as client:
        answer = client.get(path)
    assert answer.status_code == 200
    assert problems(answer.text) == []
    return answer.text


def test_a_page_of_many_has_a_next_and_one_before(served: Dashboard) -> None:
    first, last = get(served, "/"), get(served, "/?page=5")
    assert len(tasks(first)) == PAGE_ROWS and len(tasks(last)) == 4
    assert "1 to 50 of 204 sessions" in visible_text(first)
    assert 'href="/?page=2" rel="next"' in first and 'href="/?page=4" rel="prev"' in last
    assert "No session matches" in visible_text(get(served, "/?page=9"))


@pytest.mark.parametrize(
    ("words", "count"),
    [
        ("elbe", 50), ("DAM 高さ", 50), ("طول", 50), ("strasse 17", 12), ("straße number", 200),
        ("'; DROP TABLE sessions; --", 0), ("%", 0), ("_", 0), ("\x00", 204), ("no such word", 0),
    ],
)  # fmt: skip
def test_words_of_task_and_answer_find_a_session(served: Dashboard, words: str, count: int) -> None:
    with served.client() as client:
        html = client.get("/", params={"q": words}).text
    assert f" {count} session" in visible_text(html) if count else "No session matches" in html


def test_a_list_is_sorted_and_filtered_by_its_address(served: Dashboard) -> None:
    by_tokens = tasks(get(served, "/?sort=tokens"))
    assert by_tokens[:3] == [f"{TASKS[number % 4]} ({number})" for number in range(3)]
    assert len(tasks(get(served, "/?kind=research&state=stopped"))) == 1
    assert len(tasks(get(served, "/?state=failed&batch=runs"))) == 3
    assert "No session matches" in get(served, "/?kind=thesis")
    assert 'aria-sort="descending"' in get(served, "/?sort=tokens")


@pytest.mark.parametrize("query", ["sort=none", "kind=none", "page=x", "page=-1", "sort=tokens;--"])
def test_a_list_that_cannot_be_is_refused_in_a_sentence(served: Dashboard, query: str) -> None:
    with served.client() as client:
        answer = client.get(f"/?{query}")
    assert (answer.status_code, answer.text.count("\n")) == (400, 1)


def test_a_batch_is_summed_up_with_a_link_to_its_failures(served: Dashboard) -> None:
    html = get(served, "/")
    (row,) = LexborHTMLParser(html).css("section[aria-labelledby=batches-title] tbody tr")
    cells = [" ".join(cell.text().split()) for cell in row.css("th, td")]
    assert cells == ["runs", "3", "Unsealed 3", "0", "", "3 failed"]
    assert row.css_first("td a").attributes["href"] == "/?state=failed&batch=runs"
    listed = LexborHTMLParser(get(served, "/?batch=runs")).css(".sessions tbody th")
    assert {each.css_first("code").text() for each in listed} == {
        f"./runs {str(number) * 12}" for number in range(3)
    }
    assert all("A task of the batch" in each.text() for each in listed)


def test_the_same_link_sorts_the_other_way_round(served: Dashboard) -> None:
    first = LexborHTMLParser(get(served, "/?sort=tokens"))
    link = next(node for node in first.css(".sessions thead a") if node.text().startswith("tokens"))
    assert link.attributes["href"] == "/?sort=-tokens"
    other = get(served, link.attributes["href"])
    assert 'aria-sort="ascending"' in other and 'href="/?sort=tokens"' in other
    assert "A task of the batch" in tasks(other)[1], "the fewest tokens come first"
    for name in pages.COLUMNS:
        one, reverse = tasks(get(served, f"/?sort={name}")), tasks(get(served, f"/?sort=-{name}&page=5"))
        assert one[:4] == reverse[::-1], name


def test_batches_that_are_not_shown_are_told(tmp_path: Path) -> None:
    names = [f"b{number}/runs/{BATCH}/1".encode() for number in range(MAX_BATCHES + 2)]
    index = SessionIndex(tmp_path, tmp_path / "index.sqlite")
    index.sync(dict.fromkeys(names, ("1", 1.0)))
    listed = index.listed(Wanted())
    assert (len(listed.batches), listed.more_batches) == (MAX_BATCHES, 2)
    shown = SessionList(wanted=Wanted(), total=1, batches=listed.batches, more_batches=listed.more_batches)
    html = pages.render_index(ASKED, shown)
    assert "2 batches with fewer sessions not shown" in visible_text(html) and problems(html) == []


def test_the_cost_of_a_batch_is_that_of_its_sessions_and_one_without_end_is_not_added_up(
    tmp_path: Path,
) -> None:
    index = SessionIndex(tmp_path, tmp_path / "index.sqlite")
    names = [f"runs/{BATCH}/{number}".encode() for number in (1, 2, 3)]
    index.sync(dict.fromkeys(names, ("1", 1.0)))
    costs = ("1e400", "0.5", "0.25")
    for name, cost, verdict in zip(names, costs, ("QUOTED", "VERIFIED", "VERIFIED"), strict=True):
        header = msgspec.structs.replace(FINISHED.header, cost=cost, verdict=verdict)
        index.put(Found(name=name, seen="", header=header))
    (batch,) = index.listed(Wanted()).batches
    assert batch.cost == 0.75
    shown = pages.render_index(ASKED, SessionList(wanted=Wanted(), total=3, batches=(batch,)))
    row = LexborHTMLParser(shown).css_first("section[aria-labelledby=batches-title] tbody tr")
    assert row.css("td")[3].text() == "0.75"


def test_a_session_that_changes_is_read_again_and_one_that_goes_is_gone(tmp_path: Path) -> None:
    base = tmp_path / "base"
    log = Grown(base / "work" / "one", task="The first task")
    session(base / "work" / "two", "The second task")
    with dashboard_of(base, tmp_path / "token") as dashboard:
        assert "Working" in visible_text(get(dashboard, "/?q=first"))
        log.log.append(events.Answer(step=1, text="a new pangolin"), "main")
        log.end()
        get(dashboard, "/")
        assert tasks(get(dashboard, "/?q=pangolin")) == ["The first task"]
        (base / "work" / "two").rename(tmp_path / "elsewhere")
        assert tasks(get(dashboard, "/")) == ["The first task"]


def test_an_alteration_that_leaves_the_log_alone_is_shown(tmp_path: Path) -> None:
    """The log's size and time are as they were: all files of what is on the page are looked at."""
    from support import licence_run

    base = tmp_path / "base"
    base.mkdir()
    licence_run.make(base)
    store = base / "work" / "example" / "store"
    with dashboard_of(base, tmp_path / "token") as dashboard:
        while "Not read yet" in (shown := visible_text(get(dashboard, "/"))):
            time.sleep(0.1)
        assert "Verified" in shown
        blob = max(store.glob("*/*"), key=lambda path: path.stat().st_size)
        blob.chmod(0o600)
        blob.write_bytes(blob.read_bytes().replace(b"e", b"x"))
        while "Not read yet" in (state := _state(get(dashboard, "/"))):
            time.sleep(0.1)
        assert "Altered" in state


def test_a_changed_session_is_not_told_as_it_was_before_while_it_is_read_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from support import licence_run

    licence_run.make(tmp_path)
    store = tmp_path / "work" / "example" / "store"
    with app_of(tmp_path) as client:
        while "Not read yet" in (state := _state(client.get("/").text)):
            time.sleep(0.1)
        assert "Verified" in state
        monkeypatch.setattr(overview, "PATIENCE_SECONDS", 0.0)
        blob = max(store.glob("*/*"), key=lambda path: path.stat().st_size)
        blob.chmod(0o600)
        blob.write_bytes(blob.read_bytes().replace(b"e", b"x"))
        states = [_state(client.get("/").text)]
        while "Not read yet" in states[-1]:
            time.sleep(0.05)
            states.append(_state(client.get("/").text))
    assert "Not read yet" in states[0]
    assert "Altered" in states[-1]


def _state(html: str) -> str:
    """What the first row of a list says."""
    return LexborHTMLParser(html).css(".sessions .state")[0].text()


def test_an_index_that_is_deleted_or_broken_loses_nothing(tmp_path: Path) -> None:
    base, path = tmp_path / "base", tmp_path / "index.sqlite"
    session(base / "work" / "one", "The first task")
    stamps = Sessions(base).stamps()
    (name,) = stamps
    for spoil in (lambda: None, path.unlink, lambda: path.write_bytes(b"no database" * 1000)):
        spoil()
        index = SessionIndex(base, path)
        unread = index.sync(stamps)
        if unread:
            index.put(Found(name=name, seen="s", header=FINISHED.header, kind="research", answer="x"))
        (row,) = index.listed(Wanted()).rows
        assert row.header is not None and row.header.verdict == "VERIFIED"
        index.close()
    assert SessionIndex(base, path).sync(stamps) == []
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA user_version = 99")
    assert SessionIndex(base, path).sync(stamps) == [name]


def spoil_bytes(at: float, size: int) -> Callable[[Path], None]:
    """Overwrites bytes of a file, from that part of it."""

    def spoil(path: Path) -> None:
        with path.open("r+b") as file:
            file.seek(int(at * path.stat().st_size))
            file.write(b"\xff" * size)

    return spoil


def cut(to: float) -> Callable[[Path], None]:
    return lambda path: os.truncate(path, int(to * path.stat().st_size))


def spoil_rows(change: str) -> Callable[[Path], None]:
    """Writes values to the rows that VERA never does."""

    def spoil(path: Path) -> None:
        with contextlib.closing(sqlite3.connect(path)) as db, db:
            db.execute(f"UPDATE sessions SET {change}")

    return spoil


DAMAGES = {
    "empty": cut(0),
    "cut in the middle": cut(0.5),
    "cut in its header": lambda path: os.truncate(path, 50),
    "its first page": spoil_bytes(0, 4096),
    "its schema": spoil_bytes(0, 200),
    "its second page": lambda path: spoil_bytes(4096 / path.stat().st_size, 200)(path),
    "its middle": spoil_bytes(0.5, 8192),
    "its end": spoil_bytes(0.75, 4096),
    "a time that is a text": spoil_rows("modified = 'x'"),
    "tokens that are a text": spoil_rows("tokens = 'zz'"),
    "a stamp of bytes": spoil_rows("stamp = x'00'"),
    "a state of bytes": spoil_rows("state = x'00'"),
    "a text that is no UTF-8": spoil_rows("problem = CAST(x'ff' AS TEXT)"),
    "a name that is a text": spoil_rows("name = CAST(name AS TEXT)"),
    "a header that is none": spoil_rows("header = x'93'"),
    "a header of another kind": spoil_rows("header = x'05'"),
    "a table of another form": lambda path: sqlite3.connect(path).executescript("DROP TABLE sessions"),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


def whole_list(client: TestClient) -> list[str]:
    """The rows of the list and of its batches, when all were read."""
    for _ in range(100):
        answer = client.get("/")
        assert answer.status_code == 200
        if "not read yet" not in answer.text:
            break
    tree = LexborHTMLParser(answer.text)
    return [" ".join(row.text().split()) for row in tree.css("tbody tr")]


@pytest.fixture
def few(tmp_path: Path) -> Iterator[Path]:
    """A base folder with three sessions and a batch."""
    base = tmp_path / "base"
    for number in range(3):
        session(base / "work" / f"run-{number}", f"{TASKS[number]} " + "long " * 500, "yes", tokens=number)
    session(base / "runs" / BATCH / "1", "A task of the batch", tokens=7)
    yield base
    index_path(base).unlink(missing_ok=True)


@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_index_is_built_again_and_the_list_is_the_same(
    few: Path, damage: Callable[[Path], object]
) -> None:
    with app_of(few) as client:
        before = whole_list(client)
        assert len(before) == 5 and "Unsealed" in before[0]
        damage(index_path(few))
        assert whole_list(client) == before
        if index_path(few).is_dir():
            index_path(few).rmdir()
    with app_of(few) as client:
        assert whole_list(client) == before
    damage(index_path(few))
    with app_of(few) as client:
        assert whole_list(client) == before
    if index_path(few).is_dir():
        index_path(few).rmdir()


def test_an_index_that_another_process_holds_is_left_alone(
    few: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(session_index, "BUSY_SECONDS", 0.01)
    with app_of(few) as client:
        before = whole_list(client)
    held = index_path(few).read_bytes()
    with contextlib.closing(sqlite3.connect(index_path(few))) as db, app_of(few) as client:
        db.execute("BEGIN EXCLUSIVE")
        assert whole_list(client) == before
    assert index_path(few).read_bytes() == held


def test_a_closed_index_is_not_opened_again(tmp_path: Path) -> None:
    index = SessionIndex(tmp_path, tmp_path / "index.sqlite")
    index.close()
    with pytest.raises(sqlite3.ProgrammingError):
        index.sync({})


def test_an_index_that_cannot_be_written_is_kept_in_memory(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    index = SessionIndex(tmp_path, tmp_path / "file" / "index.sqlite")
    assert index.sync({b"work/one": ("1-2", 3.0)}) == [b"work/one"]
    assert index.listed(Wanted()).unread == 1


def test_each_base_folder_has_an_index_that_is_for_its_owner_alone(tmp_path: Path) -> None:
    assert index_path(tmp_path / "a") != index_path(tmp_path / "b")
    path = tmp_path / "cache" / "index.sqlite"
    SessionIndex(tmp_path, path).close()
    assert path.stat().st_mode & 0o077 == 0 and path.parent.stat().st_mode & 0o077 == 0


def test_a_link_or_a_log_inside_a_session_is_not_listed(tmp_path: Path) -> None:
    session(tmp_path / "outside", "outside")
    session(tmp_path / "base" / "work" / "one", "one")
    session(tmp_path / "base" / "work" / "one" / "workspace" / "fake", "fake")
    (tmp_path / "base" / "work" / "linked").symlink_to(tmp_path / "outside")
    (tmp_path / "base" / "work" / "file").mkdir()
    (tmp_path / "base" / "work" / "file" / "trace.jsonl").symlink_to(tmp_path / "outside" / "trace.jsonl")
    assert list(Sessions(tmp_path / "base").stamps()) == [b"work/one"]


def test_a_batch_is_told_by_the_folder(tmp_path: Path) -> None:
    assert batch_of(f"runs/{BATCH}/1".encode()) == "runs"
    assert batch_of(f"mine/runs/{BATCH}/12".encode()) == "mine/runs"
    for name in ("work/one", f"runs/{BATCH}", f"runs/{BATCH}/x", f"other/{BATCH}/1", "runs/short/1"):
        assert batch_of(name.encode()) == ""


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_any_text_can_be_kept_and_searched(tmp_path: Path, text: str) -> None:
    from support.run_pages import with_text

    index = SessionIndex(tmp_path, tmp_path / "index.sqlite")
    name = os.fsencode("work/\udcff")
    index.sync({name: ("1", 2.0)})
    header = with_text(FINISHED.header, text)
    header = msgspec.structs.replace(header, tokens=())
    index.put(Found(name=name, seen="s", header=header, kind=text, answer=text, problem=text))
    listed = index.listed(Wanted(words=text[:500], state="", batch=""))
    assert listed.total == 1
    index.listed(Wanted(words=text, state=text, kind=text, batch=text, sort=text, page=10**30))


def test_ten_thousand_are_listed_a_page_at_a_time(tmp_path: Path) -> None:
    index = SessionIndex(tmp_path, tmp_path / "index.sqlite")
    names = [f"work/run-{number:05}".encode() for number in range(10_000)]
    assert len(index.sync({name: ("1", float(at)) for at, name in enumerate(names)})) == 10_000
    for name in names[:100]:
        index.put(Found(name=name, seen="s", header=FINISHED.header, kind="research"))
    listed = index.listed(Wanted(page=200))
    assert (listed.total, listed.matched, listed.unread, len(listed.rows)) == (10_000, 10_000, 9900, 50)
    assert [row.name for row in listed.rows] == names[49::-1]
    assert dict(listed.states) == {"VERIFIED": 100, "unread": 9900}


def test_a_list_of_nothing_and_of_one(tmp_path: Path) -> None:
    empty = pages.render_index(ASKED, SessionList(wanted=Wanted()))
    assert "There is no session below this folder yet" in visible_text(empty) and problems(empty) == []
    session(tmp_path / "base" / "work" / "one", "The only task")
    with dashboard_of(tmp_path / "base", tmp_path / "token") as dashboard:
        assert visible_text(get(dashboard, "/")).endswith("1 session")


def test_the_list_is_for_who_has_the_token_and_asks_from_here(served: Dashboard) -> None:
    with served.stranger() as stranger:
        assert stranger.get("/?q=elbe").status_code == 401
    with served.client(sec_fetch_site="cross-site", sec_fetch_mode="cors") as client:
        assert client.get("/?q=elbe").status_code == 403
    assert served.get_raw("/?q=elbe", host="evil.example") == 421


def test_failures_of_a_batch_are_counted() -> None:
    batch = BatchCount(name="runs", states=(("VERIFIED", 3), ("UNRESOLVED", 2), ("stopped", 1)), tokens=9)
    assert (batch.count, batch.failed) == (6, 3)
