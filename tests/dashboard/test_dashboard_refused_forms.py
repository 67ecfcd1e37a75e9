"""A form that is refused says why beside its field, or on top, and holds what was typed."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from selectolax.lexbor import LexborHTMLParser
from starlette.testclient import TestClient

from support import unfinished
from support.dashboard_runs import use_plain_machine
from support.dashboards import Grown, app_of
from support.markup import problems, visible_text
from support.verified import verified
from vera.attestation.keys import load_or_create
from vera.attestation.reviews import FILE, MAX_NOTE
from vera.dashboard.refused_form import page_before
from vera.session.tags import MAX_TAG, read_tags

ONE, BROKEN = "/s/work~2Fone", "/s/work~2Fbroken"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    base = tmp_path_factory.mktemp("refused")
    verified(base / "work" / "one", load_or_create())
    unfinished.failed(base / "work" / "broken")
    return base


@pytest.fixture
def base(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    use_plain_machine(monkeypatch)
    shutil.copytree(made, tmp_path / "base")
    return tmp_path / "base"


@pytest.fixture
def client(base: Path) -> Iterator[TestClient]:
    """A browser that is logged in."""
    with app_of(base) as client:
        del client.headers["authorization"]
        client.headers["accept"] = "text/html"
        assert client.get("/", params={"token": "t" * 40}).status_code == 200
        yield client


def send(client: TestClient, path: str, **fields: str) -> tuple[int, LexborHTMLParser]:
    """Send a form with the token of a page; the answer, which is a page without a fault."""
    token = LexborHTMLParser(client.get(ONE).text).css_first("[name=form_token]").attributes["value"] or ""
    answer = client.post(path, data={**fields, "form_token": token}, follow_redirects=False)
    assert answer.status_code >= 400 and problems(answer.text) == []
    assert "That did not work" not in answer.text
    return answer.status_code, LexborHTMLParser(answer.text)


def error_beside(page: LexborHTMLParser, name: str) -> str:
    """The sentence that a field is described by."""
    field = page.css_first(f"form [name={name}][aria-invalid]")
    assert field.attributes["aria-describedby"] == f"error-{name}"
    return page.css_first(f"#error-{name}").text()


def again(client: TestClient, page: LexborHTMLParser, **changed: str) -> int:
    """Send the form of an answer, put right; the status."""
    form = page.css_first("form[method=post]")
    fields = {
        node.attributes["name"] or "": node.attributes.get("value") or node.text()
        for node in form.css("input[name], textarea[name]")
    }
    action = form.attributes["action"] or ""
    return client.post(action, data={**fields, **changed}, follow_redirects=False).status_code


def test_wrong_limits_of_a_resume_stand_beside_their_fields(client: TestClient) -> None:
    status, page = send(client, f"{BROKEN}/resume", max_steps="many", budget_tokens="9000")
    assert status == 400 and "max_steps" in error_beside(page, "max_steps")
    held = {each.attributes["name"]: each.attributes.get("value") for each in page.css(".field input")}
    assert (held["max_steps"], held["budget_tokens"]) == ("many", "9000")
    assert page.css_first(f'form[action="{BROKEN}/resume"]') is not None
    assert page.css_first(f'a[href="{BROKEN}#status"]') is not None


def test_a_session_that_cannot_go_on_says_why_over_the_limits_that_were_typed(client: TestClient) -> None:
    status, page = send(client, f"{ONE}/resume", max_steps="9")
    assert status == 409 and page.css_first("[role=alert]").text().strip()
    assert page.css_first("[name=max_steps]").attributes["value"] == "9"


def test_a_tag_that_is_too_long_stands_in_its_field_again(client: TestClient, base: Path) -> None:
    tags = "rivers, " + "x" * (MAX_TAG + 1)
    status, page = send(client, f"{ONE}/tags", tags=tags)
    assert status == 400 and "Shorten it" in error_beside(page, "tags")
    assert page.css_first("[name=tags]").attributes["value"] == tags
    assert again(client, page, tags="rivers") == 303
    assert read_tags(base / "work" / "one") == ("rivers",)


def test_a_review_of_a_page_that_is_out_of_date_keeps_its_note(client: TestClient, base: Path) -> None:
    """Another tab, or a person at the file, has changed the session meanwhile."""
    log = base / "work" / "one" / "trace.jsonl"
    whole = log.read_bytes()
    log.write_bytes(whole.replace(b"Elbe", b"Oder", 1))
    note = "First line <b>.\nSecond line."
    status, page = send(client, f"{ONE}/review", claim="c1", label="disagree", note=note)
    assert status == 409 and "its log is whole" in page.css_first("[role=alert]").text()
    assert page.css_first("[name=note]").text() == note
    assert page.css_first("[name=claim]").attributes["value"] == "c1"
    assert [each.attributes["value"] for each in page.css("button[name=label]")] == [
        "agree",
        "disagree",
        "unsure",
    ]
    assert not (base / "work" / "one" / FILE).exists()


def test_a_note_that_is_too_long_is_kept_and_can_be_shortened(client: TestClient, base: Path) -> None:
    status, page = send(client, f"{ONE}/review", claim="c1", label="agree", note="x" * (MAX_NOTE + 1))
    assert status == 409 and "Shorten it" in error_beside(page, "note")
    assert len(page.css_first("[name=note]").text()) == MAX_NOTE + 1
    assert again(client, page, note="Right.", label="agree") == 303
    assert b"Right." in (base / "work" / "one" / FILE).read_bytes()


def test_the_line_breaks_of_a_browser_make_no_note_too_long(client: TestClient) -> None:
    """A browser counts a break as one character and sends two."""
    note = "\r\n".join(["x" * 9] * (MAX_NOTE // 10))
    token = LexborHTMLParser(client.get(ONE).text).css_first("[name=form_token]").attributes["value"] or ""
    fields = {"claim": "c1", "label": "agree", "note": note, "form_token": token}
    assert client.post(f"{ONE}/review", data=fields, follow_redirects=False).status_code == 303


def test_what_could_not_be_removed_is_asked_again_with_the_reason(client: TestClient, base: Path) -> None:
    running = Grown(base / "work" / "live")
    sessions = "work~2Fbroken,work~2Flive,work~2Fone"
    status, page = send(client, "/remove", sessions=sessions)
    running.log.close()
    assert status == 409
    said = page.css_first("[role=alert]").text()
    assert "is in use" in said and "Removed before it: ./work/broken" in said
    assert page.css_first("[name=sessions]").attributes["value"] == "work~2Flive,work~2Fone"
    assert again(client, page) == 303
    assert not (base / "work" / "one").exists()


@pytest.mark.parametrize("kind", ["question", "thesis"])
def test_a_question_that_cannot_follow_is_kept_with_its_reason(client: TestClient, kind: str) -> None:
    status, page = send(client, f"{BROKEN}/ask", task="And then?\nWhy?", kind=kind, effort="quick")
    assert status == 409 and "when its run has ended" in page.css_first("[role=alert]").text()
    assert page.css_first("textarea").text() == "And then?\nWhy?"
    assert page.css_first("select[name=effort] option[selected]").text() == "quick"
    assert page.css_first("[name=kind]").attributes["value"] == kind


def test_a_wrong_field_of_a_question_that_follows_stands_beside_it(client: TestClient) -> None:
    status, page = send(client, f"{ONE}/ask", task="Why?", budget_tokens="many")
    assert status == 400 and "budget" in error_beside(page, "budget_tokens")
    assert page.css_first("textarea").text() == "Why?"


def test_a_question_after_a_session_that_was_altered_is_kept(client: TestClient, base: Path) -> None:
    log = base / "work" / "one" / "trace.jsonl"
    log.write_bytes(log.read_bytes().replace(b"Elbe", b"Oder", 1))
    status, page = send(client, f"{ONE}/ask", task="And then?")
    assert status == 409 and "--trust-session" in page.css_first("[role=alert]").text()
    assert page.css_first("textarea").text() == "And then?"


def test_a_form_without_text_leads_back_to_its_session(client: TestClient) -> None:
    token = LexborHTMLParser(client.get(ONE).text).css_first("[name=form_token]").attributes["value"] or ""
    answer = client.post(f"{ONE}/stop", data={"form_token": token})
    assert answer.status_code == 409 and "There is no run to stop here" in visible_text(answer.text)
    assert f'<a href="{ONE}">Back to the session</a>' in answer.text


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("resume", {"max_steps": "many"}),
        ("tags", {"tags": "x" * (MAX_TAG + 1)}),
        ("review", {"claim": "c1"}),
        ("ask", {"task": ""}),
    ],
)
def test_a_program_is_told_in_a_sentence(client: TestClient, path: str, fields: dict[str, str]) -> None:
    client.headers["x-vera"] = "1"
    answer = client.post(f"{ONE}/{path}", data=fields)
    assert answer.status_code == 400 and answer.text.count("\n") == 1 and "<" not in answer.text


def test_the_forms_that_ask_again_may_be_kept_for_back(client: TestClient) -> None:
    for path in (f"{ONE}/ask", f"{ONE}/ask?claim=c1", f"{ONE}/again", "/start"):
        assert client.get(path).headers["cache-control"] == "private, no-cache", path
    assert client.get(ONE).headers["cache-control"] == "no-store"


def test_the_page_before_is_that_of_a_session_and_no_other_place() -> None:
    assert page_before("/s/work~2Fone/stop") == "/s/work~2Fone"
    assert page_before('/s/"><img>/stop') == f"/s/{quote(chr(34) + '><img>')}"
    assert {page_before(each) for each in ("/remove", "/s//x", "//evil.example/s/x", "/s/x")} == {""}
