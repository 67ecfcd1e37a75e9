"""The form that starts a run: errors beside their field, nothing lost, and no session before it was asked."""

import json
import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from httpx import Response
from selectolax.lexbor import LexborHTMLParser
from starlette.testclient import TestClient

from support.dashboard_runs import use_plain_machine
from support.dashboards import Grown, app_of
from support.documents import make_zip
from support.markup import problems
from vera.dashboard import run_child, uploads
from vera.dashboard.again import again_of
from vera.dashboard.uploads import MAX_FILES, NoForm, UploadRefused, keep, kept, parse, plain_name, taken

Files = Sequence[tuple[str, tuple[str, bytes]]]


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use_plain_machine(monkeypatch)
    (tmp_path / "licences").mkdir()
    return tmp_path


@pytest.fixture
def launched(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], str]]:
    """What would have been started: its arguments and its standard input. No process runs."""
    found: list[tuple[list[str], str]] = []

    def launch(folder: Path, arguments: list[str], **given: object) -> int:
        found.append((arguments, str(given["stdin"])))
        return 1

    monkeypatch.setattr(run_child, "launch", launch)
    return found


@pytest.fixture
def client(base: Path) -> Iterator[TestClient]:
    with app_of(base) as client:
        client.headers["accept"] = "text/html"
        client.get("/", params={"token": "t" * 40})
        client.headers.pop("authorization")
        yield client


def send(client: TestClient, path: str = "/start", files: Files = (), **fields: str) -> Response:
    """The form as a browser sends it, with the token of the page."""
    page = LexborHTMLParser(client.get("/start").text)
    token = page.css_first('input[name="form_token"]').attributes["value"] or ""
    parts = [
        f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}'.encode()
        for name, value in {"form_token": token, **fields}.items()
    ]
    for name, (file, data) in files or [("files", ("", b""))]:
        head = f'Content-Disposition: form-data; name="{name}"; filename="{file}"\r\nContent-Type: text/plain'
        parts.append(head.encode() + b"\r\n\r\n" + data)
    body = b"".join(b"--b0undary\r\n" + part + b"\r\n" for part in parts) + b"--b0undary--\r\n"
    kind = {"content-type": "multipart/form-data; boundary=b0undary"}
    return client.post(path, content=body, headers=kind, follow_redirects=False)


def sessions(base: Path) -> list[Path]:
    return sorted((base / "work").glob("ui-run-*"))


def shown(answer: Response) -> dict[str, str]:
    """What the fields of a form hold."""
    tree = LexborHTMLParser(answer.text)
    values = {
        node.attributes["name"] or "": node.attributes.get("value") or ""
        for node in tree.css("form.start input:not([type=radio]):not([type=file])")
    }
    chosen = {
        node.attributes["name"] or "": option.text()
        for node in tree.css("form.start select")
        for option in node.css("option[selected]")
    }
    (kind,) = [each.attributes["value"] or "" for each in tree.css("input[type=radio][checked]")]
    return {**values, **chosen, "kind": kind, "task": tree.css_first("textarea").text()}


def errors(answer: Response) -> dict[str, str]:
    """The sentence beside each field."""
    tree = LexborHTMLParser(answer.text)
    found = {}
    for node in tree.css("[aria-invalid]"):
        name = node.attributes["name"] or ""
        assert node.attributes["aria-describedby"] == f"error-{name}"
        found[name] = tree.css_first(f"#error-{name}").text()
    assert set(found) == {
        (link.attributes["href"] or "").removeprefix("#field-") for link in tree.css(".errors a")
    }
    return found


def test_the_form_makes_no_session_until_it_is_sent(client: TestClient, base: Path) -> None:
    answer = client.get("/start")
    assert answer.status_code == 200 and problems(answer.text) == []
    assert answer.headers["cache-control"] == "private, no-cache"
    assert 'href="/start"' in client.get("/").text and 'action="/new"' not in client.get("/").text
    assert sessions(base) == []


def test_a_question_starts_a_run_in_a_new_session(
    client: TestClient, base: Path, launched: list[tuple[list[str], str]]
) -> None:
    answer = send(client, task="How long?", input_dir="licences", kind="question", num_candidates="3")
    (session,) = sessions(base)
    assert (answer.status_code, answer.headers["location"]) == (303, f"/s/work~2F{session.name}")
    ((arguments, handed),) = launched
    assert arguments[3:6] == ["vera", "run", "--handed"]
    assert json.loads(handed)["settings"] == {
        "run.input_dir": str(base / "licences"),
        "candidate_sampling.num_candidates": "3",
    }


def test_a_thesis_is_verified_and_looked_up_again(
    client: TestClient, launched: list[tuple[list[str], str]]
) -> None:
    assert send(client, task="It lasts three years.", kind="thesis").status_code == 303
    ((arguments, handed),) = launched
    assert arguments[3:7] == ["vera", "verify", "--fresh", "--handed"]
    assert json.loads(handed)["text"] == "It lasts three years."


def test_what_is_wrong_is_told_beside_each_field_and_nothing_is_lost(client: TestClient, base: Path) -> None:
    given = {
        "kind": "thesis",
        "task": "A thesis\nof two lines & <b>",
        "input_dir": "../elsewhere",
        "model_base_url": "notaurl",
        "model_name": "م نموذج",
        "effort": "quick",
        "budget_tokens": "many",
    }
    answer = send(client, **given)
    assert answer.status_code == 400 and problems(answer.text) == []
    assert sessions(base) == []
    found = errors(answer)
    assert set(found) == {"input_dir", "model_base_url", "budget_tokens"}
    assert "below the base folder" in found["input_dir"]
    held = shown(answer)
    assert {name: held[name] for name in given} == given
    assert LexborHTMLParser(answer.text).css_first('form[action="/start"]') is not None


def test_a_form_that_was_refused_still_names_the_session_that_is_run_again(
    client: TestClient, base: Path, launched: list[tuple[list[str], str]]
) -> None:
    origin = "a" * 64
    refused = send(client, task="What?", budget_tokens="many", again_of=origin)
    assert refused.status_code == 400 and shown(refused)["again_of"] == origin
    assert send(client, task="What?", again_of=origin).status_code == 303
    (session,) = sessions(base)
    assert again_of(session) == origin and launched
    with_file = send(
        client, files=[("files", ("a.txt", b"one"))], task="What?", budget_tokens="x", again_of=origin
    )
    assert with_file.status_code == 400
    (other,) = set(sessions(base)) - {session}
    assert again_of(other) == origin


def test_what_is_no_hash_of_a_record_is_no_session_that_is_run_again(
    client: TestClient, base: Path, launched: list[tuple[list[str], str]]
) -> None:
    assert send(client, task="What?", again_of="../../etc/passwd").status_code == 303
    (session,) = sessions(base)
    assert again_of(session) == "" and launched


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"task": " "}, "task", "the task is empty"),
        ({"task": "", "kind": "thesis"}, "task", "it is empty"),
        ({"task": "x\0y"}, "task", "zero byte"),
        ({"task": "x" * 200_001}, "task", "longer than 200 kB"),
        ({"task": "x", "effort": "endless"}, "effort", "one of quick"),
        ({"task": "x", "egress": "everything"}, "egress", "one of none"),
        ({"task": "x", "profile": "root"}, "profile", "one of research"),
        ({"task": "x", "num_candidates": "0"}, "num_candidates", ""),
        ({"task": "x", "budget_tokens": "many"}, "budget_tokens", ""),
        ({"task": "x", "max_steps": "-1"}, "max_steps", ""),
        ({"task": "x", "model_name": "a\nb"}, "model_name", "one line"),
        ({"task": "x", "model_base_url": "http://10.0.0.1/v1"}, "model_base_url", "cannot decide for you"),
    ],
)
def test_each_field_has_its_own_sentence(
    client: TestClient, base: Path, fields: dict[str, str], field: str, words: str
) -> None:
    answer = send(client, **fields)
    assert answer.status_code == 400
    assert words in errors(answer)[field]
    assert sessions(base) == []


def test_a_folded_field_that_is_wrong_is_not_folded(client: TestClient) -> None:
    tree = LexborHTMLParser(send(client, task="x", budget_tokens="many").text)
    assert "open" in tree.css_first("#budgets-of-start").attributes
    assert "open" not in LexborHTMLParser(client.get("/start").text).css_first("#budgets-of-start").attributes


def test_an_unknown_field_or_kind_is_refused(client: TestClient, base: Path) -> None:
    assert "no field of this form" in send(client, task="x", model_key="sk-1").text
    assert "kind must be one of" in send(client, task="x", kind="order").text
    assert sessions(base) == []


def test_an_address_fills_in_the_form_and_starts_nothing(client: TestClient, base: Path) -> None:
    answer = client.get(
        "/start", params={"task": "<b>How?", "effort": "quick", "kind": "thesis", "model_key": "sk-1"}
    )
    held = shown(answer)
    assert (held["task"], held["effort"], held["kind"]) == ("<b>How?", "quick", "thesis")
    assert "sk-1" not in answer.text and sessions(base) == []


def test_dropped_files_are_kept_in_the_session_and_read_by_its_run(
    client: TestClient, base: Path, launched: list[tuple[list[str], str]]
) -> None:
    files = [("files", ("a.txt", b"one\r\n--x\r\n")), ("files", ("b\u00e4.bin", bytes(range(256))))]
    assert send(client, files=files, task="What?").status_code == 303
    (session,) = sessions(base)
    folder = session / "input"
    assert {each.name: each.read_bytes() for each in folder.iterdir()} == {
        "a.txt": b"one\r\n--x\r\n",
        "b\u00e4.bin": bytes(range(256)),
    }
    assert json.loads(launched[0][1])["settings"]["run.input_dir"] == str(folder)


def test_files_of_a_form_with_an_error_are_not_lost(
    client: TestClient, base: Path, launched: list[tuple[list[str], str]]
) -> None:
    first = send(client, files=[("files", ("a.txt", b"one"))], task="What?", budget_tokens="many")
    assert first.status_code == 400 and "Kept: a.txt" in first.text
    (session,) = sessions(base)
    action = LexborHTMLParser(first.text).css_first("form.start").attributes["action"] or ""
    assert action == f"/s/work~2F{session.name}/run"
    again = client.get(f"/s/work~2F{session.name}")
    assert "Kept: a.txt" in again.text and shown(again)["budget_tokens"] == "many"
    assert launched == []
    assert send(client, action, files=[("files", ("b.txt", b"two"))], task="What?").status_code == 303
    assert kept(session) == ("a.txt", "b.txt")
    assert json.loads(launched[0][1])["settings"]["run.input_dir"] == str(session / "input")


def test_a_folder_that_is_named_goes_before_files_that_are_kept(
    client: TestClient, base: Path, launched: list[tuple[list[str], str]]
) -> None:
    send(client, files=[("files", ("a.txt", b"one"))], task="What?", input_dir="licences")
    assert json.loads(launched[0][1])["settings"]["run.input_dir"] == str(base / "licences")


@pytest.mark.parametrize(
    "name", ["../../a.txt", "..\\..\\a.txt", "/etc/a.txt", "C:\\a.txt", "a.txt", " a.txt "]
)
def test_of_a_name_only_the_last_part_is_taken(name: str) -> None:
    assert plain_name(name) == "a.txt"


@pytest.mark.parametrize(
    "name",
    ["", "..", ".", "a/..", ".bashrc", "x/.ssh", "a\nb", "a\0b", "\u202egpj.exe", "a" * 201, "\u00e4" * 101],
)
def test_a_name_that_is_no_plain_name_is_refused(name: str) -> None:
    with pytest.raises(UploadRefused):
        plain_name(name)


@pytest.mark.parametrize(
    ("name", "kept_as"),
    [
        ("../../../secret.txt", "secret.txt"),
        ("..\\..\\secret.txt", "secret.txt"),
        ("/etc/cron.d/secret.txt", "secret.txt"),
        ("C:\\Windows\\secret.txt", "secret.txt"),
        ("input/../../trace.jsonl", "trace.jsonl"),
        ("..%2f..%2fsecret.txt", "..%2f..%2fsecret.txt"),
    ],
)
def test_a_name_that_is_sent_leads_to_no_other_folder(
    client: TestClient, base: Path, launched: list[tuple[list[str], str]], name: str, kept_as: str
) -> None:
    data = f"sent as {name}".encode()
    answer = send(client, files=[("files", (name, data))], task="What?")
    assert answer.status_code == (400 if kept_as.startswith(".") else 303)
    # Beside this test's folder are those of others, with files of gigabytes.
    made = [
        path
        for path in (*base.rglob("*"), *base.parent.iterdir())
        if path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data
    ]
    assert made == [each / "input" / kept_as for each in sessions(base)]


@pytest.mark.parametrize("name", ["..", "a/..", ".ssh/..", "x/.bashrc", "a\tb", "\u202egpj.exe", "a" * 900])
def test_a_name_that_is_sent_and_is_no_plain_name_makes_nothing(
    client: TestClient, base: Path, name: str
) -> None:
    answer = send(client, files=[("files", (name, b"x"))], task="What?")
    assert answer.status_code == 400 and "files" in errors(answer)
    assert not (base / "work").exists()


def test_too_many_files_and_two_of_a_name_are_refused() -> None:
    with pytest.raises(UploadRefused, match=f"at most {MAX_FILES}"):
        taken([(f"{number}.txt", b"") for number in range(MAX_FILES + 1)])
    with pytest.raises(UploadRefused, match=r"Two of the files are called a\.txt"):
        taken([("a.txt", b"1"), ("sub/a.txt", b"2")])


def test_a_refused_file_is_told_beside_its_field_and_makes_no_session(client: TestClient, base: Path) -> None:
    answer = send(client, files=[("files", (".env", b"KEY=1"))], task="What?")
    assert answer.status_code == 400 and ".env is not taken" in errors(answer)["files"]
    assert shown(answer)["task"] == "What?" and sessions(base) == []


def test_files_are_never_written_through_links_or_over_others(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "a.txt").write_text("kept")
    session = tmp_path / "session"
    session.mkdir()
    (session / "input").symlink_to(outside)
    with pytest.raises(OSError):
        keep(session, taken([("b.txt", b"x")]))
    assert [each.name for each in outside.iterdir()] == ["a.txt"]
    (session / "input").unlink()
    (session / "input").mkdir()
    (session / "input" / "a.txt").symlink_to(outside / "a.txt")
    with pytest.raises(UploadRefused, match="there already"):
        keep(session, taken([("a.txt", b"x")]))
    assert (outside / "a.txt").read_text() == "kept"


def test_kept_files_are_for_their_owner_and_no_programs(tmp_path: Path) -> None:
    keep(tmp_path, taken([("a.sh", b"#!/bin/sh")]))
    others = 0o044 if os.geteuid() == 0 else 0
    assert stat.S_IMODE((tmp_path / "input" / "a.sh").stat().st_mode) == 0o600 | others


def test_an_archive_is_kept_as_it_is(tmp_path: Path) -> None:
    bomb = make_zip(zeros=bytes(4 << 20))
    keep(tmp_path, taken([("bomb.zip", bomb)]))
    assert [each.stat().st_size for each in (tmp_path / "input").iterdir()] == [len(bomb)]


def test_a_session_whose_run_has_begun_takes_no_files(client: TestClient, base: Path) -> None:
    folder = base / "work" / "done"
    Grown(folder).end()
    answer = send(client, "/s/work~2Fdone/run", files=[("files", ("a.txt", b"x"))], task="x")
    assert answer.status_code == 409 and not (folder / "input").exists()


def form_body(*parts: bytes, end: bytes = b"--b--\r\n") -> bytes:
    return b"".join(b"--b\r\n" + part + b"\r\n" for part in parts) + end


FIELD = b'Content-Disposition: form-data; name="task"\r\n\r\nx'
TYPE = "multipart/form-data; boundary=b"


def test_fields_and_files_are_told_apart() -> None:
    file = b'Content-Disposition: form-data; name="files"; filename="a.txt"\r\nX: y\r\n\r\nhi'
    none = b'Content-Disposition: form-data; name="files"; filename=""\r\n\r\n'
    assert parse(form_body(FIELD, file, none), TYPE) == ([("task", "x")], [("a.txt", b"hi")])


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (form_body(FIELD), "multipart/form-data"),
        (form_body(FIELD), "multipart/form-data; boundary=" + "b" * 71),
        (form_body(FIELD, end=b""), TYPE),
        (b"prologue" + form_body(FIELD), TYPE),
        (form_body(b"no head"), TYPE),
        (form_body(b"Content-Disposition: attachment\r\n\r\nx"), TYPE),
        (form_body(b"X: " + b"y" * 5000 + b"\r\n\r\nx"), TYPE),
        (form_body(*[FIELD] * 300), TYPE),
        (form_body(FIELD[:-1] + b"\xff"), TYPE),
        (b"", TYPE),
    ],
)
def test_a_body_that_is_no_such_form_is_refused(body: bytes, kind: str) -> None:
    with pytest.raises(NoForm):
        parse(body, kind)


def test_a_form_that_is_too_large_is_refused_before_it_is_read(
    client: TestClient, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MAX_UPLOAD", 1000)
    answer = send(client, files=[("files", ("a.txt", b"x" * (2 << 20)))], task="What?")
    assert answer.status_code == 413 and "That is too much" in answer.text
    assert sessions(base) == []


@pytest.mark.parametrize("path", ["/new", "/s/x/stop", "/s/x/resume", "/login"])
def test_no_other_address_takes_files(client: TestClient, path: str) -> None:
    assert send(client, path, files=[("files", ("a.txt", b"x"))]).status_code == 415


def test_files_without_the_token_of_the_login_are_refused(client: TestClient, base: Path) -> None:
    answer = client.post("/start", data={"task": "x"}, files={"files": ("a.txt", b"x")})
    assert answer.status_code == 403 and sessions(base) == []


def test_a_program_is_told_in_a_sentence(client: TestClient, base: Path) -> None:
    answer = client.post("/start", data={"task": " "}, headers={"x-vera": "1"})
    assert (answer.status_code, answer.text) == (400, "Write a question: the task is empty.\n")
    assert sessions(base) == []
