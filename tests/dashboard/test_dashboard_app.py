"""The routes of the dashboard, and how it is started."""

import re
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from support.cli import vera
from support.dashboards import Dashboard, Grown, app_of, dashboard_of
from vera import events
from vera.dashboard import app
from vera.dashboard.tokens import TokenFileError, load_or_create
from vera.report.view.changes import PARTS
from vera.store import Store

PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 40
HTML = {"accept": "text/html"}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("base")


@pytest.fixture(scope="module")
def served(base: Path) -> Iterator[Dashboard]:
    log = Grown(base / "work" / "example", task="<script>alert('xss')</script>")
    store = Store(base / "work" / "example" / "store")
    for path, data in {
        "plot.png": PNG,
        "page.html": b"<script>alert(1)</script>",
        "lies.png": b"<script>alert(1)</script>",
        "sub/tabelle \u00e4.csv": b"1,2\n",
    }.items():
        log.log.append(events.Output(path=path, sha256=store.put(data), size=len(data)), "main")
    log.log.append(events.Output(path="gone.txt", sha256="0" * 64, size=3), "main")
    log.end()
    with dashboard_of(base, base / "token") as dashboard:
        yield dashboard


def test_the_first_page_lists_the_sessions(served: Dashboard) -> None:
    with served.client() as client:
        answer = client.get("/")
    assert answer.status_code == 200
    assert "work~2Fexample" in answer.text


def test_a_work_dir_leads_to_its_session(served: Dashboard) -> None:
    with served.client() as client:
        answer = client.get("/", params={"work_dir": "./work/example"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/s/work~2Fexample")
        missing = client.get("/", params={"work_dir": "./work/none"}, follow_redirects=True)
        assert missing.status_code == 404
        assert "./work/none" in missing.text


def test_a_page_has_no_markup_of_the_run(served: Dashboard) -> None:
    with served.client() as client:
        text = client.get("/s/work~2Fexample").text
    assert "<script>alert" not in text


def test_parts_of_a_page_can_be_fetched_alone_and_together(served: Dashboard) -> None:
    with served.client() as client:
        alone = [client.get(f"/s/work~2Fexample/parts/{name}") for name in PARTS]
        assert {part.status_code for part in alone} == {200}
        together = client.get(f"/s/work~2Fexample/parts/{','.join(PARTS)}").text
        assert re.findall('data-part="([a-z]+)"', together) == list(PARTS)


@pytest.mark.parametrize(
    "names", ["none", "", "claims,none", "claims,", "header,..", ",".join([*PARTS, "claims"])]
)
def test_there_is_no_part_of_another_name(served: Dashboard, names: str) -> None:
    with served.client() as client:
        assert client.get(f"/s/work~2Fexample/parts/{names}").status_code == 404


def test_a_problem_is_a_page_for_a_browser_and_a_sentence_for_a_program(served: Dashboard) -> None:
    with served.client() as client:
        page = client.get("/s/work~2Fnone", headers=HTML)
        assert page.status_code == 404
        assert page.headers["content-type"].startswith("text/html")
        text = client.get("/s/work~2Fnone")
        assert text.headers["content-type"].startswith("text/plain")
        assert text.text.count("\n") == 1


def test_a_picture_is_shown_and_everything_else_is_only_saved(served: Dashboard) -> None:
    with served.client() as client:
        picture = client.get("/s/work~2Fexample/file/plot.png")
        assert (picture.status_code, picture.content) == (200, PNG)
        assert picture.headers["content-type"] == "image/png"
        for path in ("page.html", "lies.png", "sub/tabelle \u00e4.csv"):
            saved = client.get(f"/s/work~2Fexample/file/{path}")
            assert saved.status_code == 200
            assert saved.headers["content-type"] == "application/octet-stream"
            assert saved.headers["content-disposition"].startswith("attachment; filename*=UTF-8''")
            assert saved.headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize("path", ["none.txt", "gone.txt", "../trace.jsonl", "trace.jsonl", ""])
def test_only_files_that_were_handed_in_are_given_out(served: Dashboard, path: str) -> None:
    assert served.get_raw(f"/s/work~2Fexample/file/{path}") == 404


def test_a_static_file_may_be_kept_for_ever_and_needs_no_token(served: Dashboard) -> None:
    with served.stranger() as client:
        page = client.get("/", headers=HTML).text
        address = page.partition("/static/")[2].partition('"')[0]
        assert address, "the login page has a stylesheet"
        answer = client.get(f"/static/{address}")
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert client.get(f"/static/0000000000000000/{address.rpartition('/')[2]}").status_code == 404


def test_pages_are_compressed_for_who_takes_it_and_streams_and_pictures_never(served: Dashboard) -> None:
    page = "/s/work~2Fexample"
    with served.client() as client:
        for path in (page, "/", "/metrics"):
            packed = client.get(path, headers={"accept-encoding": "gzip"})
            plain = client.get(path, headers={"accept-encoding": "identity"})
            assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "Accept-Encoding")
            assert "content-encoding" not in plain.headers
            assert int(packed.headers["content-length"]) < len(packed.content) / 2
        picture = client.get(f"{page}/file/plot.png", headers={"accept-encoding": "gzip"})
        assert "content-encoding" not in picture.headers
        with client.stream("GET", f"{page}/events", headers={"accept-encoding": "gzip"}) as stream:
            assert "content-encoding" not in stream.headers
            assert next(stream.iter_lines()).startswith("retry:")


def test_a_log_that_breaks_is_told_on_its_page(served: Dashboard, base: Path) -> None:
    log = Grown(base / "work" / "broken")
    with log.path.open("ab") as file:
        file.write(b"{}\n")
    log.log.close()
    with served.client() as client:
        answer = client.get("/s/work~2Fbroken")
        assert answer.status_code == 200
        assert "broken at line 3" in answer.text and "Altered" in answer.text
        assert client.get("/").status_code == 200


def test_a_session_without_a_log_has_a_page(served: Dashboard, base: Path) -> None:
    (base / "work" / "empty").mkdir()
    with served.client() as client:
        assert client.get("/s/work~2Fempty").status_code == 200


def test_the_page_is_as_new_as_the_log(served: Dashboard, base: Path) -> None:
    log = Grown(base / "work" / "growing")
    with served.client() as client:
        for _ in range(3):
            log.append(2)
            assert str(log.size) in client.get("/s/work~2Fgrowing").text


def test_an_address_that_others_reach_needs_a_word(tmp_path: Path) -> None:
    done = vera("dashboard", "--host", "0.0.0.0", "--port", "0", cwd=tmp_path)
    assert done.returncode == 2
    assert "--allow-remote" in done.stderr
    assert "ssh -L" in done.stderr


def test_with_that_word_it_answers_to_addresses_and_allowed_names_alone(tmp_path: Path) -> None:
    options = ("--host", "0.0.0.0", "--allow-remote", "--allow-host", "vera.example")
    with dashboard_of(tmp_path, tmp_path / "token", *options) as dashboard:
        for host, status in {
            "192.0.2.7:8844": 200,
            "[2001:db8::1]": 200,
            "vera.example": 200,
            "evil.example": 421,
            "192.0.2.7.evil.example": 421,
        }.items():
            assert dashboard.get_raw("/healthz", host) == status


def test_a_port_in_use_is_said_in_words(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        done = vera("dashboard", "--port", port, "--token-file", tmp_path / "t", "--no-open", cwd=tmp_path)
    assert done.returncode == 1
    assert f"Port {port} is in use" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_base_folder_that_is_not_there_is_said_in_words(tmp_path: Path) -> None:
    arguments = ("--port", 0, "--token-file", tmp_path / "t", "--no-open", "--base-dir", tmp_path / "none")
    done = vera("dashboard", *arguments, cwd=tmp_path)
    assert done.returncode == 1
    assert "no such folder" in done.stderr.lower()
    assert "Traceback" not in done.stderr


def test_a_token_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "token"
    token = load_or_create(path)
    assert load_or_create(path) == token
    assert len(token) >= 40
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(path.parent.iterdir()) == [path]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_a_token_that_others_can_read_is_refused(tmp_path: Path, mode: int) -> None:
    path = tmp_path / "token"
    load_or_create(path)
    path.chmod(mode)
    with pytest.raises(TokenFileError, match="chmod 600"):
        load_or_create(path)


@pytest.mark.parametrize("text", ["", "short", "two words and more of them", "x" * 300, "ä" * 30])
def test_what_is_no_token_is_refused(tmp_path: Path, text: str) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(0o600)
    with pytest.raises(TokenFileError, match="Remove it"):
        load_or_create(path)


def test_a_token_file_that_is_a_link_is_not_followed(tmp_path: Path) -> None:
    load_or_create(tmp_path / "real")
    (tmp_path / "token").symlink_to(tmp_path / "real")
    with pytest.raises(TokenFileError):
        load_or_create(tmp_path / "token")


def test_a_large_log_that_is_being_read_says_so_and_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = Grown(tmp_path / "work" / "large")
    log.append(1200, detail="x" * 4000)
    assert log.size > app.LARGE_LOG
    log.end()
    monkeypatch.setattr(app, "PATIENCE_SECONDS", 0.0)
    with app_of(tmp_path) as client:
        answer = client.get("/s/work~2Flarge")
        assert "Reading the log" in answer.text and re.search(r"% of [45](?:\.[0-9])? MB", answer.text)
        assert answer.headers["refresh"] == "1"
        while "Reading the log" in answer.text:
            answer = client.get("/s/work~2Flarge")
        assert "How high is the dam?" in answer.text and "refresh" not in answer.headers
